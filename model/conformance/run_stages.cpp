#include "model/conformance/run_stages.h"

#include <systemc>

#include "model/common/check.h"

namespace rnic::conformance {

void run_stages() {
  try {
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_SEC), sc_core::SC_EXIT_ON_STARVATION);
  } catch (const sc_core::sc_report& report) {
    throw InternalError(report.what());
  }
  RNIC_CHECK(!sc_core::sc_pending_activity());
}

}  // namespace rnic::conformance
