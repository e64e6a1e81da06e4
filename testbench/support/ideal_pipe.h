// One direction of an ideal lower layer: unlimited credit, order kept, segments acknowledged on arrival.
#pragma once

#include <deque>
#include <utility>
#include <vector>

#include "model/rnic/llp/llp.h"
#include "testbench/support/mpa_reference.h"

namespace rnic::test {

class IdealPipe final : public Stage {
 public:
  // At the sender.
  PopPort<Ulpdu> ulpdus{*this, "ulpdus"};
  PushPort<TxCredit> credit{*this, "credit"};
  PushPort<WqesAcked> acked{*this, "acked"};
  // At the receiver. Nothing comes after a gap.
  PushPort<FpduBeat> segments{*this, "segments"};
  PopPort<StreamEnded> ended{*this, "ended"};
  PushPort<StreamBeat> behind{*this, "behind"};
  PopPort<EarlyPlaced> early{*this, "early"};

  static constexpr unsigned kBeatBytes = 64;

  // Its queue pair is the same one at both ends.
  struct Stream {
    FlowId flow;
    Qpn qpn;
    std::uint32_t epoch = 1;
  };
  IdealPipe(sc_core::sc_module_name nm, ClockDomain& clk, const Stream& stream) : Stage(nm, clk), stream_(stream) {
    wake(0);
  }
  // The sender closes its stream after the data it has sent.
  void close(FlowId flow) {
    auto beats = cut_fpdu(pool_, Bytes(kEndBytes), kBeatBytes, false, 0, flow);
    beats.back().crc_ok = true;
    beats.back().marker_lane = FpduBeat::kEnds;
    add(beats.front());
    wake(now() + 1);
  }
  // At the receiver: ends of streams that have passed its stages.
  std::vector<StreamEnded> ends;

  Wake tick() override {
    if (!std::exchange(has_credit_, true)) credit->push({stream_.flow, 1u << 30, stream_.qpn, stream_.epoch});
    if (ended->can_pop()) ends.push_back(ended->pop());
    if (beats_.empty() && ulpdus->can_pop()) take(ulpdus->pop());
    if (!beats_.empty() && segments->can_push() && acked->can_push()) {
      const FpduBeat beat = beats_.front();
      beats_.pop_front();
      segments->push(beat);
      if (beat.completes_wqe) acked->push({beat.flow, 1, stream_.qpn, stream_.epoch});
    }
    return beats_.empty() && !ulpdus->can_pop() ? Wake::on_traffic() : Wake::next_cycle();
  }

 private:
  // A segment has a length field before it and a word after it, the form in which ddp_placement gets it from all lower
  // layers.
  void take(const Ulpdu& u) {
    const std::uint8_t* const octets = u.buf->bytes() + Ulpdu::kOffset;
    MpaReference reference;
    for (FpduBeat& beat : cut_fpdu(pool_, reference.fpdu({octets, octets + u.bytes}), kBeatBytes, false, 0, u.flow)) {
      beat.crc_ok = beat.last;
      beat.completes_wqe = beat.last && u.completes_wqe;
      add(beat);
    }
  }
  void add(FpduBeat beat) {
    beat.qpn = stream_.qpn;
    beat.life = life_of(stream_.epoch);
    beats_.push_back(beat);
  }
  const Stream stream_;
  bool has_credit_ = false;
  std::deque<FpduBeat> beats_;
  BufferPool pool_{65536};
};

// One half's view of two directions.
inline Llp llp_of(IdealPipe& out, IdealPipe& in) {
  return {out.ulpdus, out.credit, out.acked, in.segments, in.ended, in.behind, in.early};
}
inline const LlpLinks kIdealLinks{{"ulpdus"}, {"credit"}, {"acked"}, {"segments"}, {"ended"}, {"behind"}, {"early"}};
inline const LlpLinks kOtherIdealLinks{{"other.ulpdus"}, {"other.credit"}, {"other.acked"}, {"other.segments"},
                                       {"other.ended"},  {"other.behind"}, {"other.early"}};

}  // namespace rnic::test
