// The columns of `decode --list`: the same names head the table, are the keys of JSON and of filters.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <variant>

namespace rnic::capture {

struct ListedSegment;
class SegmentList;

enum class Form : std::uint8_t {
  kNumber,
  kHex,
  kTime,  // nanoseconds, shown in seconds; before the first packet if it is negative as a signed number
  kText,
};

// Monostate: the segment has none.
using Cell = std::variant<std::monostate, std::uint64_t, std::string_view>;

struct Column {
  std::string_view name;
  Form form;
  unsigned width;                        // 0: only in JSON
  const std::string_view *first, *last;  // the values of a text that has only these
  Cell (*cell)(const SegmentList& list, const ListedSegment& segment);
};

struct Columns {
  const Column* first;
  const Column* last;
  const Column* begin() const { return first; }
  const Column* end() const { return last; }
};
Columns segment_columns();

}  // namespace rnic::capture
