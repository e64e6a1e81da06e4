#include "model/cable/fault_injector.h"

#include <utility>

namespace rnic {

FaultInjector::FaultInjector(sc_core::sc_module_name nm, const FaultConfig& config, const std::string& path,
                             std::uint64_t seed)
    : sc_module(nm), EthernetTarget("in"), model_(config, path, seed) {
  SC_HAS_PROCESS(FaultInjector);
  SC_METHOD(release);
  sensitive << event_;
  dont_initialize();
}

void FaultInjector::on_frame(const Frame& frame, std::uint64_t at_ps) {
  Frame passed = frame;
  const FaultModel::Fate fate = model_.pass(passed, at_ps);
  if (fate == FaultModel::Fate::kTooLong) {
    const auto mtu = static_cast<std::uint16_t>(model_.config().mtu.bytes);
    for (Frame& piece : router_.fragments(frame, mtu)) {
      model_.count_fragment();
      hold(std::move(piece), at_ps);
    }
    arm();
    return answer(frame, at_ps);
  }
  if (fate == FaultModel::Fate::kLost) return;
  if (fate == FaultModel::Fate::kTwice) hold(passed, at_ps);
  hold(std::move(passed), at_ps);
  arm();
}

void FaultInjector::hold(Frame frame, std::uint64_t ps) { held_.push({ps, numbers_++, std::move(frame)}); }

void FaultInjector::answer(const Frame& frame, std::uint64_t ps) {
  auto icmp = router_.fragmentation_needed(frame, static_cast<std::uint16_t>(model_.config().mtu.bytes));
  if (!icmp || back_ == nullptr) return;
  model_.count_icmp();
  back_->insert(std::move(*icmp), ps);
}

// Bypasses the faults: the frame is not counted among the sender's, and does not change their faults.
void FaultInjector::insert(Frame frame, std::uint64_t ps) {
  constexpr std::uint64_t kBehindTheSenders = std::uint64_t{1} << 63;
  held_.push({ps + model_.config().delay.ns * 1000, kBehindTheSenders | numbers_++, std::move(frame)});
  arm();
}

// A sender may run ahead of the kernel, so frames may come early but never late: those due by the kernel's time are in
// order.
void FaultInjector::release() {
  const auto now_ps = static_cast<std::uint64_t>(sc_core::sc_time_stamp().value());
  while (!held_.empty() && held_.top().ps <= now_ps) {
    out.pass_on(held_.top().frame, held_.top().ps);
    held_.pop();
  }
  arm();
}

void FaultInjector::arm() {
  if (held_.empty()) return;
  const auto now_ps = static_cast<std::uint64_t>(sc_core::sc_time_stamp().value());
  const std::uint64_t in_ps = held_.top().ps - now_ps;  // an earlier notification stays
  event_.notify(sc_core::sc_time::from_value(in_ps));
}

}  // namespace rnic
