// The firmware's processor: the cost of its work, and the firmware's settings.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "firmware/lib/default_capacity.h"
#include "model/abi/firmware_log_level.h"
#include "model/abi/host_abi.h"
#include "model/config/field.h"
#include "model/rnic/fwcpu/rv32/rv32_config.h"

namespace rnic {

enum class FirmwareTargetKind : std::uint8_t { kNative, kRv32 };
inline constexpr std::array kFirmwareTargets{Named{FirmwareTargetKind::kNative, "native"},
                                             Named{FirmwareTargetKind::kRv32, "rv32"}};
inline constexpr std::array kPersonalities{Named{abi::Personality::kRdmac, "rdmac"},
                                           Named{abi::Personality::kIetf, "ietf"},
                                           Named{abi::Personality::kPermissive, "permissive"}};

inline constexpr std::array kFaultCauses{
    Named{abi::FaultCause::kNone, "none"},          Named{abi::FaultCause::kPanic, "panic"},
    Named{abi::FaultCause::kWatchdog, "watchdog"},  Named{abi::FaultCause::kIllegalInstruction, "illegal_instruction"},
    Named{abi::FaultCause::kBusFault, "bus_fault"}, Named{abi::FaultCause::kStackOverflow, "stack_overflow"}};

// The fault that a test makes the firmware commit.
enum class PlantedFault : std::uint8_t {
  kNone,
  kPanic,
  kWatchdog,
  kIllegalInstruction,
  kBusFault,
  kStackOverflow,
  kEndlessLoop
};
inline constexpr std::array kPlantedFaults{Named{PlantedFault::kNone, "none"},
                                           Named{PlantedFault::kPanic, "panic"},
                                           Named{PlantedFault::kWatchdog, "watchdog"},
                                           Named{PlantedFault::kIllegalInstruction, "illegal_instruction"},
                                           Named{PlantedFault::kBusFault, "bus_fault"},
                                           Named{PlantedFault::kStackOverflow, "stack_overflow"},
                                           Named{PlantedFault::kEndlessLoop, "endless_loop"}};

struct FwCpuConfig {
  FirmwareTargetKind target = FirmwareTargetKind::kNative;
  std::string image;
  unsigned clock_divider = 1;
  unsigned dispatch_cycles = 40;
  unsigned csr_write_cycles = 4;
  unsigned sram_word_cycles = 1;
  std::uint64_t watchdog_cycles = 10'000'000;
  std::uint16_t max_ird = 32, max_ord = 32;
  std::uint32_t request_timeout_us = 10'000'000, reply_timeout_us = 5'000'000;
  std::uint32_t first_fpdu_timeout_us = 5'000'000, close_timeout_us = 5'000'000;
  std::uint32_t max_connections = fw::DefaultCapacity::kConnections, max_setups = fw::DefaultCapacity::kSetups;
  unsigned log_level = static_cast<unsigned>(fw::LogLevel::kInfo);
  bool rdmap_extensions = true;
  abi::Personality personality = abi::Personality::kIetf;
  bool receive_markers = false, crc = true;
  PlantedFault fault = PlantedFault::kNone;
  std::uint32_t fault_event = 1;
  Rv32Config rv32;

  template <class V>
  static void fields(V& v) {
    v("target", &FwCpuConfig::target, "the firmware runs natively, or as RV32 code", one_of(kFirmwareTargets));
    v("image", &FwCpuConfig::image, "ELF file of the RV32 firmware; empty: the one built with this program");
    v("clock_divider", &FwCpuConfig::clock_divider, "core clock cycles per firmware clock cycle", in_range(1, 64),
      unit("cycles"));
    v("dispatch_cycles", &FwCpuConfig::dispatch_cycles, "native: firmware cycles from an event to its first access",
      in_range(1, 100000), unit("cycles"));
    v("csr_write_cycles", &FwCpuConfig::csr_write_cycles, "native: firmware cycles per 32-bit register write",
      in_range(1, 1000), unit("cycles"));
    v("sram_word_cycles", &FwCpuConfig::sram_word_cycles, "native: firmware cycles per 32-bit word of SRAM",
      in_range(0, 1000), unit("cycles"));
    v("watchdog_cycles", &FwCpuConfig::watchdog_cycles, "a handler that takes more firmware cycles causes a fault",
      in_range<std::uint64_t>(100, 1'000'000'000'000), unit("cycles"));
    v("max_ird", &FwCpuConfig::max_ird, "most RDMA Reads and atomics that a QP serves at a time", in_range(1, 0x3ffe));
    v("max_ord", &FwCpuConfig::max_ord, "most RDMA Reads and atomics that a QP has outstanding", in_range(1, 0x3ffe));
    v("request_timeout_us", &FwCpuConfig::request_timeout_us, "wait for an MPA request", in_range(1, 100'000'000),
      unit("us"));
    v("reply_timeout_us", &FwCpuConfig::reply_timeout_us, "wait for an MPA reply", in_range(1, 100'000'000),
      unit("us"));
    v("first_fpdu_timeout_us", &FwCpuConfig::first_fpdu_timeout_us, "wait for the RTR message of a peer-to-peer setup",
      in_range(1, 100'000'000), unit("us"));
    v("close_timeout_us", &FwCpuConfig::close_timeout_us, "wait for the send queue to drain, then for the peer's FIN",
      in_range(1, 100'000'000), unit("us"));
    v("max_connections", &FwCpuConfig::max_connections, "connections at a time; further ones are refused",
      in_range(1u, fw::LargeCapacity::kConnections));
    v("max_setups", &FwCpuConfig::max_setups, "connections that exchange start-up frames at a time",
      in_range(1u, fw::DefaultCapacity::kSetups));
    v("log_level", &FwCpuConfig::log_level,
      "initial log level of the firmware: 0 nothing, 1 errors, 2 warnings, 3 information, 4 every state too",
      in_range(0, 4));
    v("rdmap_extensions", &FwCpuConfig::rdmap_extensions,
      "atomics and immediate data (RFC 7306); if off, their opcodes are unexpected");
    v("personality", &FwCpuConfig::personality,
      "DDP and RDMAP version 0 (rdmac), 1 (ietf), or either, by queue pair and by peer (permissive)",
      one_of(kPersonalities));
    v("receive_markers", &FwCpuConfig::receive_markers,
      "request MPA markers if neither the queue pair nor its connection specifies them");
    v("crc", &FwCpuConfig::crc,
      "request CRC on every stream (RFC 5044 section 4.4); off: only if a program requests it. One end is enough");
    v("fault", &FwCpuConfig::fault, "injected firmware fault", one_of(kPlantedFaults));
    v("fault_event", &FwCpuConfig::fault_event, "event of the firmware at which the fault occurs, counted from 1",
      in_range(1u, 4'000'000'000u));
    v.group("rv32", &FwCpuConfig::rv32);
  }
};

}  // namespace rnic
