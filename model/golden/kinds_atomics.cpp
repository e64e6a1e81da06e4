// atomic_alu, before a caller's memory.
#include "model/golden/contexts.h"
#include "model/golden/dma.h"
#include "model/golden/host_write.h"
#include "model/golden/kind_of.h"
#include "model/rnic/responder/atomic_alu.h"

namespace rnic::golden {
namespace {

struct AtomicAluBench final : ContextBench {
  struct Config : ContextsConfig, AtomicAluConfig {
    template <class V>
    static void fields(V& v) {
      AtomicAluConfig::fields(v);
      ContextsConfig::fields(v);
    }
  };
  explicit AtomicAluBench(const Config& c) : ContextBench(kNoBeats, c), stage("atomic_alu", clk_, contexts_.store, c) {
    in_of_qp(stage.in, "in", [](const QueuedAtomic& q) { check_segment("queued_atomic", q.segment); });
    in(stage.read_done, "read_done", [this](const DmaReadMessage& m) { reads.answer(m); });
    in(stage.written, "written", [this](const DmaWriteDone& m) { writes.answer(m); });
    in<HostWrite>("others", [this](const HostWrite& w) { stage.words().written(w.address, w.bytes); });
    out(stage.read, "read", Netlist::kFew, [this](const DmaReadRequest& r) { reads.given(r); });
    out(stage.write, "write", Netlist::kFew, [this](const DmaWriteRequest& w) { writes.given(w); });
    out(stage.out, "out");
    out(stage.event, "event");
    qp_table();
    stag_tables();
    count(stage.counters());
  }
  AtomicAlu stage;
  OpenReads reads;
  OpenWrites writes;
};

}  // namespace

void add_atomic_kinds(std::vector<Kind>& to) {
  to.push_back(kind<AtomicAluBench>("atomic_alu", "executes atomics on host memory (RFC 7306 sections 5.1 and 5.3)"));
}

}  // namespace rnic::golden
