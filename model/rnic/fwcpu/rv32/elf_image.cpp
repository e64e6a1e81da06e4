#include "model/rnic/fwcpu/rv32/elf_image.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include <fmt/format.h>
#include <gelf.h>

#include "model/common/check.h"
#include "model/rnic/fwcpu/crash/elf_file.h"

namespace rnic {

ElfImage::ElfImage(const std::string& file) : name_(file) {
  std::ifstream in(file, std::ios::binary);
  if (!in || !std::filesystem::is_regular_file(file)) refuse("cannot be read");
  file_.assign(std::istreambuf_iterator<char>(in), {});
  if (file_.size() < sizeof(Elf32_Ehdr)) refuse("is no ELF file");
  elf_version(EV_CURRENT);
  const std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_memory(reinterpret_cast<char*>(file_.data()), file_.size()),
                                                elf_end);
  if (elf == nullptr) refuse_damaged();
  GElf_Ehdr head;
  if (gelf_getehdr(elf.get(), &head) == nullptr || head.e_ident[EI_CLASS] != ELFCLASS32 ||
      head.e_ident[EI_DATA] != ELFDATA2LSB || head.e_machine != EM_RISCV || head.e_type != ET_EXEC) {
    refuse("is no RV32 program");
  }
  // libelf takes as many headers as there are.
  const std::uint64_t segments_end = head.e_phoff + head.e_phnum * sizeof(Elf32_Phdr);
  const std::uint64_t sections_end = head.e_shoff + head.e_shnum * sizeof(Elf32_Shdr);
  if (std::max(segments_end, sections_end) > file_.size()) refuse("is cut off");
  entry_ = static_cast<std::uint32_t>(head.e_entry);
  read_segments(elf.get());
  read_symbols(elf.get());
  line_sections_ = line_sections(elf.get());
  call_frames_ = elf_section(elf.get(), ".debug_frame");
}

void ElfImage::read_segments(Elf* elf) {
  std::size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0) refuse_damaged();
  for (int i = 0; i < static_cast<int>(count); ++i) {
    GElf_Phdr s;
    if (gelf_getphdr(elf, i, &s) == nullptr) refuse_damaged();
    if (s.p_type != PT_LOAD || s.p_memsz == 0) continue;
    if (s.p_filesz > s.p_memsz) refuse("has a segment larger than its memory");
    if (s.p_offset + s.p_filesz > file_.size()) refuse("is cut off");
    add({static_cast<std::uint32_t>(s.p_vaddr), static_cast<std::uint32_t>(s.p_memsz),
         ByteSpan(file_).subspan(s.p_offset, s.p_filesz)});
  }
}

void ElfImage::read_symbols(Elf* elf) {
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr table;
    if (gelf_getshdr(section, &table) == nullptr) refuse_damaged();
    if (table.sh_type != SHT_SYMTAB) continue;
    Elf_Data* const data = elf_getdata(section, nullptr);
    if (data == nullptr) refuse_damaged();
    for (int i = 0; i < static_cast<int>(data->d_size / sizeof(Elf32_Sym)); ++i) {
      GElf_Sym s;
      if (gelf_getsym(data, i, &s) == nullptr) refuse_damaged();
      const char* const name = elf_strptr(elf, table.sh_link, s.st_name);
      if (name == nullptr) refuse_damaged();
      symbols_.push_back({name, static_cast<std::uint32_t>(s.st_value), static_cast<std::uint32_t>(s.st_size),
                          GELF_ST_TYPE(s.st_info) == STT_FUNC});
    }
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
void ElfImage::refuse_damaged() const { refuse(fmt::format("is cut off or damaged: {}", elf_errmsg(-1))); }

ByteSpan ElfImage::memory(std::uint64_t address, std::uint64_t bytes) const {
  for (const Segment& s : segments_) {
    if (address >= s.address && address + bytes <= std::uint64_t{s.address} + s.contents.size()) {
      return s.contents.subspan(address - s.address, bytes);
    }
  }
  return {};
}

ByteSpan ElfImage::object(const std::string& symbol, std::size_t bytes) const {
  const auto s = std::find_if(symbols_.begin(), symbols_.end(), [&](const Symbol& o) { return o.name == symbol; });
  return s == symbols_.end() || s->bytes != bytes ? ByteSpan() : memory(s->address, bytes);
}

std::vector<ElfImage::Function> ElfImage::functions() const {
  std::vector<Function> list;
  for (const Symbol& s : symbols_) {
    if (s.function && s.bytes != 0) list.push_back({demangled(s.name), s.address, s.bytes});
  }
  std::sort(list.begin(), list.end(), [](const Function& a, const Function& b) { return a.address < b.address; });
  return list;
}

std::string ElfImage::place(std::uint32_t address) const {
  const auto s = std::find_if(symbols_.begin(), symbols_.end(), [&](const Symbol& f) {
    return f.function && address >= f.address && address - f.address < f.bytes;
  });
  return s == symbols_.end() ? "" : fmt::format("{}+{:#x}", demangled(s->name), address - s->address);
}

}  // namespace rnic
