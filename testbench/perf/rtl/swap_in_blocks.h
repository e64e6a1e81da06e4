// Each block that has a twin, kept busy.
#pragma once

#include "testbench/perf/rtl/swapped_in.h"

namespace rnic::perf {

// The blocks on the FPDUs' path, at a beat a cycle.
SwappedIn measure_mpa_framer();
SwappedIn measure_marker_inserter();
SwappedIn measure_crc_insert();
SwappedIn measure_mpa_deframer();
SwappedIn measure_crc_check();
SwappedIn measure_ddp_placement();

// The others, with as many messages as they take.
SwappedIn measure_irrq();
SwappedIn measure_atomic_alu();
SwappedIn measure_response_queue();
SwappedIn measure_terminate_generator();

}  // namespace rnic::perf
