#include "model/rnic/pcie/config_space.h"

#include <string>
#include <utility>

#include "model/abi/rnic_regs.h"

namespace rnic::pcie {
namespace {

using R = ConfigRegisters;

constexpr std::uint32_t kMemory64 = 0x4;  // BAR0: memory, 64 bits, not prefetchable
constexpr std::uint32_t kCapabilityList = 1u << 20;
constexpr std::uint32_t kPcieId = 0x10, kMsixId = 0x11, kVersion = 2u << 16;
constexpr std::uint32_t kEightBitTags = 1u << 5, kRoleBasedErrors = 1u << 15, kCanResetFunction = 1u << 28;

// 128 octets are 0 (section 7.8.4).
std::uint32_t size_code(unsigned octets) { return static_cast<std::uint32_t>(__builtin_ctz(octets)) - 7; }

// The bits of a double word that a host can change.
std::uint32_t writable(std::uint32_t offset) {
  switch (offset) {
    case R::kCommand:
      return R::kMemorySpace | R::kBusMaster;
    case R::kBar0:
      return ~(regs::kBarBytes - 1);
    case R::kBar0High:
      return ~0u;
    case R::kMsix:
      return (R::kMsixEnable | R::kFunctionMask) << 16;
    default:
      return 0;
  }
}

}  // namespace

// MPS and MRRS are the settings': both ends of the link are built with them, so a host can read them only.
ConfigRegisters::ConfigRegisters(const PcieLinkConfig& link) {
  if (link.bar0_address % regs::kBarBytes != 0) {
    throw ConfigError("rnic.pcie.link.bar0_address: must be a multiple of " + std::to_string(regs::kBarBytes));
  }
  const auto set = [this](std::uint32_t offset, std::uint32_t value) { words_[offset / 4] = value; };
  const std::uint32_t width_and_speed = link.width << 4 | link.generation;
  set(kId, kDevice << 16 | kVendor);
  set(kCommand, kCapabilityList | kMemorySpace | kBusMaster);
  set(kClass, kNic << 8);
  set(kBar0, static_cast<std::uint32_t>(link.bar0_address) | kMemory64);
  set(kBar0High, static_cast<std::uint32_t>(link.bar0_address >> 32));
  set(kSubsystem, kDevice << 16 | kVendor);
  set(kCapabilities, kPcie);
  set(kPcie, kVersion | kMsix << 8 | kPcieId);
  set(kDeviceCapabilities, kCanResetFunction | kRoleBasedErrors | kEightBitTags | size_code(link.max_payload_bytes));
  set(kDeviceControl, size_code(link.max_read_request_bytes) << 12 | size_code(link.max_payload_bytes) << 5);
  set(kLinkCapabilities, width_and_speed);
  set(kLinkControl, width_and_speed << 16);
  set(kMsix, kMsixEnable << 16 | (regs::MsixControl::kCount - 1) << 16 | kMsixId);
  set(kMsixTable, regs::MsixAddressLo::kOffset);  // in BAR0, as the pending bits are
  set(kMsixPba, regs::MsixPba::kOffset);
}

bool ConfigRegisters::write(std::uint32_t offset, std::uint32_t bytes, const std::uint8_t* data) {
  if (offset >= kUsed) return false;
  std::uint32_t mask = 0, value = 0;
  for (std::uint32_t i = 0; i < bytes; ++i) {
    const std::uint32_t shift = 8 * (offset % 4 + i);
    mask |= 0xffu << shift;
    value |= std::uint32_t{data[i]} << shift;
  }
  const std::uint32_t word = offset & ~3u;
  const std::uint32_t changes = mask & writable(word);
  words_[word / 4] = (words_[word / 4] & ~changes) | (value & changes);
  return word == kDeviceControl && (value & kFunctionReset) != 0;
}

void ConfigRegisters::reset() {
  for (std::uint32_t offset = 0; offset < kUsed; offset += 4) words_[offset / 4] &= ~writable(offset);
}

void ConfigSpace::write(const Tlp& request) {
  if (next_.write(static_cast<std::uint32_t>(request.address), request.bytes, request.data())) reset(Reset::kFunction);
  if (!std::exchange(changed_, true)) clk_.commit_later(*this);
}

void ConfigSpace::await(Stage& stage) { waiters_.add(stage); }

void ConfigSpace::reset(Reset kind) {
  (kind == Reset::kLink ? link_reset_ : function_reset_) = true;
  if (!std::exchange(changed_, true)) clk_.commit_later(*this);
}

void ConfigSpace::commit() {
  const bool function = std::exchange(function_reset_, false), link = std::exchange(link_reset_, false);
  if (function || link) {
    next_.reset();
    if (on_reset_) on_reset_(link ? Reset::kLink : Reset::kFunction);
  }
  now_ = next_;
  changed_ = false;
  waiters_.wake();
}

}  // namespace rnic::pcie
