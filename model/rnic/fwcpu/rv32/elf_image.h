// An RV32 program as the linker wrote it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/common/bytes.h"

namespace rnic {

class ElfImage {
 public:
  // ConfigError, naming rnic.fwcpu.image, if the file is not a whole 32-bit RISC-V program, or its segments overlap.
  explicit ElfImage(const std::string& file);

  struct Segment {
    std::uint32_t address = 0, bytes = 0;  // in memory
    ByteSpan contents;                     // the rest is zeros
  };
  std::uint32_t entry() const { return entry_; }
  const std::vector<Segment>& segments() const { return segments_; }
  // The octets that a symbol names; empty if there is none or it is not that long.
  ByteSpan object(const std::string& symbol, std::size_t bytes) const;
  // The function that an address lies in, or nothing: "name+0x12".
  std::string place(std::uint32_t address) const;
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  template <class T>
  T at(std::uint64_t offset) const;
  ByteSpan piece(std::uint64_t offset, std::uint64_t bytes) const;
  ByteSpan memory(std::uint64_t address, std::uint64_t bytes) const;
  void add(const Segment& segment);
  template <class F>
  void for_each_symbol(F f) const;

  const std::string name_;
  std::vector<std::uint8_t> file_;
  std::uint32_t entry_ = 0;
  std::vector<Segment> segments_;
};

}  // namespace rnic
