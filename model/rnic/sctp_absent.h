// In the place of the SCTP engine: a chip without one is never told of a stream, and may not be asked for any.
#pragma once

#include "model/common/check.h"
#include "model/common/link.h"
#include "model/rnic/messages/sctp.h"

namespace rnic {

class SctpAbsent final : public Stage {
 public:
  PopPort<SctpOp> ops{*this, "ops"};
  PushPort<SctpEvent> events{*this, "events"};

  SctpAbsent(sc_core::sc_module_name nm, ClockDomain& clk) : Stage(nm, clk) {}
  Wake tick() override {
    RNIC_CHECK_MSG(!ops->can_pop(), "this chip has no SCTP");
    return Wake::on_traffic();
  }
};

}  // namespace rnic
