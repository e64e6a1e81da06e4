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

}  // namespace

CableTrace::CableTrace(const std::vector<Station>& stations, WireCapture& capture) : capture_(capture) {
  const std::string names[] = {stations.at(0).name, stations.at(0).joined_to};
  for (unsigned from = 0; from < 2; ++from) {
    ways_[from].place = fmt::format("cable.{}_to_{}", names[from], names[1 - from]);
  }
}

// What goes on is noted for a file alone, and no longer than until it is in there.
void CableTrace::happened(const CableEvent& event) {
  record(event);
  if (event.swallows() ? !capture_.is_read() : !capture_.has_file()) return;
  const TraceEvent e = event_of(event);
  std::string what = fmt::format("{}: {}", to_string(e.kind), trace_words(e));
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
