// A list of types, each with a number: the messages between a processor and its hardware.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rnic::fw {

template <class... T>
struct TypeList {
  static constexpr std::uint32_t kSize = sizeof...(T);

  template <class U>
  static constexpr std::uint32_t number_of() {
    std::uint32_t n = 0, found = kSize;
    ((__is_same(U, T) ? void(found = n) : void(), ++n), ...);
    return found;
  }
  static constexpr std::size_t max_bytes() {
    std::size_t most = 0;
    ((most = sizeof(T) > most ? sizeof(T) : most), ...);
    return most;
  }
  // Calls f with the object of the number's type at `p`; false if no type has the number.
  template <class F>
  static bool visit(std::uint32_t number, const void* p, F&& f) {
    std::uint32_t n = 0;
    return ((n++ == number && (f(*static_cast<const T*>(p)), true)) || ...);
  }
  // The types' sizes in order: two compilers agree on the layout if these agree and the members do.
  static constexpr void sizes(std::uint32_t (&out)[kSize]) {
    std::uint32_t n = 0;
    ((out[n++] = sizeof(T)), ...);
  }
};

}  // namespace rnic::fw
