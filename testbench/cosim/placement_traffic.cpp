#include "testbench/cosim/placement_traffic.h"

#include <algorithm>

#include "model/wire/ddp.h"
#include "model/wire/rdmap.h"

namespace rnic::test {

using wire::Opcode;

namespace {

constexpr std::uint8_t kAll = abi::kLocalWrite | abi::kRemoteWrite | abi::kRemoteRead | abi::kRemoteInvalidate;
constexpr std::size_t kMostUlpdu = 65535;

// Indices of the STags at the start of every round.
enum Entry : std::uint32_t {
  kPlain = 1,
  kLocal,
  kForeign,
  kReadOnly,
  kTop,  // at the top of the address space
  kZeroBased,
  kPaged,
  kPagedRun,  // its pages are contiguous
  kWindow1 = 10,
  kOrphan,  // a window whose region is gone
  kGone,
  kAllocated,
  kRegionToEnd,
  kKept,
  kWindowOf = 16,       // plus the queue pair's number: a window of type 2
  kWindowToEndOf = 24,  // another window per queue pair
};

StagContext paged(std::uint64_t va, bool zero_based, std::uint32_t first_page, std::uint64_t offset) {
  StagContext c = region(va, 20 * 4096 - offset - 3, kAll);
  c.zero_based = zero_based;
  c.bus = offset;
  c.log_page = 12;
  c.first_page = first_page;
  c.pages = 20;
  return c;
}
const StagContext kRegions[] = {
    {},
    region(0x100000, 0x30000, kAll & ~abi::kRemoteInvalidate),
    region(0x400000, 0x40000, abi::kLocalWrite),
    region(0x500000, 0x1000, kAll, 2),
    region(0x600000, 0x1000, abi::kRemoteRead),
    region(0xffffffffffff0000, 0x10000, kAll & ~abi::kRemoteInvalidate),
    [] {
      StagContext c = region(0x900000, 0x8000, kAll & ~abi::kRemoteInvalidate);
      c.zero_based = true;
      return c;
    }(),
    paged(0x700000, false, 4, 0xfc0),
    paged(0x800000, true, 30, 0x10),
};

// The octets [first, first + length) of a region.
StagContext window(std::uint32_t of, StagKind kind, std::uint64_t first, std::uint64_t length) {
  StagContext w = kRegions[of];
  w.kind = kind;
  w.region = stag_of(of);
  w.zero_based = false;
  w.address = kRegions[of].address + first;
  w.bus = kRegions[of].bus + first;
  w.length = length;
  w.access = abi::kRemoteWrite | abi::kRemoteRead;
  w.allocated = true;
  return w;
}

void begin_in_first_page(StagContext& c) {
  if (c.log_page == 0) return;
  const auto before = static_cast<std::uint32_t>(c.bus >> c.log_page);
  c.first_page += before;
  c.pages -= before;
  c.bus -= std::uint64_t{before} << c.log_page;
}

Bytes fpdu(const Bytes& ulpdu) {
  Bytes out(2);
  store_be16(out.data(), static_cast<std::uint16_t>(ulpdu.size()));
  out.insert(out.end(), ulpdu.begin(), ulpdu.end());
  out.resize((out.size() + 3) / 4 * 4 + 4);
  return out;
}
Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

// None, one, up to around a beat's end, a full frame, sometimes the maximum.
std::uint32_t PlacementTraffic::payload(std::uint64_t most) {
  const auto choose = [this, most]() -> std::uint64_t {
    switch (rng_.below(9)) {
      case 0:
        return 0;
      case 1:
        return 1;
      case 2:
        return 64 * rng_.between(1, 8) - rng_.between(12, 28);
      case 3:
        return 1420 + rng_.below(24);
      case 4:
        return once_in(4) ? most : rng_.below(9000);
      case 5:
        return most < 3000 ? most : rng_.below(3000);
      default:
        return rng_.below(200);
    }
  };
  return static_cast<std::uint32_t>(std::min({choose(), most, std::uint64_t{kMostUlpdu - 18}}));
}

void PlacementTraffic::contexts(PlacementRound& r) {
  const auto put = [&r, this](std::uint32_t index, StagContext c) {
    if (is_chip_) begin_in_first_page(c);
    r.before.push_back([index, c](ContextStore& s) { s.write(Stag{stag_of(index)}, c); });
  };
  for (std::uint32_t i = kPlain; i <= kPagedRun; ++i) put(i, kRegions[i]);
  if (once_in(2)) put(kForeign, region(0x500000, 0x1000, abi::kRemoteRead, 2));
  put(kWindow1, window(kPaged, StagKind::kWindow1, 0x3000, 0x4000));
  StagContext orphan = window(kPlain, StagKind::kWindow1, 0, 0x1000);
  orphan.region = stag_of(kGone);
  put(kOrphan, orphan);
  put(kGone, {});
  StagContext allocated = region(0x200000, 0x4000, kAll & ~abi::kRemoteInvalidate);
  allocated.allocated = true;
  put(kAllocated, allocated);
  put(kRegionToEnd, region(0x210000, 0x4000, kAll));
  put(kKept, region(0x220000, 0x4000, kAll & ~abi::kRemoteInvalidate));
  for (std::uint32_t n = 0; n < kQps; ++n) {
    StagContext w = window(n % 2 != 0 ? kPaged : kPlain, StagKind::kWindow2, 0x1000 + 0x800 * n, 0x2000);
    w.qpn = Qpn{n};
    w.qp_epoch = streams_[n].epoch - once_in(16);
    put(kWindowOf + n, w);
    put(kWindowToEndOf + n, w);
  }
  for (std::uint32_t i = 0; i < 64; ++i) {
    const std::uint64_t apart = i < 30 ? i / 4 * 0x100000 : 0;  // runs of four pages, and one of 20
    r.before.push_back([i, apart](ContextStore& s) { s.write_page(i, 0x10000000 + apart + i * 0x1000); });
  }
  if (shared_epoch_ == 0 || once_in(5)) {
    ++shared_epoch_;
    shared_producer_ = 0;
    shared_.clear();
    for (Stream& s : streams_) s.over |= s.shares;
    SrqContext c;
    c.valid = true;
    c.log_entries = 5;
    c.pd = Pdn{1};
    c.epoch = shared_epoch_;
    r.before.push_back([c](ContextStore& s) { s.write(kSrq, c); });
  }
}

void PlacementTraffic::open(PlacementRound& r, std::uint32_t n) {
  Stream s;
  s.epoch = streams_[n].epoch + 1;
  s.over = false;
  s.shares = n == 2 || n >= 5;  // of both lower layers
  QpContext c = rts_qp(n, s.epoch);
  c.version = s.version = n == 4 ? 0 : 1;
  c.extensions = n != 3;
  s.extended = n != 3 && n != 4;
  c.absorbs_rtr_send = once_in(3);
  c.ird = once_in(3) ? static_cast<std::uint16_t>(rng_.below(4)) : 128;
  c.shares_rq = s.shares;
  c.srq = kSrq;
  c.first_msn = once_in(4) ? 0xfffffffe : 1;
  for (const unsigned q : {0, 1, 3}) s.msn[q] = c.first_msn;
  if (once_in(16)) c.state = QpState::kIdle;  // its connection is not set up yet
  s.qp = c;
  streams_[n] = s;
  r.before.push_back([n, c](ContextStore& store) { store.write(Qpn{n}, c); });
}

// An element of a scatter list: valid, except one in forty.
abi::Sge PlacementTraffic::element() {
  const std::uint32_t entry = one_of({kLocal, kLocal, kPaged, kPagedRun});
  const StagContext& c = kRegions[entry];
  const auto bytes = static_cast<std::uint32_t>(once_in(6) ? 0 : rng_.below(once_in(8) ? 40000 : 900));
  abi::Sge e{c.base() + rng_.below(c.length - bytes), bytes, stag_of(entry)};
  if (once_in(8)) e.address = c.base() + c.length - bytes;
  if (!once_in(40)) return e;
  switch (rng_.below(4)) {
    case 0:
      e.lkey = stag_of(static_cast<std::uint32_t>(rng_.below(40)), once_in(2) ? 0x5b : 0x5a);
      break;
    case 1:
      e.address = c.base() + c.length - bytes + 1;
      break;
    case 2:
      e.lkey = stag_of(once_in(2) ? kReadOnly : kForeign);
      break;
    default:
      e.address = c.base() - 1;
  }
  return e;
}
PlacementTraffic::Buffer PlacementTraffic::buffer() {
  Buffer b;
  b.wqe.wr_id = next_wr_id_++;
  b.wqe.num_sge = static_cast<std::uint8_t>(rng_.below(abi::kMaxSge + 1));
  for (unsigned i = 0; i < b.wqe.num_sge; ++i) {
    b.wqe.sge[i] = element();
    b.bytes += b.wqe.sge[i].length;
  }
  return b;
}

void PlacementTraffic::post(PlacementRound& r, std::uint32_t n) {
  Stream& s = streams_[n];
  if (s.over || s.shares || s.posted.size() > 8) return;
  const auto count = static_cast<std::uint32_t>(rng_.below(5));
  s.producer = (s.producer + count) & 0xfff;
  r.doorbells.emplace_back(rng_.below(3), RqDoorbell{Qpn{n}, s.producer});
  Cycle at = is_chip_ ? 10 : 0;  // as they are announced before
  for (std::uint32_t i = 0; i < count; ++i) {
    const Buffer b = buffer();
    at += rng_.below(once_in(4) ? 200 : 6);
    FetchedRqe e{Qpn{n}, !once_in(60), b.wqe};
    if (once_in(60)) e.wqe.num_sge = static_cast<std::uint8_t>(rng_.between(7, 255));
    r.requests.emplace_back(at, e);
    s.posted.push_back(b);
  }
  if (once_in(40))
    r.doorbells.emplace_back(rng_.below(100), RqDoorbell{Qpn{n}, s.producer + 17});  // more than there is room for
  if (!is_chip_ && once_in(20)) r.doorbells.emplace_back(rng_.below(50), RqDoorbell{Qpn{n + 5}, 3});  // unknown QP
}
void PlacementTraffic::post_shared(PlacementRound& r) {
  const auto count = static_cast<std::uint32_t>(rng_.below(10));
  if (shared_.size() + count > 30) return;
  shared_producer_ = (shared_producer_ + count) & 0xfff;
  r.doorbells.emplace_back(rng_.below(3), RqDoorbell{kSrq, shared_producer_});
  Cycle at = is_chip_ ? 10 : 0;  // as they are announced before
  for (std::uint32_t i = 0; i < count; ++i) {
    const Buffer b = buffer();
    at += rng_.below(once_in(4) ? 100 : 6);
    r.requests.emplace_back(at, FetchedRqe{kSrq, !once_in(100), b.wqe});
    shared_.push_back(b);
  }
  if (once_in(2)) {
    const auto limit = static_cast<std::uint32_t>(rng_.below(12));
    r.arms.emplace_back(rng_.below(200), SrqArm{kSrq, limit, shared_producer_});
  }
}
void PlacementTraffic::ask(PlacementRound& r, std::uint32_t n) {
  Stream& s = streams_[n];
  if (s.over || s.reads.size() > 4) return;
  Cycle at = 0;
  for (std::uint64_t i = rng_.below(3); i-- > 0;) {
    const std::uint32_t entry = one_of({kLocal, kPaged, kPagedRun});
    Read read;
    read.issued = {Qpn{n}, stag_of(entry), kRegions[entry].base() + rng_.below(0x4000), payload(6000)};
    if (once_in(6)) read.issued = {Qpn{n}, 0, 0, 0};  // the ready-to-receive Read
    at += rng_.below(once_in(6) ? 100 : 3);
    r.reads.emplace_back(at, read.issued);
    s.reads.push_back(read);
  }
}

// A stream ends without its peer's knowledge, or an object that its messages name.
void PlacementTraffic::disturb(PlacementRound& r, std::uint32_t n) {
  const Cycle at = rng_.below(400);
  Stream& s = streams_[n];
  switch (rng_.below(6)) {
    case 0:
    case 1:
      r.flushes.emplace_back(at, RqFlush{Qpn{n}, 0, Cqn{n + 40}});
      break;
    case 2: {
      const auto state = one_of({QpState::kTerminate, QpState::kError, QpState::kClosing});
      s.qp.state = state;
      s.qp.valid = !once_in(3);
      r.changes.emplace_back(at, [n, qp = s.qp](ContextStore& c) { c.write(Qpn{n}, qp); });
      break;
    }
    case 3:
      r.changes.emplace_back(at, [](ContextStore& c) { c.write(Stag{stag_of(kPlain)}, {}); });
      return;
    case 4:
      if (is_chip_ || !s.shares) return;  // a QP's own requests may be in flight
      s.qp.epoch = ++s.epoch;
      r.changes.emplace_back(at, [n, qp = s.qp](ContextStore& c) { c.write(Qpn{n}, qp); });
      break;
    default:  // the QP leaves its flow
      if (is_chip_) return;
      s.qp.flow = kNoFlow;
      r.changes.emplace_back(at, [n, qp = s.qp](ContextStore& c) { c.write(Qpn{n}, qp); });
  }
  s.over = true;
}

Bytes PlacementTraffic::tagged(const Stream& s, Opcode op, std::uint32_t stag, std::uint64_t to, std::uint32_t bytes,
                               bool last) {
  wire::DdpTaggedHeader h;
  h.control = wire::DdpControl::pack(true, last, s.version);
  h.rdmap = wire::RdmapControl::pack(op, s.version);
  h.stag = stag;
  h.to = to;
  Bytes octets(wire::DdpTaggedHeader::kBytes);
  h.emit({octets.data(), octets.size()});
  return octets + random_octets(rng_, bytes);
}
Bytes PlacementTraffic::untagged(Stream& s, Opcode op, const Bytes& message, bool last, std::uint32_t mo,
                                 std::uint32_t stag) {
  wire::DdpUntaggedHeader h;
  h.control = wire::DdpControl::pack(false, last, s.version);
  h.rdmap = wire::RdmapControl::pack(op, s.version);
  h.invalidate_stag = stag;
  h.qn = wire::queue_number(op);
  h.msn = s.msn[h.qn];
  h.mo = mo;
  s.msn[h.qn] += last;
  Bytes octets(wire::DdpUntaggedHeader::kBytes);
  h.emit({octets.data(), octets.size()});
  return octets + message;
}

Bytes PlacementTraffic::write(std::uint32_t n) {
  const std::uint32_t entry =
      one_of({std::uint32_t{kPlain}, std::uint32_t{kTop}, std::uint32_t{kZeroBased}, std::uint32_t{kPaged},
              std::uint32_t{kPagedRun}, std::uint32_t{kWindow1}, kWindowOf + n, std::uint32_t{kRegionToEnd}});
  StagContext c = entry <= kPagedRun ? kRegions[entry] : region(0x210000, 0x4000, kAll);
  if (entry == kWindow1) c = window(kPaged, StagKind::kWindow1, 0x3000, 0x4000);
  if (entry == kWindowOf + n) c = window(n % 2 != 0 ? kPaged : kPlain, StagKind::kWindow2, 0x1000 + 0x800 * n, 0x2000);
  std::uint32_t bytes = payload(c.length - 1), stag = stag_of(entry);
  std::uint64_t to = c.base() + rng_.below(c.length - bytes);
  if (entry == kTop && once_in(2)) to = 0 - std::uint64_t{bytes} - rng_.below(2);
  if (once_in(6)) to = c.base() + c.length - bytes - (entry == kTop);
  for (unsigned wrong = once_in(9) ? 1 + once_in(2) : 0; wrong-- > 0;) {  // the first failing check decides the error
    switch (rng_.below(6)) {
      case 0:
        to = c.base() + c.length - bytes + 1;
        break;
      case 1:
        to = c.base() - 1;
        break;
      case 2:
        to = ~std::uint64_t{0} - rng_.below(64);
        break;
      case 3:
        stag = stag_of(one_of({kReadOnly, kOrphan, kGone, kLocal}));
        break;
      case 4:
        stag = stag_of(kForeign);
        break;
      default:
        stag = stag_of(kWindowOf + static_cast<std::uint32_t>(rng_.below(kQps)));
    }
    streams_[n].over = true;
  }
  return tagged(streams_[n], Opcode::kWrite, stag, to, bytes, !once_in(3));
}
Bytes PlacementTraffic::read_response(Stream& s) {
  Read& r = s.reads.front();
  const std::uint32_t left = r.issued.bytes - r.done, bytes = once_in(3) ? left : payload(left);
  const bool last = bytes == left;
  const Bytes octets = tagged(s, Opcode::kReadResponse, r.issued.sink_stag, r.issued.sink_to + r.done, bytes, last);
  r.done += bytes;
  if (last) s.reads.pop_front();
  return octets;
}

Bytes PlacementTraffic::send(std::uint32_t n) {
  Stream& s = streams_[n];
  if (!s.into) {
    std::deque<Buffer>& from = s.shares ? shared_ : s.posted;
    s.into = Buffer{};
    if (!from.empty()) {
      s.into = from.front();
      from.pop_front();
    }
    s.opcode = one_of({Opcode::kSend, Opcode::kSendSe, Opcode::kSendInvalidate, Opcode::kSendSeInvalidate});
    s.mo = 0;
  }
  const std::uint64_t left = s.into->bytes - s.mo;
  std::uint32_t bytes = once_in(4) && left < kMostUlpdu - 18 ? static_cast<std::uint32_t>(left) : payload(left);
  std::uint32_t mo = s.mo;
  if (once_in(40)) {
    bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(left + 1, kMostUlpdu - 18));
    if (once_in(2)) ++mo;
  }
  const bool last = bytes >= left || once_in(3);
  std::uint32_t stag = once_in(2) ? 0 : static_cast<std::uint32_t>(rng_.next());
  if (wire::invalidates(s.opcode)) {
    stag = stag_of(one_of({std::uint32_t{kAllocated}, std::uint32_t{kRegionToEnd}, kWindowToEndOf + n}));
    if (once_in(10)) {
      stag = stag_of(static_cast<std::uint32_t>(rng_.below(34)), once_in(4) ? 0x5b : 0x5a);
    }
  }
  const Bytes octets = untagged(s, s.opcode, random_octets(rng_, bytes), last, mo, stag);
  s.mo += bytes;
  if (last) s.into.reset();
  return octets;
}
Bytes PlacementTraffic::single(std::uint32_t n, Opcode op, std::size_t bytes) {
  Stream& s = streams_[n];
  if (wire::is_immediate(op)) {
    std::deque<Buffer>& from = s.shares ? shared_ : s.posted;
    if (!from.empty()) from.pop_front();
  }
  return untagged(s, op, random_octets(rng_, bytes), true);
}
// Random contents; the bits tell which parts follow, or lie.
Bytes PlacementTraffic::terminate(Stream& s) {
  Bytes message = random_octets(rng_, once_in(3) ? rng_.below(70) : 52);
  if (message.size() > 6 && once_in(2)) message[6] = once_in(2) ? 0xc1 : 0x41;
  s.over = true;
  s.msn[2] = once_in(4) ? 2 : 1;
  return untagged(s, Opcode::kTerminate, message, !once_in(6), once_in(6) ? 4 : 0);
}

Bytes PlacementTraffic::segment(std::uint32_t n) {
  Stream& s = streams_[n];
  if (s.into && !once_in(3)) return send(n);
  const bool buffer = s.shares ? !shared_.empty() : !s.posted.empty();
  switch (rng_.below(20)) {
    case 0:
      return single(n, Opcode::kReadRequest, wire::ReadRequest::kBytes);
    case 1:
      if (s.extended || once_in(6)) return single(n, Opcode::kAtomicRequest, wire::AtomicRequest::kBytes);
      break;
    case 2:
      if (s.extended || once_in(6)) return single(n, Opcode::kAtomicResponse, wire::AtomicResponse::kBytes);
      break;
    case 3:
      if (buffer && s.extended && !s.into) return single(n, one_of({Opcode::kImmediate, Opcode::kImmediateSe}), 8);
      break;
    case 4:
      if (once_in(5)) return terminate(s);
      break;
    case 5:
    case 6:
    case 7:
    case 8:
      if (!s.reads.empty()) return read_response(s);
      break;
    case 9:
    case 10:
    case 11:
    case 12:
    case 13:
      if (buffer || once_in(30)) return send(n);
      break;
    default:
      break;
  }
  return write(n);
}

// Makes one thing wrong.
void PlacementTraffic::harm(Bytes& u) {
  const auto change = [&](std::size_t octet, unsigned mask) {
    if (octet < u.size()) u[octet] = static_cast<std::uint8_t>(u[octet] ^ (rng_.next() & mask));
  };
  switch (rng_.below(14)) {
    case 0:
      return change(0, 0x03);  // DDP version
    case 1:
      return change(1, 0xc0);  // RDMAP version
    case 2:
      return change(1, 0x0f);
    case 3:
      return change(0, 0xc0);  // T and L
    case 4:
      return change(2 + rng_.below(4), 0xff);  // STag
    case 5:
      return change(6 + rng_.below(8), 0xff);  // TO
    case 6:
      return change(9, 0x07);  // QN
    case 7:
      return change(13, 0x03);  // MSN
    case 8:
      return change(17, 0xff);  // MO
    case 9:
      return u.resize(rng_.below(u.size() + 1));
    case 10:
      return u.resize(std::min(kMostUlpdu, u.size() + rng_.between(1, 8)));
    case 11:
      return u.resize(std::min<std::size_t>(u.size(), rng_.between(12, 19)));
    case 12:
      return u.resize(u.empty() ? 0 : u.size() - 1);
    default:
      return change(rng_.below(72), 0xff);
  }
}

PlacementRound PlacementTraffic::round() {
  PlacementRound r;
  for (std::uint32_t n = 0; n < kQps; ++n) {
    if (streams_[n].over || once_in(10)) open(r, n);
  }
  contexts(r);
  post_shared(r);
  for (std::uint32_t n = 0; n < kQps; ++n) {
    post(r, n);
    ask(r, n);
  }
  for (std::uint32_t n = 0; n < kQps; ++n) {
    if (once_in(12)) disturb(r, n);
  }
  for (std::uint64_t i = is_chip_ ? 0 : rng_.below(2 * kQps); i-- > 0;) {
    const auto n = static_cast<std::uint32_t>(rng_.below(kQps));
    r.answers.emplace_back(rng_.below(200), ReadResponseSent{Qpn{n}, streams_[n].epoch - once_in(8)});
  }
  for (unsigned i = 0; i < kSegments; ++i) {
    auto n = static_cast<std::uint32_t>(rng_.below(kQps));
    if (is_sctp(n) && streams_[n].ended) n = 0;  // nothing follows the end of a session
    if (once_in(100)) {
      r.fpdus.push_back(end(n));
      continue;
    }
    if (streams_[n].over && !once_in(4)) n = static_cast<std::uint32_t>(rng_.below(kQps));
    if (is_sctp(n) && streams_[n].ended) n = 0;
    PlacementRound::Fpdu f;
    f.flow = FlowId{n};
    Bytes ulpdu = segment(n);
    if (once_in(12)) {
      do harm(ulpdu);
      while (once_in(3));
      streams_[n].over |= !once_in(4);
    }
    f.octets = fpdu(ulpdu);
    f.placed = ulpdu.size() >= 14 && (ulpdu[0] & 0x80) != 0 && once_in(3);
    f.sctp = is_sctp(n);
    f.placed = f.placed && !f.sctp;
    f.crc_ok = !once_in(120) || f.sctp;
    f.marker_ok = !once_in(120) || f.sctp;
    streams_[n].over |= !f.crc_ok || !f.marker_ok;
    r.fpdus.push_back(std::move(f));
  }
  return r;
}

// Anything after it on its stream is an error.
PlacementRound::Fpdu PlacementTraffic::end(std::uint32_t n) {
  PlacementRound::Fpdu f;
  f.flow = FlowId{n};
  f.octets = Bytes(4);
  f.ends = true;
  f.crc_ok = true;
  f.sctp = is_sctp(n);
  f.marker_ok = !once_in(2) || f.sctp;  // not in the middle of an FPDU
  if (!f.sctp && once_in(2)) f.octets[1] = static_cast<std::uint8_t>(StreamEnd::kReset);
  streams_[n].over = streams_[n].ended = true;
  return f;
}

}  // namespace rnic::test
