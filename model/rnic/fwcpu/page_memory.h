// Zeroed memory of whole pages, which the RV32 processor can have in its address space.
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>

#include "model/common/bytes.h"

namespace rnic {

class PageMemory {
 public:
  static constexpr std::size_t kPageBytes = 4096;

  explicit PageMemory(std::size_t bytes)
      : bytes_((bytes + kPageBytes - 1) / kPageBytes * kPageBytes),
        data_(static_cast<std::uint8_t*>(std::aligned_alloc(kPageBytes, bytes_)), std::free) {
    std::memset(data_.get(), 0, bytes_);
  }
  std::uint8_t* data() const { return data_.get(); }
  std::size_t size() const { return bytes_; }

 private:
  std::size_t bytes_;
  std::unique_ptr<std::uint8_t[], void (*)(void*)> data_;
};

}  // namespace rnic
