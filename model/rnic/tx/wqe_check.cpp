#include "model/rnic/tx/wqe_check.h"

#include "model/rnic/tx/segment_cut.h"

namespace rnic {

namespace {

// For RFC 7306: not for every peer, in fixed form, atomics within ORD.
abi::WcStatus check_extension(const TxContext& ctx, const abi::Wqe& w) {
  const bool atomic = abi::is_atomic(w.opcode);
  const bool form = w.num_sge == (atomic ? 1 : 0) && !(w.flags & abi::kWqeInline);
  if (!form || !ctx.extended() || (atomic && ctx.ord == 0)) return abi::WcStatus::kLocQpOpErr;
  return atomic && w.sge[0].length != abi::kAtomicBytes ? abi::WcStatus::kLocLenErr : abi::WcStatus::kSuccess;
}

}  // namespace

abi::WcStatus check_form(const TxContext& ctx, const FetchedWqe& f) {
  const abi::Wqe& w = f.wqe;
  if (!f.ok) return abi::WcStatus::kGeneralErr;
  if (w.opcode > abi::WrOpcode::kRdmaReadWithInv || w.num_sge > abi::kMaxSge) return abi::WcStatus::kLocQpOpErr;
  if (w.opcode == abi::WrOpcode::kImmediate || abi::is_atomic(w.opcode)) {
    if (const abi::WcStatus status = check_extension(ctx, w); status != abi::WcStatus::kSuccess) return status;
  }
  const bool read = abi::is_read(w.opcode);
  if (read && (w.num_sge > 1 || (w.flags & abi::kWqeInline) || ctx.ord == 0)) return abi::WcStatus::kLocQpOpErr;
  if (w.opcode == abi::WrOpcode::kRdmaReadWithInv && w.num_sge != 1) return abi::WcStatus::kLocQpOpErr;
  if (w.flags & abi::kWqeInline) {
    return w.inline_bytes > sizeof w.sge ? abi::WcStatus::kLocLenErr : abi::WcStatus::kSuccess;
  }
  return request_bytes(w) > 0xffffffffu ? abi::WcStatus::kLocLenErr : abi::WcStatus::kSuccess;
}

std::uint8_t elements_of(const abi::Wqe& w, std::array<Stag, abi::kMaxSge>& stags) {
  if (w.flags & abi::kWqeInline) return 0;
  unsigned elements = 0;
  for (unsigned i = 0; i < w.num_sge; ++i) {
    if (w.sge[i].length == 0 && w.opcode != abi::WrOpcode::kRdmaReadWithInv) continue;
    stags[i] = Stag{w.sge[i].lkey};
    elements |= 1u << i;
  }
  return static_cast<std::uint8_t>(elements);
}

// The sink of a Read with Invalidate is one region of ours, which may be invalidated.
abi::WcStatus check_element(const StagRow* row, const TxContext& ctx, const abi::Wqe& w, const abi::Sge& s) {
  if (row == nullptr || !row->stag.covers(s.lkey, ctx.pd, s.address, s.length)) return abi::WcStatus::kLocProtErr;
  if (w.opcode == abi::WrOpcode::kRdmaReadWithInv && !row->may_be_invalidated(Stag{s.lkey})) {
    return abi::WcStatus::kMwBindErr;
  }
  const bool writes = abi::is_read(w.opcode) || abi::is_atomic(w.opcode);
  if (s.length != 0 && writes && !(row->stag.access & abi::kLocalWrite)) return abi::WcStatus::kLocProtErr;
  return abi::WcStatus::kSuccess;
}

}  // namespace rnic
