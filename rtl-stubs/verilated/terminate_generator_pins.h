// terminate_generator: its octets go to the Terminate's place in its FPDU.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "model/rnic/messages/datapath.h"
#include "model/rnic/terminate/terminate_generator.h"
#include "rtl-stubs/verilated/messages.h"
#include "rtl-stubs/verilated/pins.h"
#include "rtl-stubs/verilated/wrong_numbers.h"

namespace rnic::rtl {

template <class Model>
class TerminateGeneratorPinsOf : public Pins<Model, TerminateGenerator> {
 public:
  using Pins<Model, TerminateGenerator>::compare_content;
  using Pins<Model, TerminateGenerator>::pushed;

  TerminateGeneratorPinsOf(TerminateGenerator& stage, const ContextTables& contexts, BufferPool& buffers,
                           const TerminateConfig& cfg)
      : stage_(stage), contexts_(contexts), buffers_(buffers), cfg_(cfg), reported_(contexts.qps()) {}

  template <class V>
  void links(Model& m, V& v) {
    v.in(stage_.in, m.in_valid_i, m.in_ready_o, m.in_i);
    v.out(stage_.out, m.out_ready_i, m.out_valid_o, m.out_o);
    v.out(stage_.event, m.event_ready_i, m.event_valid_o, m.event_o);
  }

  void offered(const QpEvent& error, Model& m) {
    segment_owner_ = error.failed.owner;
    owner_ = segment_owner_ ? segment_owner_ : contexts_.internal_work(error.qpn);
    const QpLife life = contexts_.life(error.qpn);
    m.foreign_stag_is_invalid_i = cfg_.foreign_stag_is_invalid;
    m.qp_exists_i = life.valid;
    m.qp_epoch_i = life.epoch;
    m.reported_i = reported_[error.qpn.v];
  }
  void advance(const Model& m) {
    if (m.reported_write_o) reported_[m.qp_index_o] = m.reported_o;
  }

  template <class T>
  const char* wrong(const T& message) const {
    return wrong_qp(contexts_, message);
  }
  // The contents after the last octet do not matter, and copies of a fixed size are the fastest.
  void pushed(TerminateMessage& message, const Model& m) const {
    message.buf = buffers_.take(owner_);
    std::memcpy(octets_of(message), &m.out_octets_o, sizeof m.out_octets_o);
  }
  void pushed(QpEvent& event, const Model&) const { event.failed.owner = segment_owner_; }
  void stand_in(const Model& m) const {
    if (m.in_valid_i && m.in_ready_o) stage_.count(m.out_valid_o);
  }

  template <class F>
  void compare_content(const TerminateMessage& message, const Model& m, F&& f) const {
    std::uint8_t octets[sizeof m.out_octets_o];
    std::memcpy(octets, &m.out_octets_o, sizeof octets);
    for (std::size_t i = 0; i < message.bytes; ++i) {
      if (octets_of(message)[i] != octets[i])
        f(("octet[" + std::to_string(i) + "]").c_str(), octets_of(message)[i], octets[i]);
    }
  }

 private:
  static std::uint8_t* octets_of(const TerminateMessage& message) {
    return message.buf->bytes() + Ulpdu::kOffset + wire::DdpUntaggedHeader::kBytes;
  }

  TerminateGenerator& stage_;
  const ContextTables& contexts_;
  BufferPool& buffers_;
  const TerminateConfig cfg_;
  std::vector<std::uint64_t> reported_;
  RequestId segment_owner_;  // of the segment in error; none if there is none
  RequestId owner_;          // of the Terminate
};

}  // namespace rnic::rtl
