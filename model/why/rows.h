// The rows of a run's database that rules ask for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "model/common/check.h"
#include "model/trace/sqlite.h"
#include "model/why/answer.h"

namespace rnic::why {

struct FrameRow {
  std::uint64_t number = 0, ps = 0, serial = 0;
  std::string swallowed;  // empty: it arrived
};

// A TCP segment; `owner` is of its connection's end if it has no octets of a message.
struct TcpRow {
  FrameRow frame;
  std::string sender;
  std::uint64_t owner = 0, seq = 0, ack = 0, flags = 0, payload = 0;
};

// A segment with RST; `sender` is empty for a peer outside of the model.
struct ResetRow {
  FrameRow frame;
  std::string sender;
};

struct EventRow {
  std::uint64_t id = 0, ps = 0;
  std::string node, place, kind, words;
  std::optional<std::uint64_t> request, offset, qpn, bytes;
};

// A row of the view `causes`.
struct CauseRow {
  std::uint64_t event = 0, ps = 0;
  std::string node, symptom, kind, code, culprit, request, operation;
  std::optional<std::uint64_t> frame, cause, refusal;  // the latter two are events
};

struct RequestRow {
  std::uint64_t number = 0;
  std::string text;
  std::uint64_t posted_ps = 0, polled_ps = 0;
  std::uint64_t first_event = 0, last_event = 0;  // their ids
};

// A receive request that a message used.
struct ReceiveRow {
  std::string text;
  std::uint64_t posted_ps = 0, fetched_ps = 0;
};

// On a PCIe link.
struct TlpRow {
  enum class Type : std::uint8_t { kRead, kWrite, kCompletion, kOther };
  std::uint64_t ps = 0;
  Type type{};
  bool from_chip = false;
  std::uint64_t tag = 0, bytes = 0;
  std::optional<std::uint64_t> request;
};

class Rows {
 public:
  // ConfigError if there is no such file, or it is not a run's database of this version.
  explicit Rows(const std::string& file);

  std::string fact(const std::string& name) const;  // of the run; empty: there is none
  std::uint64_t run_ps() const;                     // how long the run was; 0: unknown
  std::string setting(const std::string& node, const std::string& name) const;
  std::uint64_t number_of(const std::string& node, const std::string& setting) const;  // 0: there is no such number
  std::string text_of(std::uint64_t request) const;
  // Frames that carried octets of a request, from `offset` of its message on, in the order in which they were sent.
  const std::vector<FrameRow>& frames(const std::string& sender, std::uint64_t request,
                                      std::optional<std::uint64_t> offset) const;
  // The number of a sender's frame; nullopt: it is in no row.
  std::optional<std::uint64_t> number(const std::string& sender, std::uint64_t serial) const;
  // Segments of nodes that carry no message: SYNs and start-up frames. In the order of their numbers.
  std::vector<TcpRow> tcp_without_messages() const;
  // The first frame to a node that never arrived, and would have within a time; nullptr: there is none.
  const FrameRow* swallowed(const std::string& to, std::uint64_t from_ps, std::uint64_t to_ps) const;
  // The first frame that a router sent.
  const std::optional<FrameRow>& of_router() const { return of_router_; }
  // What the cable first did to a frame of a sender; nullptr: nothing.
  const EventRow* cable(const std::string& sender, std::uint64_t serial) const;
  // A swallowed frame with octets of a request that no later frame brought; nullopt: there is none.
  std::optional<std::pair<std::string, FrameRow>> never_repaired() const;
  // Work requests, or with `receives` receive requests, that no program has seen complete, the oldest of each queue.
  std::vector<RequestRow> unfinished(bool receives) const;
  // Frames that arrived late, and octets of requests that were sent again, in time order.
  const std::vector<EventRow>& of_cable() const { return of_cable_; }  // what it did, and entries of `inject`
  const std::vector<EventRow>& reordered() const { return reordered_; }
  const std::vector<EventRow>& sent_again() const { return sent_again_; }
  // Whether any event is of a kind, or has words that match a pattern: much quicker than to look for it.
  bool has_kind(const std::string& kind) const;
  bool has_words(const std::string& pattern) const;
  // Events that satisfy a condition on the view `events`, in time order.
  std::vector<EventRow> events(const std::string& condition) const;
  std::vector<CauseRow> causes() const;
  // TLPs on a node's PCIe link, in time order, with ids from `first` to `last`.
  std::vector<TlpRow> tlps(const std::string& node, std::uint64_t first, std::uint64_t last) const;
  // That of a Send's message; nullopt: it has used none, or it is not known when that was posted and fetched.
  std::optional<ReceiveRow> receive_of(const RequestRow& send, const std::string& receiver) const;
  std::optional<RequestRow> request(std::uint64_t number) const;  // any owner of events; times are 0 if it has none
  // When a node took a frame that had arrived from its packet buffer; 0: that is in no row.
  std::uint64_t taken_ps(const std::string& node, std::uint64_t frame) const;
  // The first RST that arrived at a node in a time.
  std::optional<ResetRow> reset_to(const std::string& node, std::uint64_t after_ps, std::uint64_t until_ps) const;
  // The first segment of a node that acknowledges all of a segment of its peer, and when it arrived.
  std::optional<FrameRow> acknowledgement(const std::string& of, const FrameRow& frame) const;
  // Work requests that programs have posted and seen complete, by queue and number.
  std::vector<RequestRow> requests() const;

 private:
  // An error of SQLite is an error of the file.
  template <class Read>
  auto reading(Read read) const -> decltype(read());
  void read_frames();
  void read_events();

  const std::string file_;
  Sqlite database_;
  using Part = std::tuple<std::string, std::uint64_t, std::optional<std::uint64_t>>;
  std::map<Part, std::vector<FrameRow>> parts_;
  using Serial = std::pair<std::string, std::uint64_t>;  // a sender and the number of its frame
  std::map<Serial, std::uint64_t> numbers_;
  std::map<Serial, EventRow> cable_;
  std::vector<std::pair<std::string, FrameRow>> swallowed_;  // by senders, in the order of their numbers
  std::optional<FrameRow> of_router_;
  std::vector<EventRow> of_cable_, reordered_, sent_again_;
};

template <class Read>
auto Rows::reading(Read read) const -> decltype(read()) try {
  return read();
} catch (const SqliteError& error) {
  throw ConfigError(file_ + ": " + error.what());
}

// The words of an event of the cable begin with "frame " and the frame's number among its sender's.
std::uint64_t serial_of(const std::string& words);

// Of a request's text, such as "a.0#1.17": "a.0#1", and "a".
std::string queue_of(const std::string& request);
std::string node_of(const std::string& request);

// For SQL: in quotes.
std::string quoted(const std::string& text);

}  // namespace rnic::why
