#include "model/common/link_base.h"

#include <algorithm>
#include <utility>

namespace rnic {

LinkBase::LinkBase(std::string name, ClockDomain& clk, const LinkConfig& config)
    : name_(std::move(name)), clk_(clk), config_(config), credits_(std::max(config.depth, 1u)) {
  RNIC_CHECK_MSG(config.depth >= 1, name_);
  RNIC_CHECK_MSG(config.latency >= 1 && config.latency < ClockDomain::kNearCycles, name_);
  RNIC_CHECK_MSG(config.credit_latency >= 1 && config.credit_latency < ClockDomain::kNearCycles, name_);
  clk.add(*this);
}

LinkBase::~LinkBase() { clk_.remove(*this); }

void LinkBase::tap(LinkTap& tap) {
  tap_messages(tap);
  ++beat_taps_;
}

void LinkBase::tap_messages(LinkTap& tap) {
  taps_.push_back(&tap);
  tapped_ = true;
}

void LinkBase::observe(LinkObserver& observer) {
  observers_.push_back(&observer);
  observed_ = true;
  tap(observer);
}

void LinkBase::forget(LinkObserver& observer) {
  const auto known = std::find(observers_.begin(), observers_.end(), &observer);
  if (known == observers_.end()) return;
  observers_.erase(known);
  taps_.erase(std::find(taps_.begin(), taps_.end(), &observer));
  --beat_taps_;
  tapped_ = !taps_.empty();
  observed_ = !observers_.empty();
}

void LinkBase::set_end(Stage*& end, Stage& stage) {
  RNIC_CHECK_MSG(end == nullptr, name_, " is bound twice on one side");
  RNIC_CHECK_MSG(&stage.clock() == &clk_, name_, " joins stages of different clocks");
  end = &stage;
}

void LinkBase::tell_reserved(Cycle at, Cycle credit) {
  for (LinkObserver* o : observers_) o->reserved(at, credit);
}
void LinkBase::tell_filled(const void* beat, Cycle at, Cycle visible) {
  for (LinkTap* tap : taps_) tap->filled(beat, at, visible);
}
void LinkBase::tell_popped(Cycle at, Cycle credit) {
  for (LinkObserver* o : observers_) o->popped(at, credit);
}
void LinkBase::tell_emptied() {
  for (LinkObserver* o : observers_) o->emptied(clk_.now());
}

}  // namespace rnic
