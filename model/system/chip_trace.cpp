#include "model/system/chip_trace.h"

#include "model/rnic/rnic.h"
#include "model/trace/link_trace.h"

namespace rnic {
namespace {

// Which messages are events, and what they say.
class Describe {
 public:
  explicit Describe(const ContextStore& contexts) : contexts_(contexts) {}

  template <class T>
  bool is_event(const T&) const {
    return true;
  }
  bool is_event(const SqDoorbell& d) const { return contexts_.has(d.qpn); }
  bool is_event(const FetchedRqe& r) const { return !shared(r); }  // of no queue pair yet
  bool is_event(const FpduBeat& b) const { return b.last && !b.ends(); }
  bool is_event(const StreamBeat& b) const { return b.last && !b.ends; }
  bool is_event(const PlacedSegment& s) const { return !s.ended && !s.flushed; }
  bool is_event(const QpEvent& e) const { return e.kind == QpEvent::Kind::kTerminateReceived; }

  void operator()(const SqDoorbell& d, TraceEvent& e) const {
    e.qpn = d.qpn.v;
    e.values[0] = d.producer;
    e.request = contexts_.queue_pair(d.qpn);
  }
  void operator()(const FetchedWqe& w, TraceEvent& e) const {
    e.qpn = w.qpn.v;
    e.values[0] = static_cast<std::uint32_t>(w.wqe.opcode);
    e.request = contexts_.request(w.qpn, w.wqe.wr_id);
  }
  void operator()(const FetchedRqe& r, TraceEvent& e) const {
    e.qpn = r.rqn.v;
    e.values[0] = kReceiveRequest;
    e.request = contexts_.request(r.rqn, shared(r) ? r.wqe.wr_id >> abi::kSharedSlotBits : r.wqe.wr_id);
  }
  void operator()(const UlpduJob& j, TraceEvent& e) const { (*this)(j.ulpdu, e); }
  void operator()(const Ulpdu& u, TraceEvent& e) const {
    e.bytes = u.bytes;
    e.flow = u.flow;
    e.request = u.buf->owner();
  }
  void operator()(const FpduBeat& b, TraceEvent& e) const {
    e.flow = b.flow;
    e.values[0] = b.crc_ok;
    e.request = b.buf->owner();
  }
  void operator()(const StreamBeat& b, TraceEvent& e) const {
    e.flow = b.flow;
    e.request = b.buf->owner();
  }
  void operator()(const Frame& f, TraceEvent& e) const {
    e.bytes = f.bytes;
    e.request = f.buf->owner();
    e.again = f.again;
    if (e.kind == TraceKind::kFrameSent && f.again) e.kind = TraceKind::kRetransmitted;
  }
  void operator()(const PlacedSegment& s, TraceEvent& e) const {
    e.qpn = s.qpn.v;
    e.bytes = s.octets;
    e.request = s.owner;
  }
  void operator()(const QueuedRequest& r, TraceEvent& e) const {
    e.qpn = qpn_of(r).v;
    e.request = segment_of(r).owner;
  }
  void operator()(const QueuedRead& r, TraceEvent& e) const {
    e.qpn = r.qpn.v;
    e.request = r.segment.owner;
  }
  void operator()(const QueuedAtomic& a, TraceEvent& e) const {
    e.qpn = a.qpn.v;
    e.request = a.segment.owner;
  }
  void operator()(const DeliveredAtomic& a, TraceEvent& e) const {
    e.qpn = a.qpn.v;
    e.request = a.segment.owner;
  }
  void operator()(const ReadWork& r, TraceEvent& e) const {
    e.qpn = r.qpn.v;
    e.bytes = r.request.size;
    e.request = r.segment.owner;
  }
  void operator()(const AtomicWork& a, TraceEvent& e) const {
    e.qpn = a.qpn.v;
    e.request = a.owner;
  }
  void operator()(const TerminateMessage& t, TraceEvent& e) const {
    e.qpn = t.qpn.v;
    e.bytes = t.bytes;
    e.request = t.buf->owner();
  }
  void operator()(const QpEvent& event, TraceEvent& e) const {
    e.qpn = event.qpn.v;
    e.request = event.failed.owner;
  }
  void operator()(const CqeRequest& c, TraceEvent& e) const {
    e.qpn = c.cqe.qpn;
    e.bytes = c.cqe.byte_len;
    e.values[0] = static_cast<std::uint32_t>(c.cqe.status);
    e.request = c.owner ? c.owner : c.receive;
    if (c.owner) e.receive = c.receive;
  }
  void operator()(const DmaWriteRequest& w, TraceEvent& e) const {
    e.bytes = w.bytes;
    e.request = w.src->owner();
  }
  void operator()(const MsixRequest& m, TraceEvent& e) const {
    e.values[0] = m.vector;
    e.request = m.owner;
  }

  static bool shared(const FetchedRqe& r) { return r.rqn.shared; }

  static constexpr std::uint32_t kReceiveRequest = 256;  // no opcode

 private:
  const ContextStore& contexts_;
};

using Kept = std::vector<std::shared_ptr<void>>;

template <class T>
bool observe(LinkBase& link, const Describe& describe, const Recorder& recorder, Kept& kept) {
  auto* const typed = dynamic_cast<Link<T>*>(&link);
  if (typed == nullptr) return false;
  const auto kind = link.traced_kind<TraceKind>();
  if (link.detailed()) kept.push_back(std::make_shared<LinkTrace<T, Describe, true>>(*typed, recorder, kind, describe));
  else kept.push_back(std::make_shared<LinkTrace<T, Describe, false>>(*typed, recorder, kind, describe));
  return true;
}

template <class... T>
bool observe_one_of(LinkBase& link, const Describe& describe, const Recorder& recorder, Kept& kept) {
  return (observe<T>(link, describe, recorder, kept) || ...);
}

}  // namespace

class ChipTrace::DropTrace final : public DropTap {
 public:
  DropTrace(const Stage& stage, Drops& drops, const Recorder& recorder) : stage_(stage), recorder_(recorder) {
    drops.tap(*this);
  }
  void dropped(Cycle at, RequestId owner, std::uint32_t bytes, const char* why) override {
    TraceEvent e;
    e.cycle = at;
    e.where = stage_.name();
    e.kind = TraceKind::kDropped;
    e.bytes = bytes;
    e.text = why;
    e.request = owner;
    recorder_.detail(e);
  }

 private:
  const Stage& stage_;
  const Recorder& recorder_;
};

// A read of work requests is asked for: those that it brings begin to be fetched.
class ChipTrace::FetchTrace final : public LinkTap {
 public:
  FetchTrace(Link<DmaReadRequest>& link, const Recorder& recorder) : recorder_(recorder) { link.tap(*this); }
  void filled(const void* beat, Cycle now, Cycle) override {
    const auto& read = *static_cast<const DmaReadRequest*>(beat);
    TraceEvent e;
    e.cycle = now;
    e.kind = TraceKind::kTaken;
    e.values = {static_cast<std::uint32_t>(TraceKind::kDoorbell),
                static_cast<std::uint32_t>(read.bytes / abi::kWqeBytes)};
    e.request = read.owner;  // the first one
    recorder_.time(e);
  }

 private:
  const Recorder& recorder_;
};

// Receive requests for shared queues, which are no events.
class ChipTrace::SharedFetchTrace final : public LinkTap {
 public:
  SharedFetchTrace(Link<FetchedRqe>& link, const Recorder& recorder, const ContextStore& contexts)
      : recorder_(recorder), contexts_(contexts) {
    link.tap(*this);
  }
  void filled(const void* beat, Cycle now, Cycle visible) override {
    const auto& fetched = *static_cast<const FetchedRqe*>(beat);
    if (!Describe::shared(fetched)) return;
    TraceEvent e;
    e.kind = TraceKind::kWqeFetched;
    const Describe describe(contexts_);
    describe(fetched, e);
    e.cycle = now;
    e.visible_after = static_cast<std::uint8_t>(visible - now);
    recorder_.time(e);
  }

 private:
  const Recorder& recorder_;
  const ContextStore& contexts_;
};

struct ChipTrace::Observers {
  Kept kept;
};

// Where a queue ends and service begins, if no event of the block's own tells.
void ChipTrace::observe_takes(Rnic& chip, const Recorder& recorder) {
  Kept& kept = observers_->kept;
  const ContextStore& contexts = chip.contexts();
  const Describe describe(contexts);
  kept.push_back(std::make_shared<FetchTrace>(*chip.wqe_fetch.dma, recorder));
  kept.push_back(std::make_shared<FetchTrace>(*chip.rqe_fetch.dma, recorder));
  kept.push_back(std::make_shared<SharedFetchTrace>(*chip.ddp_placement.rqe, recorder, contexts));
  kept.push_back(std::make_shared<TakeTrace<UlpduJob, Describe>>(*chip.payload_fetch.in, recorder,
                                                                 TraceKind::kSegmented, describe));
  for (Link<Frame>* frames : {&*chip.mac_tx.in, &*chip.mac_tx.sctp_in}) {
    kept.push_back(std::make_shared<TakeTrace<Frame, Describe>>(*frames, recorder, TraceKind::kFrameSent, describe));
  }
}

ChipTrace::ChipTrace(Rnic& chip, const Recorder& recorder) : observers_(std::make_unique<Observers>()) {
  const Describe describe(chip.contexts());
  for (LinkBase* link : chip.links()) {
    if (!link->traced() || (link->detailed() && !recorder.detailed())) continue;
    const bool described =
        observe_one_of<SqDoorbell, FetchedWqe, FetchedRqe, UlpduJob, Ulpdu, FpduBeat, StreamBeat, Frame, PlacedSegment,
                       QueuedRequest, QueuedRead, QueuedAtomic, DeliveredAtomic, ReadWork, AtomicWork, TerminateMessage,
                       QpEvent, CqeRequest, DmaWriteRequest, MsixRequest>(*link, describe, recorder, observers_->kept);
    RNIC_CHECK_MSG(described, link->name(), " is traced, but its messages are not described as events");
  }
  if (recorder.detailed()) {
    const auto drops = [&](const Stage& stage, Drops& of) {
      observers_->kept.push_back(std::make_shared<DropTrace>(stage, of, recorder));
    };
    drops(chip.mac_rx, chip.mac_rx.drops);
    drops(chip.tcp_rx, chip.tcp_rx.drops);
    drops(chip.sctp_rx, chip.sctp_rx.drops);
    drops(chip.sctp_association, chip.sctp_association.drops);
    drops(chip.ddp_placement, chip.ddp_placement.drops);
  }
  if (recorder.timing()) observe_takes(chip, recorder);
  chip.firmware_log.on_entry([&recorder, &clk = chip.fwcpu.clock()](const LogEntry& entry) {
    if (!recorder.on()) return;
    TraceEvent e;
    e.cycle = clk.now();
    e.where = "firmware_log";
    e.kind = TraceKind::kFirmwareLog;
    e.values = {static_cast<std::uint32_t>(entry.code), entry.a, entry.b};
    recorder(e);
  });
  chip.fwcpu.on_command([&recorder](abi::CommandOp op, Cycle at, Cycle latency) {
    if (!recorder.on()) return;
    TraceEvent e;
    e.cycle = at;
    e.where = "firmware";
    e.kind = TraceKind::kCommand;
    e.values = {static_cast<std::uint32_t>(op), static_cast<std::uint32_t>(latency), 0};
    recorder(e);
  });
}

ChipTrace::~ChipTrace() = default;

HostTrace::HostTrace(host::HostCpu& cpu, const ContextStore& contexts, const Recorder& recorder)
    : cpu_(cpu), contexts_(contexts), recorder_(recorder) {
  RNIC_CHECK(recorder.domain().period_ps == 1);
  cpu.observe_work(*this);
}

void HostTrace::posted(Qpn qpn, std::uint64_t first, unsigned count, std::uint64_t at_ps) {
  for (unsigned i = 0; i < count; ++i) {
    record(TraceKind::kPosted, qpn.v, contexts_.request(qpn, first + i), at_ps, cpu_.running().work());
  }
}

void HostTrace::posted(Rqn rqn, std::uint64_t first, unsigned count, std::uint64_t at_ps) {
  const std::uint32_t qpn = rqn.shared ? TraceEvent::kNone : rqn.v;
  for (unsigned i = 0; i < count; ++i) {
    record(TraceKind::kPosted, qpn, contexts_.request(rqn, first + i), at_ps, cpu_.running().work());
  }
}

void HostTrace::rang(Qpn qpn, std::uint32_t producer, std::uint64_t at_ps) {
  record(TraceKind::kDoorbellWritten, qpn.v, contexts_.queue_pair(qpn), at_ps, producer);
}

void HostTrace::polled(Qpn qpn, bool receive, std::uint64_t wr_id, std::uint64_t at_ps) {
  const RequestId id = receive ? contexts_.receive_request(qpn, wr_id) : contexts_.request(qpn, wr_id);
  record(TraceKind::kPolled, qpn.v, id, at_ps);
}

void HostTrace::record(TraceKind kind, std::uint32_t qpn, RequestId id, std::uint64_t at_ps,
                       std::uint32_t value) const {
  TraceEvent e;
  e.cycle = at_ps;
  e.where = "driver";
  e.kind = kind;
  e.qpn = qpn;
  e.request = id;
  e.values[0] = value;
  recorder_.detail(e);
}

std::string trace_words(const TraceEvent& e) {
  switch (e.kind) {
    case TraceKind::kDoorbellWritten:
    case TraceKind::kDoorbell:
      return "producer index " + std::to_string(e.values[0]);
    case TraceKind::kDropped:
      return e.text;
    case TraceKind::kCrcChecked:
      return e.values[0] != 0 ? "CRC right" : "CRC wrong";
    case TraceKind::kCommand:
      return std::string(abi::name(static_cast<abi::CommandOp>(e.values[0]))) + ", " + std::to_string(e.values[1]) +
             " cycles";
    case TraceKind::kFirmwareLog: {
      LogEntry entry;
      entry.code = static_cast<fw::LogCode>(e.values[0]);
      entry.a = e.values[1];
      entry.b = e.values[2];
      return log_text(entry);
    }
    default:
      return {};
  }
}

}  // namespace rnic
