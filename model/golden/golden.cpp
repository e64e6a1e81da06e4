// The functions of rnic_golden.h. Nothing passes their boundary but results.
#include <memory>
#include <new>
#include <string>
#include <systemc>
#include <vector>

#include <fmt/format.h>

#include "model/common/check.h"
#include "model/common/crc32c.h"
#include "model/config/nearest.h"
#pragma GCC visibility push(default)  // of these functions alone
#include "model/golden/abi/rnic_golden.h"
#pragma GCC visibility pop
#include "model/golden/kinds.h"

using rnic::golden::Bench;
using rnic::golden::BenchPtr;
using rnic::golden::Error;
using rnic::golden::Kind;

// The bench is made and used on the handle's kernel.
struct rnic_stage {
  const Kind* kind = nullptr;
  std::string settings;
  sc_core::Kernel kernel;
  BenchPtr bench;
  std::string text;
  bool busy = false;    // a call with this handle is under way
  bool broken = false;  // a check of ours has failed

  void make() {
    bench.reset();
    bench = kind->make(settings);
  }
};

namespace {

// Runs `body` on the handle's kernel. An exception becomes a result and the handle's text.
template <class Body>
std::int32_t guarded(rnic_stage* stage, Body body) {
  if (stage == nullptr) return RNIC_E_NULL;
  if (stage->busy) return RNIC_E_REENTERED;
  if (stage->broken) return RNIC_E_BROKEN;
  stage->busy = true;
  std::int32_t status;
  try {
    const sc_core::Kernel::Scope entered(stage->kernel);
    stage->text.clear();
    status = body();
  } catch (const Error& error) {
    status = error.status();
    stage->text = error.what();
  } catch (const std::bad_alloc&) {
    status = RNIC_E_MEMORY;
    stage->text = "no memory";
  } catch (const std::exception& error) {
    status = RNIC_E_BROKEN;
    stage->broken = true;
    stage->text = error.what();
  }
  stage->busy = false;
  return status;
}

// The stage that is open behind a handle. Throws Error without one.
Bench& opened(rnic_stage* stage) {
  if (!stage->bench) throw Error(RNIC_E_BROKEN, "the stage was not opened");
  return *stage->bench;
}

template <class Named>
[[noreturn]] void fail_name(const char* what, const std::string& name, const std::vector<Named>& all) {
  std::vector<std::string> names;
  for (const Named& each : all) names.push_back(each.name);
  const std::string near = names.empty() ? "there is none" : "the nearest is \"" + rnic::nearest(name, names) + '"';
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

const rnic::golden::Port& port_of(rnic_stage* stage, std::uint32_t port, const void* message, bool pushes) {
  const auto& ports = opened(stage).ports();
  if (port >= ports.size())
    throw Error(RNIC_E_NAME, fmt::format("{} has ports 0 to {}, and no {}", stage->kind->name, ports.size() - 1, port));
  if (bool(ports[port].push) != pushes) {
    throw Error(RNIC_E_NAME,
                fmt::format("{}.{} is an {}", stage->kind->name, ports[port].name, pushes ? "output" : "input"));
  }
  if (message == nullptr) throw Error(RNIC_E_NULL, fmt::format("the {} is null", ports[port].message));
  return ports[port];
}

}  // namespace

extern "C" {

std::uint32_t rnic_abi(void) { return RNIC_GOLDEN_ABI; }

const char* rnic_version(void) { return RNIC_VERSION; }

const char* rnic_status_name(std::int32_t status) {
  switch (status) {
    case RNIC_OK:
      return "RNIC_OK";
    case RNIC_NONE:
      return "RNIC_NONE";
    case RNIC_E_ABI:
      return "RNIC_E_ABI";
    case RNIC_E_NULL:
      return "RNIC_E_NULL";
    case RNIC_E_SIZE:
      return "RNIC_E_SIZE";
    case RNIC_E_NAME:
      return "RNIC_E_NAME";
    case RNIC_E_VALUE:
      return "RNIC_E_VALUE";
    case RNIC_E_SETTINGS:
      return "RNIC_E_SETTINGS";
    case RNIC_E_HUNG:
      return "RNIC_E_HUNG";
    case RNIC_E_REENTERED:
      return "RNIC_E_REENTERED";
    case RNIC_E_MEMORY:
      return "RNIC_E_MEMORY";
    case RNIC_E_BROKEN:
      return "RNIC_E_BROKEN";
    default:
      return "no result of this library";
  }
}

const char* rnic_description(void) {
  try {
    return rnic::golden::description().c_str();
  } catch (const std::exception&) {
    return "{}";
  }
}

std::int32_t rnic_crc32c(std::uint32_t* crc, const std::uint8_t* octets, std::size_t n) {
  if (crc == nullptr || (octets == nullptr && n != 0)) return RNIC_E_NULL;
  *crc = rnic::crc32c_final(rnic::crc32c_update(~*crc, {octets, n}));
  return RNIC_OK;
}

std::int32_t rnic_stage_open(std::uint32_t abi, const char* kind, const char* settings, rnic_stage** stage) {
  if (stage == nullptr) return RNIC_E_NULL;
  *stage = new (std::nothrow) rnic_stage;
  if (*stage == nullptr) return RNIC_E_MEMORY;
  return guarded(*stage, [&] {
    if (abi >> 16 != RNIC_GOLDEN_ABI >> 16 || abi > RNIC_GOLDEN_ABI) {
      throw Error(RNIC_E_ABI, fmt::format("the caller was compiled for ABI {:#010x}, and this library has {:#010x}",
                                          abi, RNIC_GOLDEN_ABI));
    }
    (*stage)->kind = &found("kind of stage", kind, rnic::golden::kinds());
    (*stage)->settings = settings == nullptr ? "{}" : settings;
    (*stage)->make();
    return RNIC_OK;
  });
}

void rnic_stage_close(rnic_stage* stage) {
  if (stage == nullptr || stage->busy) return;
  {
    const sc_core::Kernel::Scope entered(stage->kernel);
    stage->bench.reset();
  }
  delete stage;
}

const char* rnic_stage_text(const rnic_stage* stage) {
  return stage == nullptr ? "the handle is null" : stage->text.c_str();
}

std::int32_t rnic_stage_reset(rnic_stage* stage) {
  return guarded(stage, [&] {
    opened(stage);
    stage->make();
    return RNIC_OK;
  });
}

std::int32_t rnic_stage_push(rnic_stage* stage, std::uint32_t port, const void* message) {
  return guarded(stage, [&] {
    port_of(stage, port, message, true).push(message);
    return RNIC_OK;
  });
}

std::int32_t rnic_stage_take(rnic_stage* stage, std::uint32_t port, void* message) {
  return guarded(stage, [&] { return port_of(stage, port, message, false).take(message) ? RNIC_OK : RNIC_NONE; });
}

std::int32_t rnic_stage_row(rnic_stage* stage, const char* table, std::uint32_t index, const void* row) {
  return guarded(stage, [&] {
    const auto& chosen = found("table", table, opened(stage).tables());
    if (row == nullptr) throw Error(RNIC_E_NULL, fmt::format("the {} is null", chosen.message));
    chosen.set(index, row);
    return RNIC_OK;
  });
}

std::int32_t rnic_stage_counter(rnic_stage* stage, const char* name, std::uint64_t* value) {
  return guarded(stage, [&] {
    const auto& counter = found("counter", name, opened(stage).counters());
    if (value == nullptr) throw Error(RNIC_E_NULL, "the place for the counter's value is null");
    opened(stage).run();
    *value = counter.value();
    return RNIC_OK;
  });
}

}  // extern "C"
