// The stages of requests and their answers, and what ends a stream: irrq, response_queue,
// terminate_generator.
#include "model/golden/contexts.h"
#include "model/golden/dma.h"
#include "model/golden/kind_of.h"
#include "model/golden/terminate_octets.h"
#include "model/rnic/completion/response_queue.h"
#include "model/rnic/responder/irrq.h"
#include "model/rnic/terminate/terminate_generator.h"

namespace rnic::golden {

namespace {

struct IrrqBench final : ContextBench {
  using Config = ContextsConfig;
  explicit IrrqBench(const Config& c) : ContextBench(kNoBeats, c), stage("irrq", clk_, contexts_.store) {
    in(stage.in, "in", [this](const QueuedRequest& r) {
      contexts_.check_qp("queued_request", qpn_of(r));
      check_segment("queued_request", segment_of(r));
    });
    in_of_qp(stage.sent, "sent");
    out(stage.out, "out");
    out(stage.atomic, "atomic");
    out(stage.event, "event");
    qp_table();
    count(stage.counters());
  }
  Irrq stage;
};

struct ResponseQueueBench final : ContextBench {
  using Config = ContextsConfig;
  explicit ResponseQueueBench(const Config& c)
      : ContextBench(kNoBeats, c), most(c.max_ord), outstanding(c.qps), stage("response_queue", clk_, contexts_.store) {
    in_of_qp(stage.issued, "issued", [this](const AtomicIssued& a) { check_room(a); });
    in_of_qp(stage.in, "in", [](const DeliveredAtomic& r) { check_segment("delivered_atomic", r.segment); });
    in(stage.written, "written", [this](const DmaWriteDone& m) { writes.answer(m); });
    out(stage.dma, "dma", Netlist::kFew, [this](const DmaWriteRequest& w) { writes.given(w); });
    out(stage.done, "done");
    out(stage.unblock, "unblock");
    out(stage.event, "event");
    qp_table();
    stag_tables();
    count(stage.counters());
  }
  // The segmenter sends no more than that.
  void check_room(const AtomicIssued& a) {
    const auto held = [&] {
      run();
      return contexts_.store.orq_table.peek(a.qpn.v)->current().outstanding.size;
    };
    if (!outstanding.takes(a.qpn, most, held))
      fail_value(fmt::format("atomic_issued: QP {} has {} outstanding, which is max_ord", a.qpn.v, most));
  }
  const unsigned most;
  Bounds outstanding;
  ResponseQueue stage;
  OpenWrites writes;
};

struct TerminateGeneratorBench final : ContextBench {
  struct Config : TerminateConfig, ContextsConfig {
    template <class V>
    static void fields(V& v) {
      TerminateConfig::fields(v);
      ContextsConfig::fields(v);
    }
  };
  explicit TerminateGeneratorBench(const Config& c)
      : ContextBench(kNoBeats, c), stage("terminate_generator", clk_, contexts_.store, pool_, c) {
    in_of_qp(stage.in, "in", [](const QpEvent& e) {
      check_segment("qp_event", e.failed);
      if (e.kind == QpEvent::Kind::kStreamError || e.kind == QpEvent::Kind::kLocalError) return;
      fail_value("qp_event.kind: a Terminate is made of errors, 2 (of the stream) and 3 (local)");
    });
    out(stage.out, "out");
    out(stage.event, "event");
    qp_table();
    count(stage.counters());
  }
  TerminateGenerator stage;
};

}  // namespace

void add_request_kinds(std::vector<Kind>& to) {
  to.push_back(kind<IrrqBench>("irrq", "holds the peer's Read and Atomic Requests, up to IRD (RFC 5040 section 5.2)"));
  to.push_back(kind<ResponseQueueBench>("response_queue",
                                        "matches Atomic Responses to their requests (RFC 7306 section 5.2.2)"));
  to.push_back(kind<TerminateGeneratorBench>("terminate_generator",
                                             "the Terminate of a stream's first error (RFC 5040 section 4.8)"));
}

}  // namespace rnic::golden
