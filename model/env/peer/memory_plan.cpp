#include "model/env/peer/memory_plan.h"

#include <algorithm>
#include <tuple>

#include "model/env/peer/terminate_reader.h"
#include "model/rnic/host_abi.h"

namespace rnic::replay {

using wire::Opcode;

namespace {

const Message* terminate_of(const MessageReader& stream) {
  for (const Message& m : stream.messages()) {
    if (m.header.opcode == Opcode::kTerminate) return &m;
  }
  return nullptr;
}

bool same(ByteSpan a, ByteSpan b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

}  // namespace

unsigned invalidations(const MessageReader& stream, std::uint32_t stag, std::size_t segments) {
  unsigned count = 0;
  for (std::size_t i = 0; i < std::min(segments, stream.segments().size()); ++i) {
    const SegmentHeader& h = stream.segments()[i].header;
    count += wire::invalidates(h.opcode) && h.last && h.stag == stag ? 1 : 0;
  }
  return count;
}

std::optional<std::size_t> MemoryPlan::find(std::uint32_t stag, unsigned generation, std::uint64_t to) const {
  std::optional<std::size_t> nearest;
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const Region& r = regions[i];
    if (r.stag != stag || r.generation != generation) continue;
    if (!nearest || r.base <= to) nearest = i;  // sorted by base
  }
  return nearest;
}

MemoryPlanner::MemoryPlanner(const MessageReader& fed, const MessageReader& real, const RecordedStream& fed_stream,
                             const RecordedStream& real_stream)
    : fed_(fed), real_(real), fed_stream_(fed_stream), real_stream_(real_stream) {}

MemoryPlan MemoryPlanner::plan() {
  plan_.failing = find_failing();
  collect_fed();
  collect_real();
  collect_failing();
  collect_invalidated();
  make_regions();
  fill();
  return std::move(plan_);
}

// The segment whose header the Terminate returns. siw gives a Read Request's length in the place of its MSN, so what is
// compared of that is the Read Request's own header.
std::optional<std::size_t> MemoryPlanner::find_failing() const {
  const Message* message = terminate_of(real_);
  if (message == nullptr) return std::nullopt;
  const auto terminate = read_terminate(message->payload);
  if (!terminate || terminate->ddp_header.empty()) return std::nullopt;
  for (std::size_t i = 0; i < fed_.segments().size(); ++i) {
    const DdpSegment& s = fed_.segments()[i];
    const ByteSpan header =
        ByteSpan(fed_.octets()).subspan(s.payload_at - terminate->ddp_header.size(), terminate->ddp_header.size());
    const bool request = s.header.opcode == Opcode::kReadRequest && !terminate->read_request.empty();
    if (request ? same(fed_.payload(s), terminate->read_request) : same(header, terminate->ddp_header)) return i;
  }
  return std::nullopt;
}

unsigned MemoryPlanner::generation(std::uint32_t stag, std::size_t fed_segments) const {
  return invalidations(fed_, stag, fed_segments);
}

void MemoryPlanner::collect_fed() {
  const std::size_t n = std::min(plan_.failing.value_or(fed_.segments().size()), fed_.segments().size());
  for (std::size_t i = 0; i < n; ++i) {
    const DdpSegment& s = fed_.segments()[i];
    const SegmentHeader& h = s.header;
    if (h.tagged && s.payload_bytes != 0) {
      const std::uint8_t right = h.opcode == Opcode::kWrite ? abi::kRemoteWrite : abi::kLocalWrite;
      accesses_.push_back({h.stag, generation(h.stag, i), h.to, s.payload_bytes, right, false});
    }
    if (h.opcode != Opcode::kReadRequest) continue;
    const auto r = wire::ReadRequest::parse(fed_.payload(s));
    if (!r || r->size == 0) continue;
    accesses_.push_back({r->src_stag, generation(r->src_stag, i), r->src_to, r->size, abi::kRemoteRead, false});
  }
}

// The sinks of the real side's own Reads.
void MemoryPlanner::collect_real() {
  for (std::size_t i = 0; i < real_.messages().size(); ++i) {
    const Message& m = real_.messages()[i];
    if (m.header.opcode != Opcode::kReadRequest) continue;
    const auto r = wire::ReadRequest::parse(m.payload);
    if (!r || r->size == 0) continue;
    const Order order = real_stream_.order_of(m.end);
    std::size_t before = 0;
    while (before < fed_.segments().size() && fed_stream_.order_of(fed_.segments()[before].end) < order) ++before;
    const unsigned g = plan_.sinks[i] = generation(r->sink_stag, before);
    accesses_.push_back({r->sink_stag, g, r->sink_to, r->size, abi::kLocalWrite, false});
  }
}

// How the real side refused an access says what it had: an STag that it calls invalid is not registered; one with
// wrong bounds is, an octet short of what was asked for; one of another protection domain is, in such.
void MemoryPlanner::collect_failing() {
  const Message* message = terminate_of(real_);
  if (!plan_.failing || message == nullptr) return;
  const wire::TerminateCause cause = read_terminate(message->payload)->cause;
  const DdpSegment& s = fed_.segments()[*plan_.failing];
  Access access{s.header.stag, 0, s.header.to, s.payload_bytes, abi::kRemoteWrite, false};
  if (s.header.opcode == Opcode::kReadRequest) {
    const auto r = wire::ReadRequest::parse(fed_.payload(s));
    if (!r) return;
    access = {r->src_stag, 0, r->src_to, r->size, abi::kRemoteRead, false};
  } else if (!s.header.tagged) {
    return;
  }
  access.generation = generation(access.stag, *plan_.failing);
  if (cause == wire::ddp::kStagNotAssociated || cause == wire::rdma::kStagNotAssociated) {
    access.foreign = true;
    accesses_.push_back(access);
  } else if (cause == wire::ddp::kBaseOrBounds || cause == wire::rdma::kBaseOrBounds) {
    const bool known = std::any_of(accesses_.begin(), accesses_.end(), [&](const Access& a) {
      return a.stag == access.stag && a.generation == access.generation;
    });
    if (known) return;
    if (access.bytes > 1) --access.bytes;
    else --access.to;
    accesses_.push_back(access);
  }
}

// A peer can only invalidate what it was told of.
void MemoryPlanner::collect_invalidated() {
  for (std::size_t i = 0; i < fed_.segments().size(); ++i) {
    const SegmentHeader& h = fed_.segments()[i].header;
    if (!wire::invalidates(h.opcode) || !h.last) continue;
    plan_.invalidated.push_back(h.stag);
    const unsigned g = generation(h.stag, i);
    const bool used = std::any_of(accesses_.begin(), accesses_.end(),
                                  [&](const Access& a) { return a.stag == h.stag && a.generation == g; });
    if (!used && told(h.stag)) accesses_.push_back({h.stag, g, 0x1000, 1, abi::kRemoteWrite, false});
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

// Accesses that touch make one region; so do all of an STag that is invalidated as a whole.
void MemoryPlanner::make_regions() {
  std::sort(accesses_.begin(), accesses_.end(), [](const Access& a, const Access& b) {
    return std::tie(a.stag, a.generation, a.to) < std::tie(b.stag, b.generation, b.to);
  });
  const auto whole = [&](std::uint32_t stag) {
    return std::find(plan_.invalidated.begin(), plan_.invalidated.end(), stag) != plan_.invalidated.end();
  };
  for (const Access& a : accesses_) {
    Region* r = plan_.regions.empty() ? nullptr : &plan_.regions.back();
    const bool joins =
        r != nullptr && r->stag == a.stag && r->generation == a.generation && (a.to <= r->end() || whole(a.stag));
    if (!joins) {
      plan_.regions.push_back({a.stag, a.generation, a.to, 0, a.foreign, {}});
      r = &plan_.regions.back();
    }
    r->access |= a.right;
    if (a.to + a.bytes > r->end()) r->octets.resize(a.to + a.bytes - r->base);
  }
  for (const Region& r : plan_.regions) known_.emplace_back(r.octets.size());
}

// Goes through the fed stream as the real side's memory did: what is read before it was written was there from the
// beginning, what is read and differs from what was written last came from the real side's program.
void MemoryPlanner::fill() {
  std::vector<Region> start = plan_.regions;
  std::vector<const Message*> responses;
  for (const Message& m : real_.messages()) {
    if (m.header.opcode == Opcode::kReadResponse) responses.push_back(&m);
  }
  std::size_t reads = 0;
  const std::size_t n = plan_.failing.value_or(fed_.segments().size());
  for (std::size_t i = 0; i < n; ++i) {
    const DdpSegment& s = fed_.segments()[i];
    if (s.header.tagged && s.payload_bytes != 0) {
      const auto at = plan_.find(s.header.stag, generation(s.header.stag, i), s.header.to);
      if (!at || !plan_.regions[*at].contains(s.header.to, s.payload_bytes)) continue;
      const ByteSpan from = fed_.payload(s);
      const std::uint64_t offset = s.header.to - plan_.regions[*at].base;
      for (std::size_t k = 0; k < from.size(); ++k) {
        plan_.regions[*at].octets[offset + k] = from[k];
        known_[*at][offset + k] = true;
      }
    } else if (s.header.opcode == Opcode::kReadRequest && reads < responses.size()) {
      const Message& response = *responses[reads++];
      const auto r = wire::ReadRequest::parse(fed_.payload(s));
      if (!r || response.payload.empty()) continue;
      const std::size_t at = *plan_.find(r->src_stag, generation(r->src_stag, i), r->src_to);
      Region& region = plan_.regions[at];
      const std::uint64_t offset = r->src_to - region.base;
      bool changed = false;
      for (std::size_t k = 0; k < std::min<std::size_t>(response.payload.size(), r->size); ++k) {
        std::uint8_t& now = region.octets[offset + k];
        if (!known_[at][offset + k]) start[at].octets[offset + k] = now = response.payload[k];
        changed = changed || now != response.payload[k];
        now = response.payload[k];
        known_[at][offset + k] = true;
      }
      if (changed) plan_.rewrites.push_back({s.begin, at, offset, response.payload});
    }
  }
  plan_.regions = std::move(start);
}

}  // namespace rnic::replay
