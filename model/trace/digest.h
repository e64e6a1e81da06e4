// 64 bits that two runs share if and only if (but for chance) the same things happened in the same cycles.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "model/trace/event.h"

namespace rnic {

// Each event is hashed over all of its fields, its domain and its cycle among them, with SplitMix64's finalizer, and
// the hashes are added. So it does not matter in which order stages are called within a cycle, how far a stage runs
// ahead of its neighbours, or which of two clocks the kernel serves first; only what happened, and when.
class TraceDigest final : public TraceSink {
 public:
  void event(const TraceDomain& domain, const TraceEvent& event) override;
  std::uint64_t value() const;
  std::uint64_t events() const { return events_; }

 private:
  struct Domain {
    const TraceDomain* domain;
    std::uint64_t hash;
  };
  std::uint64_t hash_of(const TraceDomain& domain);
  std::uint64_t hash_of_name(const char* where);

  std::vector<Domain> domains_;
  struct Name {
    const char* where = nullptr;
    std::uint64_t hash = 0;
  };
  std::unordered_map<const char*, std::uint64_t> names_;  // looked up, never iterated
  std::array<Name, 256> recent_{};                        // of them, by their address
  std::uint64_t sum_ = 0;
  std::uint64_t events_ = 0;
};

}  // namespace rnic
