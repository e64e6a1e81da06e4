// mpa_deframer: each FPDU is collected in a buffer of the stage's pool and leaves with it; the segments' buffers end
// here.
#pragma once

#include <cstring>
#include <vector>

#include "model/common/ring.h"
#include "model/rnic/rx/mpa_deframer.h"
#include "rtl-stubs/verilated/beat_bits.h"
#include "rtl-stubs/verilated/messages.h"
#include "rtl-stubs/verilated/pins.h"

namespace rnic::rtl {

template <class Model>
class MpaDeframerPinsOf : public Pins<Model, MpaDeframer> {
 public:
  explicit MpaDeframerPinsOf(MpaDeframer& stage) : stage_(stage), flows_(stage.flows()) {}

  template <class V>
  void links(Model& m, V& v) {
    v.in(stage_.in, m.in_valid_i, m.in_ready_o, m.in_i, m.in_data_i);
    v.pipe(stage_.out, m.out_ready_i, m.out_launch_o, m.out_valid_o, m.out_o, m.out_data_o);
    v.out(stage_.consumed, m.consumed_ready_i, m.consumed_valid_o, m.consumed_o);
  }

  void offered(const StreamBeat& beat, Model& m) {
    flow_ = beat.flow;
    from_ = beat.buf;
    ends_ = beat.ends;
    MpaPlace& place = flows_[flow_.v].place;
    const MpaDeframer::Place& stage = stage_.place(flow_);
    if (stage.seen == 0) place = MpaPlace{};  // the stage may have got another position
    static_cast<MpaDeframer::Place&>(place) = stage;
    pack(place, m.place_i);
  }
  static constexpr unsigned kRounds = 1;
  void look_up(Model& m, unsigned) const {
    if (queue_.empty()) return;
    const std::uint8_t* const store = queue_.front()->bytes();
    const std::size_t octets = port_octets(m.head_row_i);
    std::memcpy(port_data(m.head_row_i), store + m.head_row_index_o * octets, octets);
    std::memcpy(&m.head_marker_i, store + marker_at(m.head_marker_index_o), sizeof m.head_marker_i);
  }

  void advance(const Model& m) {
    if (m.consumed_valid_o) queue_.pop();
    if (!m.place_write_o) return;
    Flow& flow = flows_[flow_.v];
    unpack(m.place_o, flow.place);
    if (!flow.store || ends_) flow.store = stage_.collecting().take_like(from_);  // a FIN belongs to no FPDU
    const std::size_t octets = port_octets(m.in_data_i);
    write(flow.store->bytes() + m.store_row_o * octets, m.store_o, m.store_write_o, 2 * octets);
    write(flow.store->bytes() + marker_at(m.marker_index_o), m.marker_o, m.marker_write_o, sizeof m.marker_o);
    if (m.fpdu_complete_o) queue_.push(std::move(flow.store));
  }
  template <class F>
  void compare(const Model& m, F&& f) const {
    if (!m.place_write_o) return;
    MpaPlace block;
    unpack(m.place_o, block);
    const MpaDeframer::Place& stage = stage_.place(flow_);
    f("next", stage.next, block.next);
    f("seen", stage.seen, block.seen);
    f("size", stage.size, block.size);
  }

  // The buffer's reference travels with its last beat.
  BeatPlace launched(const Model& m) {
    Buffer* const buf = queue_.front().get();
    if (m.consumed_valid_o) queue_.front().release();
    return {buf, buf->bytes() + m.head_row_index_o * port_octets(m.head_row_i)};
  }
  void taken(const StreamBeat& beat, const Model&) const {
    if (beat.last) BufferRef::adopt(beat.buf);  // and freed: the octets are in the stores
  }
  void stand_in(const Model& m) const {
    if (!m.place_write_o) return;
    MpaPlace place;
    unpack(m.place_o, place);
    stage_.set_place(flow_, place);
    if (m.fpdu_complete_o && !ends_) stage_.count(m.fpdu_straddles_o, m.fpdu_markers_o, m.fpdu_marker_ok_o);
  }

 private:
  // In a buffer the rows come first, then the markers.
  static constexpr std::size_t kRows = wire::fpdu_bytes(0xffff);
  static constexpr std::size_t marker_at(unsigned index) { return kRows + wire::kMarkerBytes * index; }

  // Writes the octets that `enables` selects, of an integer or of Verilator's words.
  template <class Data, class Enables>
  static void write(std::uint8_t* to, const Data& data, const Enables& enables, std::size_t octets) {
    const std::uint8_t* const from = port_data(data);
    const std::uint8_t* const on = port_data(enables);
    for (std::size_t i = 0; i < octets; ++i) {
      if (on[i / 8] >> i % 8 & 1) to[i] = from[i];
    }
  }

  struct Flow {
    MpaPlace place;
    BufferRef store;  // of the FPDU being collected
  };
  MpaDeframer& stage_;
  std::vector<Flow> flows_;
  Ring<BufferRef> queue_;         // complete FPDUs
  FlowId flow_;                   // of the offered beat
  const Buffer* from_ = nullptr;  // of the beat that is offered
  bool ends_ = false;
};

}  // namespace rnic::rtl
