// The free part of a range of numbers: octets of memory, entries of a table.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

namespace rnic::host {

class FreeRanges {
 public:
  FreeRanges();  // nothing is free
  FreeRanges(FreeRanges&& other) noexcept;
  FreeRanges& operator=(FreeRanges&& other) noexcept;
  ~FreeRanges();

  // Takes the lowest `count` consecutive numbers that begin at a multiple of `align` (a power of two), and returns the
  // first; nothing if there are not that many.
  std::optional<std::uint64_t> take(std::uint64_t count, std::uint64_t align = 1);
  // Frees `count` numbers from `first` on; none of them may be free already.
  void give(std::uint64_t first, std::uint64_t count);

 private:
  struct Set;  // behind a pointer: Boost's header takes a second to compile
  std::unique_ptr<Set> set_;
};

}  // namespace rnic::host
