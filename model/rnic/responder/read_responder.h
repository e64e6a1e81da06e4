// Checks that a Read Request may read its source (RFC 5040 section 7.1) and hands the work to the segmenter. See
// read_responder.md.
#pragma once

#include <cstdint>

#include "model/common/link.h"
#include "model/common/ring.h"
#include "model/rnic/context/tables.h"
#include "model/rnic/messages/qp_events.h"
#include "model/rnic/messages/requests.h"

namespace rnic {

struct ReadResponderCounters {
  std::uint64_t reads = 0, bytes = 0, refused = 0;
  template <class V>
  static void fields(V& v) {
    v("reads", &ReadResponderCounters::reads, "requests", "Read Requests answered");
    v("bytes", &ReadResponderCounters::bytes, "octets", "octets requested by Read Requests");
    v("refused", &ReadResponderCounters::refused, "requests", "Read Requests that failed validation");
  }
};

class ReadResponder final : public Stage {
 public:
  PopPort<QueuedRead> in{*this, "in"};
  PushPort<ReadWork> out{*this, "out"};
  PushPort<QpEvent> event{*this, "event"};

  NamedStag source{*this, "read_responder", "read_responder_region"};

  ReadResponder(sc_core::sc_module_name nm, ClockDomain& clk, ContextTables& contexts)
      : Stage(nm, clk), contexts_(contexts) {
    source.bind_to(contexts.stag_table);
  }
  Wake tick() override;
  void reset() override;
  void describe(const Description& d) override;
  const ReadResponderCounters& counters() const { return counters_; }

 private:
  bool take(bool judged);
  bool judge();
  void judge(const QueuedRead& r, const StagContext* source);
  bool can_answer() { return out->can_push() && event->can_push(); }

  const ContextTables& contexts_;
  Ring<QueuedRead> asked_;  // for whose source the table is being read
  ReadResponderCounters counters_;
};

}  // namespace rnic
