// The part of a link that does not depend on its beats: its ends, its capacity, observation and reset.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/common/credits.h"
#include "model/common/link_observer.h"
#include "model/common/message.h"
#include "model/common/owners.h"
#include "model/common/stage.h"
#include "model/common/trace_event.h"

namespace rnic {

struct LinkConfig {
  unsigned depth = 2;           // beats in flight and waiting together; full rate needs latency + credit_latency
  unsigned latency = 1;         // cycles from push to the first cycle in which can_pop() sees it, 1 to 63
  unsigned credit_latency = 1;  // cycles from pop to the first cycle in which can_push() sees the free slot, 1 to 63

  // A pipeline of that many cycles, deep enough for a beat in each.
  static constexpr LinkConfig pipeline(unsigned cycles) { return {cycles + 2, cycles, 1}; }
  // For a stage with this configuration; its latency is in its output link.
  template <class StageConfig>
  static constexpr auto pipeline(const StageConfig& cfg) -> decltype(pipeline(cfg.pipeline_cycles)) {
    return pipeline(cfg.pipeline_cycles);
  }
};

class LinkBase {
 public:
  LinkBase(const LinkBase&) = delete;
  LinkBase& operator=(const LinkBase&) = delete;
  virtual ~LinkBase();

  const std::string& name() const { return name_; }
  const LinkConfig& config() const { return config_; }
  const Stage* producer() const { return producer_; }  // nullptr: not bound
  const Stage* consumer() const { return consumer_; }
  std::uint64_t pushed() const { return pushed_; }  // beats ever pushed
  unsigned used() const { return used_; }           // slots that hold a beat, or will
  bool empty() const { return used_ == 0; }         // nothing waiting or in flight

  // At the end of a cycle: nothing is in flight or waiting from the next one on. Both stages are reset, too.
  virtual void reset() = 0;

  // The description of the beats, for observers that do not know their type.
  virtual MessageKind kind() const = 0;
  // Whether beats can belong to a request or the like, and whose this one is.
  virtual bool has_owner() const = 0;
  virtual RequestId owner(const void* beat, const Owners& owners) const = 0;
  void tap(LinkTap& tap);
  // The same for a tap that wants only the last beat of each message; it may get others, too.
  void tap_messages(LinkTap& tap);
  void observe(LinkObserver& observer);
  void forget(LinkObserver& observer);
  // For an observer that joins during the run. No move may have been made in cycle `next` or later; otherwise the
  // observer would miss it.
  bool is_settled(Cycle next) const { return free_from_ <= next && popped_until_ <= next; }
  // tap.filled() for the beats that are visible in cycle `next` or will be, the oldest first.
  virtual void show_beats(LinkTap& tap, Cycle next) const = 0;
  Cycle credit_from() const { return push_from_; }  // kNever: not before another pop

  // The trace event that a message on this link is. Detailed events are for detailed sinks only.
  bool traced() const { return make_event_ != nullptr; }
  bool detailed() const { return detailed_; }
  TraceKind traced_kind() const { return traced_; }
  // `first`: false if the message began with another beat.
  EventUse make_event(const void* beat, const Owners& owners, TraceEvent& event, bool& first) const {
    event.kind = traced_;
    return make_event_(beat, owners, event, first);
  }

 protected:
  LinkBase(std::string name, ClockDomain& clk, const LinkConfig& config);
  void set_end(Stage*& end, Stage& stage);
  [[gnu::noinline]] void tell_reserved(Cycle at, Cycle credit);
  [[gnu::noinline]] void tell_filled(const void* beat, Cycle at, Cycle visible);
  [[gnu::noinline]] void tell_popped(Cycle at, Cycle credit);
  void tell_emptied();

  const std::string name_;
  ClockDomain& clk_;
  const LinkConfig config_;
  Stage* producer_ = nullptr;
  Stage* consumer_ = nullptr;
  Credits credits_;
  unsigned used_ = 0;       // beats
  Cycle free_from_ = 0;     // valid and ready pins move one beat a cycle
  Cycle push_from_ = 0;     // the first cycle for the next push; kNever while no credit is known
  Cycle popped_until_ = 0;  // the cycle after the last pop
  bool tapped_ = false, observed_ = false;
  unsigned beat_taps_ = 0;  // of taps_, those that want every beat
  std::uint64_t pushed_ = 0;
  EventUse (*make_event_)(const void*, const Owners&, TraceEvent&, bool& first) = nullptr;
  TraceKind traced_{};
  bool detailed_ = false;
  std::vector<LinkTap*> taps_;
  std::vector<LinkObserver*> observers_;
};

}  // namespace rnic
