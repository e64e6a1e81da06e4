// Draws a link in the waveform as pins at its consumer's end: a beat moves in each cycle with valid and ready.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "model/common/link_base.h"
#include "model/trace/waves.h"

namespace rnic {

// What a wave needs for the texts of owners.
struct WaveOwners {
  const Owners& owners;
  std::vector<std::string> nodes;
};

// Variables of the scope: `owner`, a text, if that is wanted and beats can have one; `valid` while a beat is visible to
// the consumer, the fields of its message (`failed_length`), `ready` in the cycle in which it is taken, and `credit`
// while the producer may push. The clock must not run ahead, as the wave is drawn in order.
//   LinkWave wave(waves, link, clk.period_ps(), &owners);
//   link.observe(wave);
// Do not observe a link if waves.dumps(link.name()) is false.
class LinkWave final : public LinkObserver {
 public:
  LinkWave(Waves& waves, LinkBase& link, std::uint64_t period_ps, const WaveOwners* owners = nullptr);
  LinkWave(const LinkWave&) = delete;
  LinkWave& operator=(const LinkWave&) = delete;

  // Observes the link from cycle `next` on, when it is settled; the fields are unknown until a beat is visible.
  void join(Cycle next);
  void leave() { link_.forget(*this); }
  const LinkBase& link() const { return link_; }

  void reserved(Cycle now, Cycle next_credit) override;
  void filled(const void* beat, Cycle now, Cycle visible) override;
  void popped(Cycle now, Cycle credit) override;
  void emptied(Cycle now) override;

 private:
  struct Pending {
    Cycle visible;
    std::vector<std::uint64_t> values;
    RequestId owner;
  };
  void change(WaveId id, Cycle at, std::uint64_t value);
  void show_front(Cycle at);

  Waves& waves_;
  LinkBase& link_;
  const std::uint64_t period_ps_;
  const MessageKind kind_;
  const WaveOwners* const owners_;
  WaveId valid_, ready_, credit_, owner_;
  std::vector<WaveId> field_ids_;
  std::deque<Pending> pending_;
};

}  // namespace rnic
