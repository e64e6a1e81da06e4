// mpa_framer: ULPDUs by reference go in, octets come out.
#pragma once

#include <algorithm>
#include <cstring>

#include "model/rnic/context/context.h"
#include "model/rnic/tx/ulpdu.h"
#include "rtl-stubs/verilated/beat_pins.h"
#include "rtl-stubs/verilated/pin_adapter.h"

#include "Vmpa_framer.h"  // after pin_adapter.h, which prepares Verilator's headers for SystemC

namespace rnic::rtl {

class MpaFramerPins {
 public:
  using Model = Vmpa_framer;
  using In = Ulpdu;
  using Out = FpduBeat;
  explicit MpaFramerPins(const ContextStore& contexts) : contexts_(contexts) {}

  void in(Model& m, const Ulpdu& ulpdu) {
    m.in_i = std::uint64_t{ulpdu.flow.v} << 18 | std::uint64_t{ulpdu.bytes} << 2 | ulpdu.completes_wqe << 1 |
             contexts_.flow(ulpdu.flow).crc;
    offered_ = ulpdu.buf.get();
  }
  // A word of the ULPDU where it lies in its buffer.
  void look_up(Model& m) const {
    const Buffer* const buf = m.in_ready_o ? offered_ : buf_;
    if (buf == nullptr) return;
    const std::size_t from = Ulpdu::kOffset + std::size_t{m.mem_index_o} * sizeof m.mem_data_i;
    if (from >= buf->capacity()) return;
    std::memcpy(&m.mem_data_i, buf->bytes() + from, std::min(sizeof m.mem_data_i, buf->capacity() - from));
  }
  // The first beat leaves when the ULPDU is taken; all lie in its buffer.
  FpduBeat launched(const Model& m) {
    if (m.in_ready_o) next_ = offered_->bytes() + kFrameHeadroom;
    FpduBeat beat;
    beat.buf = m.in_ready_o ? offered_ : buf_;
    beat.data = next_;
    next_ += sizeof m.mem_data_i;
    return beat;
  }
  void taken(Ulpdu ulpdu, const Model&) { buf_ = ulpdu.buf.release(); }
  static void out(const Model& m, FpduBeat& beat) { unpack(m.out_o, m.out_data_o, beat); }

 private:
  const ContextStore& contexts_;
  Buffer *offered_ = nullptr, *buf_ = nullptr;
  std::uint8_t* next_ = nullptr;
};

using MpaFramerRtl = PinAdapter<MpaFramerPins>;

}  // namespace rnic::rtl
