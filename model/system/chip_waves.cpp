#include "model/system/chip_waves.h"

#include <functional>
#include <set>

#include "model/rnic/rnic.h"

namespace rnic {

std::vector<std::string> wave_scopes(const Rnic& chip) {
  std::set<std::string> scopes;
  const std::function<void(const std::string&)> add = [&scopes](const std::string& name) {
    for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) {
      scopes.insert(name.substr(0, dot));
    }
    scopes.insert(name);
  };
  for (const LinkBase* link : chip.links()) add(link->name());
  return {scopes.begin(), scopes.end()};
}

namespace {

// Long enough for what stages have moved ahead to have happened, in steps of 10 us: the FPDUs in the deframer's queue,
// and those that its neighbours and the transmit path are at.
std::uint64_t margin_ps(const RnicConfig& config, const ClockDomain& clk) {
  constexpr std::uint64_t kStepsPs = 40'000'000;
  constexpr unsigned kFpdusElsewhere = 8;
  const Cycle fpdu = config.tcp.mtu / config.datapath.beat_bytes + 1;
  const Cycle ahead = (config.rx.mpa_deframer.queue_fpdus + kFpdusElsewhere) * fpdu + 2 * clk.lookahead();
  return kStepsPs + ahead * clk.period_ps();
}

}  // namespace

ChipWaves::ChipWaves(const Rnic& chip, ClockDomain& clk, Waves& waves, const WaveWindow& window)
    : clk_(clk),
      from_ps_(window.from_ps),
      to_ps_(window.to_ps),
      margin_ps_(margin_ps(chip.config(), clk)),
      runs_ahead_(clk.runs_ahead()) {
  for (LinkBase* link : chip.links()) {
    if (waves.dumps(link->name())) links_.emplace_back(waves, *link, clk.period_ps());
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
    for (LinkWave& wave : links_) wave.leave();
    clk_.set_run_ahead(runs_ahead_);
    state_ = State::kOver;
  }
}

bool ChipWaves::join() {
  const Cycle next = clk_.next();
  for (const LinkWave& wave : links_) {
    if (!wave.link().is_settled(next)) return false;
  }
  for (LinkWave& wave : links_) wave.join(next);
  return true;
}

}  // namespace rnic
