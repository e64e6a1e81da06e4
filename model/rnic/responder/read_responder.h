// Checks that a Read Request may read what it names (RFC 5040 section 7.1) and hands the work to the segmenter.
// See read_responder.md.
#pragma once

#include "model/common/link.h"
#include "model/rnic/context/context.h"
#include "model/rnic/messages/qp_events.h"
#include "model/rnic/messages/requests.h"
#include "model/stats/registry.h"

namespace rnic {

class ReadResponder final : public Stage {
 public:
  PopPort<QueuedRead> in{*this, "in"};
  PushPort<ReadWork> out{*this, "out"};
  PushPort<QpEvent> event{*this, "event"};

  ReadResponder(sc_core::sc_module_name nm, ClockDomain& clk, const ContextStore& contexts)
      : Stage(nm, clk), contexts_(contexts) {}
  Wake tick() override;
  void reset() override {}
  void register_stats(const StatsGroup& group) const override;

 private:
  const ContextStore& contexts_;
  Counter reads_, bytes_, refused_;
};

}  // namespace rnic
