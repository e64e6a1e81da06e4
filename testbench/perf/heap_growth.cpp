#include "testbench/perf/heap_growth.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <systemc>
#include <unordered_map>
#include <utility>

#include "model/common/check.h"

namespace rnic::perf {
namespace {

struct Ledger {
  struct Block {
    std::size_t bytes;
    bool chip;
  };
  std::unordered_map<void*, Block> blocks;
  HeapShares now, most;

  void allocated(void* p, std::size_t bytes) {
    const Block block{bytes, in_chip()};
    blocks[p] = block;
    std::int64_t& share = block.chip ? now.chip : now.rest;
    share += static_cast<std::int64_t>(bytes);
    most = {std::max(most.chip, now.chip), std::max(most.rest, now.rest)};
  }
  void freed(void* p) {
    const auto found = blocks.find(p);
    if (found == blocks.end()) return;
    (found->second.chip ? now.chip : now.rest) -= static_cast<std::int64_t>(found->second.bytes);
    blocks.erase(found);
  }
  static bool in_chip() {
    if (!sc_core::sc_is_running()) return false;
    const sc_core::sc_process_handle process = sc_core::sc_get_current_process_handle();
    return process.valid() && std::strstr(process.name(), "core_clk") != nullptr;
  }
};

// operator new has no other way to the ledger. nullptr: nothing is counted, including the ledger's own blocks.
Ledger* ledger = nullptr;

}  // namespace

HeapGrowth::HeapGrowth() {
  RNIC_CHECK(ledger == nullptr);
  ledger = new Ledger;
}
HeapGrowth::~HeapGrowth() { delete std::exchange(ledger, nullptr); }
HeapShares HeapGrowth::most() const { return ledger->most; }

}  // namespace rnic::perf

void* operator new(std::size_t bytes) {
  void* p = std::malloc(std::max<std::size_t>(bytes, 1));
  if (p == nullptr) throw std::bad_alloc();
  using rnic::perf::ledger;
  if (auto* const open = std::exchange(ledger, nullptr); open != nullptr) {
    open->allocated(p, bytes);
    ledger = open;
  }
  return p;
}
void operator delete(void* p) noexcept {
  using rnic::perf::ledger;
  if (auto* const open = std::exchange(ledger, nullptr); open != nullptr) {
    open->freed(p);
    ledger = open;
  }
  std::free(p);
}
void operator delete(void* p, std::size_t) noexcept { operator delete(p); }
