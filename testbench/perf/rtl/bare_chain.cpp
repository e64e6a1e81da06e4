// bare_chain LOAD: transmit_chain in its own test bench, without SystemC. Prints processor seconds and the digest.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <verilated.h>

#include "model/wire/fpdu.h"
#include "testbench/perf/rtl/chain_load.h"

#include "Vtransmit_chain.h"

double sc_time_stamp() { return 0; }

// Aligns the model to a cache line: at other addresses it is slower, by up to a half.
void* operator new(std::size_t bytes) { return std::aligned_alloc(64, (bytes + 63) / 64 * 64); }
void operator delete(void* at) noexcept { std::free(at); }
void operator delete(void* at, std::size_t) noexcept { std::free(at); }

int main(int argc, char* argv[]) {
  using rnic::perf::kChainLoads;
  const unsigned long number = argc == 2 ? std::strtoul(argv[1], nullptr, 10) : ~0ul;
  if (number >= std::size(kChainLoads)) return 2;
  const rnic::perf::ChainLoad& load = kChainLoads[number];
  std::uint8_t ulpdu[2048] = {};
  for (unsigned i = 0; i < load.ulpdu_bytes; ++i) ulpdu[i] = rnic::perf::ulpdu_octet(i);

  VerilatedContext context;
  context.threads(1);  // another thread would wait for work, and sometimes does not end
  Vtransmit_chain top(&context, "");
  top.rst_ni = top.clk_i = 0;
  top.eval();
  top.clk_i = 1;
  top.eval();
  top.rst_ni = 1;
  top.out_ready_i = 1;

  rnic::perf::ChainDigest digest;
  std::uint64_t taken = 0;
  rnic::wire::StreamPosition position = 0;
  // An rnic_stream_pkg::ulpdu_t of a flow with markers and CRC.
  const auto ulpdu_at = [&load](rnic::wire::StreamPosition at) {
    return std::uint64_t{load.ulpdu_bytes} << 13 | 3u << 9 | at % rnic::wire::kMarkerInterval;
  };
  top.in_i = ulpdu_at(position);
  const std::clock_t start = std::clock();
  for (std::uint64_t cycle = 1; digest.fpdus() < load.fpdus; ++cycle) {
    top.clk_i = 0;
    top.in_valid_i = taken < load.fpdus && cycle >= 1 + taken * load.period;
    if (top.in_valid_i || top.mem_index_o != 0) {
      std::memcpy(&top.mem_data_i, ulpdu + std::size_t{top.mem_index_o} * sizeof top.mem_data_i, sizeof top.mem_data_i);
    }
    top.eval();
    if (top.out_valid_o) {
      const std::uint32_t bits = top.out_o[0];  // an rnic_stream_pkg::fpdu_beat_t
      digest.beat(cycle, bits & 8, bits & 4, top.out_data_o[(bits >> 12 & 0x3f) - 1]);
    }
    const bool takes = top.in_valid_i && top.in_ready_o;
    top.clk_i = 1;
    top.eval();
    if (!takes) continue;
    ++taken;
    position += static_cast<rnic::wire::StreamPosition>(rnic::wire::marked_fpdu_bytes(position, load.ulpdu_bytes));
    top.in_i = ulpdu_at(position);
  }
  std::printf("%.6f %llu\n", static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC,
              static_cast<unsigned long long>(digest.value()));
}
