// Passes all events of a run in time order, in batches, to readers that write them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/trace/event.h"

namespace rnic {

struct TimedEvent {
  std::uint64_t ps = 0;
  std::uint32_t node = 0;  // index in the list of nodes
  TraceEvent event;
};

// A text for an event whose numbers need one; may be empty. Depends only on the event's kind, values and text.
using EventWords = std::function<std::string(const TraceEvent&)>;

class EventReader {
 public:
  virtual ~EventReader() = default;
  // In order, and none earlier than the previous batch.
  virtual void events(const std::vector<TimedEvent>& batch) = 0;
};

// Stores raw events while the simulation runs: recording one costs a copy of 80 octets. advance() calls the readers
// that format them, between two steps of the kernel. Events of one picosecond have a fixed order, so that equal runs
// give equal batches.
class EventStream final : public TraceSink {
 public:
  // `nodes` are the names of all later domains.
  explicit EventStream(std::vector<std::string> nodes);

  void attach(EventReader& reader) { readers_.push_back(&reader); }
  void event(const TraceDomain& domain, const TraceEvent& event) override;
  // No event before this time may follow.
  void advance(std::uint64_t ps);

  const std::vector<std::string>& nodes() const { return nodes_; }

 private:
  struct Key {
    std::uint64_t ps;
    std::uint32_t index;  // in waiting_
  };
  std::uint32_t node_of(const TraceDomain& domain);
  bool before(const TimedEvent& a, const TimedEvent& b) const;

  const std::vector<std::string> nodes_;
  std::vector<std::uint32_t> ranks_;  // of the nodes, by name
  std::vector<std::pair<const TraceDomain*, std::uint32_t>> domains_;
  std::vector<EventReader*> readers_;
  std::vector<TimedEvent> waiting_, batch_, later_;
  std::vector<Key> keys_;
  std::uint64_t read_until_ps_ = 0;
};

}  // namespace rnic
