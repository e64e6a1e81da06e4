// The chip-to-host boundary as the driver sees it: MMIO out, memory writes and interrupts in, each with its time.
#pragma once

#include <cstdint>

namespace rnic::host {

// Implemented by whatever connects the driver to the device (the root complex of the in-process host).
class HostPort {
 public:
  virtual ~HostPort() = default;
  // A posted 32-bit write to BAR0, issued by the CPU at at_ps. Writes arrive in order.
  virtual void mmio_write(std::uint32_t offset, std::uint32_t value, std::uint64_t at_ps) = 0;
  // A 32-bit read from BAR0, answered by HostEvents::mmio_read_done with the same cookie.
  virtual void mmio_read(std::uint32_t offset, std::uint32_t cookie, std::uint64_t at_ps) = 0;
};

// The device's actions on the host. Called in simulated-time order, in the host's clock domain.
class HostEvents {
 public:
  virtual ~HostEvents() = default;
  // The device wrote `bytes` octets at this bus address; they are visible in host memory.
  virtual void memory_written(std::uint64_t address, std::uint32_t bytes, std::uint64_t at_ps) = 0;
  virtual void msix(unsigned vector, std::uint64_t at_ps) = 0;
  // ok is false for an unsupported request or an abort; value is then all ones.
  virtual void mmio_read_done(std::uint32_t cookie, std::uint32_t value, bool ok, std::uint64_t at_ps) = 0;
};

}  // namespace rnic::host
