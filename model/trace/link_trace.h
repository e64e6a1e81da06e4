// A link as a source of trace events: what passes here is stated as a fact, without the stage knowing of it.
#pragma once

#include <string>
#include <utility>

#include "model/common/link.h"
#include "model/trace/event.h"

namespace rnic {

// `Project` says which messages are events, bool is_event(const T&), and makes the events, void(const T&, TraceEvent&).
// An event's cycle is that of the push, its place the link's name, and its kind the link's unless Project says another.
template <class T, class Project>
class LinkTrace final : public LinkTap {
 public:
  LinkTrace(Link<T>& link, const Recorder& recorder, TraceKind kind, bool detail, Project project)
      : link_(link), recorder_(recorder), kind_(kind), detail_(detail), project_(std::move(project)) {
    link.tap(*this);
  }
  void filled(const void* beat, Cycle now, Cycle) override {
    const T& message = *static_cast<const T*>(beat);
    if (!recorder_.on() || !project_.is_event(message)) return;
    TraceEvent event;
    event.kind = kind_;
    project_(message, event);
    event.cycle = now;
    event.where = link_.name().c_str();
    if (detail_) recorder_.detail(event);
    else recorder_(event);
  }

 private:
  const Link<T>& link_;
  const Recorder& recorder_;
  const TraceKind kind_;
  const bool detail_;
  const Project project_;
};

}  // namespace rnic
