#include "model/rnic/fwcpu/rv32/elf_image.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include <cxxabi.h>
#include <elf.h>
#include <fmt/format.h>

#include "model/common/check.h"

namespace rnic {
namespace {

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(::abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 ? text.get() : name;
}

}  // namespace

ElfImage::ElfImage(const std::string& file) : name_(file) {
  std::ifstream in(file, std::ios::binary);
  if (!in || !std::filesystem::is_regular_file(file)) refuse("cannot be read");
  file_.assign(std::istreambuf_iterator<char>(in), {});
  if (file_.size() < sizeof(Elf32_Ehdr)) refuse("is no ELF file");
  const auto head = at<Elf32_Ehdr>(0);
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS32 ||
      head.e_machine != EM_RISCV || head.e_type != ET_EXEC) {
    refuse("is no RV32 program");
  }
  entry_ = head.e_entry;
  for (unsigned i = 0; i < head.e_phnum; ++i) {
    const auto s = at<Elf32_Phdr>(head.e_phoff + std::uint64_t{i} * head.e_phentsize);
    if (s.p_type != PT_LOAD || s.p_memsz == 0) continue;
    if (s.p_filesz > s.p_memsz) refuse("has a segment larger than its memory");
    add({s.p_vaddr, s.p_memsz, piece(s.p_offset, s.p_filesz)});
  }
}

void ElfImage::add(const Segment& segment) {
  for (const Segment& s : segments_) {
    if (segment.address < std::uint64_t{s.address} + s.bytes &&
        s.address < std::uint64_t{segment.address} + segment.bytes)
      refuse("has segments that overlap");
  }
  segments_.push_back(segment);
}

void ElfImage::refuse(const std::string& why) const { throw ConfigError("rnic.fwcpu.image: " + name_ + ": " + why); }

ByteSpan ElfImage::piece(std::uint64_t offset, std::uint64_t bytes) const {
  if (offset + bytes > file_.size()) refuse("is cut off");
  return ByteSpan(file_).subspan(offset, bytes);
}

template <class T>
T ElfImage::at(std::uint64_t offset) const {
  T value;
  std::memcpy(&value, piece(offset, sizeof value).data(), sizeof value);
  return value;
}

ByteSpan ElfImage::memory(std::uint64_t address, std::uint64_t bytes) const {
  for (const Segment& s : segments_) {
    if (address >= s.address && address + bytes <= std::uint64_t{s.address} + s.contents.size()) {
      return s.contents.subspan(address - s.address, bytes);
    }
  }
  return {};
}

// Calls f(symbol, octets from its name on) until it says that it has found what it looked for.
template <class F>
void ElfImage::for_each_symbol(F f) const {
  const auto head = at<Elf32_Ehdr>(0);
  const auto section = [&](unsigned i) { return at<Elf32_Shdr>(head.e_shoff + std::uint64_t{i} * head.e_shentsize); };
  for (unsigned i = 0; i < head.e_shnum; ++i) {
    const Elf32_Shdr table = section(i);
    if (table.sh_type != SHT_SYMTAB) continue;
    const Elf32_Shdr names = section(table.sh_link);
    for (std::uint32_t n = 0; n + sizeof(Elf32_Sym) <= table.sh_size; n += sizeof(Elf32_Sym)) {
      const auto symbol = at<Elf32_Sym>(std::uint64_t{table.sh_offset} + n);
      if (f(symbol, ByteSpan(file_).subspan(std::uint64_t{names.sh_offset} + symbol.st_name))) return;
    }
  }
}

ByteSpan ElfImage::object(const std::string& symbol, std::size_t bytes) const {
  const std::size_t length = symbol.size() + 1;
  ByteSpan found;
  for_each_symbol([&](const Elf32_Sym& s, ByteSpan name) {
    if (name.size() < length || std::memcmp(name.data(), symbol.c_str(), length) != 0) return false;
    if (s.st_size == bytes) found = memory(s.st_value, bytes);
    return true;
  });
  return found;
}

std::string ElfImage::place(std::uint32_t address) const {
  std::string text;
  for_each_symbol([&](const Elf32_Sym& s, ByteSpan name) {
    if (ELF32_ST_TYPE(s.st_info) != STT_FUNC || address < s.st_value || address - s.st_value >= s.st_size) return false;
    const auto end = std::find(name.begin(), name.end(), 0);
    text = fmt::format("{}+{:#x}", demangled(std::string(name.begin(), end)), address - s.st_value);
    return true;
  });
  return text;
}

}  // namespace rnic
