// The chip-to-host boundary as the driver sees it: configuration space, MMIO and resets out; memory writes, interrupts
// and answers in, each with its time.
#pragma once

#include <cstdint>

namespace rnic::host {

// Of the PCI Express Base Specification, section 6.6. kPerst is PERST#, a pin. kHot goes over the link, when the TLP
// that is being sent has left. Both reset link and device, and the host must train and configure them again. kFlr is a
// function level reset: a configuration write, which leaves the link up.
enum class ResetKind : std::uint8_t { kPerst, kHot, kFlr };

// Implemented by whatever connects the driver to the device (the root complex of the in-process host). All calls take
// effect in the order of at_ps, which is when the CPU issues them.
class HostPort {
 public:
  virtual ~HostPort() = default;
  // A posted 32-bit write to BAR0.
  virtual void mmio_write(std::uint32_t offset, std::uint32_t value, std::uint64_t at_ps) = 0;
  // A 32-bit read from BAR0, answered by HostEvents::mmio_read_done with the same cookie.
  virtual void mmio_read(std::uint32_t offset, std::uint32_t cookie, std::uint64_t at_ps) = 0;
  // Configuration space: a double word at a multiple of 4 is read, and 1, 2 or 4 octets of one are written. Answered by
  // HostEvents::config_done.
  virtual void config_read(std::uint32_t offset, std::uint32_t cookie, std::uint64_t at_ps) = 0;
  virtual void config_write(std::uint32_t offset, std::uint32_t bytes, std::uint32_t value, std::uint32_t cookie,
                            std::uint64_t at_ps) = 0;
  // While the link is down, writes are lost and reads fail. A host reads configuration space until it is answered.
  virtual void reset_device(ResetKind kind, std::uint64_t at_ps) = 0;
  // What a call causes at the device, or the device at the host, is there that much later at the earliest.
  virtual std::uint64_t lookahead_ps() const = 0;
};

// The device's actions on the host. Called in simulated-time order, in the host's clock domain.
class HostEvents {
 public:
  virtual ~HostEvents() = default;
  // The device wrote `bytes` octets at this bus address; they are visible in host memory.
  virtual void memory_written(std::uint64_t address, std::uint32_t bytes, std::uint64_t at_ps) = 0;
  virtual void msix(unsigned vector, std::uint64_t at_ps) = 0;
  // ok is false for an unsupported request, an abort, or a link that is down; value is then all ones.
  virtual void mmio_read_done(std::uint32_t cookie, std::uint32_t value, bool ok, std::uint64_t at_ps) = 0;
  // The same for configuration space; the value of a write is 0. A driver that finds its device configured needs none.
  virtual void config_done(std::uint32_t /*cookie*/, std::uint32_t /*value*/, bool /*ok*/, std::uint64_t /*at_ps*/) {}
};

}  // namespace rnic::host
