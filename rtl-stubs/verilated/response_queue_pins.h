// response_queue: its rows are those that the stage's readers have; the elements of their lists, and the writes under
// way, are here.
#pragma once

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "model/common/bytes.h"
#include "model/rnic/completion/response_queue.h"
#include "model/rnic/messages/twin_size.h"
#include "rtl-stubs/verilated/asked.h"
#include "rtl-stubs/verilated/messages.h"
#include "rtl-stubs/verilated/pins.h"
#include "rtl-stubs/verilated/row_lists.h"
#include "rtl-stubs/verilated/wrong_numbers.h"

namespace rnic::rtl {

template <class Model>
class ResponseQueuePinsOf : public Pins<Model, ResponseQueue> {
 public:
  using Pins<Model, ResponseQueue>::compare_content;
  using Pins<Model, ResponseQueue>::offered;
  using Pins<Model, ResponseQueue>::pushed;
  static constexpr std::uint32_t kWrites = 1u << TwinSize::kWriteBits;
  // The rows that are there; what becomes of the lists.
  static constexpr unsigned kRounds = 2;

  ResponseQueuePinsOf(ResponseQueue& stage, ContextTables& contexts)
      : stage_(stage), contexts_(contexts), under_way_(kWrites), lists_(contexts.qps()), unwritten_(contexts) {}

  template <class V>
  void links(Model& m, V& v) {
    v.in(stage_.written, m.written_valid_i, m.written_ready_o, m.written_i);
    v.out(stage_.done, m.done_ready_i, m.done_valid_o, m.done_o);
    v.out(stage_.unblock, m.unblock_ready_i, m.unblock_valid_o, m.unblock_o);
    v.in(stage_.issued, m.issued_valid_i, m.issued_ready_o, m.issued_i);
    v.out(stage_.dma, m.dma_ready_i, m.dma_valid_o, m.dma_o);
    v.out(stage_.event, m.event_ready_i, m.event_valid_o, m.event_o);
    v.in(stage_.in, m.in_valid_i, m.in_ready_o, m.in_i);
  }

  void offered(const DmaWriteDone&, Model& m) const { m.under_way_i = under_way_[m.under_way_index_o]; }
  void offered(const DeliveredAtomic& response, Model&) { offered_ = response.segment.owner; }
  void look_up(Model& m, unsigned round) {
    if (round == 0) {
      rows(m);
    } else {
      change(m);
    }
  }

  void advance(const Model& m) {
    if (m.under_way_write_o) under_way_[m.under_way_write_index_o] = m.under_way_o;
  }
  template <class F>
  void compare(const Model& m, F&& f) const {
    for (const Shown& shown : {request_, response_}) {
      if (!shown.there) continue;
      const QpOrq& stage = contexts_.orq_table.peek(shown.qpn.v)->state;
      QpOrq block = shown.state;
      const bool written =
          (m.request_write_o && request_.qpn == shown.qpn) || (m.response_write_o && response_.qpn == shown.qpn);
      if (m.request_write_o && request_.qpn == shown.qpn) unpack(m.request_state_o, block);
      if (m.response_write_o && response_.qpn == shown.qpn) unpack(m.response_state_o, block);
      f("the epoch of a queue pair", stage.epoch, block.epoch);
      f("outstanding atomics", stage.outstanding.size, written ? lists_.size(shown.qpn) : block.outstanding.size);
      f("whether its stream is over", stage.stopped, block.stopped);
    }
  }

  bool waits_for_others(const Model&) const {
    return memory_ != 0 || request_rows_.awaited(requests()) || response_rows_.awaited(responses()) ||
           sinks_.awaited(stage_.sinks);
  }
  std::size_t owes(const Model& m) const { return waits_for_others(m) ? 0 : unwritten_.count(); }

  template <class T>
  const char* wrong(const T& message) const {
    return wrong_qp(contexts_, message);
  }
  using Pins<Model, ResponseQueue>::taken;
  void taken(const DeliveredAtomic& response, const Model&) { unwritten_.open(response.qpn, response.epoch); }
  void taken(const DmaWriteDone&, const Model&) { --memory_; }
  void pushed(DmaWriteRequest& write, const Model& m) {
    ++memory_;
    unwritten_.close(response_.qpn, contexts_.life(response_.qpn).epoch);
    write.src = buffers_->take(judged_);
    store_le64(write.src->bytes(), m.dma_value_o);
  }
  void pushed(QpEvent& event, const Model&) {
    event.failed.owner = judged_;
    unwritten_.end(event.qpn);
  }
  void stand_in(const Model& m) {
    sinks_.note(m.stag_ask_o, m.stag_drop_o);
    request_rows_.note(m.request_row_ask_o, m.request_row_drop_o);
    response_rows_.note(m.response_row_ask_o, m.response_row_drop_o);
    if (m.stag_drop_o) stage_.sinks.drop();
    if (m.stag_ask_o) stage_.sinks.ask(m.stag_index_o);
    if (m.request_write_o) keep(request_.qpn, m.request_state_o);
    if (m.response_write_o) keep(response_.qpn, m.response_state_o);
    if (m.request_row_drop_o) requests().drop();
    if (m.request_row_ask_o) requests().ask(m.request_row_index_o, m.request_row_tag_o);
    if (m.response_row_drop_o) responses().drop();
    if (m.response_row_ask_o) responses().ask(m.response_row_index_o, m.response_row_tag_o);
    if (m.written_valid_i && m.written_ready_o) contexts_.in_flight.end(StagWrites::kOriginalValue);
    if (m.under_way_write_o) {
      contexts_.in_flight.begin(StagWrites::kOriginalValue);
      stage_.count_response();
    }
    if (m.event_valid_o) stage_.count_refused();
  }

  template <class F>
  void compare_content(const DmaWriteRequest& write, const Model& m, F&& f) const {
    f("value", load_le64(write.src->bytes()), m.dma_value_o);
  }

 private:
  // A row that is there, as it was before this cycle.
  struct Shown {
    bool there = false;
    Qpn qpn;
    QpOrq state;
  };
  using Request = std::decay_t<decltype(std::declval<Model>().oldest_i)>;

  OrqTable::Reader& requests() const { return stage_.requests.rows(); }
  OrqTable::Reader& responses() const { return stage_.responses.rows(); }
  void rows(Model& m) {
    m.one_port_i = contexts_.orq_table.config().read_ports == 1;
    row(requests(), request_, m.request_row_ready_i, m.request_row_valid_i, m.request_row_tag_i, m.request_row_i);
    row(responses(), response_, m.response_row_ready_i, m.response_row_valid_i, m.response_row_tag_i, m.response_row_i);
    if (response_.there) judged_ = owners_[m.response_row_tag_i];
    if (response_.there && !lists_.empty(response_.qpn)) m.oldest_i = lists_.front(response_.qpn);
    m.stag_ready_i = stage_.sinks.can_ask();
    m.stag_valid_i = stage_.sinks.can_use();
    if (!m.stag_valid_i) return;
    m.stag_row_i = stage_.sinks.front().index;
    pack(stage_.sinks.ok() ? stage_.sinks.row().stag : StagContext{}, m.stag_i);
  }
  template <class Bits>
  static void row(OrqTable::Reader& reader, Shown& shown, CData& ready, CData& valid, CData& tag, Bits& pins) {
    ready = reader.can_ask();
    valid = shown.there = reader.can_use();
    if (!shown.there) return;
    tag = static_cast<CData>(reader.front().tag);
    shown.qpn = Qpn{reader.front().index};
    shown.state = reader.row().state;
    pack(reader.row(), pins);
  }
  void change(const Model& m) {
    if (m.request_write_o) list(request_.qpn, m.request_state_o).push(m.request_o);
    if (m.response_write_o) {
      Ring<Request>& outstanding = list(response_.qpn, m.response_state_o);
      if (m.response_pop_o) outstanding.drop();
    }
    if (m.response_row_ask_o) owners_[m.response_row_tag_o] = offered_;
  }
  template <class Bits>
  Ring<Request>& list(Qpn qpn, const Bits& state) {
    QpOrq next;
    unpack(state, next);
    return lists_.begin(qpn, next.epoch);
  }
  template <class Bits>
  void keep(Qpn qpn, const Bits& bits) const {
    QpOrq& state = contexts_.orq_table.own(qpn.v, &OrqRow::state);
    unpack(bits, state);
    state.outstanding = lists_.of(qpn);
  }

  ResponseQueue& stage_;
  ContextTables& contexts_;
  std::vector<std::uint64_t> under_way_;
  RowLists<Request> lists_;
  std::array<RequestId, 16> owners_;  // of the responses in the block's places
  std::shared_ptr<BufferPool> buffers_ = std::make_shared<BufferPool>(abi::kAtomicBytes);  // one for all copies
  RequestId offered_, judged_;  // the response at the input, and the one whose row is there
  Shown request_, response_;
  AskedRows request_rows_, response_rows_, sinks_;
  std::size_t memory_ = 0;  // writes that are not answered yet
  OpenMessages unwritten_;  // responses
};

}  // namespace rnic::rtl
