#include "model/system/latency_breakdown.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/abi/host_abi_names.h"
#include "model/common/check.h"
#include "model/common/nearest_rank.h"
#include "model/trace/output_file.h"

namespace rnic {

using namespace stations;

namespace {

bool has_response(abi::WrOpcode op) { return abi::is_read(op) || abi::is_atomic(op); }

// It uses a receive request of the peer.
bool is_received(abi::WrOpcode op) {
  return op == abi::WrOpcode::kSend || op == abi::WrOpcode::kSendWithInv || op == abi::WrOpcode::kImmediate;
}

bool is_receive(RequestClass kind) { return kind == RequestClass::kReceive || kind == RequestClass::kUnused; }

const char* name_of(RequestClass kind, abi::WrOpcode op) {
  if (kind == RequestClass::kOneWay) return LatencyBreakdown::kOneWayName;
  if (kind == RequestClass::kRound) return LatencyBreakdown::kRoundName;
  return is_receive(kind) ? "receive" : abi::name(op);
}

// Of a work item's groups: what is reported comes first.
unsigned order_of(RequestClass kind) {
  return kind == RequestClass::kRound ? 0 : kind == RequestClass::kOneWay ? 1 : is_receive(kind) ? 3 : 2;
}

void put(std::vector<std::uint8_t>& to, std::uint64_t number) {
  for (; number >> 7 != 0; number >>= 7) to.push_back(static_cast<std::uint8_t>(number | 0x80));
  to.push_back(static_cast<std::uint8_t>(number));
}
std::uint64_t take(const std::vector<std::uint8_t>& from, std::size_t& at) {
  std::uint64_t number = 0;
  for (unsigned shift = 0;; shift += 7) {
    const std::uint8_t octet = from[at++];
    number |= std::uint64_t{octet & 0x7fu} << shift;
    if (octet < 0x80) return number;
  }
}

double ns(double ps) { return ps / 1000; }

void later(std::uint64_t& at, std::uint64_t ps) { at = std::max(at, ps); }

}  // namespace

void LatencyBreakdown::Queue::begin(std::uint32_t of_life, std::uint64_t n) {
  life = of_life;
  used = true;
  first = rung = arrived = n;
  size_ = 0;
}

LatencyBreakdown::Record& LatencyBreakdown::Queue::add() {
  if (size_ == slots_.size()) grow();
  Record& r = (*this)[first + size_++];
  r = Record{};
  return r;
}

void LatencyBreakdown::Queue::drop_front() {
  ++first;
  --size_;
}

void LatencyBreakdown::Queue::grow() {
  std::vector<Record> larger(slots_.empty() ? 16 : slots_.size() * 2);
  for (std::uint64_t n = first; n != end(); ++n) larger[n & (larger.size() - 1)] = (*this)[n];
  slots_ = std::move(larger);
}

LatencyBreakdown::LatencyBreakdown(std::vector<std::string> nodes, Works works)
    : nodes_(std::move(nodes)), works_(std::move(works)), queues_(nodes_.size()), acknowledgements_(nodes_.size()) {}

// As a RequestId counts them. Events of one domain come in rows.
std::uint32_t LatencyBreakdown::node_of(const TraceDomain& domain) {
  if (&domain == newest_.first) return newest_.second;
  for (const auto& known : domains_) {
    if (known.first == &domain) return (newest_ = known).second;
  }
  const auto found = std::find(nodes_.begin(), nodes_.end(), domain.name);
  RNIC_CHECK_MSG(found != nodes_.end(), domain.name, " is no node of this run");
  domains_.emplace_back(&domain, static_cast<std::uint32_t>(found - nodes_.begin()) + 1);
  return domains_.back().second;
}

LatencyBreakdown::Queue* LatencyBreakdown::queue(RequestId id) {
  const bool whole = id.kind() == RequestId::Kind::kQueuePair;
  auto& queues = queues_[id.node() - 1][whole ? 0 : static_cast<unsigned>(id.kind())];
  if (id.queue() >= queues.size()) return nullptr;
  Queue& q = queues[id.queue()];
  return q.used && q.life == id.life() ? &q : nullptr;
}

LatencyBreakdown::Record* LatencyBreakdown::record(RequestId id) {
  if (!id || static_cast<unsigned>(id.kind()) >= kQueueKinds) return nullptr;
  Queue* const q = queue(id);
  return q != nullptr && q->has(id.sequence()) ? &(*q)[id.sequence()] : nullptr;
}

void LatencyBreakdown::event(const TraceDomain& domain, const TraceEvent& e) {
  if (!e.request || is_tlp(e.kind)) return;
  const std::uint64_t ps = e.cycle * domain.period_ps;
  if (e.kind == TraceKind::kDoorbellWritten || e.kind == TraceKind::kDoorbell) return doorbell(e, ps);
  if (e.kind == TraceKind::kAtPort) acknowledged_at_port(e, node_of(domain), ps);
  if (e.kind == TraceKind::kTaken) acknowledge(e, node_of(domain), ps);
  if (static_cast<unsigned>(e.request.kind()) >= kQueueKinds) return;
  const std::uint32_t node = node_of(domain);
  const bool own = node == e.request.node();
  const std::uint64_t ends = ps + e.visible_after * domain.period_ps;
  switch (e.kind) {
    case TraceKind::kPosted:
      return posted(e, ps);
    case TraceKind::kTaken:
      return taken(e, own, ps);
    case TraceKind::kPolled:
      return polled(e.request, ps);
    case TraceKind::kSeen:
      return seen(e, node, ps);
    case TraceKind::kCompleted:
      if (!own || e.request.kind() != RequestId::Kind::kSend) return received(e, ps, ends);
      break;
    case TraceKind::kCqeWritten:
      if (!own) return received_written(e.request, ps, ends);
      break;
    default:
      break;
  }
  Record* const r = record(e.request);
  if (r == nullptr) return;  // complete, and this is late news of it
  const Stop stop = stop_of(e.kind, own);
  if (stop.ends == kStations) return;
  const Leg leg = stop.ends < kBack ? kRequest : kResponse;
  if (e.kind == TraceKind::kRetransmitted) return later(r->again[leg].sent, ends);
  if (e.kind == TraceKind::kAtPort) return at_port(*r, leg, e.again, ps);
  std::uint64_t begins = ps - e.beats_took * domain.period_ps;
  if (e.kind == TraceKind::kFrameReceived) return arrived(*r, leg, e.again, begins, ends);
  if (e.kind == TraceKind::kWqeFetched && e.request.kind() == RequestId::Kind::kSend)
    r->opcode = static_cast<abi::WrOpcode>(e.values[0]);
  if (e.kind == TraceKind::kSegmented) begins -= r->segments[leg]++ * domain.period_ps;  // one cycle for each
  if (e.kind == TraceKind::kStreamDelivered) delivered(domain, *r, leg, e, begins);
  if (stop.begins != kStations) later(r->at[stop.begins], begins);
  later(r->at[stop.ends], ends);
}

// A doorbell has the producer index, of 12 bits; everything posted before is announced.
void LatencyBreakdown::doorbell(const TraceEvent& e, std::uint64_t ps) {
  Queue* const q = queue(e.request);
  if (q == nullptr) return;
  const bool written = e.kind == TraceKind::kDoorbellWritten;
  std::uint64_t& from = written ? q->rung : q->arrived;
  from = std::max(from, q->first);
  for (; from < q->end() && ((e.values[0] - from) & 0xfff) != 0; ++from)
    (*q)[from].at[written ? kRang : kDoorbell] = ps;
}

void LatencyBreakdown::posted(const TraceEvent& e, std::uint64_t ps) {
  auto& queues = queues_[e.request.node() - 1][static_cast<unsigned>(e.request.kind())];
  if (e.request.queue() >= queues.size()) queues.resize(e.request.queue() + 1);
  Queue& q = queues[e.request.queue()];
  const std::uint64_t n = e.request.sequence();
  // A new use of the number, or its sequence wrapped.
  if (!q.used || q.life != e.request.life() || q.end() != n) q.begin(e.request.life(), n);
  Record& r = q.add();
  r.at[kPost] = ps;
  r.work = e.values[0];
  r.awaits_seen = e.request.kind() == RequestId::Kind::kSend && works_.is_ping_pong && works_.is_ping_pong(e.values[0]);
}

void LatencyBreakdown::taken(const TraceEvent& e, bool own, std::uint64_t ps) {
  switch (static_cast<TraceKind>(e.values[0])) {
    case TraceKind::kDoorbell: {  // a read brings that many
      Queue* const q = queue(e.request);
      for (std::uint64_t i = 0, n = e.request.sequence(); q != nullptr && i < e.values[1]; ++i) {
        if (q->has(n + i)) (*q)[n + i].at[kFetching] = ps;
      }
      return;
    }
    case TraceKind::kSegmented:
      if (Record* const r = record(e.request)) later(r->at[station(own ? kRequest : kResponse, kReading)], ps);
      return;
    case TraceKind::kFrameSent:
      if (Record* const r = record(e.request)) {
        const Leg leg = own ? kRequest : kResponse;
        later(e.again ? r->again[leg].on_wire : r->at[station(leg, kOnWire)], ps);
      }
      return;
    default:
      return;
  }
}

// What is said of each frame, also of those that carry no request.
void LatencyBreakdown::acknowledge(const TraceEvent& e, std::uint32_t node, std::uint64_t ps) {
  switch (static_cast<TraceKind>(e.values[0])) {
    case TraceKind::kFrameSent:
      return acknowledgements_.taken(node, e.request, ps);
    case TraceKind::kStreamDelivered:
      if (Record* const r = node == e.request.node() ? record(e.request) : nullptr) r->flow = e.flow;
      return acknowledgements_.written(node, {e.request, e.flow, e.values[1], true, ps, 0}, e.values[2]);
    case TraceKind::kFrameReceived:
      return acknowledgements_.learned(node, e.flow, e.values[1], [&](RequestId id) {
        if (Record* const acknowledged = record(id)) acknowledged->at[kAckLearned] = ps;
      });
    default:
      return;
  }
}

void LatencyBreakdown::acknowledged_at_port(const TraceEvent& e, std::uint32_t node, std::uint64_t ps) {
  acknowledgements_.at_port(node, e.values[0], e.request, [&](RequestId id, const Acknowledgements::Segment& first) {
    Record* const r = record(id);
    if (r == nullptr) return;
    r->at[kAckWritten] = first.written;
    r->at[kAckOnWire] = first.on_wire;
    r->at[kAckAtPort] = ps;
  });
}

void LatencyBreakdown::at_port(Record& r, Leg leg, bool again, std::uint64_t ps) {
  later(again ? r.again[leg].at_port : r.at[station(leg, kAtPort)], ps);
  if (leg != kRequest || r.receive || !is_received(r.opcode)) return;
  if (r.at[kFirstArrived] == 0) r.at[kFirstArrived] = ps;
  r.awaits_receiver = true;
}

void LatencyBreakdown::arrived(Record& r, Leg leg, bool again, std::uint64_t begins, std::uint64_t ends) {
  if (again) {
    Again& a = r.again[leg];
    a.passing = begins;
    a.arrived = ends;
    a.used = a.sent;
  } else {
    later(r.at[station(leg, kPassing)], begins);
    later(r.at[station(leg, kArrived)], ends);
  }
}

// TCP hands up octets in order, and acknowledges them on the same flow. A retransmitted frame releases those that
// arrived before it and come after it in the stream.
void LatencyBreakdown::delivered(const TraceDomain& domain, Record& r, Leg leg, const TraceEvent& e, std::uint64_t ps) {
  if (leg == kRequest) acknowledgements_.delivered(node_of(domain), e.flow, e.request.node(), r.flow);
  Again& a = r.again[leg];
  const auto its = [&](const Repair& repair) { return repair.domain == &domain && repair.flow == e.flow; };
  auto repair = std::find_if(repairs_.begin(), repairs_.end(), its);
  if (a.arrived != 0 && a.arrived <= ps) {
    if (repair == repairs_.end()) repair = repairs_.insert(repair, {&domain, e.flow, 0});
    later(repair->arrived, a.arrived);
  }
  if (repair == repairs_.end() || repair->arrived > ps) return;
  if (repair->arrived > std::max(a.arrived, r.at[station(leg, kArrived)])) later(a.before, repair->arrived);
}

// A receive request is complete, either by a message, whose path on this chip is the request's own, or without one.
void LatencyBreakdown::received(const TraceEvent& e, std::uint64_t begins, std::uint64_t ends) {
  const RequestId id = e.receive ? e.receive : e.request;
  Record* const r = record(id);
  if (r == nullptr) return;
  r->at[station(kRequest, kDispatching)] = begins;
  r->at[kCompleted] = ends;
  Record* const message = e.receive ? record(e.request) : nullptr;
  if (message == nullptr) return;
  message->receive = id;
  message->at[station(kRequest, kDispatching)] = begins;
  message->at[station(kRequest, kDelivered)] = ends;
  settle(*message, kRequest, RequestClass::kReceive);
  r->at[kFirstArrived] = message->at[kFirstArrived];
  for (unsigned s = kAtPort; s < kDispatching; ++s) {
    const StationId at = station(kRequest, static_cast<LegStation>(s));
    r->at[at] = message->at[at];
  }
}

void LatencyBreakdown::received_written(RequestId message, std::uint64_t begins, std::uint64_t ends) {
  Record* const m = record(message);
  if (m == nullptr) return;
  m->at[kPeerCqeWriting] = begins;
  m->at[kPeerCqeWritten] = ends;
  if (Record* const r = record(m->receive)) {
    r->at[kCqeWriting] = begins;
    r->at[kCqeWritten] = ends;
  }
  Queue& q = *queue(message);
  for (std::uint64_t n = q.first; n <= message.sequence(); ++n) q[n].awaits_receiver = false;
  retire(q);
}

void LatencyBreakdown::polled(RequestId id, std::uint64_t ps) {
  Record* const r = record(id);
  if (r == nullptr) return;
  r->at[kPolled] = ps;
  Queue& q = *queue(id);
  if (id.kind() == RequestId::Kind::kSend) {
    for (std::uint64_t n = q.first; n != id.sequence(); ++n) {
      covered({id.node(), id.kind(), id.queue(), id.life(), n}, *r);
    }
  }
  finish(id, *r);
  r->over = true;
  retire(q);
}

// A completion also covers the unsignaled requests before it.
void LatencyBreakdown::covered(RequestId id, const Record& by) {
  Record& r = *record(id);
  if (std::exchange(r.over, true)) return;
  r.at[kCompleted] = 0;
  r.at[kCovered] = by.at[kCompleted];
  for (const StationId s : {kCqeWriting, kCqeWritten, kPolled}) r.at[s] = by.at[s];
  finish(id, r);
}

void LatencyBreakdown::retire(Queue& q) {
  while (q.first != q.end() && q[q.first].over && !q[q.first].awaits_receiver && !q[q.first].awaits_seen)
    q.drop_front();
}

// Which of the frames were on the request's path.
void LatencyBreakdown::settle(Record& r, Leg leg, RequestClass kind) {
  Again& a = r.again[leg];
  const auto at = [&](LegStation s) -> std::uint64_t& { return r.at[station(leg, s)]; };
  const std::uint64_t handed_up = at(kStream) != 0 ? at(kStream) : at(kChecked);  // SCTP has no stream
  if (a.arrived > at(kArrived) && (handed_up == 0 || a.arrived <= handed_up)) {
    at(kResent) = a.used;
    at(kOnWire) = a.on_wire >= a.used ? a.on_wire : 0;
    at(kAtPort) = a.at_port;
    at(kPassing) = a.passing;
    at(kArrived) = a.arrived;
  } else if (kind == RequestClass::kPosted && a.used > at(kArrived) && a.arrived <= r.at[kCompleted]) {
    later(at(kRepaired), a.arrived);  // the peer had everything, but its acknowledgement was lost
  }
  if (a.before > at(kArrived)) later(at(kRepaired), a.before);
}

// tcp_rx of the peer hands octets up while their acknowledgement is on its way. Where no acknowledgement is known, as
// over SCTP, the way there and back is one part.
void LatencyBreakdown::split_acknowledgement(Record& r) {
  std::uint64_t &streaming = r.at[station(kRequest, kStreaming)], &stream = r.at[station(kRequest, kStream)];
  if (r.at[kAckAtPort] != 0 && r.at[kAckLearned] != 0) {
    streaming = std::min(streaming, r.at[kAckWritten]);
    stream = std::min(stream, r.at[kAckWritten]);
    return;
  }
  streaming = stream = 0;
  for (const StationId s : {kAckWritten, kAckOnWire, kAckAtPort, kAckLearned}) r.at[s] = 0;
  r.at[kAcknowledged] = std::exchange(r.at[kCompleted], 0);
}

// Its octets came from memory without passing a framer; or from the wire without passing a deframer.
bool LatencyBreakdown::over_sctp(const Record& r, RequestClass kind) {
  const auto passed = [&](LegStation s) { return r.at[station(kRequest, s)] != 0; };
  if (kind == RequestClass::kReceive) return passed(kChecked) && !passed(kDeframed) && !passed(kStream);
  return passed(kPayload) && passed(kSent) && !passed(kFramed);
}

// Times never decrease along the path, and never pass the end: what TCP retransmits after it was acknowledged is on no
// request's path.
void LatencyBreakdown::finish(RequestId id, Record& r) {
  RequestClass kind = RequestClass::kPosted;
  if (id.kind() != RequestId::Kind::kSend) {
    kind = r.at[kFirstArrived] != 0 ? RequestClass::kReceive : RequestClass::kUnused;
  } else if (r.at[station(kRequest, kSent)] == 0) {
    kind = RequestClass::kLocal;
  } else if (has_response(r.opcode)) {
    kind = RequestClass::kAnswered;
  }
  if (id.kind() == RequestId::Kind::kSend) {
    settle(r, kRequest, kind);
    settle(r, kResponse, kind);
  }
  if (kind != RequestClass::kPosted) return keep(id, kind, r, r.at[kPolled]);
  Record way = r;  // the receiver may still need the times as they are
  split_acknowledgement(way);
  keep(id, kind, way, r.at[kPolled]);
}

void LatencyBreakdown::keep(RequestId id, RequestClass kind, const Record& r, std::uint64_t end) {
  finished_.push_back({id, kind, over_sctp(r, kind), r.opcode, r.work, end - r.at[kPost], parts_.size()});
  std::uint64_t at = r.at[kPost];
  for (unsigned s = kPost + 1; s < kStations; ++s) {
    if (r.at[s] == 0 || !on_the_path(kind, static_cast<StationId>(s))) continue;
    const std::uint64_t until = std::clamp(r.at[s], at, end);
    if (until == at && is_queue(static_cast<StationId>(s))) continue;
    put(parts_, s);
    put(parts_, until - at);
    at = until;
  }
  put(parts_, 0);
}

// A message of a ping-pong is with its program. If it answers one that was seen where it comes from, a round is over.
void LatencyBreakdown::seen(const TraceEvent& e, std::uint32_t at_node, std::uint64_t ps) {
  Record* const r = record(e.request);
  if (r == nullptr || !std::exchange(r->awaits_seen, false)) return;
  Record way = *r;
  settle(way, kRequest, RequestClass::kOneWay);
  way.at[kPeerPolled] = ps;
  keep(e.request, RequestClass::kOneWay, way, ps);
  Way back{e.request, e.values[0], r->at[kPost], ps, {}};
  each_part(finished_.back(), [&](StationId s, std::uint64_t part) { back.parts[s] = part; });
  const auto there = ways_.find({e.request.node(), e.request.queue(), r->work});
  if (there != ways_.end() && there->second.message == back.message) round(there->second, back, way);
  ways_[{at_node, e.qpn, r->work}] = back;
  retire(*queue(e.request));
}

// Halves are rounded such that they sum to half of the whole, rounded down, as results have it.
void LatencyBreakdown::round(const Way& there, const Way& back, const Record& r) {
  finished_.push_back({there.id, RequestClass::kRound, over_sctp(r, RequestClass::kRound), r.opcode, r.work,
                       (back.seen - there.posted) / 2, parts_.size()});
  std::uint64_t until = 0;
  for (unsigned s = kPost + 1; s < kStations; ++s) {
    const std::uint64_t between = s == kAnswering ? back.posted - there.seen : 0;
    const std::uint64_t both = there.parts[s] + back.parts[s] + between;
    if (both == 0) continue;
    put(parts_, s);
    put(parts_, (until + both) / 2 - until / 2);
    until += both;
  }
  put(parts_, 0);
}

template <class F>
void LatencyBreakdown::each_part(const Finished& f, F&& use) const {
  std::size_t at = f.parts;
  while (const std::uint64_t s = take(parts_, at)) use(static_cast<StationId>(s), take(parts_, at));
}

LatencyBreakdown::Request LatencyBreakdown::request(std::size_t i) const {
  const Finished& f = finished_.at(i);
  Request r{f.id, f.kind, f.opcode, f.work, f.total_ps, {}};
  each_part(f, [&](StationId s, std::uint64_t ps) { r.parts.emplace_back(part_name(f.kind, s, f.over_sctp), ps); });
  return r;
}

void LatencyBreakdown::write(const std::string& file) const {
  OutputFile out(file);
  out.write("request\twork\toperation\ttotal_ps\tparts\n");
  std::string line;
  const auto append = [&line](std::uint64_t number) {
    char digits[20];
    line.append(digits, std::to_chars(digits, std::end(digits), number).ptr);
  };
  for (const Finished& f : finished_) {
    line = f.id.text(nodes_);
    for (const std::string& column : {work_of(f), std::string(name_of(f.kind, f.opcode))}) (line += '\t') += column;
    line += '\t';
    append(f.total_ps);
    char between = '\t';
    each_part(f, [&](StationId s, std::uint64_t ps) {
      line += std::exchange(between, ';');
      (line += part_name(f.kind, s, f.over_sctp)) += '=';
      append(ps);
    });
    out.write(line += '\n');
  }
  out.close();
}

nlohmann::ordered_json LatencyBreakdown::json() const {
  std::map<std::tuple<std::uint32_t, bool, std::uint32_t, unsigned, abi::WrOpcode>, std::vector<const Finished*>>
      groups;
  for (std::size_t i = counted_from_; i != finished_.size(); ++i) {
    const Finished& f = finished_[i];
    const unsigned order = order_of(f.kind);
    const std::uint32_t work = f.work - 1;  // what belongs to no work item comes last
    const bool is_request = order >= 2;
    groups[{work, is_request, f.id.node(), order, order == 2 ? f.opcode : abi::WrOpcode{}}].push_back(&f);
  }
  auto list = nlohmann::ordered_json::array();
  for (auto& [key, group] : groups) list.push_back(json(group));
  return list;
}

nlohmann::ordered_json LatencyBreakdown::row_of(const char* name, const Part& part, double count) {
  nlohmann::ordered_json row{{"name", name}, {"mean_ns", ns(part.sum / count)}};
  for (std::size_t i = 0; i < std::size(kExamples); ++i) {
    row[fmt::format("{}_ns", kExamples[i])] = ns(part.of_example[i]);
  }
  return row;
}

void LatencyBreakdown::add(Part& sum, const Part& part) {
  sum.passed = true;
  sum.sum += part.sum;
  for (std::size_t i = 0; i < std::size(kExamples); ++i) sum.of_example[i] += part.of_example[i];
}

// For one kind of work. Requests that ended in an error have separate parts.
nlohmann::ordered_json LatencyBreakdown::json(std::vector<const Finished*>& group) const {
  const auto slower = [](const Finished* a, const Finished* b) {
    return a->total_ps != b->total_ps ? a->total_ps < b->total_ps : a->id < b->id;
  };
  std::sort(group.begin(), group.end(), slower);
  const auto at = [&group](unsigned per_mille) { return group[nearest_rank(group.size(), per_mille) - 1]; };
  const std::array<const Finished*, std::size(kExamples)> examples{at(500), at(990), group.back()};
  std::array<std::array<Part, kRequestClasses>, kStations> parts;
  const auto part_of = [&parts](const Finished& f, StationId s) -> Part& {
    return parts[s][static_cast<unsigned>(f.kind)];
  };
  double total = 0;
  for (const Finished* f : group) {
    total += static_cast<double>(f->total_ps);
    each_part(*f, [&](StationId s, std::uint64_t ps) {
      Part& part = part_of(*f, s);
      part.passed = true;
      part.sum += static_cast<double>(ps);
    });
  }
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const Finished& f = *examples[i];
    each_part(f, [&](StationId s, std::uint64_t ps) { part_of(f, s).of_example[i] = static_cast<double>(ps); });
  }
  const double count = static_cast<double>(group.size());
  const bool sctp = std::any_of(group.begin(), group.end(), [](const Finished* f) { return f->over_sctp; });
  auto rows = nlohmann::ordered_json::array();
  const auto add_row = [&](const char* name, const Part& part, Hop hop) {
    // Of the same name and station: requests that ended in different ways.
    const auto same = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row["name"] == name; });
    nlohmann::ordered_json row = row_of(name, part, count);
    if (hop != Hop::kNone) row["hop"] = stations::name(hop);
    if (same == rows.end()) return rows.push_back(std::move(row));
    for (auto& [key, value] : same->items()) {
      if (value.is_number()) value = value.template get<double>() + row[key].template get<double>();
    }
  };
  std::array<Part, kHops> hops;
  for (unsigned s = 0; s < kStations; ++s) {
    for (unsigned kind = 0; kind < kRequestClasses; ++kind) {
      const Part& part = parts[s][kind];
      if (!part.passed) continue;
      const Hop hop = hop_of(static_cast<RequestClass>(kind), static_cast<StationId>(s));
      add_row(part_name(static_cast<RequestClass>(kind), static_cast<StationId>(s), sctp), part, hop);
      add(hops[static_cast<unsigned>(hop)], part);
    }
  }
  nlohmann::ordered_json totals{{"mean_ns", ns(total / count)}}, ids;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    totals[fmt::format("{}_ns", kExamples[i])] = ns(static_cast<double>(examples[i]->total_ps));
    ids[kExamples[i]] = examples[i]->id.text(nodes_);
  }
  const Finished& any = *group.front();
  nlohmann::ordered_json j;
  if (const std::string work = work_of(any); !work.empty()) j["work"] = work;
  j["node"] = nodes_.at(any.id.node() - 1);
  j["operation"] = name_of(any.kind, any.opcode);
  j["requests"] = group.size();
  j["parts"] = std::move(rows);
  for (unsigned hop = 1; hop < kHops; ++hop) {
    if (hops[hop].passed) j["hops"].push_back(row_of(stations::name(static_cast<Hop>(hop)), hops[hop], count));
  }
  j["total"] = std::move(totals);
  j["examples"] = std::move(ids);
  return j;
}

}  // namespace rnic
