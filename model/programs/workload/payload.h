// Message sizes and contents. The seed alone determines the expected data, without the chip.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/common/bytes.h"
#include "model/programs/workload/plan.h"

namespace rnic::workload {

// Sizes of `count` messages; the same for the same seed.
std::vector<std::uint32_t> message_sizes(const SizeSpec& spec, std::uint32_t count, std::uint64_t seed);

class PayloadGenerator {
 public:
  PayloadGenerator(Pattern pattern, std::uint64_t seed) : pattern_(pattern), seed_(seed) {}

  // Octets 0 to size - 1 of a message.
  void fill(MutableByteSpan to, std::uint64_t message) const;

  struct Difference {
    std::size_t offset;
    std::uint8_t expected, found;
  };
  // The first octet that differs from what fill() writes.
  std::optional<Difference> compare(ByteSpan found, std::uint64_t message) const;

 private:
  const Pattern pattern_;
  const std::uint64_t seed_;
};

}  // namespace rnic::workload
