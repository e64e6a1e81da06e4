#include "model/golden/bench.h"

#include <fmt/format.h>

#include "model/golden/abi/rnic_golden.h"
#include "model/wire/fpdu.h"

namespace rnic::golden {
namespace {

constexpr Cycle kMostCycles = 1'000'000;

// All cycles until the stage is idle are one call of the kernel.
ClockDomainConfig clock() {
  ClockDomainConfig config;
  config.lookahead_cycles = kMostCycles;
  return config;
}

}  // namespace

Bench::Bench(unsigned beat_bytes)
    : beat_bytes_(beat_bytes),
      clk_("clk", clock()),
      pool_(static_cast<std::uint32_t>(kFrameHeadroom + wire::marked_fpdu_bytes(0, 0xffff))) {}

void Bench::run() {
  if (std::exchange(idle_, true)) return;
  sc_core::sc_start(sc_core::sc_time::from_value(kMostCycles * clk_.period_ps()), sc_core::SC_EXIT_ON_STARVATION);
  if (!sc_core::sc_pending_activity()) return;
  idle_ = false;
  std::string waiting;
  for (const Stage* stage : clk_.stages()) {
    if (const std::string text = stage->waiting_for(); !text.empty())
      waiting += fmt::format("; {} {}", stage->basename(), text);
  }
  throw Error(RNIC_E_HUNG, fmt::format("not idle after {} cycles{}", kMostCycles, waiting));
}

}  // namespace rnic::golden
