#include "model/env/host/host_memory.h"

#include <new>
#include <string>

#include "model/common/check.h"

namespace rnic::host {

// calloc leaves zero pages to the operating system until they are touched.
HostMemory::HostMemory(const HostMemoryConfig& config)
    : base_(config.base_address),
      capacity_(config.size_mib << 20),
      bytes_(static_cast<std::uint8_t*>(std::calloc(capacity_, 1))) {
  if (bytes_ == nullptr) throw ConfigError("host.memory.size_mib: this machine cannot provide that much");
}

std::uint64_t HostMemory::alloc(std::uint64_t bytes, std::uint64_t align) {
  RNIC_CHECK(align != 0 && (align & (align - 1)) == 0);
  const std::uint64_t offset = ((base_ + used_ + align - 1) & ~(align - 1)) - base_;
  if (offset > capacity_ || bytes > capacity_ - offset) {
    throw ConfigError("host.memory.size_mib: no room for " + std::to_string(bytes) + " octets more; " +
                      std::to_string(capacity_ - used_) + " are left");
  }
  used_ = offset + bytes;
  return base_ + offset;
}

MutableByteSpan HostMemory::span(std::uint64_t address, std::uint64_t bytes) {
  std::uint8_t* data = find(address, bytes);
  RNIC_CHECK_MSG(data != nullptr,
                 std::to_string(bytes) + " octets at bus address " + std::to_string(address) + " are not allocated");
  return {data, bytes};
}

}  // namespace rnic::host
