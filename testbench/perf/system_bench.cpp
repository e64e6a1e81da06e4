// Two nodes and a cable: bandwidth against the wire's limit, and the cost of the simulation. Capture and waves are off.
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include <benchmark/benchmark.h>
#include <malloc.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "firmware/app/firmware.h"
#include "model/common/kernel_time.h"
#include "model/rnic/fwcpu/chip_bus.h"
#include "model/rnic/fwcpu/firmware_target.h"
#include "model/rnic/llp/link_address.h"
#include "model/system/node.h"
#include "model/system/run.h"
#include "model/system/scenario_system.h"
#include "rtl-stubs/verilated/verilated_twins.h"
#include "testbench/perf/child_process.h"
#include "testbench/perf/heap_growth.h"
#include "testbench/perf/repeated.h"

namespace rnic::perf {
namespace {

struct Load {
  const char* op = "write";
  std::uint32_t bytes = 65536, count = 500, depth = 32, qps = 1;
  std::uint32_t words = 0;  // for atomics, which have no size
  std::uint16_t ird = 16;   // and ORD
  unsigned mtu = 1500;
  unsigned wire_delay_ns = 0, window_bytes = 0;  // 0: the default
  bool idle_second = false;                      // connected and idle afterwards
  std::vector<std::string> settings;
  const char* rtl = "";  // stages that Verilated twins replace
};

struct Figures {
  double cpu_s = 0, data_frames = 0, kernel_events = 0, sim_s = 0;
  double goodput_gbps = 0, share_of_limit = 0;
  double idle_cpu_s = 0, resident_bytes = 0;
  double rate_mops = 0;
  double firmware_cycles = 0, firmware_share = 0, p50_ns = 0;  // the first node's processor; its setups
};

Scenario scenario(const Load& load) {
  nlohmann::json work = {{"name", "work"}, {"op", load.op}, {"count", load.count}, {"depth", load.depth}};
  if (load.words != 0) work["words"] = load.words;
  else work["size"] = load.bytes;
  return parse_scenario({{"name", "bench"},
                         {"seed", 3u},
                         {"nodes",
                          {{{"name", "a"}, {"ip", "10.0.0.1"}, {"mac", "02:00:00:00:00:01"}},
                           {{"name", "b"}, {"ip", "10.0.0.2"}, {"mac", "02:00:00:00:00:02"}}}},
                         {"connections",
                          {{{"name", "c"},
                            {"from", "a"},
                            {"to", "b"},
                            {"qps", load.qps},
                            {"markers", true},
                            {"crc", true},
                            {"ird", load.ird},
                            {"ord", load.ird}}}},
                         {"work", {work}}},
                        "bench");
}

// A block's counter, summed over the nodes.
double sum_of(const nlohmann::json& tree, const std::string& block, const std::string& counter) {
  double sum = 0;
  if (!tree.is_object()) return 0;
  for (const auto& [key, value] : tree.items()) {
    const bool found = key == block && value.contains(counter) && value[counter].contains("value");
    sum += found ? value[counter]["value"].get<double>() : sum_of(value, block, counter);
  }
  return sum;
}

nlohmann::json counters_of(Run& run, RunEnd end, const std::filesystem::path& dir) {
  run.write_outputs(end);
  nlohmann::json stats;
  std::ifstream(dir / "stats.json") >> stats;
  std::filesystem::remove_all(dir);
  return stats;
}

std::vector<double> run_load(const Load& load) {
  Overlay settings;
  settings.set("rnic.tcp.mtu=" + std::to_string(load.mtu));
  if (load.wire_delay_ns != 0) settings.set("link.delay_ns=" + std::to_string(load.wire_delay_ns));
  for (const char* most : {"rnic.fwcpu.max_ird=", "rnic.fwcpu.max_ord="}) {
    settings.set(most + std::to_string(std::max<unsigned>(32, load.ird)));
  }
  for (const std::string& s : load.settings) settings.set(s);
  if (load.window_bytes != 0) settings.set("rnic.tcp.window_bytes=" + std::to_string(load.window_bytes));
  const auto dir = std::filesystem::temp_directory_path() / ("rnicsim_bench_" + std::to_string(getpid()));
  RunOptions options;
  options.out_dir = dir.string();
  options.capture = false;
  const auto system = make_system(scenario(load), settings);
  Run run(*system, options);
  const rtl::VerilatedTwins source;
  std::vector<TwinSource::Handle> twins;
  for (Rnic* chip : system->chips()) {
    for (auto& t : make_twins(*chip, twin_names(load.rtl, source), source, TwinMode::kReplace)) {
      twins.push_back(std::move(t));
    }
  }
  const RunEnd end = run.drive();
  if (end != RunEnd::kDone) {
    throw std::runtime_error("the run did not end well: " +
                             (run.errors().empty() ? run.waiting_for() : run.errors()[0]));
  }
  Figures f;
  f.cpu_s = run.cpu_seconds();
  f.sim_s = static_cast<double>(kernel_time_ps()) * 1e-12;
  const workload::WorkResult result = system->programs().results().front();
  f.goodput_gbps = result.goodput_gbps;
  f.share_of_limit = result.share_of_limit();
  f.rate_mops = result.rate_mops;
  f.resident_bytes = resident_bytes();
  if (load.idle_second) {
    const double start = processor_seconds();
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_SEC));
    f.idle_cpu_s = processor_seconds() - start;
  }
  const nlohmann::json stats = counters_of(run, end, dir);
  f.data_frames = sum_of(stats, "mpa_framer", "fpdus");
  f.kernel_events = sum_of(stats, "core_clk", "kernel_events") + sum_of(stats, "host_clk", "kernel_events");
  const nlohmann::json& firmware = stats["stats"]["a"]["rnic"]["fwcpu"];
  f.firmware_cycles = firmware["busy_cycles"]["value"].get<double>();
  f.firmware_share = firmware["utilization"]["value"].get<double>();
  f.p50_ns = stats["results"][0]["latency_ns"]["p50"].get<double>();
  return {f.cpu_s,      f.data_frames,    f.kernel_events, f.sim_s,           f.goodput_gbps,   f.share_of_limit,
          f.idle_cpu_s, f.resident_bytes, f.rate_mops,     f.firmware_cycles, f.firmware_share, f.p50_ns};
}

Figures measure(const Load& load) {
  const std::vector<double> v = in_child([&] { return run_load(load); });
  return {v.at(0), v.at(1), v.at(2), v.at(3), v.at(4), v.at(5), v.at(6), v.at(7), v.at(8), v.at(9), v.at(10), v.at(11)};
}

void write_bandwidth(benchmark::State& state) {
  Load load;
  load.mtu = static_cast<unsigned>(state.range(0));
  for (auto _ : state) {
    const Figures f = measure(load);
    state.SetIterationTime(f.cpu_s);
    state.counters["goodput_Gbps"] = f.goodput_gbps;
    state.counters["share_of_limit_%"] = 100 * f.share_of_limit;
    state.counters["data_frames/cpu_s"] = f.data_frames / f.cpu_s;
    state.counters["kernel_events/FPDU"] = f.kernel_events / f.data_frames;
    // Within 2 % of the limit the wire binds; below that, chip or host does.
    state.SetLabel(f.share_of_limit > 0.98 ? "binds: Ethernet" : "binds: chip or host, not Ethernet");
  }
}
BENCHMARK(write_bandwidth)->ArgName("MTU")->Arg(1500)->Arg(9000)->UseManualTime()->Iterations(1)->Apply(repeated);

// The same with all Verilated twins in both chips, against the run without.
void rtl_whole_system(benchmark::State& state) {
  Load load;
  load.count = 20;
  Load with_twins = load;
  with_twins.rtl = "all";
  for (auto _ : state) {
    const Figures plain = measure(load), rtl = measure(with_twins);
    if (plain.sim_s != rtl.sim_s) return state.SkipWithError("the runs differ");
    state.SetIterationTime(rtl.cpu_s);
    state.counters["data_frames/cpu_s"] = rtl.data_frames / rtl.cpu_s;
    state.counters["with/without"] = rtl.cpu_s / plain.cpu_s;
  }
}
BENCHMARK(rtl_whole_system)->UseManualTime()->Iterations(1)->Apply(repeated);

// FetchAdds of 64 queue pairs at one word, where each depends on the previous one, and at many. The atomic ALU starts
// one every initiation interval, and at one address every pipeline_cycles.
void atomic_rate(benchmark::State& state) {
  Load load;
  load.op = "fetch_add";
  load.words = static_cast<std::uint32_t>(state.range(0));
  load.qps = 64;
  load.count = 500;
  load.depth = 16;
  const RnicConfig config;
  const AtomicAluConfig& alu = config.responder.atomic_alu;
  const unsigned interval =
      load.words == 1 ? std::max(alu.pipeline_cycles, alu.initiation_interval) : alu.initiation_interval;
  const double limit_mops = 1e6 / static_cast<double>(interval * config.clock_period_ps);
  for (auto _ : state) {
    const Figures f = measure(load);
    state.SetIterationTime(f.cpu_s);
    state.counters["Mops"] = f.rate_mops;
    state.counters["of_ALU_%"] = 100 * f.rate_mops / limit_mops;
    state.counters["atomics/cpu_s"] = load.qps * load.count / f.cpu_s;
  }
}
BENCHMARK(atomic_rate)->ArgName("words")->Arg(1)->Arg(4096)->UseManualTime()->Iterations(1);

// Reads of 4 KiB: IRD of them per round trip, until the link binds. The round trip is measured with one Read at a time.
void read_bandwidth(benchmark::State& state) {
  Load load;
  load.op = "read";
  load.bytes = 4096;
  load.wire_delay_ns = static_cast<unsigned>(500 * state.range(1));
  load.window_bytes = 1 << 21;
  load.ird = 1;
  load.depth = 2;
  load.count = 200;
  for (auto _ : state) {
    const Figures one = measure(load);
    load.ird = static_cast<std::uint16_t>(state.range(0));
    load.depth = 2u * load.ird;
    load.count = 100u * load.ird;
    const Figures f = measure(load);
    const double limit = f.goodput_gbps / f.share_of_limit;
    state.SetIterationTime(f.cpu_s);
    state.counters["round_trip_us"] = 8e-3 * load.bytes / one.goodput_gbps;
    state.counters["goodput_Gbps"] = f.goodput_gbps;
    state.counters["of_IRD*size/RTT_%"] = 100 * f.goodput_gbps / (load.ird * one.goodput_gbps);
    state.counters["share_of_limit_%"] = 100 * f.goodput_gbps / limit;
  }
}
BENCHMARK(read_bandwidth)
    ->ArgNames({"IRD", "wire_RTT_us"})
    ->ArgsProduct({{1, 16, 128}, {1, 10, 100}})
    ->UseManualTime()
    ->Iterations(1);

// Connections opened, used once and closed, several at a time, by the firmware's cost of a register write. Either the
// connecting side's processor is busy all the time, or each slot takes as long as one connection alone.
void connection_rate(benchmark::State& state) {
  const bool rv32 = state.range(2) != 0;
  if (rv32 && built_rv32_image().empty()) return state.SkipWithError("there is no RV32 image");
  Load load;
  load.op = "connect";
  load.bytes = 64;
  load.count = 2000;
  load.settings = {"rnic.tcp.time_wait_us=20", "rnic.fwcpu.csr_write_cycles=" + std::to_string(state.range(1))};
  if (rv32) load.settings.push_back("rnic.fwcpu.target=rv32");
  const double cycle_ns = static_cast<double>(RnicConfig().clock_period_ps) / 1000;
  for (auto _ : state) {
    load.depth = 1;
    const Figures one = measure(load);
    load.depth = static_cast<std::uint32_t>(state.range(0));
    const Figures f = measure(load);
    const double by_firmware = 1e3 / (f.firmware_cycles / load.count * cycle_ns);
    const double by_slots = load.depth * one.rate_mops;
    const double limit = std::min(by_firmware, by_slots);
    state.SetIterationTime(f.cpu_s);
    state.counters["connections/s"] = 1e6 * f.rate_mops;
    state.counters["of_limit_%"] = 100 * f.rate_mops / limit;
    state.counters["firmware_%"] = 100 * f.firmware_share;
    state.counters["cycles/connection"] = f.firmware_cycles / load.count;
    state.counters["setup_p50_us"] = f.p50_ns / 1000;
    state.SetLabel(by_firmware < by_slots ? "binds: firmware" : "binds: slots and round trips");
  }
}
BENCHMARK(connection_rate)
    ->ArgNames({"slots", "csr_write_cycles", "rv32"})
    ->ArgsProduct({{1, 4, 16, 64}, {4, 16}, {0}})
    ->ArgsProduct({{1, 4, 16, 64}, {4}, {1}})
    ->UseManualTime()
    ->Iterations(1);

// One FPDU in flight at a time, on a wire long enough to make this about 1 % of the load above.
void cost_at_one_per_cent(benchmark::State& state) {
  Load low;
  low.bytes = 1408;
  low.count = 5000;
  low.depth = 1;
  low.wire_delay_ns = 5000;
  for (auto _ : state) {
    const Figures full = measure({}), few = measure(low);
    state.SetIterationTime(few.cpu_s);
    state.counters["load_%"] = 100 * few.share_of_limit;
    state.counters["ns/FPDU"] = 1e9 * few.cpu_s / few.data_frames;
    state.counters["of_full_load"] = few.cpu_s / few.data_frames / (full.cpu_s / full.data_frames);
  }
}
BENCHMARK(cost_at_one_per_cent)->UseManualTime()->Iterations(1)->Apply(repeated);

void idle_second(benchmark::State& state) {
  Load load;
  load.count = 10;
  load.idle_second = true;
  for (auto _ : state) state.SetIterationTime(measure(load).idle_cpu_s);
}
BENCHMARK(idle_second)->UseManualTime()->Iterations(1)->Apply(repeated)->Unit(benchmark::kMillisecond);

// Memory that a chip allocates for this many queue pairs, with their flows, and STags, in octets.
double chip_bytes(unsigned qps, unsigned stags) {
  const std::vector<double> bytes = in_child([=] {
    ClockDomain clk("clk", {});
    RnicConfig config;
    config.context.qps = config.tcp.max_flows = qps;
    config.context.stags = stags;
    const auto allocated = [] {
      const struct mallinfo2 info = mallinfo2();
      return static_cast<double>(info.uordblks + info.hblkhd);
    };
    const double before = allocated();
    const auto chip = std::make_unique<Rnic>("chip", clk, config, LinkAddress{});
    return std::vector<double>{allocated() - before};
  });
  return bytes.at(0);
}

// The peak heap growth of a run with this many connections. Building the system does not count as a chip's share.
HeapShares heap_growth(std::uint32_t qps) {
  Load load;
  load.bytes = 8;
  load.count = load.depth = 1;
  load.qps = qps;
  const std::vector<double> most = in_child([&load] {
    const HeapGrowth growth;
    run_load(load);
    return std::vector<double>{static_cast<double>(growth.most().chip), static_cast<double>(growth.most().rest)};
  });
  return {static_cast<std::int64_t>(most.at(0)), static_cast<std::int64_t>(most.at(1))};
}

// Memory that each queue pair with its TCP connection adds to the chip: entries of tables, idle or not. The firmware's
// memory is static, for the maximum number.
void chip_memory_per_queue_pair(benchmark::State& state) {
  constexpr unsigned kQps = 512, kStags = 1024;
  for (auto _ : state) {
    const double least = chip_bytes(kQps, kStags);
    state.counters["chip_B/QP"] = (chip_bytes(2 * kQps, kStags) - least) / kQps;
    state.counters["chip_B/STag"] = (chip_bytes(kQps, 2 * kStags) - least) / kStags;
    state.counters["firmware_B/QP"] = double{sizeof(fw::Firmware<ChipBus>)} / fw::DefaultCapacity::kQps;
    state.SetIterationTime(1e-3);
  }
}
BENCHMARK(chip_memory_per_queue_pair)->UseManualTime()->Iterations(1);

// Further heap memory of a node. Shared pools grow in slabs, so a quotient by queue pairs would depend on the step it
// happens to meet.
void heap_growth_by_connections(benchmark::State& state) {
  for (auto _ : state) {
    const HeapShares growth = heap_growth(static_cast<std::uint32_t>(state.range(0)));
    state.counters["chip_B/node"] = static_cast<double>(growth.chip) / 2;
    state.counters["rest_B/node"] = static_cast<double>(growth.rest) / 2;
    state.SetIterationTime(1e-3);
  }
}
// The firmware sets up at most 64 at a time.
BENCHMARK(heap_growth_by_connections)
    ->ArgName("connections")
    ->RangeMultiplier(2)
    ->Range(1, 64)
    ->UseManualTime()
    ->Iterations(1);

// The growth of resident memory in both nodes by 31 more connections: chip, firmware, driver, rings, programs.
void memory_per_queue_pair(benchmark::State& state) {
  constexpr std::uint32_t kMore = 31;
  Load one;
  one.bytes = 8;
  one.count = one.depth = 1;
  Load many = one;
  many.qps = 1 + kMore;
  for (auto _ : state) {
    const Figures few = measure(one), all = measure(many);
    state.SetIterationTime(all.cpu_s);
    state.counters["B/QP"] = (all.resident_bytes - few.resident_bytes) / (2.0 * kMore);
  }
}
BENCHMARK(memory_per_queue_pair)->UseManualTime()->Iterations(1);

}  // namespace
}  // namespace rnic::perf
