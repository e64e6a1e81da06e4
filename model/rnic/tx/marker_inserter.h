// Puts MPA markers into FPDUs (RFC 5044 section 4.3). See marker_inserter.md for the cycle-exact definition.
#pragma once

#include <cstdint>

#include "model/common/burst.h"
#include "model/config/field.h"
#include "model/rnic/messages/datapath.h"
#include "model/wire/fpdu.h"

namespace rnic {

struct MarkerInserterConfig {
  unsigned pipeline_cycles = 1;
  template <class V>
  static void fields(V& v) {
    v("pipeline_cycles", &MarkerInserterConfig::pipeline_cycles,
      "cycles from a beat's exit from the word accumulator to its exit from the stage", in_range(1, 32),
      unit("cycles"));
  }
};

struct MarkerInserterCounters {
  std::uint64_t markers = 0;
  template <class V>
  static void fields(V& v) {
    v("markers", &MarkerInserterCounters::markers, "markers", "markers inserted");
  }
};

class MarkerInserter final : public Stage, private TakesAhead<FpduBeat> {
 public:
  PopPort<FpduBeat> in{*this, "in"};
  PushPort<FpduBeat> out{*this, "out"};

  // FPDUs of streams with markers leave in buffers of `pool`.
  MarkerInserter(sc_core::sc_module_name nm, ClockDomain& clk, const DatapathConfig& datapath, BufferPool& pool)
      : Stage(nm, clk), pool_(pool), beat_words_(datapath.beat_bytes / 4) {
    in.ahead(*this);
  }

  Wake tick() override;
  void reset() override;
  std::string waiting_for() const override;

  void count(std::uint64_t markers) { counters_.markers += markers; }  // inserted; the twin of this stage calls it too
  void describe(const Description& d) override;
  const MarkerInserterCounters& counters() const { return counters_; }

 private:
  void take_ahead() override { tick(); }
  Acceptance accepts(const FpduBeat& first, Cycle at) override;
  FpduBeat cut();
  unsigned beats_along(Cycle at) const;
  unsigned beats_at_rate(unsigned pending, wire::StreamPosition position, bool with_markers) const;
  void absorb(Cycle at, unsigned beats);
  void begin(const FpduBeat& beat);
  void copy_with_markers(const std::uint8_t* from, std::uint32_t octets);

  BufferPool& pool_;
  const unsigned beat_words_;

  Cycle emit_from_ = 0, absorb_from_ = 0;

  // The FPDU in the accumulator.
  unsigned pending_words_ = 0;  // absorbed, not yet emitted
  bool complete_ = false;       // its last word was absorbed
  FpduBeat next_;               // the beat to emit next
  bool completes_wqe_ = false;
  bool with_markers_ = false;
  std::uint8_t* end_ = nullptr;        // after the words absorbed so far; nullptr between FPDUs
  wire::StreamPosition position_ = 0;  // of that octet
  wire::StreamPosition length_at_ = 0;
  MarkerInserterCounters counters_;
};

}  // namespace rnic
