#include "model/system/chip_waves.h"

#include <algorithm>
#include <functional>
#include <set>

#include "model/common/description.h"
#include "model/system/node.h"

namespace rnic {

namespace {

std::vector<Probe> chip_probes(Node& node) {
  std::vector<Probe> probes;
  node.chip.describe(Description(ProbeGroup(probes, std::string(node.chip.basename()) + ".state")));
  return probes;
}

std::vector<Probe> host_probes(Node& node) {
  std::vector<Probe> probes;
  const Description d(ProbeGroup(probes, "host_" + std::string(node.basename())));
  for (Stage* stage : node.host_clk.stages()) stage->describe(d.of(*stage));
  return probes;
}

// Many numbers would be many variables, most of which never change.
std::vector<Probe> shown(std::vector<Probe> probes, const WaveWindow& window) {
  const auto is_left_out = [&window](const Probe& probe) {
    const std::string last = probe.scope.substr(probe.scope.rfind('.') + 1);
    const std::size_t digits = last.find_first_of("0123456789");
    const std::string kind = last.substr(0, digits);
    if ((kind != "qp" && kind != "flow") || std::stoul(last.substr(digits)) < kProbedNumbers) return false;
    return std::find(window.scopes.begin(), window.scopes.end(), probe.scope) == window.scopes.end();
  };
  probes.erase(std::remove_if(probes.begin(), probes.end(), is_left_out), probes.end());
  return probes;
}

std::string clock_scope(const Node& node) { return std::string(node.chip.basename()) + ".clock"; }

}  // namespace

std::vector<std::string> wave_scopes(Node& node, const Described& parts) {
  std::set<std::string> scopes;
  const std::function<void(const std::string&)> add = [&scopes](const std::string& name) {
    for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) {
      scopes.insert(name.substr(0, dot));
    }
    scopes.insert(name);
  };
  add(clock_scope(node));
  for (const LinkBase* link : parts.links) add(link->name());
  for (const Probe& probe : chip_probes(node)) add(probe.scope);
  for (const Probe& probe : host_probes(node)) add(probe.scope);
  return {scopes.begin(), scopes.end()};
}

namespace {

// Long enough for everything that stages have moved ahead to have happened, in steps of 10 us.
std::uint64_t margin_ps(const Described& parts, const ClockDomain& clk) {
  constexpr std::uint64_t kStepsPs = 40'000'000;
  return kStepsPs + (parts.moved_ahead + 2 * clk.lookahead()) * clk.period_ps();
}

}  // namespace

ChipWaves::ChipWaves(Node& node, const Described& parts, Waves& waves, const WaveWindow& window,
                     std::vector<std::string> nodes)
    : waves_(waves),
      clk_(node.core_clk),
      owners_{*parts.owners, std::move(nodes)},
      clock_(waves.declare(clock_scope(node), "clk", 1)),
      clock_drawn_(window.from_ps / clk_.period_ps()),
      from_ps_(window.from_ps),
      to_ps_(window.to_ps),
      margin_ps_(margin_ps(parts, clk_)),
      runs_ahead_(clk_.runs_ahead()),
      chip_probes_(waves, clk_, shown(chip_probes(node), window)),
      host_probes_(waves, node.host_clk, shown(host_probes(node), window)) {
  for (LinkBase* link : parts.links) {
    if (waves.dumps(link->name())) links_.emplace_back(waves, *link, clk_.period_ps(), &owners_);
  }
}

void ChipWaves::follow(std::uint64_t now_ps) {
  if (state_ == State::kBefore && now_ps + margin_ps_ >= from_ps_) {
    clk_.set_run_ahead(false);
    state_ = State::kSettling;
  }
  if (state_ == State::kSettling && join()) state_ = State::kWatching;
  RNIC_CHECK_MSG(state_ != State::kSettling || now_ps < from_ps_, "a stage has run ahead into the waveform's window");
  if (state_ == State::kWatching && now_ps >= to_ps_) {
    leave();
    clk_.set_run_ahead(runs_ahead_);
    state_ = State::kOver;
  }
}

void ChipWaves::settle() {
  if (state_ != State::kWatching) return;
  chip_probes_.settle();
  host_probes_.settle();
}

void ChipWaves::draw_clock(std::uint64_t until_ps) {
  if (!clock_.dumped()) return;
  const std::uint64_t end_ps = std::min(until_ps, to_ps_), period_ps = clk_.period_ps();
  for (; clock_drawn_ * period_ps < end_ps; ++clock_drawn_) {
    waves_.change(clock_, clock_drawn_ * period_ps, 1);
    waves_.change(clock_, clock_drawn_ * period_ps + period_ps / 2, 0);
  }
}

void ChipWaves::leave() {
  settle();
  for (LinkWave& wave : links_) wave.leave();
  chip_probes_.leave();
  host_probes_.leave();
}

bool ChipWaves::join() {
  const Cycle next = clk_.next();
  for (const LinkWave& wave : links_) {
    if (!wave.link().is_settled(next)) return false;
  }
  for (LinkWave& wave : links_) wave.join(next);
  chip_probes_.join();
  host_probes_.join();
  return true;
}

}  // namespace rnic
