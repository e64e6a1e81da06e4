#include "model/system/chip_waves.h"

#include <functional>
#include <set>

#include "model/rnic/beat_fields.h"
#include "model/rnic/rnic.h"

namespace rnic {

std::vector<std::string> wave_scopes(Rnic& chip) {
  std::set<std::string> scopes;
  const std::function<void(const std::string&)> add = [&scopes](const std::string& name) {
    for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) {
      scopes.insert(name.substr(0, dot));
    }
    scopes.insert(name);
  };
  auto add_link = [&add](auto& link) { add(link.name()); };
  chip.links.for_each(add_link);
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

struct ChipWaves::Observers {
  // A link and its pins.
  struct Watched {
    virtual ~Watched() = default;
    virtual bool is_settled(Cycle next) const = 0;
    virtual void join(Cycle next) = 0;
    virtual void leave() = 0;
  };

  template <class T>
  class WatchedLink final : public Watched {
   public:
    WatchedLink(Link<T>& link, Waves& waves, std::uint64_t period_ps, std::vector<BeatField<T>> fields)
        : link_(link), wave_(waves, link.name(), period_ps, std::move(fields)) {}
    bool is_settled(Cycle next) const override { return link_.is_settled(next); }
    void join(Cycle next) override { wave_.join(link_, next); }
    void leave() override { link_.forget(wave_); }

   private:
    Link<T>& link_;
    LinkWave<T> wave_;
  };

  Waves& waves;
  const std::uint64_t period_ps;
  std::vector<std::unique_ptr<Watched>> kept;

  template <class T>
  void add(Link<T>& link, std::vector<BeatField<T>> fields) {
    if (!waves.dumps(link.name())) return;
    kept.push_back(std::make_unique<WatchedLink<T>>(link, waves, period_ps, std::move(fields)));
  }
  template <class T>
  void operator()(Link<T>& link) {
    add(link, {});
  }
  void operator()(Link<FpduBeat>& link) { add(link, fpdu_beat_fields()); }
  void operator()(Link<StreamBeat>& link) { add(link, stream_beat_fields()); }
};

ChipWaves::ChipWaves(Rnic& chip, ClockDomain& clk, Waves& waves, const WaveWindow& window)
    : clk_(clk),
      from_ps_(window.from_ps),
      to_ps_(window.to_ps),
      margin_ps_(margin_ps(chip.config(), clk)),
      runs_ahead_(clk.runs_ahead()),
      observers_(std::make_unique<Observers>(Observers{waves, clk.period_ps(), {}})) {
  chip.links.for_each(*observers_);
}

ChipWaves::~ChipWaves() = default;

void ChipWaves::follow(std::uint64_t now_ps) {
  if (state_ == State::kBefore && now_ps + margin_ps_ >= from_ps_) {
    clk_.set_run_ahead(false);
    state_ = State::kSettling;
  }
  if (state_ == State::kSettling && join()) state_ = State::kWatching;
  RNIC_CHECK_MSG(state_ != State::kSettling || now_ps < from_ps_, "a stage has run ahead into the waveform's window");
  if (state_ == State::kWatching && now_ps >= to_ps_) {
    for (const auto& link : observers_->kept) link->leave();
    clk_.set_run_ahead(runs_ahead_);
    state_ = State::kOver;
  }
}

bool ChipWaves::join() {
  const Cycle next = clk_.next();
  for (const auto& link : observers_->kept) {
    if (!link->is_settled(next)) return false;
  }
  for (const auto& link : observers_->kept) link->join(next);
  return true;
}

}  // namespace rnic
