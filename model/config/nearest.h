// The probable meaning of a mistyped word.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rnic {

// Levenshtein distance: insertions, deletions and substitutions of one character.
unsigned edit_distance(std::string_view a, std::string_view b);

// The candidate with the smallest edit distance; the first one if there are several. `candidates` is not empty.
const std::string& nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace rnic
