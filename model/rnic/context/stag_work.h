// Changes STags, one request at a time: fast registration, local invalidation and windows of the send queues, the end
// of a Read's sink, and the firmware's writes. See stag_work.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "model/abi/host_abi.h"
#include "model/common/link.h"
#include "model/common/ring.h"
#include "model/rnic/context/context.h"
#include "model/rnic/context/stag_trace.h"
#include "model/rnic/messages/stag_work.h"

namespace rnic {

struct StagWorkCounters {
  std::uint64_t requests = 0, refused = 0, ended = 0;
  template <class V>
  static void fields(V& v) {
    v("requests", &StagWorkCounters::requests, "requests", "requests that were executed, or refused");
    v("refused", &StagWorkCounters::refused, "requests", "requests that are not permitted, and had no effect");
    v("ended", &StagWorkCounters::ended, "STags", "STags that ended, bindings of windows included");
  }
};

class StagWork final : public Stage {
 public:
  PopPort<StagRequest> request{*this, "request"};
  PushPort<StagRequestDone> request_done{*this, "request_done"};
  PopPort<SinkEnd> sink{*this, "sink"};
  PushPort<SinkEnded> sink_ended{*this, "sink_ended"};
  PopPort<StagWrite> write{*this, "write"};
  PushPort<StagWritten> written{*this, "written"};

  StagWork(sc_core::sc_module_name nm, ClockDomain& clk, ContextStore& contexts);
  Wake tick() override;
  void reset() override;
  std::string waiting_for() const override;
  void describe(const Description& d) override;
  const StagWorkCounters& counters() const { return counters_; }

 private:
  using Command = std::variant<StagRequest, SinkEnd, StagWrite>;
  // An answer waits for the writes that an STag allowed.
  template <class T>
  struct Ending {
    T answer;
    std::optional<StagFence> fence;
  };
  bool take();
  template <class T>
  bool take(PopPort<T>& from);
  void ask_for_regions();
  bool is_bound() const;
  bool there();
  bool execute();
  void forget();
  bool finish(const StagRequest& r);
  bool finish(const SinkEnd& e);
  bool finish(const StagWrite& w);
  StagFence fence();
  void count(abi::WcStatus status);
  bool tell_firmware();
  template <class T>
  static bool tell(Ring<Ending<T>>& endings, PushPort<T>& to);
  abi::WcStatus invalidate(const StagRequest& r);
  abi::WcStatus fast_register(const StagRequest& r);
  abi::WcStatus bind(const StagRequest& r);
  static const StagRow* row(const StagTable::Reader& reader) { return reader.ok() ? &reader.row() : nullptr; }

  ContextStore& contexts_;
  StagTable::Reader entry_{*this, "stag_work"};          // of the request's STag,
  StagTable::Reader region_{*this, "stag_work_region"};  // of the region that a window is to be bound to,
  StagTable::Reader bound_{*this, "stag_work_bound"};    // and of the one that it is bound to, whose count changes
  std::optional<Command> command_;
  std::optional<Stag> to_bind_;  // the region that a window is to be bound to
  bool asked_region_ = false, asked_bound_ = false;
  unsigned last_ = 0;  // input that was served
  Ring<Ending<StagRequestDone>> requests_;
  Ring<Ending<SinkEnded>> sinks_;
  std::optional<Ending<StagWritten>> taking_away_;  // the firmware waits for it
  StagWorkCounters counters_;
  StagTrace trace_;
};

}  // namespace rnic
