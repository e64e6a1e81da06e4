#include "model/rnic/context/stag_work.h"

namespace rnic {
namespace {

using abi::WcStatus;

constexpr std::uint32_t kRemote = abi::kRemoteWrite | abi::kRemoteRead | abi::kRemoteAtomic;

// Remote writes and atomics change the memory, so they need the right to write it locally.
constexpr bool rights_agree(std::uint32_t access, std::uint32_t of_region) {
  return (access & (abi::kRemoteWrite | abi::kRemoteAtomic)) == 0 || (of_region & abi::kLocalWrite) != 0;
}

void make_valid(StagContext& s, std::uint32_t stag, const abi::Registration& r) {
  s.valid = true;
  s.key = static_cast<std::uint8_t>(stag);
  s.access = static_cast<std::uint8_t>(r.access & 0x1f);
  s.zero_based = (r.access & abi::kZeroBased) != 0;
  s.address = s.bus = r.address;
  s.length = r.length;
}

WcStatus invalidate(ContextStore& contexts, Qpn qpn, Stag stag) {
  const StagContext* s = contexts.stag(stag);
  if (s == nullptr || !s->names(stag.v) || !s->serves(qpn, contexts.qp(qpn)) || !may_invalidate(contexts, stag)) {
    return WcStatus::kMwBindErr;
  }
  end_stag(contexts, stag);
  return WcStatus::kSuccess;
}

WcStatus fast_register(ContextStore& contexts, const QpContext& qp, Stag stag, const abi::Registration& r) {
  const StagContext* s = contexts.stag(stag);
  if (s == nullptr || !s->allocated || s->kind != StagKind::kRegion || s->valid || s->pd != qp.pd) {
    return WcStatus::kMwBindErr;
  }
  if (r.address + r.length < r.address || !rights_agree(r.access, r.access)) return WcStatus::kMwBindErr;
  if (r.log_page != 0 && (r.pages > s->pages || !fits_pages(r.first_offset, r.length, r.pages, r.log_page))) {
    return WcStatus::kMwBindErr;
  }
  StagContext region = *s;
  make_valid(region, stag.v, r);
  region.log_page = static_cast<std::uint8_t>(r.log_page);
  if (r.log_page != 0) region.bus = r.first_offset;
  contexts.write(stag, region);
  return WcStatus::kSuccess;
}

// A window of type 1 is bound again whenever its owner likes; one of type 2 must be invalidated first, and then serves
// the queue pair that bound it.
WcStatus bind(ContextStore& contexts, Qpn qpn, Stag stag, const abi::Registration& r) {
  const QpContext& qp = contexts.qp(qpn);
  const StagContext* s = contexts.stag(stag);
  if (s == nullptr || !s->allocated || s->kind == StagKind::kRegion || s->pd != qp.pd) return WcStatus::kMwBindErr;
  if (s->kind == StagKind::kWindow2 && s->valid) return WcStatus::kMwBindErr;
  StagContext window = *s;
  if (s->kind == StagKind::kWindow1 && r.length == 0) {
    window.valid = false;
    contexts.write(stag, window);
    return WcStatus::kSuccess;
  }
  const StagContext* region = contexts.stag(Stag{r.lkey});
  if (region == nullptr || !region->covers(r.lkey, qp.pd, r.address, r.length)) return WcStatus::kMwBindErr;
  if (!(region->access & abi::kMwBind) || (r.access & ~(kRemote | abi::kZeroBased)) != 0 ||
      !rights_agree(r.access, region->access)) {
    return WcStatus::kMwBindErr;
  }
  make_valid(window, stag.v, r);
  window.address = region->address + (r.address - region->base());
  window.bus = region->bus + (r.address - region->base());
  window.log_page = region->log_page;
  window.first_page = region->first_page;
  window.pages = region->pages;
  window.region = r.lkey;
  window.qpn = qpn;
  window.qp_epoch = qp.epoch;
  contexts.write(stag, window);
  return WcStatus::kSuccess;
}

}  // namespace

void end_stag(ContextStore& contexts, Stag stag) {
  StagContext ended = *contexts.stag(stag);
  ended.valid = false;
  contexts.write(stag, ended);
}

bool may_invalidate(const ContextStore& contexts, Stag stag) {
  const StagContext* s = contexts.stag(stag);
  return s != nullptr && s->kind != StagKind::kWindow1 && !contexts.has_windows(stag);
}

WcStatus end_sink(ContextStore& contexts, Stag stag) {
  const StagContext* s = contexts.stag(stag);
  if (s == nullptr || !s->names(stag.v)) return WcStatus::kSuccess;
  if (!may_invalidate(contexts, stag)) return WcStatus::kMwBindErr;
  end_stag(contexts, stag);
  return WcStatus::kSuccess;
}

WcStatus do_stag_work(ContextStore& contexts, Qpn qpn, const abi::Wqe& w) {
  switch (w.opcode) {
    case abi::WrOpcode::kLocalInv:
      return invalidate(contexts, qpn, Stag{w.invalidate_stag});
    case abi::WrOpcode::kRegMr:
      return fast_register(contexts, contexts.qp(qpn), Stag{w.rkey}, abi::Registration::of(w));
    case abi::WrOpcode::kBindMw:
      return bind(contexts, qpn, Stag{w.rkey}, abi::Registration::of(w));
    default:
      return WcStatus::kLocQpOpErr;
  }
}

}  // namespace rnic
