#include "model/system/chip_trace.h"

#include "model/rnic/rnic.h"
#include "model/trace/link_trace.h"

namespace rnic {

struct ChipTrace::Observers {
  std::vector<std::shared_ptr<void>> kept;

  template <class T, class Project>
  void add(Link<T>& link, const Recorder& recorder, TraceKind kind, Project project) {
    kept.push_back(std::make_shared<LinkTrace<T, Project>>(link, recorder, kind, project));
  }
};

ChipTrace::ChipTrace(Rnic& chip, const Recorder& recorder) : observers_(std::make_unique<Observers>()) {
  const auto on = [&](auto& port, TraceKind kind, auto project) { observers_->add(*port, recorder, kind, project); };
  on(chip.pcie.mmio.sq_doorbells, TraceKind::kDoorbell, [](const SqDoorbell& d, TraceEvent& e) {
    e.qpn = d.qpn.v;
    return true;
  });
  const auto fetched = [](const FetchedWqe& w, TraceEvent& e) {
    e.qpn = w.qpn.v;
    e.request = w.wqe.wr_id;
    return true;
  };
  on(chip.wqe_fetch.out, TraceKind::kWqeFetched, fetched);
  on(chip.rqe_fetch.out, TraceKind::kWqeFetched, [](const FetchedRqe& r, TraceEvent& e) {
    e.qpn = r.rqn.v;
    e.request = r.wqe.wr_id;
    return !r.rqn.shared;  // of no queue pair yet
  });
  on(chip.payload_fetch.out, TraceKind::kPayloadRead, [](const Ulpdu& u, TraceEvent& e) {
    e.flow = u.flow;
    e.request = u.buf->request();
    e.bytes = u.bytes;
    return true;
  });
  const auto last_beat = [](const FpduBeat& b, TraceEvent& e) {
    if (!b.last || b.ends()) return false;
    e.flow = b.flow;
    e.bytes = b.crc_ok;
    e.request = b.buf->request();
    return true;
  };
  on(chip.crc_insert.out, TraceKind::kFpduSent, last_beat);
  on(chip.crc_check.out, TraceKind::kCrcChecked, last_beat);
  const auto frame = [](const Frame& f, TraceEvent& e) {
    e.bytes = f.bytes;
    e.request = f.buf->request();
    return true;
  };
  on(chip.tcp_tx.out, TraceKind::kFrameSent, frame);
  on(chip.mac_rx.out, TraceKind::kFrameReceived, frame);
  on(chip.ddp_placement.out, TraceKind::kPlaced, [](const PlacedSegment& s, TraceEvent& e) {
    if (s.ended) return false;
    e.qpn = s.qpn.v;
    e.bytes = s.bytes;
    return true;
  });
  on(chip.read_responder.out, TraceKind::kResponse, [](const ReadWork& r, TraceEvent& e) {
    e.qpn = r.qpn.v;
    e.bytes = r.request.size;
    return true;
  });
  const auto completion = [](const CqeRequest& c, TraceEvent& e) {
    e.qpn = c.cqe.qpn;
    e.bytes = c.cqe.byte_len;
    e.request = c.cqe.wr_id;
    return true;
  };
  on(chip.rdmap_dispatch.cqe, TraceKind::kCompleted, completion);
  on(chip.sq_completion.cqe, TraceKind::kCompleted, completion);
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
  on(chip.event_writer.msix, TraceKind::kInterrupt, [](const MsixRequest& m, TraceEvent& e) {
    e.msn = m.vector;
    return true;
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
