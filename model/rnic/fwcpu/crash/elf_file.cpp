#include "model/rnic/fwcpu/crash/elf_file.h"

#include <cstdlib>
#include <memory>

#include <cxxabi.h>
#include <gelf.h>

namespace rnic {

ByteSpan elf_section(Elf* elf, const std::string& name) {
  std::size_t names = 0, bytes = 0;
  const char* const file = elf_rawfile(elf, &bytes);
  if (file == nullptr || elf_getshdrstrndx(elf, &names) != 0) return {};
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr head;
    if (gelf_getshdr(section, &head) == nullptr) return {};
    const char* const its_name = elf_strptr(elf, names, head.sh_name);
    if (its_name == nullptr || name != its_name) continue;
    const bool plain = head.sh_type != SHT_NOBITS && (head.sh_flags & SHF_COMPRESSED) == 0;
    if (!plain || head.sh_offset > bytes || head.sh_size > bytes - head.sh_offset) return {};
    return {reinterpret_cast<const std::uint8_t*>(file) + head.sh_offset, head.sh_size};
  }
  return {};
}

LineSections line_sections(Elf* elf) {
  return {elf_section(elf, ".debug_line"), elf_section(elf, ".debug_line_str"), elf_section(elf, ".debug_str")};
}

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(::abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 ? text.get() : name;
}

}  // namespace rnic
