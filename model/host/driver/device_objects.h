// What the driver needs to create an object of the device: a number, and a command about it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/abi/host_abi.h"
#include "model/host/driver/host_cpu.h"

namespace rnic::host {

// A free number, for the requesting program, or `limit`.
template <class T>
std::size_t free_number(std::vector<std::unique_ptr<T>>& objects, std::size_t limit, const Core& asking) {
  std::size_t i = 0;
  while (i < objects.size() && objects[i] != nullptr && !objects[i]->gone(asking)) ++i;
  if (i >= limit) return limit;
  if (i == objects.size()) objects.emplace_back();
  return i;
}

inline abi::Command command_of(abi::CommandOp op, std::uint32_t id, std::uint8_t flags = 0) {
  abi::Command c;
  c.op = op;
  c.id = id;
  c.flags = flags;
  return c;
}

}  // namespace rnic::host
