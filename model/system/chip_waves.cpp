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

struct ChipWaves::Observers {
  Waves& waves;
  const std::uint64_t period_ps;
  std::vector<std::unique_ptr<LinkPins>> kept;

  template <class T>
  void add(Link<T>& link, std::vector<BeatField<T>> fields) {
    if (!waves.dumps(link.name())) return;
    auto wave = std::make_unique<LinkWave<T>>(waves, link.name(), period_ps, std::move(fields));
    link.observe(*wave);
    kept.push_back(std::move(wave));
  }
  template <class T>
  void operator()(Link<T>& link) {
    add(link, {});
  }
  void operator()(Link<FpduBeat>& link) { add(link, fpdu_beat_fields()); }
  void operator()(Link<StreamBeat>& link) { add(link, stream_beat_fields()); }
};

ChipWaves::ChipWaves(Rnic& chip, const ClockDomain& clk, Waves& waves)
    : observers_(std::make_unique<Observers>(Observers{waves, clk.period_ps(), {}})) {
  chip.links.for_each(*observers_);
}

ChipWaves::~ChipWaves() = default;

}  // namespace rnic
