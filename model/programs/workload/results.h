// Measurements of a run: one record per work item and direction, and their table.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "model/programs/workload/transfer.h"
#include "model/programs/workload/wire_limit.h"

namespace rnic::workload {

struct WorkResult {
  std::string item;  // the work item's name
  std::string name;  // with the direction if the item has both
  unsigned phase = 0;
  Op op = Op::kSend;
  Mode mode = Mode::kBandwidth;
  std::uint64_t count = 0;  // complete messages
  std::uint64_t bytes = 0;  // payload octets, all messages
  std::uint64_t duration_ps = 0;
  // Payload over the time from the first post_send until the last completion was seen, over all queue pairs.
  double goodput_gbps = 0;
  double rate_mops = 0;  // messages in the same time, in millions per second
  // Limit of the item's Ethernet links if it has them to itself; 0 in ping-pong mode.
  double limit_gbps = 0;
  // The part of it that TCP can use in the long run: loss, window and round trip (tcp_limit.h).
  double tcp_limit_gbps = 0;
  // Jain's fairness index of the queue pairs' goodputs, each over its own time: (sum x)^2 / (n sum x^2), 1 if all are
  // equal (Jain, Chiu, Hawe 1984).
  double fairness = 1;
  struct Percentiles {
    std::uint64_t count = 0, p50 = 0, p99 = 0, p999 = 0, max = 0;  // in ps
  };
  // Shares of all samples at which the distribution is given, in thousandths.
  static constexpr std::array<unsigned, 40> kCdfPerMille{
      1,   10,  25,  50,  75,  100, 150, 200, 250, 300, 350, 400, 450, 500, 550, 600, 650, 700, 750, 800,
      825, 850, 875, 900, 910, 920, 930, 940, 950, 960, 965, 970, 975, 980, 985, 990, 993, 996, 999, 1000};
  Percentiles latency;                     // post_send until completion is seen; half a round trip in ping-pong mode
  std::vector<std::uint64_t> latency_cdf;  // the same at each of kCdfPerMille, in ps; empty without samples
  Percentiles one_way;                     // post_send until the receiving program sees the message; Sends only
  // For Op::kConnect. Its `count` is of connections, and its `latency` from connect() to the event that one is
  // established.
  std::array<std::uint64_t, 4> outcomes{};  // by Outcome
  std::uint64_t retries = 0;                // connections tried again because the device had no room
  bool data_ok = false;                     // all messages complete and every octet compared
  bool cut_off = false;                     // one of its connections ended early
  std::string error;

  double share_of_limit() const { return limit_gbps == 0 ? 0 : goodput_gbps / limit_gbps; }
};

// One line per record: operation, count, bytes, goodput, share of the limit, latency in ns and cycles of cycle_ps.
std::string results_table(const std::vector<WorkResult>& results, std::uint64_t cycle_ps);

}  // namespace rnic::workload
