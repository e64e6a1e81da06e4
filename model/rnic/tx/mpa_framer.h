// Makes FPDUs of ULPDUs (RFC 5044 section 4.1). See mpa_framer.md.
#pragma once

#include <cstdint>

#include "model/common/beat_stage.h"
#include "model/config/field.h"
#include "model/rnic/messages/datapath.h"

namespace rnic {

struct MpaFramerConfig {
  unsigned pipeline_cycles = 1;
  template <class V>
  static void fields(V& v) {
    v("pipeline_cycles", &MpaFramerConfig::pipeline_cycles,
      "depth of the shift by the length field's two octets: cycles from a ULPDU's entry to its first beat's exit",
      in_range(1, 32), unit("cycles"));
  }
};

struct MpaFramerCounters {
  std::uint64_t fpdus = 0, ulpdu_octets = 0;
  template <class V>
  static void fields(V& v) {
    v("fpdus", &MpaFramerCounters::fpdus, "FPDUs", "FPDUs framed");
    v("ulpdu_octets", &MpaFramerCounters::ulpdu_octets, "octets", "octets of ULPDUs: DDP headers and payload");
  }
};

class MpaFramer final : public Stage {
 public:
  PopPort<Ulpdu> in{*this, "in"};
  PushPort<FpduBeat> out{*this, "out"};

  MpaFramer(sc_core::sc_module_name nm, ClockDomain& clk, const DatapathConfig& datapath)
      : Stage(nm, clk), beat_words_(datapath.beat_bytes / 4) {}

  Wake tick() override;
  void reset() override;
  std::string waiting_for() const override;

  void count(const Ulpdu& ulpdu);  // an FPDU was begun; the twin of this stage calls it too
  void describe(const Description& d) override;
  const MpaFramerCounters& counters() const { return counters_; }

 private:
  void frame(Ulpdu ulpdu);

  const unsigned beat_words_;
  Cycle next_at_ = 0;  // one beat per cycle
  Emission<FpduBeat> fpdu_;
  bool completes_wqe_ = false;
  MpaFramerCounters counters_;
};

}  // namespace rnic
