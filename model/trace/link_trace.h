// Records the messages of a link as trace events, without code in the stages.
#pragma once

#include "model/common/link_base.h"
#include "model/common/ring.h"
#include "model/trace/event.h"

namespace rnic {

// An event's cycle is that in which the message's last beat is pushed; its place is the link's name. Only a detailed
// link is observed at every beat, for the time of the first one.
class LinkTrace final : public LinkTap {
 public:
  LinkTrace(LinkBase& link, const Recorder& recorder, const Owners& owners);
  void filled(const void* beat, Cycle now, Cycle visible) override;

 private:
  const LinkBase& link_;
  const Recorder& recorder_;
  const Owners& owners_;
  TraceEvent next_;  // without facts; most beats are no event, and leave it so
  Cycle first_ = 0;
};

// The consumer's end of a link whose messages are events: records kTaken when it pops one. A message is one beat.
class TakeTrace final : public LinkObserver {
 public:
  TakeTrace(LinkBase& link, const Recorder& recorder, const Owners& owners);
  void filled(const void* beat, Cycle now, Cycle visible) override;
  void popped(Cycle now, Cycle credit) override;
  void reserved(Cycle, Cycle) override {}
  void emptied(Cycle) override { waiting_ = {}; }

 private:
  struct Waiting {
    RequestId request;
    bool again = false;
  };
  const LinkBase& link_;
  const Recorder& recorder_;
  const Owners& owners_;
  Ring<Waiting> waiting_;
};

}  // namespace rnic
