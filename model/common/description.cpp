#include "model/common/description.h"

#include <algorithm>

namespace rnic {

void Description::add_column(const char* name, unsigned position, const char* unit, const std::uint64_t& counter,
                             bool when_used) const {
  RNIC_CHECK_MSG(unit != nullptr, std::string(name) + " is no counter of its part");
  for (Described::ColumnOf& column : into_->columns) {
    if (column.name == name) return column.counters.push_back(&counter);
  }
  into_->columns.push_back({name, unit, position, {&counter}, when_used});
}

void sort_by_position(Described& described) {
  const auto by_position = [](auto& list, auto position) {
    std::stable_sort(list.begin(), list.end(), [&](const auto& a, const auto& b) { return position(a) < position(b); });
  };
  by_position(described.accounts, [](const Described::AccountOf& a) { return a.spec.position; });
  by_position(described.uses, [](const Described::UseOf& u) { return u.position; });
  by_position(described.columns, [](const Described::ColumnOf& c) { return c.position; });
}

}  // namespace rnic
