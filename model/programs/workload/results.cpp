#include "model/programs/workload/results.h"

#include <algorithm>

#include <fmt/format.h>

namespace rnic::workload {
namespace {

std::string nanoseconds(std::uint64_t ps, std::uint64_t cycle_ps) {
  return fmt::format("{:>9.1f} ns {:>7}", static_cast<double>(ps) / 1000, (ps + cycle_ps - 1) / cycle_ps);
}

}  // namespace

std::string results_table(const std::vector<WorkResult>& results, std::uint64_t cycle_ps) {
  std::size_t width = 4;
  for (const WorkResult& r : results) width = std::max(width, r.name.size());
  std::string text = fmt::format("{:<{}}  {:<9}  {:>9}  {:>12}  {:>11}  {:>9}  {:>8}  {:>20}  {:>20}  {}\n", "work",
                                 width, "operation", "count", "bytes", "goodput", "rate", "of limit",
                                 "p50 latency, cycles", "p99 latency, cycles", "data");
  for (const WorkResult& r : results) {
    const std::string op = std::string(op_name(r.op)) + (r.mode == Mode::kPingPong ? " 1/2 RT" : "");
    const std::string share = r.limit_gbps == 0 ? "-" : fmt::format("{:.1f} %", 100 * r.share_of_limit());
    const bool connects = r.op == Op::kConnect;
    const std::string rate = fmt::format("{:>5.{}f} {}/s", connects ? 1000 * r.rate_mops : r.rate_mops,
                                         connects ? 1 : 2, connects ? 'k' : 'M');
    text += fmt::format("{:<{}}  {:<9}  {:>9}  {:>12}  {:>6.2f} Gb/s  {:>9}  {:>8}  {}  {}  {}\n", r.name, width, op,
                        r.count, r.bytes, r.goodput_gbps, rate, share, nanoseconds(r.latency.p50, cycle_ps),
                        nanoseconds(r.latency.p99, cycle_ps),
                        r.data_ok   ? "ok"
                        : r.cut_off ? "cut off"
                                    : "FAILED");
  }
  return text;
}

}  // namespace rnic::workload
