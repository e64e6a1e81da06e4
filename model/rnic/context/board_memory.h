// DRAM beside the chip, with its timing: banks that stay busy after an access, and a data bus. See context_home.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "model/common/bytes.h"
#include "model/common/clock_domain.h"
#include "model/config/field.h"

namespace rnic {

struct BoardMemoryConfig {
  unsigned latency_ns = 100;
  unsigned banks = 16;
  unsigned bank_busy_ns = 45;
  double gbps = 128;
  template <class V>
  static void fields(V& v) {
    v("latency_ns", &BoardMemoryConfig::latency_ns, "from an access of a free bank to its last octet",
      in_range(1, 10000), unit("ns"));
    v("banks", &BoardMemoryConfig::banks, "neighbouring rows are in neighbouring banks", in_range(1, 256));
    v("bank_busy_ns", &BoardMemoryConfig::bank_busy_ns, "from an access to the next one of the same bank",
      in_range(1, 10000), unit("ns"));
    v("gbps", &BoardMemoryConfig::gbps, "of the data bus", in_range(0.1, 10000.0), unit("Gb/s"));
  }
};

// Octets that were never written are 0. Accesses take their bank and then the bus in the order of the calls.
class BoardMemory {
 public:
  BoardMemory(const ClockDomain& clk, const BoardMemoryConfig& config, std::size_t bytes)
      : latency_(clk.cycle_at_or_after(std::uint64_t{config.latency_ns} * 1000)),
        busy_(clk.cycle_at_or_after(std::uint64_t{config.bank_busy_ns} * 1000)),
        octets_a_cycle_(config.gbps / 8000 * static_cast<double>(clk.period_ps())),
        banks_(config.banks),
        memory_(bytes) {}

  // An access in cycle `now` of octets in one row; returns the cycle in which it is done.
  Cycle access(Cycle now, std::uint32_t row, std::uint32_t octets) {
    Cycle& bank = banks_[row % banks_.size()];
    const Cycle from = std::max(now, bank);
    bank = from + busy_;
    bus_ = std::max(bus_, static_cast<double>(from)) + octets / octets_a_cycle_;
    return std::max(from + latency_, static_cast<Cycle>(bus_) + 1);
  }
  std::uint8_t* at(std::uint64_t octet) { return &memory_.at(octet); }
  void reset() {
    banks_.assign(banks_.size(), 0);
    bus_ = 0;
    std::fill(memory_.begin(), memory_.end(), std::uint8_t{0});
  }

 private:
  const Cycle latency_, busy_;
  const double octets_a_cycle_;
  std::vector<Cycle> banks_;  // free from that cycle on
  double bus_ = 0;
  std::vector<std::uint8_t> memory_;
};

}  // namespace rnic
