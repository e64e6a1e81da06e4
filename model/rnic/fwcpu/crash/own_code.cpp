#include "model/rnic/fwcpu/crash/own_code.h"

#include <cstdint>
#include <map>
#include <memory>

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <link.h>
#include <unistd.h>

#include "model/rnic/fwcpu/crash/elf_file.h"

namespace rnic {
namespace {

// An address as an object file has it.
struct Wanted {
  std::size_t frame;
  std::uint64_t address;
  std::string function, line;
};

void name_functions(Elf* elf, std::vector<Wanted>& wanted) {
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr table;
    if (gelf_getshdr(section, &table) == nullptr || table.sh_type != SHT_SYMTAB || table.sh_entsize == 0) continue;
    Elf_Data* const data = elf_getdata(section, nullptr);
    if (data == nullptr) continue;
    GElf_Sym s;
    for (int i = 0; gelf_getsym(data, i, &s) != nullptr; ++i) {
      if (GELF_ST_TYPE(s.st_info) != STT_FUNC) continue;
      for (Wanted& w : wanted) {
        if (w.address < s.st_value || w.address - s.st_value >= s.st_size) continue;
        const char* const name = elf_strptr(elf, table.sh_link, s.st_name);
        if (name != nullptr) w.function = fmt::format("{}+{:#x}", demangled(name), w.address - s.st_value);
      }
    }
  }
}

void name_all(const char* file, std::vector<Wanted>& wanted) {
  elf_version(EV_CURRENT);
  const int descriptor = open(file, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  const std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_begin(descriptor, ELF_C_READ_MMAP, nullptr), elf_end);
  if (elf != nullptr) {
    name_functions(elf.get(), wanted);
    std::vector<std::uint64_t> addresses;
    for (const Wanted& w : wanted) addresses.push_back(w.address);
    const std::vector<std::string> lines = source_lines(line_sections(elf.get()), addresses);
    for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i].line = lines[i];
  }
  close(descriptor);
}

const link_map* object_of(const void* address, Dl_info& info) {
  void* map = nullptr;
  return dladdr1(address, &info, &map, RTLD_DL_LINKMAP) == 0 ? nullptr : static_cast<const link_map*>(map);
}

}  // namespace

std::vector<CodeName> code_names(const std::vector<const void*>& frames) {
  std::vector<CodeName> names(frames.size());
  std::map<const link_map*, std::vector<Wanted>> objects;
  Dl_info info;
  const link_map* const own = object_of(reinterpret_cast<const void*>(&code_names), info);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const auto address = reinterpret_cast<std::uintptr_t>(frames[i]) - (i == 0 ? 0 : 1);
    const link_map* const object = object_of(reinterpret_cast<const void*>(address), info);
    names[i].text = fmt::format("{:#x}", address);
    if (object == nullptr) continue;
    names[i].own = object == own;
    Wanted w{i, address - object->l_addr, {}, {}};
    // Exports of a stripped library still have a name.
    if (info.dli_sname != nullptr) w.function = demangled(info.dli_sname);
    else w.function = fmt::format("{}+{:#x}", info.dli_fname, w.address);
    objects[object].push_back(std::move(w));
  }
  for (auto& [object, wanted] : objects) {
    name_all(*object->l_name == '\0' ? "/proc/self/exe" : object->l_name, wanted);  // the program itself has no name
    for (const Wanted& w : wanted) {
      names[w.frame].text = w.line.empty() ? w.function : fmt::format("{} ({})", w.function, w.line);
    }
  }
  return names;
}

}  // namespace rnic
