#include "testbench/conformance/atomic_chain.h"

#include "model/common/bytes.h"

namespace rnic::conformance {
namespace {

constexpr Qpn kQpn{0};
constexpr Stag kStag{0};
constexpr std::uint64_t kAddress = 4096;

}  // namespace

Wake HostWord::tick() {
  bool busy = false;
  if (read->can_pop() && read_done->can_push()) {
    const DmaReadRequest r = read->pop();
    RNIC_CHECK(r.address == kAddress && r.bytes == sizeof value);
    store_le64(r.dst, value);
    read_done->push({r.tag, true});
    busy = true;
  }
  if (write->can_pop() && written->can_push()) {
    const DmaWriteRequest w = write->pop();
    RNIC_CHECK(w.address == kAddress && w.bytes == sizeof value);
    value = load_le64(w.src->bytes() + w.src_offset);
    written->push({w.tag});
    busy = true;
  }
  return busy ? Wake::next_cycle() : Wake::on_traffic();
}

AtomicChain::AtomicChain(const TwinSource* twins)
    : clk_("atomic_clk", {}),
      contexts_(clk_, {1, 1, 1, 1}),
      requests_("atomic_requests", clk_, {}),
      reads_("atomic_reads", clk_, {}),
      reads_done_("atomic_reads_done", clk_, {}),
      writes_("atomic_writes", clk_, {}),
      writes_done_("atomic_writes_done", clk_, {}),
      responses_("atomic_responses", clk_, {}),
      events_("atomic_events", clk_, {}),
      feeder_("atomic_feeder", clk_),
      alu_("atomic_alu", clk_, contexts_, {}),
      memory_("host_word", clk_),
      response_collector_("response_collector", clk_),
      event_collector_("event_collector", clk_) {
  feeder_.out(requests_);
  alu_.in(requests_);
  alu_.read(reads_);
  alu_.read_done(reads_done_);
  alu_.write(writes_);
  alu_.written(writes_done_);
  alu_.out(responses_);
  alu_.event(events_);
  memory_.read(reads_);
  memory_.read_done(reads_done_);
  memory_.write(writes_);
  memory_.written(writes_done_);
  response_collector_.in(responses_);
  event_collector_.in(events_);
  if (twins != nullptr) twin_ = twins->make("atomic_alu", alu_, {&contexts_}, TwinMode::kReplace);

  QpContext qp;
  qp.valid = true;
  contexts_.write(kQpn, qp);
  StagContext stag;
  stag.valid = true;
  stag.access = abi::kRemoteRead | abi::kRemoteWrite | abi::kRemoteAtomic;
  stag.address = stag.bus = kAddress;
  stag.length = abi::kAtomicBytes;
  contexts_.write(kStag, stag);
}

AtomicChain::Result AtomicChain::execute(wire::AtomicRequest request, std::uint64_t original) {
  memory_.value = original;
  request.stag = kStag.v;
  request.to = kAddress;
  feeder_.feed({kQpn, request});
  feeder_.wake(clk_.now() + 1);
  run_stages();
  const std::vector<AtomicWork> responses = response_collector_.take();
  RNIC_CHECK(responses.size() == 1 && event_collector_.take().empty());
  RNIC_CHECK(responses[0].response.request_id == request.request_id);
  return {memory_.value, responses[0].response.original};
}

}  // namespace rnic::conformance
