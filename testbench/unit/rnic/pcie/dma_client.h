// Shared by the tests of both DMA engines.
#pragma once

#include <utility>
#include <vector>

#include "model/common/table.h"
#include "model/rnic/pcie/tlp.h"
#include "testbench/support/stage_test.h"

namespace rnic::pcie {

using test::collect;
using test::drive;
using test::Sink;
using test::Source;

inline std::vector<std::pair<std::uint64_t, std::uint32_t>> pieces(const std::vector<Tlp>& tlps) {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> all;
  for (const Tlp& t : tlps) all.push_back({t.address, t.bytes});
  return all;
}

template <class Request, class Done>
struct Client {
  Source<Request> source;
  Sink<Done> sink;
  template <class Engine>
  Client(Engine& engine, unsigned i) : source(drive(engine.request(i))), sink(collect(engine.done(i))) {}
};

// Both engines act in the cycle in which an item arrives.
inline constexpr Cycle kThrough = test::kToEnd + test::kToEnd;
// The first TLP of a request in pages waits for a row of the page table.
inline constexpr Cycle kRow = TableConfig{}.read_cycles;

}  // namespace rnic::pcie
