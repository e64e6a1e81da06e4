// The host's memory as the device addresses it: one flat range of bus addresses.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/common/bytes.h"
#include "model/common/registered.h"
#include "model/config/field.h"
#include "model/host/free_ranges.h"

namespace rnic::host {

struct HostMemoryConfig {
  std::uint64_t base_address = 0x100000000;
  std::uint64_t size_mib = 1024;
  template <class V>
  static void fields(V& v) {
    v("base_address", &HostMemoryConfig::base_address, "bus address of the first octet", power_of_two());
    v("size_mib", &HostMemoryConfig::size_mib, "size of the memory; untouched pages cost nothing", in_range(1, 1 << 20),
      unit("MiB"));
  }
};

// Zero when handed out. Pointers stay valid until the memory dies; only allocated octets exist for the device.
class HostMemory final : public Committed {
 public:
  explicit HostMemory(const HostMemoryConfig& config = {});

  // Bus address of `bytes` new octets; align is a power of two. ConfigError when the memory is full.
  std::uint64_t alloc(std::uint64_t bytes, std::uint64_t align = 64);

  // Frees what alloc returned. The octets stay readable to a device that has not heard of it yet.
  void free(std::uint64_t address, std::uint64_t bytes);

  // Bus addresses of that many new pages of 2^log_page octets, in the order in which a program sees them: scattered,
  // never two neighbours in a row, the same for the same seed.
  std::vector<std::uint64_t> alloc_pages(std::uint32_t pages, unsigned log_page, std::uint64_t seed = 1);

  bool contains(std::uint64_t address, std::uint64_t bytes) const {
    return address >= base_ && address - base_ <= used_ && bytes <= used_ - (address - base_);
  }
  // The octets at a bus address; nullptr if the range is not completely allocated.
  std::uint8_t* find(std::uint64_t address, std::uint64_t bytes) {
    return contains(address, bytes) ? bytes_.get() + (address - base_) : nullptr;
  }
  // The same for the host's own software, for which a range outside is a bug (InternalError).
  MutableByteSpan span(std::uint64_t address, std::uint64_t bytes);

  // A store of the processor that a device may read at any time: visible from the next cycle of `clk` on, so that the
  // order within this one does not matter.
  void store_later(ClockDomain& clk, std::uint64_t address, std::uint32_t value);
  void commit() override;

  std::uint64_t base() const { return base_; }
  // Octets handed out so far, including alignment gaps and freed memory: it grows only as far as needed.
  std::uint64_t used() const { return used_; }

 private:
  struct Unmap {
    std::uint64_t bytes;
    void operator()(std::uint8_t* p) const;
  };
  struct Store {
    std::uint64_t address;
    std::uint32_t value;
  };
  std::vector<Store> later_;
  bool committing_ = false;
  const std::uint64_t base_;
  const std::uint64_t capacity_;
  std::uint64_t used_ = 0;
  FreeRanges free_;  // bus addresses below base_ + used_
  std::unique_ptr<std::uint8_t, Unmap> bytes_;
};

}  // namespace rnic::host
