// An RV32 program as the linker wrote it, read by libelf.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/common/bytes.h"
#include "model/rnic/fwcpu/crash/source_lines.h"

struct Elf;

namespace rnic {

class ElfImage {
 public:
  // ConfigError, naming rnic.fwcpu.image, if the file is not a complete 32-bit RISC-V program, its segments overlap, or
  // its symbols cannot be read. Later queries are answered from memory.
  explicit ElfImage(const std::string& file);

  struct Segment {
    std::uint32_t address = 0, bytes = 0;  // in memory
    ByteSpan contents;                     // the rest is zeros
  };
  std::uint32_t entry() const { return entry_; }
  const std::vector<Segment>& segments() const { return segments_; }
  // The octets that a symbol names; empty if there is none or it is not that long.
  ByteSpan object(const std::string& symbol, std::size_t bytes) const;
  // The function that contains an address, or nothing: "name+0x12".
  std::string place(std::uint32_t address) const;
  struct Function {
    std::string name;
    std::uint32_t address = 0, bytes = 0;
  };
  std::vector<Function> functions() const;  // in the order of their addresses
  // "file:line" of each address, or nothing.
  std::vector<std::string> lines(const std::vector<std::uint64_t>& addresses) const {
    return source_lines(line_sections_, addresses);
  }
  ByteSpan call_frames() const { return call_frames_; }  // .debug_frame
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  struct Symbol {
    std::string name;
    std::uint32_t address = 0, bytes = 0;
    bool function = false;
  };
  void read_segments(Elf* elf);
  void read_symbols(Elf* elf);
  void add(const Segment& segment);
  [[noreturn]] void refuse_damaged() const;  // for what libelf says
  ByteSpan memory(std::uint64_t address, std::uint64_t bytes) const;

  const std::string name_;
  std::vector<std::uint8_t> file_;
  std::uint32_t entry_ = 0;
  std::vector<Segment> segments_;
  std::vector<Symbol> symbols_;
  LineSections line_sections_;
  ByteSpan call_frames_;
};

}  // namespace rnic
