#include "model/system/cable_trace.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "model/system/event_words.h"

namespace rnic {
namespace {

TraceKind kind_of(CableEvent::Kind kind) {
  constexpr TraceKind kKinds[] = {TraceKind::kLost,       TraceKind::kQueueDropped, TraceKind::kCorrupted,
                                  TraceKind::kDuplicated, TraceKind::kReordered,    TraceKind::kCeMarked,
                                  TraceKind::kInjected};
  return kKinds[static_cast<std::size_t>(kind)];
}

TraceEvent event_of(const CableEvent& c) {
  TraceEvent e;
  e.cycle = c.ps;
  e.kind = kind_of(c.kind);
  e.bytes = c.frame->bytes;
  e.request = c.frame->buf->owner();
  e.offset = c.frame->buf->offset();
  e.again = c.frame->again();
  e.text = c.text;
  e.values[0] = c.frame->serial;
  if (c.kind == CableEvent::Kind::kCorrupted) {
    e.values[1] = c.octet;
    e.values[2] = (c.checksum_right ? kChecksumRight : 0) | c.bit;
  } else if (c.kind == CableEvent::Kind::kReordered) {
    e.values[1] = static_cast<std::uint32_t>(std::min<std::uint64_t>(c.late_ns, UINT32_MAX));
  }
  return e;
}

std::string place_of(const std::vector<Station>& stations, unsigned direction) {
  const std::string names[] = {stations.at(0).name, stations.at(0).joined_to};
  return fmt::format("cable.{}_to_{}", names[direction], names[1 - direction]);
}

std::string text_of(const TraceEvent& e) { return fmt::format("{}: {}", to_string(e.kind), trace_words(e)); }

}  // namespace

std::vector<std::string> cable_scopes(const std::vector<Station>& stations) {
  return {"cable", place_of(stations, 0), place_of(stations, 1)};
}

CableTrace::CableTrace(const std::vector<Station>& stations, WireCapture& capture) : capture_(capture) {
  for (unsigned from = 0; from < 2; ++from) ways_[from].place = place_of(stations, from);
}

// What goes on is noted for a file alone, and no longer than until it is in there.
void CableTrace::happened(const CableEvent& event) {
  record(event);
  if (waves_ != nullptr) draw(event);
  if (event.swallows() ? !capture_.is_read() : !capture_.has_file()) return;
  const TraceEvent e = event_of(event);
  std::string what = text_of(e);
  if (event.swallows()) return capture_.swallowed(event.direction, *event.frame, event.ps, std::move(what));
  Note& note = ways_[event.direction].notes[event.frame->serial];
  note.text += note.text.empty() ? what : "; " + what;
  note.copies += event.kind == CableEvent::Kind::kDuplicated;
}

void CableTrace::record(const CableEvent& event) {
  if (recorders_.empty()) return;
  const Recorder& recorder = *recorders_[event.direction < recorders_.size() ? event.direction : 0];
  if (!recorder.detailed()) return;
  TraceEvent e = event_of(event);
  e.where = ways_[event.direction].place.c_str();
  recorder.detail(e);
}

void CableTrace::draw(Waves& waves, std::uint64_t from_ps) {
  waves_ = &waves;
  drawn_from_ps_ = from_ps;
  for (Way& way : ways_) way.wave = waves.declare_text(way.place, "event");
}

// It stays until the next one. Those of one time are shown together.
void CableTrace::draw(const CableEvent& event) {
  const std::uint64_t ps = std::max(event.ps, waves_->settled_ps());
  if (ps < drawn_from_ps_) return;
  Way& way = ways_[event.direction];
  const std::string text = text_of(event_of(event));
  way.shown = way.shown_ps == ps && !way.shown.empty() ? way.shown + "; " + text : text;
  way.shown_ps = ps;
  waves_->change(way.wave, ps, way.shown);
}

std::string CableTrace::take_note(unsigned direction, const Frame& frame) {
  auto& notes = ways_[direction].notes;
  if (notes.empty()) return "";
  const auto found = notes.find(frame.serial);
  if (found == notes.end()) return "";
  if (--found->second.copies != 0) return found->second.text;
  std::string text = std::move(found->second.text);
  notes.erase(found);
  return text;
}

}  // namespace rnic
