// Trace events: a stage records an event once, and digest, logs and breakdowns are its sinks. Free without a sink.
#pragma once

#include <string>
#include <vector>

#include "model/common/trace_event.h"

namespace rnic {

const char* to_string(TraceKind kind);

// A clock whose stages record. Cycle numbers of different domains cannot be compared; times can.
struct TraceDomain {
  std::string name;
  std::uint64_t period_ps = 0;
};

class TraceSink {
 public:
  // Events come in no order, as stages run ahead of their neighbours. A sink that writes a log sorts by time.
  virtual void event(const TraceDomain& domain, const TraceEvent& event) = 0;

 protected:
  ~TraceSink() = default;
};

// One per clock domain. Each LinkTrace (link_trace.h) records the messages of its link while a sink is attached.
class Recorder {
 public:
  explicit Recorder(TraceDomain domain) : domain_(std::move(domain)) {}
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // A detailed sink also gets the events that only a log or a breakdown needs. They cost time.
  void attach(TraceSink& sink, bool detailed = false) {
    sinks_.push_back(&sink);
    if (detailed) detailed_.push_back(&sink);
  }
  // A detailed sink that also gets kTaken and fetches of receive requests for shared queues, which no other sink needs.
  void attach_timing(TraceSink& sink) {
    attach(sink, true);
    timing_.push_back(&sink);
  }
  bool on() const { return !sinks_.empty(); }
  bool detailed() const { return !detailed_.empty(); }
  void operator()(const TraceEvent& event) const {
    for (TraceSink* sink : sinks_) sink->event(domain_, event);
  }
  void detail(const TraceEvent& event) const {
    for (TraceSink* sink : detailed_) sink->event(domain_, event);
  }
  bool timing() const { return !timing_.empty(); }
  void time(const TraceEvent& event) const {
    for (TraceSink* sink : timing_) sink->event(domain_, event);
  }
  const TraceDomain& domain() const { return domain_; }

 private:
  const TraceDomain domain_;
  std::vector<TraceSink*> sinks_, detailed_, timing_;
};

}  // namespace rnic
