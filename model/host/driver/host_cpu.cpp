#include "model/host/driver/host_cpu.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/common/description.h"

namespace rnic::host {

std::uint64_t Core::time_ps() const { return std::max(busy_until_ps_, cpu_.clock().now_ps()); }

void Core::wake_at(std::uint64_t at_ps) {
  const ClockDomain& clk = cpu_.clock();
  const std::uint64_t ps = std::max(at_ps, clk.now_ps() + clk.period_ps());
  if (std::find(wakes_ps_.begin(), wakes_ps_.end(), ps) == wakes_ps_.end()) wakes_ps_.push_back(ps);
  cpu_.schedule(*this);
}

void Core::wake() { wake_at(cpu_.running_ == nullptr ? 0 : cpu_.running_->time_ps()); }

// What is written in this cycle is visible from the next one on.
void Core::wake_poller() {
  const ClockDomain& clk = cpu_.clock();
  newest_visible_ps_ = clk.now_ps() + clk.period_ps();
  visible_ps_ = std::min(visible_ps_, newest_visible_ps_);
  cpu_.schedule(*this);
}

// The cycle of the next call, which waits for the end of the call before. A polling loop has been spinning since then,
// so its iterations are a grid that starts there.
Cycle Core::due() const {
  std::uint64_t asked = kNone;
  for (const std::uint64_t ps : wakes_ps_) asked = std::min(asked, ps);
  if (visible_ps_ != kNone) {
    const std::uint64_t interval = std::uint64_t{cpu_.config_.poll_interval_ns} * 1000;
    const std::uint64_t idle_ps = visible_ps_ <= busy_until_ps_ ? 0 : visible_ps_ - busy_until_ps_;
    asked = std::min(asked, busy_until_ps_ + (idle_ps + interval - 1) / interval * interval);
  }
  return asked == kNone ? kNever : cpu_.clock().cycle_at_or_after(std::max(asked, busy_until_ps_));
}

// The reason for this call is served; what was written in this cycle causes another one.
void Core::begin_call() {
  const std::uint64_t now_ps = cpu_.clock().now_ps();
  wakes_ps_.erase(std::remove_if(wakes_ps_.begin(), wakes_ps_.end(), [=](std::uint64_t ps) { return ps <= now_ps; }),
                  wakes_ps_.end());
  if (visible_ps_ <= now_ps) visible_ps_ = newest_visible_ps_ > now_ps ? newest_visible_ps_ : kNone;
}

Core& HostCpu::add(App& app) {
  cores_.push_back(std::unique_ptr<Core>(new Core(*this, app, static_cast<std::uint32_t>(cores_.size()))));
  return *cores_.back();
}

Core& HostCpu::running() {
  RNIC_CHECK_MSG(running_ != nullptr, std::string(name()) + ": a verb was called outside a program");
  return *running_;
}

void HostCpu::access(Access::Kind kind, std::uint32_t offset, std::uint32_t value, std::uint32_t cookie,
                     ResetKind reset) {
  accesses_.push({running().time_ps(), sequence_++, kind, reset, offset, value, cookie});
}

void HostCpu::mmio_write(std::uint32_t offset, std::uint32_t value) {
  running().spend_ns(config_.mmio_write_ns);
  access(Access::Kind::kWrite, offset, value, 0);
}

void HostCpu::mmio_read(std::uint32_t offset, std::uint32_t cookie) { access(Access::Kind::kRead, offset, 0, cookie); }

void HostCpu::config_read(std::uint32_t offset, std::uint32_t cookie) {
  access(Access::Kind::kConfigRead, offset, 0, cookie);
}

void HostCpu::config_write(std::uint32_t offset, std::uint32_t value, std::uint32_t cookie) {
  access(Access::Kind::kConfigWrite, offset, value, cookie);
}

void HostCpu::reset_device(ResetKind kind) { access(Access::Kind::kReset, 0, 0, 0, kind); }

void HostCpu::issue(const Access& a) {
  switch (a.kind) {
    case Access::Kind::kWrite:
      return port_.mmio_write(a.offset, a.value, a.at_ps);
    case Access::Kind::kRead:
      return port_.mmio_read(a.offset, a.cookie, a.at_ps);
    case Access::Kind::kConfigWrite:
      return port_.config_write(a.offset, 4, a.value, a.cookie, a.at_ps);
    case Access::Kind::kConfigRead:
      return port_.config_read(a.offset, a.cookie, a.at_ps);
    case Access::Kind::kReset:
      return port_.reset_device(a.reset, a.at_ps);
  }
}

// A working core runs ahead of the clock; its accesses are issued when the clock reaches them.
void HostCpu::issue_accesses() {
  for (; !accesses_.empty() && accesses_.top().at_ps <= clock().now_ps(); accesses_.pop()) issue(accesses_.top());
}

// The running core is scheduled after its call, which makes it busy.
void HostCpu::schedule(Core& core) {
  const Cycle at = core.due();
  if (&core == running_) return;
  if (at == core.called_at_) return;
  core.called_at_ = at;
  if (at == kNever) return;
  if (!ticking_) wake(std::max(at, now() + 1));
  calls_.push_back({at, core.number_});
  std::push_heap(calls_.begin(), calls_.end(), std::greater<>());
}

Cycle HostCpu::next_call() {
  while (!calls_.empty() && cores_[calls_.front().core]->called_at_ != calls_.front().at) {
    std::pop_heap(calls_.begin(), calls_.end(), std::greater<>());
    calls_.pop_back();
  }
  return calls_.empty() ? kNever : calls_.front().at;
}

void HostCpu::run(Core& core) {
  core.begin_call();
  running_ = &core;
  const std::uint64_t from_ps = core.time_ps();
  core.app_.step();
  ++core.calls_;
  if (work_observer_ != nullptr && core.time_ps() != from_ps) {
    work_observer_->worked(core.number_, from_ps, core.time_ps());
  }
  core.account_.occupy(now(), std::max(now(), clock().cycle_at_or_after(core.busy_until_ps_)));
  running_ = nullptr;
  schedule(core);
}

// Cores are called in their order. None becomes due in the cycle of what causes it.
Wake HostCpu::tick() {
  ticking_ = true;
  issue_accesses();
  due_.clear();
  while (next_call() <= now()) {
    due_.push_back(calls_.front().core);
    cores_[due_.back()]->called_at_ = kNever;
  }
  std::sort(due_.begin(), due_.end());
  for (const std::uint32_t core : due_) run(*cores_[core]);
  issue_accesses();
  Cycle next = accesses_.empty() ? kNever : clock().cycle_at_or_after(accesses_.top().at_ps);
  next = std::min(next, next_call());
  ticking_ = false;
  return next == kNever ? Wake::on_traffic() : Wake::at_cycle(std::max(next, now() + 1));
}

std::string HostCpu::waiting_for() const {
  std::string text;
  for (const auto& core : cores_) {
    const std::string one = core->app().waiting_for();
    if (!one.empty()) text += (text.empty() ? "" : "; ") + one;
  }
  return text;
}

void HostCpu::describe(const Description& d) {
  const auto calls = [this] {
    std::uint64_t sum = 0;
    for (const auto& core : cores_) sum += core->calls();
    return static_cast<double>(sum);
  };
  d.stats().sum("program_calls", calls, "calls", "calls of programs, on all cores");
  static const ValueWords kActivity{"waiting", "working"};
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    d.account({fmt::format("host.core{}", i), "core", Reach::kProcessor, fmt::format("host core {}", i), 250},
              cores_[i]->account());
    Probe activity;
    activity.name = "activity";
    activity.width = ProbeGroup::width_of(kActivity);
    activity.words = &kActivity;
    activity.in_cycle = true;
    const auto until = [this, core = cores_[i].get()] { return clock().cycle_at_or_after(core->busy_until_ps_); };
    activity.read = [until](Cycle at) { return at < until(); };
    activity.changes_after = [until](Cycle at) { return until() > at ? until() : kNever; };
    d.probes().group("core", i).add(std::move(activity));
  }
}

}  // namespace rnic::host
