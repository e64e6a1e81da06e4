// Numbers that RTL in a stage's place gives, and that the chip does not have.
#pragma once

#include <type_traits>

#include "model/rnic/context/tables.h"

namespace rnic::rtl {

template <class T, class = void>
inline constexpr bool kNamesQp = false;
template <class T>
inline constexpr bool kNamesQp<T, std::enable_if_t<std::is_same_v<decltype(T::qpn), Qpn>>> = true;

// As Pins::wrong().
template <class T>
const char* wrong_qp(const ContextTables& contexts, const T& message) {
  if constexpr (kNamesQp<T>) return contexts.has(message.qpn) ? nullptr : "a queue pair that the chip does not have";
  else return nullptr;
}

}  // namespace rnic::rtl
