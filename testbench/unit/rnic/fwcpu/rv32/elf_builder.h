// Small ELF programs for the loader, octet by octet (System V ABI, chapters 4 and 5; RISC-V psABI).
#pragma once

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include <elf.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace rnic::test {

struct ElfBuilder {
  using Octets = std::vector<std::uint8_t>;
  struct Segment {
    std::uint32_t address;
    Octets contents;
    std::uint32_t memory_bytes;
  };
  std::uint16_t machine = EM_RISCV, type = ET_EXEC;
  std::uint8_t width = ELFCLASS32;
  std::uint32_t entry = 0x80000000;
  struct Symbol {
    std::string name;
    std::uint32_t address, bytes;
    unsigned char type = STT_OBJECT;
  };
  std::vector<Segment> segments;
  std::vector<Symbol> symbols;

  Octets build() const {
    Elf32_Ehdr head{};
    std::memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = width;
    head.e_ident[EI_DATA] = ELFDATA2LSB;
    head.e_ident[EI_VERSION] = EV_CURRENT;
    head.e_type = type;
    head.e_machine = machine;
    head.e_version = EV_CURRENT;
    head.e_entry = entry;
    head.e_phoff = sizeof head;
    head.e_phentsize = sizeof(Elf32_Phdr);
    head.e_phnum = static_cast<std::uint16_t>(segments.size());
    Octets file;
    append(file, &head, sizeof head);
    std::uint32_t offset = static_cast<std::uint32_t>(sizeof head + segments.size() * sizeof(Elf32_Phdr));
    for (const Segment& s : segments) {
      Elf32_Phdr p{};
      p.p_type = PT_LOAD;
      p.p_offset = offset;
      p.p_vaddr = p.p_paddr = s.address;
      p.p_filesz = static_cast<std::uint32_t>(s.contents.size());
      p.p_memsz = s.memory_bytes;
      append(file, &p, sizeof p);
      offset += p.p_filesz;
    }
    for (const Segment& s : segments) append(file, s.contents.data(), s.contents.size());
    if (!symbols.empty()) append_symbols(file);
    return file;
  }
  // A symbol table, its names, and the table of these two sections after the null section.
  void append_symbols(Octets& file) const {
    Elf32_Shdr none{}, table{}, names{};
    std::string text(1, '\0');
    table.sh_type = SHT_SYMTAB;
    table.sh_link = 2;
    table.sh_entsize = sizeof(Elf32_Sym);
    table.sh_offset = static_cast<std::uint32_t>(file.size());
    for (const Symbol& s : symbols) {
      Elf32_Sym symbol{};
      symbol.st_name = static_cast<std::uint32_t>(text.size());
      symbol.st_value = s.address;
      symbol.st_size = s.bytes;
      symbol.st_info = ELF32_ST_INFO(STB_GLOBAL, s.type);
      append(file, &symbol, sizeof symbol);
      text += s.name + '\0';
    }
    table.sh_size = static_cast<std::uint32_t>(file.size()) - table.sh_offset;
    names.sh_type = SHT_STRTAB;
    names.sh_offset = static_cast<std::uint32_t>(file.size());
    names.sh_size = static_cast<std::uint32_t>(text.size());
    append(file, text.data(), text.size());
    Elf32_Ehdr head;
    std::memcpy(&head, file.data(), sizeof head);
    head.e_shoff = static_cast<std::uint32_t>(file.size());
    head.e_shentsize = sizeof(Elf32_Shdr);
    head.e_shnum = 3;
    std::memcpy(file.data(), &head, sizeof head);
    append(file, &none, sizeof none);
    append(file, &table, sizeof table);
    append(file, &names, sizeof names);
  }
  static void append(Octets& to, const void* from, std::size_t bytes) {
    const auto* p = static_cast<const std::uint8_t*>(from);
    to.insert(to.end(), p, p + bytes);
  }
};

// A file that exists as long as this object.
class TemporaryFile {
 public:
  explicit TemporaryFile(const ElfBuilder::Octets& octets)
      : path(testing::TempDir() + "rnic_" + std::to_string(::getpid()) + "_" + std::to_string(next()) + ".elf") {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(octets.data()), static_cast<std::streamsize>(octets.size()));
  }
  ~TemporaryFile() { std::remove(path.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string path;

 private:
  static unsigned next() {
    static unsigned made = 0;
    return made++;
  }
};

}  // namespace rnic::test
