// Writes a run's events, requests, TLPs and frames as an SQLite database. database.md has the schema.
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

// A frame on the cable, as in the capture.
struct FrameRecord {
  std::uint64_t number = 0;               // from 1 on, as Wireshark counts
  std::uint64_t ps = 0;                   // its last octet arrives
  std::optional<std::uint32_t> sender{};  // index of the node; nullopt for a peer outside the model
  std::uint32_t bytes = 0;
  RequestId request{};  // as in TraceEvent
  // Its TCP segment, if any; `payload` is in octets.
  struct Segment {
    std::uint32_t seq = 0, ack = 0, payload = 0;
    std::uint8_t flags = 0;
  };
  std::optional<Segment> tcp{};
  std::uint32_t serial = 0;                  // of its sender, from 1 on; 0: it was sent by none
  std::uint32_t offset = TraceEvent::kNone;  // as in TraceEvent
  std::string swallowed{};                   // why it never arrived; then `ps` is when it would have
};

// A property of the run or of a node: "digest", "rnic.tcp.mtu".
struct RunFact {
  std::string node;  // empty: the run
  std::string name, value;
};

class Database final : public EventReader {
 public:
  static constexpr unsigned kVersion = 4;  // of the schema: PRAGMA user_version

  // ConfigError if the file cannot be created.
  Database(const std::string& file, const std::vector<std::string>& nodes, EventWords words);
  ~Database() override;

  // A separate thread writes the rows. close() throws the first failure, as the run must not be interrupted.
  void events(const std::vector<TimedEvent>& batch) override;
  void frame(const FrameRecord& frame);
  // Adds the facts, requests, index and views. OutputError if anything could not be written; then there is no file.
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
  std::uint64_t events_ = 0;  // written or queued
  RequestNumbers numbers_;
  std::vector<Request> requests_;
  std::unordered_map<std::uint64_t, std::size_t> request_index_;  // looked up, never iterated
  std::vector<FrameRecord> frames_;                               // for the next task
  std::string failure_;                                           // the first one
  Worker worker_;                                                 // last: its thread ends before the other members
};

}  // namespace rnic
