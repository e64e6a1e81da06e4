// response_queue: the QPs' states, their requests and the writes under way are tables of bits.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "model/common/bytes.h"
#include "model/rnic/completion/response_queue.h"
#include "model/rnic/messages/twin_size.h"
#include "rtl-stubs/verilated/messages.h"
#include "rtl-stubs/verilated/pins.h"

#include "Vresponse_queue.h"

namespace rnic::rtl {

class ResponseQueuePins : public Pins<Vresponse_queue, ResponseQueue> {
 public:
  using Pins::compare_content;
  using Pins::pushed;
  static constexpr std::uint32_t kQps = 1u << TwinSize::kQpBits, kDepth = 1u << TwinSize::kRequestBits,
                                 kWrites = 1u << TwinSize::kWriteBits;

  ResponseQueuePins(ResponseQueue& stage, ContextStore& contexts)
      : stage_(stage),
        contexts_(contexts),
        under_way_(kWrites),
        states_(contexts.qps()),
        requests_(contexts.qps() * std::size_t{kDepth}) {
    RNIC_CHECK(contexts.qps() <= kQps);
  }

  template <class V>
  void links(Model& m, V& v) {
    v.in(stage_.written, m.written_valid_i, m.written_ready_o, m.written_i);
    v.out(stage_.done, m.done_ready_i, m.done_valid_o, m.done_o);
    v.out(stage_.unblock, m.unblock_ready_i, m.unblock_valid_o, m.unblock_o);
    v.in(stage_.issued, m.issued_valid_i, m.issued_ready_o, m.issued_i);
    v.in(stage_.in, m.in_valid_i, m.in_ready_o, m.in_i);
    v.out(stage_.dma, m.dma_ready_i, m.dma_valid_o, m.dma_o);
    v.out(stage_.event, m.event_ready_i, m.event_valid_o, m.event_o);
  }

  void offered(const DmaWriteDone&, Model& m) const { m.under_way_i = under_way_[m.under_way_index_o]; }
  void offered(const AtomicIssued& issued, Model& m) const {
    m.issued_epoch_i = contexts_.qp(issued.qpn).epoch;
    m.issued_state_i = states_[issued.qpn.v];
  }
  void offered(const DeliveredAtomic& response, Model& m) {
    owner_ = response.segment.owner;
    const QpContext& context = contexts_.qp(response.qpn);
    m.in_exists_i = context.valid;
    m.in_pd_i = context.pd.v;
    m.in_epoch_i = context.epoch;
    m.in_state_i = states_[response.qpn.v];
  }
  // A request, and the entry of a sink that is there.
  static constexpr unsigned kRounds = 1;
  void look_up(Model& m, unsigned) const {
    if (m.written_valid_i) m.written_epoch_i = contexts_.qp(Qpn{m.written_index_o}).epoch;
    if (m.in_valid_i) m.request_i = requests_[m.request_index_o];
    m.stag_ready_i = stage_.sinks.can_ask();
    m.stag_valid_i = stage_.sinks.can_use();
    if (!m.stag_valid_i) return;
    m.stag_row_i = stage_.sinks.front().index;
    pack(stage_.sinks.ok() ? stage_.sinks.row().stag : StagContext{}, m.stag_i);
  }

  // In the order of what happens in a cycle.
  void advance(const Model& m) {
    if (m.issued_write_o) states_[m.issued_index_o] = m.issued_state_o;
    if (m.in_write_o) states_[m.in_index_o] = m.in_state_o;
    if (m.request_write_o) requests_[m.request_write_index_o] = m.request_o;
    if (m.under_way_write_o) under_way_[m.under_way_write_index_o] = m.under_way_o;
  }

  void pushed(DmaWriteRequest& write, const Model& m) {
    write.src = buffers_->take(owner_);
    store_le64(write.src->bytes(), m.dma_value_o);
  }
  void stand_in(const Model& m) const {
    if (m.stag_drop_o) stage_.sinks.drop();
    if (m.stag_ask_o) stage_.sinks.ask(m.stag_index_o);
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
  using Request = std::decay_t<decltype(std::declval<Model>().request_i)>;
  ResponseQueue& stage_;
  ContextStore& contexts_;
  std::vector<std::uint64_t> under_way_;
  std::vector<std::uint64_t> states_;
  std::vector<Request> requests_;                                                          // by QP and position
  std::shared_ptr<BufferPool> buffers_ = std::make_shared<BufferPool>(abi::kAtomicBytes);  // one for all copies
  RequestId owner_;                                                                        // of the response
};

}  // namespace rnic::rtl
