#include "model/system/chip_waves.h"

#include <vector>

#include "model/rnic/beat_fields.h"

namespace rnic {

struct ChipWaves::Observers {
  Waves& waves;
  const std::uint64_t period_ps;
  std::vector<std::shared_ptr<void>> kept;

  template <class T>
  void add(Link<T>& link, std::vector<BeatField<T>> fields) {
    if (!waves.dumps(link.name())) return;
    auto wave = std::make_shared<LinkWave<T>>(waves, link.name(), period_ps, std::move(fields));
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
