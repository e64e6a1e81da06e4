// A 64-bit digest that two runs share if and only if (but for chance) the same events happened in the same cycles.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "model/trace/event.h"

namespace rnic {

// SplitMix64's finalizer hashes each event with all its fields, domain and cycle included, and the hashes are added. So
// the order of stages within a cycle, the run-ahead of a stage and the order of clocks in the kernel do not matter;
// only the events and their cycles do.
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
