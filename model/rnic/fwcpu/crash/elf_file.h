// Contents of an ELF file by name, with libelf.
#pragma once

#include <string>

#include "model/common/bytes.h"
#include "model/rnic/fwcpu/crash/source_lines.h"

struct Elf;

namespace rnic {

// A section's octets in the file; empty if it has none, or has them compressed. They last as long as the file's.
ByteSpan elf_section(Elf* elf, const std::string& name);
LineSections line_sections(Elf* elf);
// A C++ name as its source has it; any other as it is.
std::string demangled(const std::string& name);

}  // namespace rnic
