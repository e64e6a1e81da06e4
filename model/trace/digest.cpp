#include "model/trace/digest.h"

#include <string_view>

namespace rnic {
namespace {

// The finalizer of SplitMix64 (Steele, Lea, Flood 2014): every input bit changes half of the output bits.
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

// The golden ratio keeps a run of zeros from staying zero.
std::uint64_t absorb(std::uint64_t hash, std::uint64_t word) { return mix(hash + 0x9e3779b97f4a7c15u + mix(word)); }

std::uint64_t absorb(std::uint64_t hash, RequestId id) {
  return id.packs() ? absorb(hash, id.packed()) : absorb(absorb(hash, id.place()), id.node());
}

std::uint64_t pair(std::uint32_t high, std::uint32_t low) { return std::uint64_t{high} << 32 | low; }

std::uint64_t hash_of_text(std::string_view text) {
  std::uint64_t hash = text.size();
  for (const char c : text) hash = absorb(hash, static_cast<unsigned char>(c));
  return hash;
}

}  // namespace

std::uint64_t TraceDigest::hash_of_name(const char* where) {
  Name& recent = recent_[reinterpret_cast<std::uintptr_t>(where) / 8 % recent_.size()];
  if (recent.where != where) {
    const auto [it, is_new] = names_.try_emplace(where, 0);
    if (is_new) it->second = hash_of_text(where);
    recent = {where, it->second};
  }
  return recent.hash;
}

std::uint64_t TraceDigest::hash_of(const TraceDomain& domain) {
  for (const Domain& d : domains_) {
    if (d.domain == &domain) return d.hash;
  }
  domains_.push_back({&domain, absorb(hash_of_text(domain.name), domain.period_ps)});
  return domains_.back().hash;
}

void TraceDigest::event(const TraceDomain& domain, const TraceEvent& e) {
  std::uint64_t hash = absorb(hash_of(domain) + hash_of_name(e.where), e.cycle);
  hash = absorb(hash, pair(static_cast<std::uint32_t>(e.kind), e.flow.v));
  hash = absorb(hash, pair(e.qpn, e.bytes));
  hash = absorb(hash, pair(e.values[0], e.values[1]));
  if (e.values[2] != 0) hash = absorb(~hash, e.values[2]);
  hash = absorb(hash, e.request);
  sum_ += e.receive ? absorb(hash, e.receive) : hash;
  ++events_;
}

std::uint64_t TraceDigest::value() const { return mix(sum_ + events_); }

}  // namespace rnic
