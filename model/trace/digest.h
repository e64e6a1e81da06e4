// 64 bits that two runs share if and only if (but for chance) the same things happened in the same cycles.
#pragma once

#include <unordered_map>
#include <vector>

#include "model/trace/event.h"

namespace rnic {

// Each event is hashed over all of its fields with SplitMix64's finalizer. Events of one cycle are added, since stages
// may be called in any order within a cycle; the sums are chained from cycle to cycle of a domain, so that their order
// counts; and domains are added, so that it does not matter which of two clocks the kernel serves first.
class TraceDigest final : public TraceSink {
 public:
  void event(const TraceDomain& domain, const TraceEvent& event) override;
  std::uint64_t value() const;
  std::uint64_t events() const { return events_; }

 private:
  struct Chain {
    const TraceDomain* domain;
    std::uint64_t chained;  // all cycles before `cycle`
    std::uint64_t sum;      // the events of `cycle` so far
    Cycle cycle;
  };
  Chain& chain_of(const TraceDomain& domain);
  std::uint64_t hash_of_name(const char* where);

  std::vector<Chain> chains_;
  std::unordered_map<const char*, std::uint64_t> names_;  // looked up, never iterated
  std::uint64_t events_ = 0;
};

}  // namespace rnic
