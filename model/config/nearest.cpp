#include "model/config/nearest.h"

#include <algorithm>
#include <numeric>

#include "model/common/check.h"

namespace rnic {

unsigned edit_distance(std::string_view a, std::string_view b) {
  std::vector<unsigned> row(b.size() + 1);  // distances of the prefix of `a` to each prefix of `b`
  std::iota(row.begin(), row.end(), 0u);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    unsigned diagonal = row[0]++;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const unsigned substituted = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

const std::string& nearest(std::string_view word, const std::vector<std::string>& candidates) {
  RNIC_CHECK(!candidates.empty());
  constexpr std::size_t kMostCompared = 200;  // the time grows with the product of the lengths
  const auto begin = [](std::string_view text) { return text.substr(0, kMostCompared); };
  return *std::min_element(candidates.begin(), candidates.end(), [&](const std::string& a, const std::string& b) {
    return edit_distance(begin(word), begin(a)) < edit_distance(begin(word), begin(b));
  });
}

}  // namespace rnic
