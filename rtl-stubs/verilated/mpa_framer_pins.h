// mpa_framer: ULPDUs by reference go in, octets come out.
#pragma once

#include <algorithm>
#include <cstring>
#include <utility>

#include "model/rnic/tx/mpa_framer.h"
#include "rtl-stubs/verilated/beat_bits.h"
#include "rtl-stubs/verilated/pins.h"

namespace rnic::rtl {

template <class Model>
class MpaFramerPinsOf : public Pins<Model, MpaFramer> {
 public:
  explicit MpaFramerPinsOf(MpaFramer& stage) : stage_(stage) {}

  template <class V>
  void links(Model& m, V& v) {
    v.pipe(stage_.out, m.out_ready_i, m.out_launch_o, m.out_valid_o, m.out_o, m.out_data_o);
    v.in(stage_.in, m.in_valid_i, m.in_ready_o, m.in_i);
  }

  void offered(const Ulpdu& ulpdu, Model&) { offered_ = ulpdu.buf.get(); }
  // A word of the ULPDU from its buffer. The first one is read when the ULPDU is taken.
  static constexpr unsigned kRounds = 1;
  void look_up(Model& m, unsigned) const {
    const Buffer* const buf = m.in_ready_o ? offered_ : buf_;
    const std::size_t octets = port_octets(m.mem_data_i);
    const std::size_t from = Ulpdu::kOffset + std::size_t{m.mem_index_o} * octets;
    if (buf == nullptr || from >= buf->capacity()) return;
    std::memcpy(port_data(m.mem_data_i), buf->bytes() + from, std::min(octets, buf->capacity() - from));
  }
  void advance(const Model& m) {
    if (!m.in_valid_i || !m.in_ready_o) return;
    buf_ = offered_;
    if (!std::exchange(launched_, false)) next_ = buf_->bytes() + kFrameHeadroom;
  }

  // All beats lie in the ULPDU's buffer, whose reference they carry. Ours launches the first one as it takes the ULPDU.
  BeatPlace launched(const Model& m) {
    launched_ = m.in_valid_i && m.in_ready_o;
    if (launched_) next_ = offered_->bytes() + kFrameHeadroom;
    const BeatPlace place{launched_ ? offered_ : buf_, next_};
    next_ += port_octets(m.mem_data_i);
    return place;
  }
  void taken(Ulpdu& ulpdu, const Model&) const {
    stage_.count(ulpdu);
    ulpdu.buf.release();
  }

 private:
  MpaFramer& stage_;
  Buffer *offered_ = nullptr, *buf_ = nullptr;
  std::uint8_t* next_ = nullptr;
  bool launched_ = false;  // the first beat of the ULPDU that is taken in this cycle
};

}  // namespace rnic::rtl
