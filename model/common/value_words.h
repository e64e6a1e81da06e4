// The words of an enumeration's values, for people: waveforms.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace rnic {

// By value from 0 on; empty: there is no such value.
using ValueWords = std::vector<std::string>;

// An enumeration with words returns them from a function beside it, found by its argument:
//   friend const ValueWords& value_words(Kind) {
//     static const ValueWords kWords{"first_fpdu", "read_done"};
//     return kWords;
//   }
template <class T, class = void>
inline constexpr bool kHasValueWords = false;
template <class T>
inline constexpr bool kHasValueWords<T, std::void_t<decltype(value_words(std::declval<T>()))>> = true;

// Those of a type, or nullptr. They live as long as the program.
template <class T>
const ValueWords* words_of() {
  if constexpr (kHasValueWords<T>) return &value_words(T{});
  else return nullptr;
}

}  // namespace rnic
