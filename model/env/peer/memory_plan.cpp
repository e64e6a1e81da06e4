#include "model/env/peer/memory_plan.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "model/common/check.h"
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

// In octets, of a region and of all together: a capture says what it likes.
constexpr std::uint64_t kMaxRegion = 1 << 28, kMaxMemory = 1 << 28;

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

void MemoryPlanner::find_invalidations() {
  for (std::size_t i = 0; i < fed_.segments().size(); ++i) {
    const SegmentHeader& h = fed_.segments()[i].header;
    if (wire::invalidates(h.opcode) && h.last) plan_.invalidations[h.stag].push_back(i);
  }
}

void MemoryPlanner::collect_fed() {
  const std::size_t n = std::min(plan_.failing.value_or(fed_.segments().size()), fed_.segments().size());
  for (std::size_t i = 0; i < n; ++i) {
    const DdpSegment& s = fed_.segments()[i];
    const SegmentHeader& h = s.header;
    if (h.tagged && s.payload_bytes != 0) {
      const std::uint8_t right = h.opcode == Opcode::kWrite ? abi::kRemoteWrite : abi::kLocalWrite;
      accesses_.push_back({h.stag, plan_.generation(h.stag, i), h.to, s.payload_bytes, right, false});
    }
    if (h.opcode != Opcode::kReadRequest) continue;
    const auto r = wire::ReadRequest::parse(fed_.payload(s));
    if (!r || r->size == 0) continue;
    accesses_.push_back({r->src_stag, plan_.generation(r->src_stag, i), r->src_to, r->size, abi::kRemoteRead, false});
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
    const auto before = std::partition_point(fed_.segments().begin(), fed_.segments().end(),
                                             [&](const DdpSegment& f) { return fed_stream_.order_of(f.end) < order; });
    const auto segments = static_cast<std::size_t>(before - fed_.segments().begin());
    const unsigned g = plan_.sinks[i] = plan_.generation(r->sink_stag, segments);
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
  access.generation = plan_.generation(access.stag, *plan_.failing);
  if (cause == wire::ddp::kStagNotAssociated || cause == wire::rdma::kStagNotAssociated) {
    access.foreign = true;
    accesses_.push_back(access);
  } else if (cause == wire::ddp::kBaseOrBounds || cause == wire::rdma::kBaseOrBounds) {
    const bool known = std::any_of(accesses_.begin(), accesses_.end(), [&](const Access& a) {
      return a.stag == access.stag && a.generation == access.generation;
    });
    if (known) return;
    if (access.bytes > 1) access.bytes = std::min(access.bytes - 1, kMaxRegion);
    else --access.to;
    accesses_.push_back(access);
  }
}

// A peer can only invalidate what it was told of.
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

// Accesses that touch make one region; so do all of an STag that is invalidated as a whole.
void MemoryPlanner::make_regions() {
  std::sort(accesses_.begin(), accesses_.end(), [](const Access& a, const Access& b) {
    return std::tie(a.stag, a.generation, a.to) < std::tie(b.stag, b.generation, b.to);
  });
  std::vector<std::uint64_t> sizes;  // before any memory is taken
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
    if (reach > kMaxRegion || a.bytes > kMaxRegion - reach || a.to + a.bytes < a.to) {
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

// Goes through the fed stream as the real side's memory did: what is read before it was written was there from the
// beginning, what is read and differs from what was written last came from the real side's program.
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
  const std::uint64_t offset = s.header.to - plan_.regions[at].base;
  std::copy(from.begin(), from.end(), plan_.final[at].begin() + static_cast<std::ptrdiff_t>(offset));
  std::fill_n(known_[at].begin() + static_cast<std::ptrdiff_t>(offset), from.size(), true);
}

void MemoryPlanner::read(const DdpSegment& s, std::size_t index, const Message& response) {
  const auto r = wire::ReadRequest::parse(fed_.payload(s));
  if (!r || r->size == 0 || response.payload.size() > r->size) return;
  const std::size_t at = *plan_.find(r->src_stag, plan_.generation(r->src_stag, index), r->src_to);
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
  if (changed) plan_.rewrites.push_back({s.begin, at, offset, response.payload});
}

}  // namespace rnic::replay
