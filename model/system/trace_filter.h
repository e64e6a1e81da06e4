// Which events a transaction log and a Perfetto trace have. Not the database: what explains a run needs what happened
// before.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/trace/event_stream.h"

namespace rnic {

// In words, as the user gives them. An empty list is no condition; an event has to meet one of each other list.
struct TraceFilterOptions {
  std::vector<std::string> requests, nodes, kinds;
  std::uint64_t from_ps = 0, to_ps = UINT64_MAX;  // to_ps is outside

  bool any() const {
    return !requests.empty() || !nodes.empty() || !kinds.empty() || from_ps != 0 || to_ps != UINT64_MAX;
  }
};

// Passes events to other readers if they meet the conditions.
class TraceFilter final : public EventReader {
 public:
  // ConfigError for an id that is none, and for nodes and kinds that do not exist.
  TraceFilter(const TraceFilterOptions& options, std::vector<std::string> nodes);

  void attach(EventReader& reader) { readers_.push_back(&reader); }
  void events(const std::vector<TimedEvent>& batch) override;
  bool passes(const TimedEvent& t) const;

  // How many events it has seen, and how many of them have passed.
  std::uint64_t seen() const { return seen_; }
  std::uint64_t passed() const { return passed_; }
  // The conditions, as options of the command line.
  std::string text() const;

 private:
  RequestId request_of(const std::string& text) const;

  const TraceFilterOptions options_;
  const std::vector<std::string> nodes_;
  std::vector<RequestId> requests_;
  std::vector<bool> of_node_, of_kind_;  // empty: all
  std::vector<EventReader*> readers_;
  std::vector<TimedEvent> passing_;  // of a batch
  std::uint64_t seen_ = 0, passed_ = 0;
};

}  // namespace rnic
