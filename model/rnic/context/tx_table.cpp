#include "model/rnic/context/tx_table.h"

#include "model/common/check.h"

namespace rnic {

using wire::Opcode;

bool QpTx::open(const TxContext& ctx) const {
  const bool sends = ctx.state == QpState::kRts || ctx.state == QpState::kClosing;
  return ctx.valid && sends && !halted && !fenced(ctx);
}

bool QpTx::may_start(const TxContext& ctx, const abi::Wqe& w) const {
  if ((w.flags & abi::kWqeFence) && (reads != 0 || sinks != 0)) return false;
  const bool counts = abi::is_read(w.opcode) || abi::is_atomic(w.opcode);
  return !counts || reads < ctx.ord || ctx.ord == 0;
}

void QpTx::number(OutboundMessage& m) {
  if (m.opcode == Opcode::kReadRequest || m.opcode == Opcode::kAtomicRequest) {
    m.msn = msn_read++;
    ++reads;
  } else if (m.opcode == Opcode::kAtomicResponse) {
    m.msn = msn_response++;
  } else if (wire::is_send(m.opcode) || wire::is_immediate(m.opcode)) {
    m.msn = msn_send++;
  }
}

void QpTx::read_done() {
  if (reads > 0) --reads;
}

void QpTx::response_done() {
  if (due > 0) --due;
}

void QpTx::spend(std::size_t octets) {
  RNIC_CHECK(credit >= octets);
  credit -= octets;
  position += static_cast<wire::StreamPosition>(octets);
}

}  // namespace rnic
