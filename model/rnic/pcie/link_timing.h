// How long a TLP occupies the wire: exact integers for every generation and width.
#pragma once

#include <cstdint>

#include "model/common/check.h"
#include "model/rnic/pcie/pcie_config.h"
#include "model/rnic/pcie/tlp.h"

namespace rnic::pcie {

// Wire time is counted in 1/1024 ps, in which an octet is a whole number at every rate: generations 1 and 2 send 10
// bits per octet (8b/10b), the others 8 bits and 2 for every 128 (128b/130b).
class LinkTiming {
 public:
  static constexpr std::uint64_t kTicksPerPs = 1024;
  // STP, sequence number, LCRC and END (8b/10b), or the STP token and LCRC (128b/130b): 8 octets either way.
  static constexpr std::uint32_t kFramingBytes = 8;

  LinkTiming(unsigned generation, unsigned width, unsigned dllp_bytes_per_tlp)
      : ticks_per_octet_(ticks_per_octet(generation, width)), dllp_bytes_(dllp_bytes_per_tlp) {}
  explicit LinkTiming(const PcieLinkConfig& c) : LinkTiming(c.generation, c.width, c.dllp_bytes_per_tlp) {}

  std::uint64_t ticks_per_octet() const { return ticks_per_octet_; }
  std::uint32_t wire_bytes(const Tlp& t) const { return wire_bytes(t, t.wire_data_bytes()); }
  // For a caller who has its octets of data.
  std::uint32_t wire_bytes(const Tlp& t, std::uint32_t data_bytes) const {
    return kFramingBytes + t.header_bytes() + data_bytes + dllp_bytes_;
  }
  std::uint64_t ticks(const Tlp& t) const { return wire_bytes(t) * ticks_per_octet_; }

 private:
  static std::uint64_t ticks_per_octet(unsigned generation, unsigned width) {
    constexpr std::uint64_t kLane[] = {4000 * 1024, 2000 * 1024, 65000 * 16, 32500 * 16, 16250 * 16};
    if (generation < 1 || generation > 5) throw ConfigError("pcie.generation: must be 1 to 5");
    if (width < 1 || width > 16 || (width & (width - 1)) != 0) {
      throw ConfigError("pcie.width: must be 1, 2, 4, 8 or 16 lanes");
    }
    return kLane[generation - 1] / width;
  }

  const std::uint64_t ticks_per_octet_;
  const std::uint32_t dllp_bytes_;
};

}  // namespace rnic::pcie
