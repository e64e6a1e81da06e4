// irrq: the ring of QPs, their states and their requests are tables of bits.
#pragma once

#include <utility>
#include <vector>

#include "model/rnic/messages/twin_size.h"
#include "model/rnic/responder/irrq.h"
#include "rtl-stubs/verilated/messages.h"
#include "rtl-stubs/verilated/pins.h"
#include "rtl-stubs/verilated/request_memory.h"

#include "Virrq.h"

namespace rnic::rtl {

class IrrqPins : public Pins<Virrq, Irrq> {
 public:
  static constexpr std::uint32_t kQps = 1u << TwinSize::kQpBits, kDepth = 1u << TwinSize::kRequestBits;

  IrrqPins(Irrq& stage, const ContextStore& contexts)
      : stage_(stage),
        contexts_(contexts),
        turns_(kQps),
        states_(contexts.qps()),
        requests_(contexts.qps(), kDepth),
        owners_(contexts.qps(), kDepth) {
    RNIC_CHECK(contexts.qps() <= kQps);
  }

  template <class V>
  void links(Model& m, V& v) {
    v.out(stage_.out, m.out_ready_i, m.out_valid_o, m.out_o);
    v.out(stage_.atomic, m.atomic_ready_i, m.atomic_valid_o, m.atomic_o);
    v.in(stage_.sent, m.sent_valid_i, m.sent_ready_o, m.sent_i);
    v.in(stage_.in, m.in_valid_i, m.in_ready_o, m.in_i);
    v.out(stage_.event, m.event_ready_i, m.event_valid_o, m.event_o);
  }

  void offered(const ReadResponseSent& sent, Model& m) const {
    m.free_epoch_i = contexts_.qp(sent.qpn).epoch;
    m.free_state_i = states_[sent.qpn.v];
  }
  void offered(const QueuedRequest& request, Model& m) {
    offered_ = segment_of(request).owner;
    const Qpn qpn = qpn_of(request);
    const QpContext& context = contexts_.qp(qpn);
    m.accept_exists_i = context.valid;
    m.accept_ird_i = context.ird;
    m.accept_epoch_i = context.epoch;
    m.accept_state_i = states_[qpn.v];
  }
  // A turn, then its QP, then the request that waits at its head.
  static constexpr unsigned kRounds = 3;
  void look_up(Model& m, unsigned round) const {
    if (round == 0) {
      m.turn_i = turns_[m.turn_index_o];
    } else if (round == 1) {
      m.serve_epoch_i = contexts_.qp(Qpn{m.serve_index_o}).epoch;
      m.serve_state_i = states_[m.serve_index_o];
    } else {
      m.request_i = requests_[m.request_index_o];
    }
  }

  // In the order of what happens in a cycle.
  void advance(const Model& m) {
    if (m.serve_write_o) states_[m.serve_index_o] = m.serve_state_o;
    if (m.free_write_o) states_[m.free_index_o] = m.free_state_o;
    if (m.accept_write_o) states_[m.accept_index_o] = m.accept_state_o;
    if (m.free_turn_write_o) turns_[m.free_turn_index_o] = m.free_turn_o;
    if (m.accept_turn_write_o) turns_[m.accept_turn_index_o] = m.accept_turn_o;
    if (!m.request_write_o) return;
    requests_.write(m.request_write_index_o, m.accept_held_o, m.request_o);
    owners_.write(m.request_write_index_o, m.accept_held_o, offered_);
  }

  // No pins have the owner.
  using Pins::pushed;
  void pushed(QueuedRead& read, const Model& m) const { read.segment.owner = owners_[m.request_index_o]; }
  void pushed(QueuedAtomic& atomic, const Model& m) const { atomic.segment.owner = owners_[m.request_index_o]; }

  void stand_in(const Model& m) const {
    if (m.request_write_o) stage_.count_accepted(m.accept_held_o);
    if (m.event_valid_o) stage_.count_overrun();
  }

 private:
  Irrq& stage_;
  const ContextStore& contexts_;
  std::vector<std::uint16_t> turns_;
  std::vector<std::uint64_t> states_;
  RequestMemory<std::decay_t<decltype(std::declval<Model>().request_i)>> requests_;
  RequestMemory<RequestId> owners_;  // of the requests
  RequestId offered_;
};

}  // namespace rnic::rtl
