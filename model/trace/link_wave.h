// A link in the waveform, as pins at its consumer's end: a beat moves in each cycle with valid and ready.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
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

// The pins of a link whatever its beats are: the part that is compiled once.
class LinkPins {
 public:
  virtual ~LinkPins() = default;

 protected:
  LinkPins(Waves& waves, const std::string& scope, std::uint64_t period_ps);
  void declare_field(const std::string& scope, const char* name, unsigned width);

  void on_joined(Cycle next, Cycle credit);
  void on_reserved(Cycle now, Cycle next_credit);
  void on_filled(std::vector<std::uint64_t> values, Cycle visible);
  void on_popped(Cycle now, Cycle credit);
  void on_emptied(Cycle now);

 private:
  struct Pending {
    Cycle visible;
    std::vector<std::uint64_t> values;
  };
  WaveId declare(const std::string& scope, const char* name, std::uint64_t at_start);
  void change(WaveId id, Cycle at, std::uint64_t value);
  void show_front(Cycle at);

  Waves& waves_;
  const std::uint64_t period_ps_;
  WaveId valid_, ready_, credit_;
  std::vector<WaveId> field_ids_;
  std::deque<Pending> pending_;
};

// Variables of the scope: `valid` while a beat is visible to the consumer, its fields, `ready` in the cycle in which it
// is taken, and `credit` while the producer may push. The clock must not run ahead: a wave is drawn in order.
//   LinkWave<FpduBeat> wave(waves, link.name(), clk.period_ps(), kFpduBeatFields);  // then link.observe(wave)
// Where waves.dumps(link.name()) is false a link is better not observed at all. wave.join(link, next) observes one in
// mid-run; the fields are unknown then until a beat is visible.
template <class T>
class LinkWave final : public LinkPins, public LinkObserver<T> {
 public:
  LinkWave(Waves& waves, const std::string& scope, std::uint64_t period_ps, std::vector<BeatField<T>> fields)
      : LinkPins(waves, scope, period_ps), fields_(std::move(fields)) {
    for (const BeatField<T>& f : fields_) declare_field(scope, f.name, f.width);
  }
  // Observes a Link<T> from cycle `next` on, in which it is settled.
  template <class Link>
  void join(Link& link, Cycle next) {
    on_joined(next, link.credit_from());
    link.for_each_beat([&](const T& beat, Cycle visible) { filled(beat, next, std::max(visible, next)); });
    link.observe(*this);
  }
  void reserved(Cycle now, Cycle next_credit) override { on_reserved(now, next_credit); }
  void filled(const T& beat, Cycle, Cycle visible) override {
    std::vector<std::uint64_t> values;
    for (const BeatField<T>& f : fields_) values.push_back(f.get(beat));
    on_filled(std::move(values), visible);
  }
  void popped(Cycle now, Cycle credit) override { on_popped(now, credit); }
  void emptied(Cycle now) override { on_emptied(now); }

 private:
  const std::vector<BeatField<T>> fields_;
};

}  // namespace rnic
