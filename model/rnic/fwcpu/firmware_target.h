// What executes the firmware: natively, or the RV32 image on an instruction-set simulator.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "firmware/lib/capacity.h"
#include "model/abi/firmware_events.h"
#include "model/rnic/fwcpu/chip_bus.h"

namespace rnic {

class StatsGroup;

template <class... E>
std::variant<E...> variant_of(fw::TypeList<E...>);
using FirmwareEvent = decltype(variant_of(fw::Events{}));

class Iss;

// The processor's position from a firmware cycle of a handler on.
struct CodePlace {
  std::uint64_t cycle = 0;
  std::uint32_t pc = 0;
};

class FirmwareTarget {
 public:
  virtual ~FirmwareTarget() = default;
  // Runs the handler at once. Its accesses are then on the bus, laid out in time from the bus's start() on. Throws
  // FirmwareFault when the firmware cannot continue; the bus has what it did until then.
  virtual void on(const FirmwareEvent& event) = 0;
  // The firmware starts again, with nothing in its memory; the bus was reset.
  virtual void reset() = 0;
  // Fails instead of this event's handler: FirmwareFault, except for an endless loop.
  virtual void fail(PlantedFault fault, const FirmwareEvent& event) = 0;
  // The processor's position and registers, one line each.
  virtual std::string dump() const = 0;
  // The processor, for a debugger; none if the firmware runs natively.
  virtual Iss* processor() { return nullptr; }
  // Its functions, by a number, and the one at an address. Native firmware has none.
  virtual std::vector<std::string> functions() const { return {}; }
  virtual std::uint32_t function_at(std::uint32_t /*pc*/) const { return 0; }
  // Each handler records its path; nullptr: off.
  virtual void follow(std::vector<CodePlace>* /*places*/) {}
  virtual void register_stats(const StatsGroup&) const {}
};

// The image that belongs to this program, in its build tree or where it is installed; empty if none was built.
std::string built_rv32_image();

// `name` is the processor's, for messages.
std::unique_ptr<FirmwareTarget> make_native_target(ChipBus& bus, const fw::Settings& settings, const std::string& name);
// ConfigError if the image cannot be read, is for another chip or does not start.
std::unique_ptr<FirmwareTarget> make_rv32_target(ChipBus& bus, const fw::Settings& settings, const FwCpuConfig& config);

}  // namespace rnic
