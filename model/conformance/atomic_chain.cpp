#include "model/conformance/atomic_chain.h"

#include "model/common/bytes.h"
#include "model/conformance/run_stages.h"

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
      alu_("atomic_alu", clk_, contexts_, {}),
      memory_("host_word", clk_),
      net_("host_word", clk_) {
  net_.connect(alu_.read, memory_.read, "reads");
  net_.connect(memory_.read_done, alu_.read_done, "reads_done");
  net_.connect(alu_.write, memory_.write, "writes");
  net_.connect(memory_.written, alu_.written, "writes_done");
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
  requests_.send({kQpn, request});
  run_stages();
  const std::vector<AtomicWork> responses = responses_.take();
  RNIC_CHECK(responses.size() == 1 && events_.empty());
  RNIC_CHECK(responses[0].response.request_id == request.request_id);
  return {memory_.value, responses[0].response.original};
}

}  // namespace rnic::conformance
