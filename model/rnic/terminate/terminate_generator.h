// Makes the first error of a stream into its one Terminate (RFC 5040 section 4.8). See terminate_generator.md.
#pragma once

#include <cstdint>
#include <vector>

#include "model/common/link.h"
#include "model/config/field.h"
#include "model/rnic/context/tables.h"
#include "model/rnic/messages/qp_events.h"
#include "model/rnic/messages/terminate.h"

namespace rnic {

struct TerminateConfig {
  bool foreign_stag_is_invalid = false;
  template <class V>
  static void fields(V& v) {
    v("foreign_stag_is_invalid", &TerminateConfig::foreign_stag_is_invalid,
      "report an STag of another protection domain or stream as invalid (00), as in RDMAP's first draft");
  }
};

struct TerminateGeneratorCounters {
  std::uint64_t terminates = 0, later_errors = 0;
  template <class V>
  static void fields(V& v) {
    v("terminates", &TerminateGeneratorCounters::terminates, "streams",
      "streams ended by a local error or an error of the peer");
    v("later_errors", &TerminateGeneratorCounters::later_errors, "errors", "errors of streams that had already ended");
  }
};

class TerminateGenerator final : public Stage {
 public:
  PopPort<QpEvent> in{*this, "in"};  // errors of all stages
  PushPort<TerminateMessage> out{*this, "out"};
  PushPort<QpEvent> event{*this, "event"};  // the first error of a stream

  // Blocks of the pool hold an FPDU of a Terminate behind the headroom.
  TerminateGenerator(sc_core::sc_module_name nm, ClockDomain& clk, const ContextTables& contexts, BufferPool& buffers,
                     const TerminateConfig& cfg = {})
      : Stage(nm, clk), contexts_(contexts), buffers_(buffers), cfg_(cfg), reported_(contexts.qps(), kNone) {}
  Wake tick() override;
  void reset() override;
  void describe(const Description& d) override;
  const TerminateGeneratorCounters& counters() const { return counters_; }

  // The twin in this place calls it too.
  void count(bool first) { ++(first ? counters_.terminates : counters_.later_errors); }

 private:
  static constexpr std::uint32_t kNone = ~0u;  // no epoch gets so far
  wire::TerminateCause told(wire::TerminateCause cause) const;
  void report(QpEvent error);

  const ContextTables& contexts_;
  BufferPool& buffers_;
  const TerminateConfig cfg_;
  std::vector<std::uint32_t> reported_;  // by QP: the epoch whose first error is known
  TerminateGeneratorCounters counters_;
};

}  // namespace rnic
