// A run from a program other than rnicsim: simulate SCENARIO prints each work item with its messages and octets.
#include <cstdio>
#include <systemc>

#include "model/system/run.h"
#include "model/system/scenario_system.h"

int sc_main(int, char* argv[]) {
  rnic::RunOptions options;
  options.capture = false;
  const auto system = rnic::make_system(rnic::read_scenario(argv[1]), rnic::Overlay{});
  const rnic::RunEnd end = rnic::Run(*system, options).drive();
  for (const rnic::workload::WorkResult& r : system->programs().results()) {
    std::printf("%s: %llu messages, %llu octets, data %s\n", r.name.c_str(), static_cast<unsigned long long>(r.count),
                static_cast<unsigned long long>(r.bytes), r.data_ok ? "ok" : "WRONG");
  }
  return end == rnic::RunEnd::kDone ? 0 : 1;
}
