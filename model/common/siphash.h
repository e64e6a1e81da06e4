// SipHash-2-4 (Aumasson and Bernstein, 2012): without the key, values reveal nothing about other values.
#pragma once

#include <cstdint>

#include "model/common/bytes.h"
#include "model/common/prng.h"

namespace rnic {

struct SipKey {
  std::uint64_t k0 = 0, k1 = 0;
  static constexpr SipKey of_seed(std::uint64_t seed) { return {mix64(seed), mix64(~seed)}; }
};

std::uint64_t siphash(const SipKey& key, ByteSpan octets);

// Numbers that cannot be predicted from earlier ones.
class SipStream {
 public:
  explicit SipStream(const SipKey& key) : key_(key) {}
  std::uint64_t next();
  // In [0, bound); bound >= 1.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }

 private:
  SipKey key_;
  std::uint64_t drawn_ = 0;
};

}  // namespace rnic
