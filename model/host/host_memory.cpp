#include "model/host/host_memory.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include <sys/mman.h>

#include "model/common/check.h"
#include "model/common/prng.h"

namespace rnic::host {

// Fresh memory of the operating system: zero, and free of cost until it is touched; large pages make touching cheaper.
namespace {

std::uint8_t* map(std::uint64_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw ConfigError("host.memory.size_mib: this machine cannot provide that much");
  madvise(memory, bytes, MADV_HUGEPAGE);
  return static_cast<std::uint8_t*>(memory);
}

}  // namespace

void HostMemory::Unmap::operator()(std::uint8_t* p) const { munmap(p, bytes); }

HostMemory::HostMemory(const HostMemoryConfig& config)
    : base_(config.base_address), capacity_(config.size_mib << 20), bytes_(map(capacity_), Unmap{capacity_}) {}

std::uint64_t HostMemory::alloc(std::uint64_t bytes, std::uint64_t align) {
  RNIC_CHECK(align != 0 && (align & (align - 1)) == 0);
  if (const auto address = free_.take(bytes, align)) {
    std::memset(bytes_.get() + (*address - base_), 0, bytes);
    return *address;
  }
  const std::uint64_t offset = ((base_ + used_ + align - 1) & ~(align - 1)) - base_;
  if (offset > capacity_ || bytes > capacity_ - offset) {
    throw ConfigError("host.memory.size_mib: no room for " + std::to_string(bytes) + " octets more; " +
                      std::to_string(capacity_ - used_) + " are left");
  }
  used_ = offset + bytes;
  return base_ + offset;
}

void HostMemory::free(std::uint64_t address, std::uint64_t bytes) {
  RNIC_CHECK(contains(address, bytes));
  const auto gone = [&](const Store& s) { return s.address >= address && s.address - address < bytes; };
  later_.erase(std::remove_if(later_.begin(), later_.end(), gone), later_.end());
  free_.give(address, bytes);
}

void HostMemory::store_later(ClockDomain& clk, std::uint64_t address, std::uint32_t value) {
  if (!std::exchange(committing_, true)) clk.commit_later(*this);
  later_.push_back({address, value});
}

void HostMemory::commit() {
  committing_ = false;
  for (const Store& s : later_) store_le32(span(s.address, sizeof s.value).data(), s.value);
  later_.clear();
}

// Every other page of a range, shuffled; the pages between them are unused.
std::vector<std::uint64_t> HostMemory::alloc_pages(std::uint32_t pages, unsigned log_page, std::uint64_t seed) {
  const std::uint64_t size = std::uint64_t{1} << log_page, first = alloc(2 * pages * size, size);
  std::vector<std::uint64_t> list;
  for (std::uint32_t i = 0; i < pages; ++i) list.push_back(first + 2 * i * size);
  Prng prng(seed);
  for (std::uint32_t i = pages; i > 1; --i) std::swap(list[i - 1], list[prng.below(i)]);
  return list;
}

MutableByteSpan HostMemory::span(std::uint64_t address, std::uint64_t bytes) {
  std::uint8_t* data = find(address, bytes);
  RNIC_CHECK_MSG(data != nullptr,
                 std::to_string(bytes) + " octets at bus address " + std::to_string(address) + " are not allocated");
  return {data, bytes};
}

}  // namespace rnic::host
