// The word that a mistyped one was probably meant to be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rnic {

// Levenshtein distance: insertions, deletions and substitutions of one character.
unsigned edit_distance(std::string_view a, std::string_view b);

// The candidate with the smallest edit distance, the first one of several. `candidates` is not empty.
const std::string& nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace rnic
