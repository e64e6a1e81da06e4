// All events of a run in the order of time, batch by batch, for those who write them down.
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

// What an event's numbers mean, where their names do not say it; it may be nothing. It follows from the event's kind,
// values and text alone.
using EventWords = std::function<std::string(const TraceEvent&)>;

class EventReader {
 public:
  virtual ~EventReader() = default;
  // In order, and none earlier than those of the batch before.
  virtual void events(const std::vector<TimedEvent>& batch) = 0;
};

// Keeps events as they are while the simulation runs: a stage that states a fact pays for a copy of 80 octets. What
// formats them is called by advance(), between two steps of the kernel. Events of one picosecond are in an order of
// their own, so that two runs in which the same things happened give the same batches.
class EventStream final : public TraceSink {
 public:
  // The names of all domains to come.
  explicit EventStream(std::vector<std::string> nodes);

  void attach(EventReader& reader) { readers_.push_back(&reader); }
  void event(const TraceDomain& domain, const TraceEvent& event) override;
  // No event before this time will come any more; one that does is a bug.
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
