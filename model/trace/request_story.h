// Reads single requests from a run's database.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/common/request_id.h"

namespace rnic {

class Sqlite;

struct RequestSpan {
  std::uint64_t number = 0;  // in the database
  std::string text;
  std::uint64_t first_ps = 0, last_ps = 0;  // of its events; from posting to polling if both are known
  std::uint64_t events = 0;
  std::uint64_t first_event = 0, last_event = 0;  // events of other requests may lie between
};

struct StoryLine {
  std::uint64_t ps = 0;
  std::string node, place, kind, words;
  std::optional<std::uint64_t> flow, qpn, bytes, address, tag;
  std::optional<std::uint64_t> offset;  // of a segment: where its payload begins in its message, or in the response
};

// Frames of a queue that were retransmitted within a time.
struct Retransmissions {
  std::uint64_t frames = 0, first_ps = 0, last_ps = 0;
};

class RequestStory final {
 public:
  // ConfigError if there is no such file, or it is not a run's database.
  explicit RequestStory(const std::string& file);
  ~RequestStory();

  // ConfigError for an unknown request; its text names the nearest one.
  RequestSpan find(const std::string& text) const;
  // The request's events in time order.
  std::vector<StoryLine> tell(const RequestSpan& request) const;
  // Retransmissions of its queue, answers included, while it was in flight: a possible cause of its delay.
  Retransmissions meanwhile(const RequestSpan& request) const;
  // The slowest requests, slowest first; only requests of programs, if the run has any.
  std::vector<RequestSpan> slowest(unsigned count) const;

 private:
  template <class Read>
  auto reading(Read read) const -> decltype(read());

  const std::string file_;
  std::unique_ptr<Sqlite> database_;
};

}  // namespace rnic
