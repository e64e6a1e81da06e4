// stag_work beside a stage that sends it requests.
#pragma once

#include <vector>

#include "model/ends/ends.h"
#include "model/rnic/context/stag_work.h"

namespace rnic::test {

// Its other inputs are idle.
class StagWorkBeside {
 public:
  template <class Request, class Answer>
  StagWorkBeside(ContextStore& contexts, PushPort<Request>& requests, PopPort<Answer>& answers)
      : stage_("stag_work", requests.owner().clock(), contexts), net_("stag_work", requests.owner().clock()) {
    serve(requests, answers);
    idle(stage_.request, stage_.request_done);
    idle(stage_.sink, stage_.sink_ended);
    idle(stage_.write, stage_.written);
  }
  // Until the request is executed: a link, and the read of the entry. It is visible from the next cycle on.
  static Cycle executed(const ContextStore& contexts) {
    return Netlist::kFew.latency + contexts.stag_table.config().read_cycles;
  }
  // Until the answer is there: of one that waits for writes, or does not.
  static Cycle answered(const ContextStore& contexts, bool fenced) {
    return executed(contexts) + (fenced ? 1 : 0) + Netlist::kFew.latency;
  }

 private:
  void serve(PushPort<StagRequest>& requests, PopPort<StagRequestDone>& answers) {
    net_.connect(requests, stage_.request, "requests");
    net_.connect(stage_.request_done, answers, "requests_done");
  }
  void serve(PushPort<SinkEnd>& requests, PopPort<SinkEnded>& answers) {
    net_.connect(requests, stage_.sink, "sinks");
    net_.connect(stage_.sink_ended, answers, "sinks_ended");
  }
  void serve(PushPort<StagWrite>& requests, PopPort<StagWritten>& answers) {
    net_.connect(requests, stage_.write, "writes");
    net_.connect(stage_.written, answers, "written");
  }
  template <class Request, class Answer>
  void idle(PopPort<Request>& requests, PushPort<Answer>& answers) {
    if (!requests.bound()) others_.push_back(stub(requests, answers));
  }

  StagWork stage_;
  Netlist net_;
  std::vector<Stubs> others_;
};

}  // namespace rnic::test
