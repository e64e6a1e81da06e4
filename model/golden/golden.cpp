// The functions of rnic_golden.h. Nothing passes their boundary but results.
#include <memory>
#include <new>
#include <string>
#include <systemc>
#include <vector>

#include <fmt/format.h>

#include "model/common/crc32c.h"
#pragma GCC visibility push(default)  // of these functions alone
#include "model/golden/abi/rnic_golden.h"
#pragma GCC visibility pop
#include "model/golden/beat_words.h"
#include "model/golden/description.h"
#include "model/golden/handle.h"
#include "model/golden/kinds.h"

using rnic::golden::Bench;
using rnic::golden::BenchPtr;
using rnic::golden::Error;
using rnic::golden::found;
using rnic::golden::guarded;
using rnic::golden::Kind;

// The bench is made and used on the handle's kernel.
struct rnic_stage : rnic::golden::Handle {
  const Kind* kind = nullptr;
  std::string settings;
  BenchPtr bench;
  rnic::golden::PortWords words;

  void make() {
    bench.reset();
    bench = kind->make(settings);
    words.clear();
  }
};

namespace {

// The stage that is open behind a handle. Throws Error without one.
Bench& opened(rnic_stage* stage) {
  if (!stage->bench) throw Error(RNIC_E_BROKEN, "the stage was not opened");
  return *stage->bench;
}

const rnic::golden::Port& port_of(rnic_stage* stage, std::uint32_t port, const void* message, bool pushes) {
  return rnic::golden::checked_port(stage->kind->name, opened(stage).ports(), port, message, pushes);
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
    case RNIC_E_TIME:
      return "RNIC_E_TIME";
    case RNIC_E_HUNG:
      return "RNIC_E_HUNG";
    case RNIC_E_REENTERED:
      return "RNIC_E_REENTERED";
    case RNIC_E_MEMORY:
      return "RNIC_E_MEMORY";
    case RNIC_E_MISMATCH:
      return "RNIC_E_MISMATCH";
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
    rnic::golden::check_abi(abi);
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

std::int32_t rnic_stage_push_beat(rnic_stage* stage, std::uint32_t port, const std::uint32_t* bits,
                                  const std::uint32_t* octets) {
  return guarded(stage, [&] {
    const auto& to = port_of(stage, port, bits, true);
    auto& words = stage->words.of_port(port, to, octets, stage->bench->beat_bytes());
    if (const void* const message = words.join(bits, octets)) to.push(message);
    return RNIC_OK;
  });
}

std::int32_t rnic_stage_take_beat(rnic_stage* stage, std::uint32_t port, std::uint32_t* bits, std::uint32_t* octets) {
  return guarded(stage, [&] {
    const auto& from = port_of(stage, port, bits, false);
    auto& words = stage->words.of_port(port, from, octets, stage->bench->beat_bytes());
    if (words.next(bits, octets)) return RNIC_OK;
    if (!from.take(words.room())) return RNIC_NONE;
    words.cut();
    return words.next(bits, octets) ? RNIC_OK : RNIC_NONE;
  });
}

std::int32_t rnic_stage_row_bits(rnic_stage* stage, const char* table, std::uint32_t index, const std::uint32_t* bits) {
  return guarded(stage, [&] {
    const auto& chosen = found("table", table, opened(stage).tables());
    if (bits == nullptr) throw Error(RNIC_E_NULL, fmt::format("the {} is null", chosen.message));
    chosen.set(index, rnic::golden::beat_words(*chosen.shape, stage->bench->beat_bytes())->join(bits, nullptr));
    return RNIC_OK;
  });
}

}  // extern "C"
