// A node's use of every limited resource: equal before and after an operation that leaves nothing behind.
#pragma once

#include <map>
#include <string>

#include "model/stats/registry.h"

namespace rnic::test {

// `node`: its chip is registered as "rnic" below this name, and its driver as "driver".
inline std::map<std::string, double> in_use(const StatsRegistry& stats, const std::string& node) {
  std::map<std::string, double> now;
  for (const char* figure : {"rnic.context.qps", "rnic.context.cqs", "rnic.context.srqs", "rnic.context.stags",
                             "rnic.tcp_connection.flows", "rnic.fwcpu.connections", "rnic.fwcpu.setups",
                             "rnic.fwcpu.timers", "rnic.event_writer.slots", "rnic.event_writer.dropped", "driver.qps",
                             "driver.cqs", "driver.srqs", "driver.mrs", "driver.listeners", "driver.commands"}) {
    now[figure] = stats.value(node + "." + figure);
  }
  return now;
}

}  // namespace rnic::test
