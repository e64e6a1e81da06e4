#include "model/rnic/tx/wqe_check.h"

#include "model/rnic/context/stag_work.h"
#include "model/rnic/tx/segment_cut.h"

namespace rnic {

namespace {

// For RFC 7306: not for every peer, in fixed form, atomics within ORD.
abi::WcStatus check_extension(const QpContext& ctx, const abi::Wqe& w) {
  const bool atomic = abi::is_atomic(w.opcode);
  const bool form = w.num_sge == (atomic ? 1 : 0) && !(w.flags & abi::kWqeInline);
  if (!form || !ctx.extended() || (atomic && ctx.ord == 0)) return abi::WcStatus::kLocQpOpErr;
  return atomic && w.sge[0].length != abi::kAtomicBytes ? abi::WcStatus::kLocLenErr : abi::WcStatus::kSuccess;
}

// For a Read with Invalidate: one region of ours, which may be invalidated.
abi::WcStatus check_sink(const ContextStore& contexts, const QpContext& ctx, const abi::Wqe& w) {
  if (w.num_sge != 1) return abi::WcStatus::kLocQpOpErr;
  const Stag sink{w.sge[0].lkey};
  const StagContext* stag = contexts.stag(sink);
  if (stag == nullptr || !stag->covers(sink.v, ctx.pd, w.sge[0].address, w.sge[0].length)) {
    return abi::WcStatus::kLocProtErr;
  }
  return may_invalidate(contexts, sink) ? abi::WcStatus::kSuccess : abi::WcStatus::kMwBindErr;
}

}  // namespace

abi::WcStatus check_wqe(const ContextStore& contexts, const QpContext& ctx, const FetchedWqe& f) {
  const abi::Wqe& w = f.wqe;
  if (!f.ok) return abi::WcStatus::kGeneralErr;
  if (w.opcode > abi::WrOpcode::kRdmaReadWithInv || w.num_sge > abi::kMaxSge) return abi::WcStatus::kLocQpOpErr;
  if (w.opcode == abi::WrOpcode::kImmediate || abi::is_atomic(w.opcode)) {
    if (const abi::WcStatus status = check_extension(ctx, w); status != abi::WcStatus::kSuccess) return status;
  }
  const bool atomic = abi::is_atomic(w.opcode);
  const bool read = abi::is_read(w.opcode);
  if (read && (w.num_sge > 1 || (w.flags & abi::kWqeInline) || ctx.ord == 0)) return abi::WcStatus::kLocQpOpErr;
  if (w.opcode == abi::WrOpcode::kRdmaReadWithInv) {
    if (const abi::WcStatus status = check_sink(contexts, ctx, w); status != abi::WcStatus::kSuccess) return status;
  }
  if (w.flags & abi::kWqeInline) {
    return w.inline_bytes > sizeof w.sge ? abi::WcStatus::kLocLenErr : abi::WcStatus::kSuccess;
  }
  if (request_bytes(w) > 0xffffffffu) return abi::WcStatus::kLocLenErr;
  for (unsigned i = 0; i < w.num_sge; ++i) {
    const abi::Sge& s = w.sge[i];
    if (s.length == 0) continue;
    const StagContext* stag = contexts.stag(Stag{s.lkey});
    if (stag == nullptr || !stag->covers(s.lkey, ctx.pd, s.address, s.length)) return abi::WcStatus::kLocProtErr;
    if ((read || atomic) && !(stag->access & abi::kLocalWrite)) return abi::WcStatus::kLocProtErr;
  }
  return abi::WcStatus::kSuccess;
}

}  // namespace rnic
