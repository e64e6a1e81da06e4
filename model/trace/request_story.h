// What a run's database tells of single requests.
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
  std::uint64_t first_ps = 0, last_ps = 0;  // of its events; from posting to polling where both are known
  std::uint64_t events = 0;
  std::uint64_t first_event = 0, last_event = 0;  // others lie between
};

struct StoryLine {
  std::uint64_t ps = 0;
  std::string node, place, kind, words;
  std::optional<std::uint64_t> flow, qpn, bytes, address, tag;
};

// Frames of a queue that were sent once more within a time.
struct Retransmissions {
  std::uint64_t frames = 0, first_ps = 0, last_ps = 0;
};

class RequestStory final {
 public:
  // ConfigError if there is no such database, or it is none of a run.
  explicit RequestStory(const std::string& file);
  ~RequestStory();

  // ConfigError for an unknown request, which names the nearest one.
  RequestSpan find(const std::string& text) const;
  // Its events in the order of time.
  std::vector<StoryLine> tell(const RequestSpan& request) const;
  // Of all requests of its queue, answers to them included, while it was under way: why it may have had to wait.
  Retransmissions meanwhile(const RequestSpan& request) const;
  // Those that took longest, the slowest first: of the requests of programs, if the run has any.
  std::vector<RequestSpan> slowest(unsigned count) const;

 private:
  template <class Read>
  auto reading(Read read) const -> decltype(read());

  const std::string file_;
  std::unique_ptr<Sqlite> database_;
};

}  // namespace rnic
