// A run as an SQLite database: its events, requests, TLPs and frames, to be asked in SQL. database.md has the schema.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/trace/event_stream.h"
#include "model/trace/pending_file.h"
#include "model/trace/request_numbers.h"
#include "model/trace/worker.h"

namespace rnic {

// A frame on the cable, as the capture has it.
struct FrameRecord {
  std::uint64_t number = 0;               // from 1 on, as Wireshark counts
  std::uint64_t ps = 0;                   // its last octet arrives
  std::optional<std::uint32_t> sender{};  // index of the node; nothing for a peer outside of the model
  std::uint32_t bytes = 0;
  RequestId request{};  // as in TraceEvent
  // Of its TCP segment, if it has one: octets of payload.
  struct Segment {
    std::uint32_t seq = 0, ack = 0, payload = 0;
    std::uint8_t flags = 0;
  };
  std::optional<Segment> tcp{};
};

// Something that is true of the whole run, or of one node: "digest", "rnic.tcp.mtu".
struct RunFact {
  std::string node;  // empty: of the run
  std::string name, value;
};

class Database final : public EventReader {
 public:
  static constexpr unsigned kVersion = 2;  // of the schema: PRAGMA user_version

  // ConfigError if there can be no such file.
  Database(const std::string& file, const std::vector<std::string>& nodes, EventWords words);
  ~Database() override;

  // Rows are made in a thread of their own. The first failure is kept for close(), which may throw where the run must
  // go on.
  void events(const std::vector<TimedEvent>& batch) override;
  void frame(const FrameRecord& frame);
  // Makes requests and indexes of what there is. OutputError if not all could be written; then there is no file.
  void close(const std::vector<RunFact>& facts);

 private:
  struct Statements;
  template <class Write>
  void attempt(Write write);
  struct Request {
    std::uint64_t number;
    RequestId id;
    std::uint64_t first_ps, last_ps, first_event, last_event, events;
    std::optional<std::uint64_t> posted_ps, polled_ps;
  };
  std::uint64_t source_of(const TimedEvent& t);
  std::uint64_t words_of(const TraceEvent& e);
  void post(std::vector<TimedEvent> events);
  void write_events(const std::vector<TimedEvent>& events);
  void write_frames(const std::vector<FrameRecord>& frames);
  void note(const TimedEvent& t);
  void add_facts(const std::vector<RunFact>& facts);
  void add_requests();

  const PendingFile pending_;
  const std::vector<std::string> nodes_;
  const EventWords words_;
  std::unique_ptr<Statements> statements_;
  std::uint64_t events_ = 0;  // written, or about to be
  RequestNumbers numbers_;
  std::vector<Request> requests_;
  std::unordered_map<std::uint64_t, std::size_t> request_index_;  // looked up, never iterated
  std::vector<FrameRecord> frames_;                               // for the next task
  std::string failure_;                                           // of the first write that failed
  Worker worker_;                                                 // ends before what it works on
};

}  // namespace rnic
