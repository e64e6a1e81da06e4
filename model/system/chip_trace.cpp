#include "model/system/chip_trace.h"

#include "model/rnic/rnic.h"
#include "model/trace/link_trace.h"

namespace rnic {
namespace {

// What a message says as an event; false: that it is none.
bool to_event(const SqDoorbell& d, TraceEvent& e) {
  e.qpn = d.qpn.v;
  return true;
}
bool to_event(const FetchedWqe& w, TraceEvent& e) {
  e.qpn = w.qpn.v;
  e.request = w.wqe.wr_id;
  return true;
}
bool to_event(const FetchedRqe& r, TraceEvent& e) {
  e.qpn = r.rqn.v;
  e.request = r.wqe.wr_id;
  return !r.rqn.shared;  // of no queue pair yet
}
bool to_event(const Ulpdu& u, TraceEvent& e) {
  e.flow = u.flow;
  e.request = u.buf->request();
  e.bytes = u.bytes;
  return true;
}
bool to_event(const FpduBeat& b, TraceEvent& e) {
  if (!b.last || b.ends()) return false;
  e.flow = b.flow;
  e.bytes = b.crc_ok;
  e.request = b.buf->request();
  return true;
}
bool to_event(const Frame& f, TraceEvent& e) {
  e.bytes = f.bytes;
  e.request = f.buf->request();
  return true;
}
bool to_event(const PlacedSegment& s, TraceEvent& e) {
  if (s.ended) return false;
  e.qpn = s.qpn.v;
  e.bytes = s.bytes;
  return true;
}
bool to_event(const ReadWork& r, TraceEvent& e) {
  e.qpn = r.qpn.v;
  e.bytes = r.request.size;
  return true;
}
bool to_event(const CqeRequest& c, TraceEvent& e) {
  e.qpn = c.cqe.qpn;
  e.bytes = c.cqe.byte_len;
  e.request = c.cqe.wr_id;
  return true;
}
bool to_event(const MsixRequest& m, TraceEvent& e) {
  e.msn = m.vector;
  return true;
}

using Kept = std::vector<std::shared_ptr<void>>;

template <class T>
bool observe(LinkBase& link, const Recorder& recorder, Kept& kept) {
  auto* const typed = dynamic_cast<Link<T>*>(&link);
  if (typed == nullptr) return false;
  const auto project = [](const T& message, TraceEvent& event) { return to_event(message, event); };
  kept.push_back(
      std::make_shared<LinkTrace<T, decltype(project)>>(*typed, recorder, link.traced_kind<TraceKind>(), project));
  return true;
}

template <class... T>
bool observe_one_of(LinkBase& link, const Recorder& recorder, Kept& kept) {
  return (observe<T>(link, recorder, kept) || ...);
}

}  // namespace

struct ChipTrace::Observers {
  Kept kept;
};

ChipTrace::ChipTrace(Rnic& chip, const Recorder& recorder) : observers_(std::make_unique<Observers>()) {
  for (LinkBase* link : chip.links()) {
    if (!link->traced()) continue;
    const bool described = observe_one_of<SqDoorbell, FetchedWqe, FetchedRqe, Ulpdu, FpduBeat, Frame, PlacedSegment,
                                          ReadWork, CqeRequest, MsixRequest>(*link, recorder, observers_->kept);
    RNIC_CHECK_MSG(described, link->name(), " is traced, but its messages are not described as events");
  }
  chip.firmware_log.on_entry([&recorder, &clk = chip.fwcpu.clock()](const LogEntry& entry) {
    if (!recorder.on()) return;
    TraceEvent e;
    e.cycle = clk.now();
    e.where = "firmware_log";
    e.kind = TraceKind::kFirmwareLog;
    e.qpn = entry.a;
    e.msn = entry.b;
    e.bytes = static_cast<std::uint32_t>(entry.code);
    recorder(e);
  });
  chip.fwcpu.on_command([&recorder](abi::CommandOp op, Cycle at, Cycle latency) {
    if (!recorder.on()) return;
    TraceEvent e;
    e.cycle = at;
    e.where = "firmware";
    e.kind = TraceKind::kCommand;
    e.msn = static_cast<std::uint32_t>(op);
    e.bytes = static_cast<std::uint32_t>(latency);
    recorder(e);
  });
}

ChipTrace::~ChipTrace() = default;

std::string trace_words(const TraceEvent& e) {
  if (e.kind == TraceKind::kCommand) return abi::name(static_cast<abi::CommandOp>(e.msn));
  if (e.kind != TraceKind::kFirmwareLog) return {};
  LogEntry entry;
  entry.code = static_cast<fw::LogCode>(e.bytes);
  entry.a = e.qpn;
  entry.b = e.msn;
  return log_text(entry);
}

}  // namespace rnic
