// A link as a source of trace events: what passes here is stated as a fact, without the stage knowing of it.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "model/common/link.h"
#include "model/common/ring.h"
#include "model/trace/event.h"

namespace rnic {

// `Project` says which messages are events, bool is_event(const T&), and makes the events, void(const T&, TraceEvent&).
// An event's cycle is that of the push, of a message's last beat; its place is the link's name, and its kind the link's
// unless Project says another. Only a detailed link is looked at with every beat, for the time of the first one.
template <class T, class Project, bool kDetailed>
class LinkTrace final : public LinkTap {
 public:
  LinkTrace(Link<T>& link, const Recorder& recorder, TraceKind kind, Project project)
      : link_(link), recorder_(recorder), kind_(kind), project_(std::move(project)) {
    if constexpr (kDetailed) link.tap(*this);
    else link.tap_messages(*this);
  }
  void filled(const void* beat, Cycle now, Cycle visible) override {
    const T& message = *static_cast<const T*>(beat);
    if constexpr (kDetailed && kOfBeats<T>) {
      if (message.first) first_ = now;
    }
    if (!recorder_.on() || !project_.is_event(message)) return;
    TraceEvent event;
    event.kind = kind_;
    project_(message, event);
    event.cycle = now;
    event.where = link_.name().c_str();
    event.visible_after = static_cast<std::uint8_t>(visible - now);
    if constexpr (kDetailed && kOfBeats<T>) event.beats_took = static_cast<std::uint32_t>(now - first_);
    if constexpr (kDetailed) recorder_.detail(event);
    else recorder_(event);
  }

 private:
  const Link<T>& link_;
  const Recorder& recorder_;
  const TraceKind kind_;
  const Project project_;
  Cycle first_ = 0;
};

// The consumer's end of a link whose messages are events: kTaken when it pops one. A beat a message.
template <class T, class Project>
class TakeTrace final : public LinkObserver {
 public:
  TakeTrace(Link<T>& link, const Recorder& recorder, TraceKind kind, Project project)
      : link_(link), recorder_(recorder), kind_(kind), project_(std::move(project)) {
    link.observe(*this);
  }
  void filled(const void* beat, Cycle, Cycle) override {
    TraceEvent event;
    project_(*static_cast<const T*>(beat), event);
    waiting_.push({event.request, event.again});
  }
  void popped(Cycle now, Cycle) override {
    const Waiting message = waiting_.pop();
    TraceEvent event;
    event.kind = TraceKind::kTaken;
    event.values[0] = static_cast<std::uint32_t>(kind_);
    event.cycle = now;
    event.where = link_.name().c_str();
    event.request = message.request;
    event.again = message.again;
    recorder_.time(event);
  }
  void reserved(Cycle, Cycle) override {}
  void emptied(Cycle) override { waiting_ = {}; }

 private:
  struct Waiting {
    RequestId request;
    bool again = false;
  };
  const Link<T>& link_;
  const Recorder& recorder_;
  const TraceKind kind_;
  const Project project_;
  Ring<Waiting> waiting_;
};

}  // namespace rnic
