#include "model/host/driver/host_trace.h"

#include <fmt/format.h>

namespace rnic::host {

HostTrace::HostTrace(HostCpu& cpu, const Owners& owners, const Recorder& recorder)
    : cpu_(cpu), owners_(owners), recorder_(recorder) {
  RNIC_CHECK(recorder.domain().period_ps == 1);
  cpu.observe_work(*this);
}

void HostTrace::posted(Qpn qpn, std::uint64_t first, unsigned count, std::uint64_t at_ps) {
  for (unsigned i = 0; i < count; ++i) {
    record(TraceKind::kPosted, qpn.v, owners_.request(qpn, first + i), at_ps, cpu_.running().work());
  }
}

void HostTrace::posted(Rqn rqn, std::uint64_t first, unsigned count, std::uint64_t at_ps) {
  const std::uint32_t qpn = rqn.shared ? TraceEvent::kNone : rqn.v;
  for (unsigned i = 0; i < count; ++i) {
    record(TraceKind::kPosted, qpn, owners_.request(rqn, first + i), at_ps, cpu_.running().work());
  }
}

void HostTrace::rang(Qpn qpn, std::uint32_t producer, std::uint64_t at_ps) {
  record(TraceKind::kDoorbellWritten, qpn.v, owners_.queue_pair(qpn), at_ps, producer);
}

void HostTrace::polled(Qpn qpn, bool receive, std::uint64_t wr_id, std::uint64_t at_ps) {
  const RequestId id = receive ? owners_.receive_request(qpn, wr_id) : owners_.request(qpn, wr_id);
  record(TraceKind::kPolled, qpn.v, id, at_ps);
}

// As its account is called.
void HostTrace::worked(std::uint32_t core, std::uint64_t from_ps, std::uint64_t to_ps) {
  while (cores_.size() <= core) cores_.push_back(fmt::format("host.core{}", cores_.size()));
  TraceEvent e;
  e.cycle = from_ps;
  e.where = cores_[core].c_str();
  e.kind = TraceKind::kWorked;
  const std::uint64_t length_ps = to_ps - from_ps;
  e.values = {static_cast<std::uint32_t>(length_ps), static_cast<std::uint32_t>(length_ps >> 32), 0};
  recorder_.detail(e);
}

RequestId HostTrace::owner(Qpn qpn, bool receive, std::uint64_t number) const {
  return receive ? owners_.request(Rqn(qpn), number) : owners_.request(qpn, number);
}

void HostTrace::spoiled(RequestId owner, const Spoiled& how, std::uint64_t at_ps) {
  TraceEvent e;
  e.cycle = at_ps;
  e.where = "driver";
  e.kind = TraceKind::kInjected;
  e.request = owner;
  e.text = how.what;
  e.values[1] = how.octets.value_or(0);
  e.values[2] = how.stag.value_or(0);
  recorder_.detail(e);
}

void HostTrace::seen(Qpn qpn, RequestId sent, std::uint32_t message, std::uint64_t at_ps) {
  record(TraceKind::kSeen, qpn.v, sent, at_ps, message);
}

void HostTrace::differs(Qpn qpn, RequestId sent, std::uint32_t message, Difference d, std::uint64_t at_ps) {
  TraceEvent e;
  e.cycle = at_ps;
  e.where = "driver";
  e.kind = TraceKind::kCheckFailed;
  e.qpn = qpn.v;
  e.request = sent;
  e.values = {message, static_cast<std::uint32_t>(d.octet), std::uint32_t{d.expected} << 16 | d.found};
  recorder_.detail(e);
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

}  // namespace rnic::host
