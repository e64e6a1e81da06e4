// What the driver needs to create an object of the device: a number, and a command about it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "model/abi/host_abi.h"
#include "model/host/driver/host_cpu.h"
#include "model/host/driver/resource.h"

namespace rnic::host {

// The lowest free number, for the requesting program, or `limit`. Below `first` all are in use, and none of them is
// about to end: who destroys an object lowers it (number_ends).
template <class T>
std::size_t free_number(std::vector<std::unique_ptr<T>>& objects, std::size_t& first, std::size_t limit,
                        const Core& asking) {
  while (first < objects.size() && objects[first] != nullptr && !objects[first]->ending()) ++first;
  std::size_t i = first;
  while (i < objects.size() && objects[i] != nullptr && !objects[i]->gone(asking)) ++i;
  if (i >= limit) return limit;
  if (i == objects.size()) objects.emplace_back();
  return i;
}

inline void number_ends(Resource& object, std::size_t number, std::size_t& first) {
  object.end();
  first = std::min(first, number);
}

inline abi::Command command_of(abi::CommandOp op, std::uint32_t id, std::uint8_t flags = 0) {
  abi::Command c;
  c.op = op;
  c.id = id;
  c.flags = flags;
  return c;
}

}  // namespace rnic::host
