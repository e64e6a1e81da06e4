// Whose a beat on a link is, for observers: no hardware carries it.
#pragma once

#include <type_traits>
#include <utility>

#include "model/common/owners.h"
#include "model/common/trace_event.h"

namespace rnic {

// Messages that declare their event (trace_event.h).
template <class T, class = void>
inline constexpr bool kHasEvent = false;
template <class T>
inline constexpr bool
    kHasEvent<T, std::void_t<decltype(event_of(std::declval<const T&>(), std::declval<const Owners&>(),
                                               std::declval<TraceEvent&>()))>> = true;

// Messages that name their owner, or that have octets with one: in `buf`, or in `src` of a write.
template <class T, class = void>
inline constexpr bool kNamesOwner = false;
template <class T>
inline constexpr bool kNamesOwner<T, std::void_t<decltype(RequestId(std::declval<const T&>().owner))>> = true;
template <class T, class = void>
inline constexpr bool kHasOctets = false;
template <class T>
inline constexpr bool kHasOctets<T, std::void_t<decltype(RequestId(std::declval<const T&>().buf->owner()))>> = true;
template <class T, class = void>
inline constexpr bool kHasSource = false;
template <class T>
inline constexpr bool kHasSource<T, std::void_t<decltype(RequestId(std::declval<const T&>().src->owner()))>> = true;

template <class T>
inline constexpr bool kHasOwner = kNamesOwner<T> || kHasOctets<T> || kHasSource<T> || kHasEvent<T>;

// Of each beat of a message of several; nothing if it belongs to no request.
template <class T>
RequestId owner_of(const T& beat, const Owners& owners) {
  RequestId id;
  if constexpr (kNamesOwner<T>) {
    id = beat.owner;
  } else if constexpr (kHasOctets<T>) {
    if (beat.buf) id = beat.buf->owner();
  } else if constexpr (kHasSource<T>) {
    if (beat.src) id = beat.src->owner();
  }
  if constexpr (kHasEvent<T>) {
    if (id) return id;
    TraceEvent event;
    event_of(beat, owners, event);
    id = event.request;
  }
  static_cast<void>(owners);
  return id;
}

}  // namespace rnic
