#include "model/capture/replay/memory_plan.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "model/abi/host_abi.h"
#include "model/capture/replay/terminate_reader.h"
#include "model/common/check.h"

namespace rnic::replay {

using wire::Opcode;

namespace {

const Message* terminate_of(const MessageReader& stream) {
  for (const Message& m : stream.messages()) {
    if (m.header.opcode == Opcode::kTerminate) return &m;
  }
  return nullptr;
}

// Octets of a region and of all regions: limits what a capture can claim.
constexpr std::uint64_t kMaxRegion = 1 << 28, kMaxMemory = 1 << 28;

bool is_out_of_bounds(const wire::TerminateCause& cause) {
  return cause == wire::ddp::kBaseOrBounds || cause == wire::rdma::kBaseOrBounds;
}

// The right that a tagged message needs.
std::uint8_t right_for(Opcode op) { return op == Opcode::kWrite ? abi::kRemoteWrite : abi::kLocalWrite; }

// True for siw's code and for the documents'.
bool may_mean_wrap(const wire::TerminateCause& cause) {
  return cause == wire::ddp::kLocalCatastrophic || cause == wire::ddp::kToWrap || cause == wire::rdma::kToWrap;
}

bool same(ByteSpan a, ByteSpan b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

}  // namespace

unsigned MemoryPlan::generation(std::uint32_t stag, std::size_t segments) const {
  const auto list = invalidations.find(stag);
  if (list == invalidations.end()) return 0;
  const auto end = std::lower_bound(list->second.begin(), list->second.end(), segments);
  return static_cast<unsigned>(end - list->second.begin());
}

std::optional<std::size_t> MemoryPlan::find(std::uint32_t stag, unsigned generation, std::uint64_t to) const {
  const auto after = std::partition_point(regions.begin(), regions.end(), [&](const Region& r) {
    return std::tie(r.stag, r.generation, r.base) <= std::tie(stag, generation, to);
  });
  const auto fits = [&](auto r) { return r->stag == stag && r->generation == generation; };
  if (after != regions.begin() && fits(std::prev(after))) return static_cast<std::size_t>(after - regions.begin()) - 1;
  if (after != regions.end() && fits(after)) return static_cast<std::size_t>(after - regions.begin());
  return std::nullopt;
}

MemoryPlanner::MemoryPlanner(const MessageReader& fed, const MessageReader& real, const RecordedStream& fed_stream,
                             const RecordedStream& real_stream)
    : fed_(fed), real_(real), fed_stream_(fed_stream), real_stream_(real_stream) {}

MemoryPlan MemoryPlanner::plan() {
  plan_.failing = find_failing();
  find_invalidations();
  collect_fed();
  collect_real();
  collect_failing();
  collect_invalidated();
  collect_receives();
  make_regions();
  fill();
  end_stag();
  return std::move(plan_);
}

// The segment whose header the Terminate returns. Among several with the same header it is the first one that arrived
// after the real side's last message before the Terminate: once it finds the error, it sends nothing else.
std::optional<std::size_t> MemoryPlanner::find_failing() const {
  const Message* message = terminate_of(real_);
  if (message == nullptr) return std::nullopt;
  const auto terminate = read_terminate(message->payload);
  if (!terminate || terminate->ddp_header.empty()) return std::nullopt;
  Order said = 0;
  for (const Message& m : real_.messages()) {
    if (&m != message) said = std::max(said, real_stream_.order_of(m.end));
  }
  std::optional<std::size_t> failing;
  for (std::size_t i = 0; i < fed_.segments().size(); ++i) {
    if (!is_in(*terminate, fed_.segments()[i])) continue;
    failing = i;
    if (fed_stream_.order_of(fed_.segments()[i].end) > said) break;
  }
  return failing;
}

// For a Read Request, siw writes the length instead of the MSN, so only the Read Request header is compared.
bool MemoryPlanner::is_in(const ReadTerminate& terminate, const DdpSegment& s) const {
  if (s.header.opcode == Opcode::kReadRequest && !terminate.read_request.empty()) {
    return same(fed_.payload(s), terminate.read_request);
  }
  const std::size_t bytes = terminate.ddp_header.size();
  return same(ByteSpan(fed_.octets()).subspan(s.payload_at - bytes, bytes), terminate.ddp_header);
}

void MemoryPlanner::find_invalidations() {
  for (std::size_t i = 0; i < fed_.segments().size(); ++i) {
    const SegmentHeader& h = fed_.segments()[i].header;
    if (wire::invalidates(h.opcode) && h.last) plan_.invalidations[h.stag].push_back(i);
  }
}

// An access that wraps counts as one octet: no region reaches that far, but the real side had the STag.
void MemoryPlanner::add(Access access) {
  if (wraps(access.to, access.bytes)) access.bytes = 1;
  accesses_.push_back(access);
}

void MemoryPlanner::collect_fed() {
  const std::size_t n = std::min(plan_.failing.value_or(fed_.segments().size()), fed_.segments().size());
  for (std::size_t i = 0; i < n; ++i) {
    const DdpSegment& s = fed_.segments()[i];
    const SegmentHeader& h = s.header;
    if (h.tagged && s.payload_bytes != 0) {
      add({h.stag, plan_.generation(h.stag, i), h.to, s.payload_bytes, right_for(h.opcode), false});
    }
    if (h.opcode != Opcode::kReadRequest) continue;
    const auto r = wire::ReadRequest::parse(fed_.payload(s));
    if (!r || r->size == 0) continue;
    add({r->src_stag, plan_.generation(r->src_stag, i), r->src_to, r->size, abi::kRemoteRead, false});
  }
}

// Adds the sinks of the real side's own Reads.
void MemoryPlanner::collect_real() {
  for (std::size_t i = 0; i < real_.messages().size(); ++i) {
    const Message& m = real_.messages()[i];
    if (m.header.opcode != Opcode::kReadRequest) continue;
    const auto r = wire::ReadRequest::parse(m.payload);
    if (!r || r->size == 0) continue;
    const Order order = real_stream_.order_of(m.end);
    const auto before = std::partition_point(fed_.segments().begin(), fed_.segments().end(),
                                             [&](const DdpSegment& f) { return fed_stream_.order_of(f.end) < order; });
    const auto segments = static_cast<std::size_t>(before - fed_.segments().begin());
    const unsigned g = plan_.sinks[i] = plan_.generation(r->sink_stag, segments);
    add({r->sink_stag, g, r->sink_to, r->size, abi::kLocalWrite, false});
  }
}

// The cause of a refused access tells what the real side had. An invalid STag is not registered. One with wrong bounds
// is registered an octet shorter than the access, a foreign one in another protection domain. An STag whose offset
// wraps is registered (siw adds without a carry, finds the bounds right and then no page).
void MemoryPlanner::collect_failing() {
  const auto failing = failing_access();
  // The sink of a Read counts as registered.
  if (!failing || fed_.segments()[*plan_.failing].header.opcode == Opcode::kReadResponse) return;
  Access access = *failing;
  const wire::TerminateCause cause = read_terminate(terminate_of(real_)->payload)->cause;
  if (cause == wire::ddp::kStagNotAssociated || cause == wire::rdma::kStagNotAssociated) {
    access.foreign = true;
    add(access);
  } else if (is_out_of_bounds(cause) || (wraps(access.to, access.bytes) && may_mean_wrap(cause))) {
    const bool known = std::any_of(accesses_.begin(), accesses_.end(), [&](const Access& a) {
      return a.stag == access.stag && a.generation == access.generation;
    });
    if (known) return;
    if (wraps(access.to, access.bytes)) access.bytes = 1;
    else if (access.bytes > 1) access.bytes = std::min(access.bytes - 1, kMaxRegion);
    else --access.to;
    accesses_.push_back(access);
  }
}

std::optional<MemoryPlanner::Access> MemoryPlanner::failing_access() const {
  if (!plan_.failing) return std::nullopt;
  const std::size_t i = *plan_.failing;
  const DdpSegment& s = fed_.segments()[i];
  const auto access = [&](std::uint32_t stag, std::uint64_t to, std::uint64_t bytes, std::uint8_t right) {
    return Access{stag, plan_.generation(stag, i), to, bytes, right, false};
  };
  if (s.header.opcode == Opcode::kReadRequest) {
    const auto r = wire::ReadRequest::parse(fed_.payload(s));
    return r ? std::optional(access(r->src_stag, r->src_to, r->size, abi::kRemoteRead)) : std::nullopt;
  }
  if (!s.header.tagged) return std::nullopt;
  return access(s.header.stag, s.header.to, s.payload_bytes, right_for(s.header.opcode));
}

// A responder whose peer may begin with a zero-length Send takes that Send without a receive (RFC 6581 section 9.2).
bool MemoryPlanner::absorbs_rtr_send() const {
  if (!fed_.started() || !real_.started()) return false;
  const wire::MpaFrame fed = fed_.startup(), real = real_.startup();
  return fed.kind == wire::MpaFrameKind::kRequest && fed.enhanced && fed.enhanced->peer_to_peer && real.enhanced &&
         real.enhanced->peer_to_peer && fed.enhanced->rtr_send && real.enhanced->rtr_send;
}

// One receive for each Send that the real side accepted. A segment refused for lack of a buffer had none, or, if other
// segments of its message had been placed, one that ends within the segment.
void MemoryPlanner::collect_receives() {
  const DdpSegment* failing = plan_.failing ? &fed_.segments()[*plan_.failing] : nullptr;
  bool absorbs = absorbs_rtr_send();
  for (std::size_t i = 0; i < fed_.messages().size(); ++i) {
    const Message& m = fed_.messages()[i];
    if (!wire::is_send(m.header.opcode)) continue;
    if (std::exchange(absorbs, false) && m.payload.empty() && m.header.last && !wire::invalidates(m.header.opcode)) {
      continue;
    }
    if (failing != nullptr && m.end > failing->begin) {
      const bool hit = m.header.opcode == failing->header.opcode && m.header.msn == failing->header.msn;
      const auto room = hit ? room_for(*failing) : std::nullopt;
      if (room) plan_.receives.push_back({i, *room});
      return;
    }
    const std::size_t more = m.header.last ? 0 : 0x10000;  // the full length is not known
    plan_.receives.push_back({i, static_cast<std::uint32_t>(m.payload.size() + more)});
  }
}

// Size of the receive for the Send of this segment.
std::optional<std::uint32_t> MemoryPlanner::room_for(const DdpSegment& failing) const {
  const wire::TerminateCause cause = read_terminate(terminate_of(real_)->payload)->cause;
  const bool too_long = cause == wire::ddp::kMessageTooLong;
  if (!too_long && cause != wire::ddp::kInvalidMsnNoBuffer) return std::nullopt;
  std::size_t placed = 0;
  for (const DdpSegment* s = fed_.segments().data(); s != &failing; ++s) {
    const bool same_message = s->header.opcode == failing.header.opcode && s->header.msn == failing.header.msn;
    placed += same_message ? s->payload_bytes : 0;
  }
  const std::size_t end = placed + failing.payload_bytes;
  if (end == 0 || (placed == 0 && !too_long)) return std::nullopt;
  return static_cast<std::uint32_t>(end - 1);
}

// A peer can invalidate only an STag that was advertised to it.
void MemoryPlanner::collect_invalidated() {
  std::set<std::pair<std::uint32_t, unsigned>> used;
  for (const Access& a : accesses_) used.emplace(a.stag, a.generation);
  for (const auto& [stag, segments] : plan_.invalidations) {
    for (unsigned g = 0; g < segments.size(); ++g) {
      if (used.count({stag, g}) == 0 && told(stag)) accesses_.push_back({stag, g, 0, 1, abi::kRemoteWrite, false});
    }
  }
}

// STags travel between programs in either byte order.
bool MemoryPlanner::told(std::uint32_t stag) const {
  std::uint8_t big[4], little[4];
  store_be32(big, stag);
  store_le32(little, stag);
  const std::vector<std::uint8_t>& o = real_.octets();
  return std::search(o.begin(), o.end(), big, big + 4) != o.end() ||
         std::search(o.begin(), o.end(), little, little + 4) != o.end();
}

// Accesses that touch form one region, as do all accesses to an STag that is invalidated.
void MemoryPlanner::make_regions() {
  std::sort(accesses_.begin(), accesses_.end(), [](const Access& a, const Access& b) {
    return std::tie(a.stag, a.generation, a.to) < std::tie(b.stag, b.generation, b.to);
  });
  std::vector<std::uint64_t> sizes;  // checked before any memory is allocated
  const auto whole = [&](std::uint32_t stag) { return plan_.invalidations.count(stag) != 0; };
  for (const Access& a : accesses_) {
    Region* r = plan_.regions.empty() ? nullptr : &plan_.regions.back();
    const bool joins = r != nullptr && r->stag == a.stag && r->generation == a.generation &&
                       (a.to - r->base <= sizes.back() || whole(a.stag));
    if (!joins) {
      r = &plan_.regions.emplace_back(Region{a.stag, a.generation, a.to, 0, a.foreign, {}});
      sizes.push_back(0);
    }
    const std::uint64_t reach = a.to - r->base;
    if (reach > kMaxRegion || a.bytes > kMaxRegion - reach || (a.bytes > 1 && wraps(a.to, a.bytes - 1))) {
      throw ConfigError(fmt::format("STag {:#010x}: {} octets at {:#x} were used, and at {:#x}: too far for one region",
                                    a.stag, a.bytes, a.to, r->base));
    }
    r->access |= a.right;
    sizes.back() = std::max(sizes.back(), reach + a.bytes);
  }
  if (std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0}) > kMaxMemory)
    throw ConfigError(fmt::format("more than {} MiB of memory were used", kMaxMemory >> 20));
  for (std::size_t i = 0; i < sizes.size(); ++i) plan_.regions[i].octets.resize(sizes[i]);
  for (const Region& r : plan_.regions) {
    plan_.final.push_back(r.octets);
    known_.emplace_back(r.octets.size());
  }
}

// Applies the fed stream as the real side did. Octets that are read before they are written were there from the
// beginning. Octets that differ from the last write when read came from the real side's program.
void MemoryPlanner::fill() {
  std::vector<const Message*> responses;
  for (const Message& m : real_.messages()) {
    if (m.header.opcode == Opcode::kReadResponse) responses.push_back(&m);
  }
  std::size_t reads = 0;
  const std::size_t n = plan_.failing.value_or(fed_.segments().size());
  for (std::size_t i = 0; i < n; ++i) {
    const DdpSegment& s = fed_.segments()[i];
    if (s.header.tagged && s.payload_bytes != 0) write(s, i);
    if (s.header.opcode == Opcode::kReadRequest && reads < responses.size()) read(s, i, *responses[reads++]);
  }
}

void MemoryPlanner::write(const DdpSegment& s, std::size_t index) {
  const std::size_t at = *plan_.find(s.header.stag, plan_.generation(s.header.stag, index), s.header.to);
  const ByteSpan from = fed_.payload(s);
  if (!plan_.regions[at].contains(s.header.to, from.size())) return;  // it wraps
  const std::uint64_t offset = s.header.to - plan_.regions[at].base;
  std::copy(from.begin(), from.end(), plan_.final[at].begin() + static_cast<std::ptrdiff_t>(offset));
  std::fill_n(known_[at].begin() + static_cast<std::ptrdiff_t>(offset), from.size(), true);
}

void MemoryPlanner::read(const DdpSegment& s, std::size_t index, const Message& response) {
  const auto r = wire::ReadRequest::parse(fed_.payload(s));
  if (!r || r->size == 0 || response.payload.size() > r->size) return;
  const std::size_t at = *plan_.find(r->src_stag, plan_.generation(r->src_stag, index), r->src_to);
  if (!plan_.regions[at].contains(r->src_to, response.payload.size())) return;  // it wraps
  const std::uint64_t offset = r->src_to - plan_.regions[at].base;
  bool changed = false;
  for (std::size_t k = 0; k < response.payload.size(); ++k) {
    const std::uint8_t octet = response.payload[k];
    std::uint8_t& now = plan_.final[at][offset + k];
    if (!known_[at][offset + k]) plan_.regions[at].octets[offset + k] = now = octet;
    changed = changed || now != octet;
    now = octet;
    known_[at][offset + k] = true;
  }
  if (changed) plan_.changes.push_back({s.begin, at, offset, response.payload, false});
}

// An STag that the real side calls invalid after it accepted the same access ended in between. The replay also ends the
// sink of a Read whose response the real side refused, whatever the cause: siw checks a sink when the response arrives,
// the model when the Read starts.
void MemoryPlanner::end_stag() {
  if (!plan_.failing) return;
  const wire::TerminateCause cause = read_terminate(terminate_of(real_)->payload)->cause;
  const auto access = failing_access();
  if (!access) return;
  const DdpSegment& s = fed_.segments()[*plan_.failing];
  const bool tagged = cause.layer == wire::Layer::kDdp && cause.etype == wire::ddp::kTaggedType;
  const bool sink = s.header.opcode == Opcode::kReadResponse && tagged;
  if (!sink && cause != wire::ddp::kInvalidStag && cause != wire::rdma::kInvalidStag) return;
  const auto at = plan_.find(access->stag, access->generation, access->to);
  if (!at) return;
  const Region& r = plan_.regions[*at];
  if ((r.access & access->right) == 0 || !r.contains(access->to, access->bytes)) return;
  plan_.changes.push_back({s.begin, *at, 0, {}, true});
  plan_.ends_sink = sink;
}

}  // namespace rnic::replay
