// The tables of keys in traces/README.md, as Markdown.
#pragma once

#include <string>
#include <vector>

namespace rnic {

struct KeyTable {
  std::string element;  // "connection"
  std::string text;     // "| key | values | default | meaning |\n…"
};

// Of each element of a scenario file.
std::vector<KeyTable> key_tables();

}  // namespace rnic
