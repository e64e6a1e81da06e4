// What the handles of the C interface have in common. For the source files of its functions.
#pragma once

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <systemc>
#include <vector>

#include <fmt/format.h>

#include "model/config/nearest.h"
#include "model/golden/abi/rnic_golden.h"
#include "model/golden/bench.h"
#include "model/golden/status.h"

namespace rnic::golden {

struct Handle {
  sc_core::Kernel kernel;
  std::string text;     // of the last error
  bool busy = false;    // a call with this handle is under way
  bool broken = false;  // a check of ours has failed
};

// Runs `body` on the handle's kernel. An exception becomes a result and the handle's text.
template <class Body>
std::int32_t guarded(Handle* handle, Body body) {
  if (handle == nullptr) return RNIC_E_NULL;
  if (handle->busy) return RNIC_E_REENTERED;
  if (handle->broken) return RNIC_E_BROKEN;
  handle->busy = true;
  std::int32_t status;
  try {
    const sc_core::Kernel::Scope entered(handle->kernel);
    handle->text.clear();
    status = body();
  } catch (const Error& error) {
    status = error.status();
    handle->text = error.what();
  } catch (const std::bad_alloc&) {
    status = RNIC_E_MEMORY;
    handle->text = "no memory";
  } catch (const std::exception& error) {
    status = RNIC_E_BROKEN;
    handle->broken = true;
    handle->text = error.what();
  }
  handle->busy = false;
  return status;
}

inline void check_abi(std::uint32_t abi) {
  if (abi >> 16 == RNIC_GOLDEN_ABI >> 16 && abi <= RNIC_GOLDEN_ABI) return;
  throw Error(RNIC_E_ABI, fmt::format("the caller was compiled for ABI {:#010x}, and this library has {:#010x}", abi,
                                      RNIC_GOLDEN_ABI));
}

template <class Named>
[[noreturn]] void fail_name(const char* what, const std::string& name, const std::vector<Named>& all) {
  std::vector<std::string> names;
  for (const Named& each : all) names.push_back(each.name);
  const std::string near = names.empty() ? "there is none" : "the nearest is \"" + nearest(name, names) + '"';
  throw Error(RNIC_E_NAME, fmt::format("no {} \"{}\"; {}", what, name, near));
}

template <class Named>
const Named& found(const char* what, const char* name, const std::vector<Named>& all) {
  if (name == nullptr) throw Error(RNIC_E_NULL, fmt::format("the {}'s name is null", what));
  for (const Named& each : all) {
    if (std::string(each.name) == name) return each;
  }
  fail_name(what, name, all);
}

// A port by its number, for a message that is not null. `pushes`: an input.
inline const Port& checked_port(const char* kind, const std::vector<Port>& ports, std::uint32_t port,
                                const void* message, bool pushes) {
  if (port >= ports.size())
    throw Error(RNIC_E_NAME, fmt::format("{} has ports 0 to {}, and no {}", kind, ports.size() - 1, port));
  if (bool(ports[port].push) != pushes) {
    throw Error(RNIC_E_NAME, fmt::format("{}.{} is an {}", kind, ports[port].name, pushes ? "output" : "input"));
  }
  if (message == nullptr) throw Error(RNIC_E_NULL, fmt::format("the {} is null", ports[port].message));
  return ports[port];
}

}  // namespace rnic::golden
