#include "model/config/describe.h"

#include <algorithm>
#include <array>
#include <ostream>

namespace rnic {

void write_list(std::ostream& out, const std::vector<FieldInfo>& list) {
  using Row = std::array<std::string_view, 6>;
  std::vector<Row> rows{{"key", "type", "default", "range", "unit", "meaning"}};
  for (const FieldInfo& f : list) rows.push_back({f.key, f.type, f.value, f.range, f.unit, f.meaning});

  std::array<std::size_t, 6> width{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  }
  for (const Row& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i) out << fmt::format("{:<{}}  ", row[i], width[i]);
    out << row.back() << '\n';
  }
}

}  // namespace rnic
