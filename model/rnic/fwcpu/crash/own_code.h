// Names of code addresses of this process: by symbols, and by debug information if its files have it.
#pragma once

#include <string>
#include <vector>

namespace rnic {

struct CodeName {
  std::string text;  // "rnic::f(int)+0x12 (file.cpp:44)", or as much of it as is known
  bool own = false;  // of the program, not of a library that it uses
};

// The first address is where the program was, the others are where calls return to.
std::vector<CodeName> code_names(const std::vector<const void*>& frames);

}  // namespace rnic
