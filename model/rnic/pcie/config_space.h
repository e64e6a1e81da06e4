// The function's configuration space: a type 0 header with BAR0, the PCI Express capability and the MSI-X capability.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "model/common/registered.h"
#include "model/rnic/pcie/pcie_config.h"
#include "model/rnic/pcie/tlp.h"

namespace rnic::pcie {

// The registers as values. Offsets are octets from the start of configuration space, of the PCI Local Bus Specification
// 3.0 (sections 6.1, 6.8.2) and of the PCI Express Base Specification (section 7.8). What is not named here reads 0.
class ConfigRegisters {
 public:
  static constexpr std::uint32_t kBytes = 4096;
  static constexpr std::uint32_t kId = 0x00, kCommand = 0x04, kClass = 0x08, kBar0 = 0x10, kBar0High = 0x14;
  static constexpr std::uint32_t kSubsystem = 0x2c, kCapabilities = 0x34;
  static constexpr std::uint32_t kPcie = 0x40, kDeviceCapabilities = kPcie + 4, kDeviceControl = kPcie + 8;
  static constexpr std::uint32_t kLinkCapabilities = kPcie + 12, kLinkControl = kPcie + 16;
  static constexpr std::uint32_t kMsix = 0x80, kMsixTable = kMsix + 4, kMsixPba = kMsix + 8;
  static constexpr std::uint32_t kMsixControl = kMsix + 2;  // 16 bits

  static constexpr std::uint32_t kMemorySpace = 1u << 1, kBusMaster = 1u << 2;         // of kCommand
  static constexpr std::uint32_t kFunctionReset = 1u << 15;                            // of kDeviceControl; reads 0
  static constexpr std::uint32_t kFunctionMask = 1u << 14, kMsixEnable = 1u << 15;     // of kMsixControl
  static constexpr std::uint32_t kVendor = 0x1234, kDevice = 0x5040, kNic = 0x020000;  // no vendor has this id

  explicit ConfigRegisters(const PcieLinkConfig& link);

  // The double word at an offset that is a multiple of 4.
  std::uint32_t read(std::uint32_t offset) const { return offset < kUsed ? words_[offset / 4] : 0; }
  // `bytes` octets of a double word, from `offset` on. True for one that starts a function level reset.
  bool write(std::uint32_t offset, std::uint32_t bytes, const std::uint8_t* data);
  // To the values after power-on: no address, no memory space, no bus master, no MSI-X.
  void reset();

  bool memory_space() const { return (read(kCommand) & kMemorySpace) != 0; }
  bool bus_master() const { return (read(kCommand) & kBusMaster) != 0; }
  std::uint64_t bar0() const { return std::uint64_t{read(kBar0High)} << 32 | (read(kBar0) & ~std::uint32_t{15}); }
  // Interrupts leave: MSI-X is enabled, and not all vectors are masked at once.
  bool msix() const { return (read(kMsix) >> 16 & (kMsixEnable | kFunctionMask)) == kMsixEnable; }

 private:
  static constexpr std::uint32_t kUsed = kMsixPba + 4;
  std::array<std::uint32_t, kUsed / 4> words_{};
};

// They begin as the host's firmware leaves them: BAR0 is at PcieLinkConfig::bar0_address, memory space, bus master and
// MSI-X are enabled. What a host writes is visible from the next cycle on.
class ConfigSpace final : public Committed {
 public:
  enum class Reset : std::uint8_t { kFunction, kLink };

  ConfigSpace(ClockDomain& clk, const PcieLinkConfig& link) : clk_(clk), now_(link), next_(link) {}

  const ConfigRegisters& get() const { return now_; }
  void write(const Tlp& request);
  // At the end of this cycle: a function level reset, or one that came over the link.
  void reset(Reset kind);
  // At most one owner, called at the end of the cycle of a reset.
  void on_reset(std::function<void(Reset)> f) {
    RNIC_CHECK(!on_reset_);
    on_reset_ = std::move(f);
  }
  // Calls the stage when the host has changed something.
  void await(Stage& stage);
  void commit() override;

 private:
  ClockDomain& clk_;
  ConfigRegisters now_, next_;
  bool changed_ = false, function_reset_ = false, link_reset_ = false;
  Waiters waiters_;
  std::function<void(Reset)> on_reset_;
};

}  // namespace rnic::pcie
