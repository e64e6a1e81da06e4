// The firmware's events in words, by their numbers.
#pragma once

#include <array>

#include "model/abi/firmware_events.h"

namespace rnic {

template <class... Event>
constexpr std::array<const char*, sizeof...(Event)> names_of(fw::TypeList<Event...>) {
  return {Event::kName...};
}
inline constexpr auto kEventNames = names_of(fw::Events());

}  // namespace rnic
