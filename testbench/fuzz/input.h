// How targets read their octets.
#pragma once

#include <string>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include "model/common/bytes.h"
#include "model/common/check.h"
#include "testbench/fuzz/target.h"

namespace rnic::fuzz {

// Takes an input apart from the front; after its end everything is 0.
class Input {
 public:
  explicit Input(ByteSpan octets) : rest_(octets) {}
  bool empty() const { return rest_.empty(); }
  std::uint8_t octet() {
    const std::uint8_t value = rest_.empty() ? std::uint8_t{0} : rest_[0];
    rest_ = rest_.subspan(1);
    return value;
  }
  std::uint64_t number(unsigned octets) {
    std::uint64_t value = 0;
    while (octets-- != 0) value = value << 8 | octet();
    return value;
  }
  ByteSpan take(std::size_t octets) {
    const ByteSpan taken = rest_.subspan(0, octets);
    rest_ = rest_.subspan(octets);
    return taken;
  }
  ByteSpan rest() { return take(rest_.size()); }

 private:
  ByteSpan rest_;
};

// The octets as a file, for parsers that read one.
class MemoryFile {
 public:
  explicit MemoryFile(ByteSpan octets) : descriptor_(::memfd_create("input", 0)) {
    require(::write(descriptor_, octets.data(), octets.size()) == static_cast<ssize_t>(octets.size()),
            "no memory for a file");
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(descriptor_); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  const int descriptor_;
};

inline std::string text_of(ByteSpan octets) { return {reinterpret_cast<const char*>(octets.data()), octets.size()}; }

// Bad input has one outcome: a ConfigError, which ends in exit status 2 and a reason.
template <class F>
bool is_taken(const F& parse) {
  try {
    parse();
    return true;
  } catch (const ConfigError& error) {
    require(*error.what() != 0, "refused without a reason");
    return false;
  }
}

}  // namespace rnic::fuzz
