// A link in the waveform, as pins at its consumer's end: a beat moves in each cycle with valid and ready.
#pragma once

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "model/common/link_observer.h"
#include "model/trace/waves.h"

namespace rnic {

// One variable of a beat.
template <class T>
struct BeatField {
  const char* name;
  unsigned width;  // at most 64 bits
  std::uint64_t (*get)(const T& beat);
};

// Variables of the scope: `valid` while a beat is visible to the consumer, its fields, `ready` in the cycle in which it
// is taken, and `credit` while the producer may push. The clock must not run ahead: a wave is drawn in order.
//   LinkWave<FpduBeat> wave(waves, link.name(), clk.period_ps(), kFpduBeatFields);  // then link.observe(wave)
// Where waves.dumps(link.name()) is false a link is better not observed at all.
template <class T>
class LinkWave final : public LinkObserver<T> {
 public:
  LinkWave(Waves& waves, const std::string& scope, std::uint64_t period_ps, std::vector<BeatField<T>> fields)
      : waves_(waves), period_ps_(period_ps), fields_(std::move(fields)) {
    valid_ = declare(scope, "valid", 0);
    ready_ = declare(scope, "ready", 0);
    credit_ = declare(scope, "credit", 1);
    for (const BeatField<T>& f : fields_) field_ids_.push_back(waves_.declare(scope, f.name, f.width));
  }

  void reserved(Cycle now, Cycle next_credit) override {
    if (next_credit == now + 1) return;
    change(credit_, now + 1, 0);
    if (next_credit != kNever) change(credit_, next_credit, 1);
  }

  void filled(const T& beat, Cycle, Cycle visible) override {
    Pending& last = pending_.emplace_back(Pending{visible, {}});
    for (const BeatField<T>& f : fields_) last.values.push_back(f.get(beat));
    if (pending_.size() == 1) show_front(visible);
  }

  void popped(Cycle now, Cycle credit) override {
    change(ready_, now, 1);
    change(ready_, now + 1, 0);
    if (credit != kNever) change(credit_, credit, 1);
    pending_.pop_front();
    if (pending_.empty() || pending_.front().visible > now + 1) change(valid_, now + 1, 0);
    if (!pending_.empty()) show_front(std::max(pending_.front().visible, now + 1));
  }

 private:
  struct Pending {
    Cycle visible;
    std::vector<std::uint64_t> values;
  };

  WaveId declare(const std::string& scope, const char* name, std::uint64_t at_start) {
    const WaveId id = waves_.declare(scope, name, 1);
    waves_.change(id, 0, at_start);
    return id;
  }
  void change(WaveId id, Cycle at, std::uint64_t value) { waves_.change(id, at * period_ps_, value); }
  void show_front(Cycle at) {
    change(valid_, at, 1);
    for (std::size_t i = 0; i < field_ids_.size(); ++i) change(field_ids_[i], at, pending_.front().values[i]);
  }

  Waves& waves_;
  const std::uint64_t period_ps_;
  const std::vector<BeatField<T>> fields_;
  WaveId valid_, ready_, credit_;
  std::vector<WaveId> field_ids_;
  std::deque<Pending> pending_;
};

}  // namespace rnic
