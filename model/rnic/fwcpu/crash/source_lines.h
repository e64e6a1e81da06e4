// Which line of which source an instruction comes from: the line number program of DWARF (version 5, section 6.2, and
// versions 2 to 4, of which old libraries are).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/common/bytes.h"

namespace rnic {

// Sections of a program; an empty one is one that it does not have.
struct LineSections {
  ByteSpan line, line_str, str;
};

// "firmware/conn/transport.h:44" for each address, or nothing. It reads all of the program's lines, and keeps none.
// Damaged information tells of fewer addresses.
std::vector<std::string> source_lines(const LineSections& sections, const std::vector<std::uint64_t>& addresses);

}  // namespace rnic
