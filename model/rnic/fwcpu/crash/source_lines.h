// The source line of an instruction: the line number program of DWARF (version 5, section 6.2, and versions 2 to 4,
// which old libraries have).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/common/bytes.h"

namespace rnic {

// Sections of a program; a missing one is empty.
struct LineSections {
  ByteSpan line, line_str, str;
};

// "firmware/conn/transport.h:44" for each address, or nothing. It reads all of the program's lines, and keeps none.
// Damaged information yields fewer lines.
std::vector<std::string> source_lines(const LineSections& sections, const std::vector<std::uint64_t>& addresses);

}  // namespace rnic
