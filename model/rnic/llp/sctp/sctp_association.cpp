#include "model/rnic/llp/sctp/sctp_association.h"

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>

#include "model/common/description.h"
#include "model/common/overloaded.h"
#include "model/rnic/llp/sctp/association.h"

namespace rnic {

using sctp::Association;
using sctp::AssociationId;
using sctp::kNoAssociation;

namespace {

// Output that waits for a neighbour: a packet is not taken before there is room for everything it can cause. Operations
// are always taken, as the firmware takes no event while it waits for room for an operation.
constexpr std::size_t kMostAnswers = 4;
constexpr std::size_t kMostEvents = 32;

}  // namespace

SctpAssociation::SctpAssociation(sc_core::sc_module_name nm, ClockDomain& clk, const SctpConfig& config,
                                 std::uint32_t mtu, const DatapathConfig& datapath, const LinkAddress& station,
                                 std::uint32_t first_flow, BufferPool& pool)
    : Stage(nm, clk), engine_(clk, config, mtu, datapath, station, first_flow, pool, behind, drops) {}

SctpAssociation::~SctpAssociation() = default;

// The ports continue, as the keys do.
void SctpAssociation::reset() {
  engine_.reset();
  listening_.reset();
}

bool SctpAssociation::has_room() const {
  return engine_.answers.size() < kMostAnswers && engine_.events.size() < kMostEvents;
}

// In one cycle at most one operation, one packet in, one message in, one packet out, one beat and one message to each
// neighbour. On output, answers of set-up go first.
Wake SctpAssociation::tick() {
  const bool room = has_room();
  if (ended->can_pop()) on_ended(ended->pop());
  if (op->can_pop()) on_op(op->pop());
  if (room && received->can_pop() && engine_.busy_until <= now()) take_packet();
  run_timers();  // after the packet: its SACK may have stopped one
  if (early->can_pop()) engine_.delivery.on_early(early->pop());
  if (in->can_pop()) take_ulpdu();
  if (!engine_.idle.empty()) Association(engine_, engine_.idle.pop()).look_at_sessions();
  const bool sent = packets->can_push() && send_packet();
  engine_.delivery.emit(*out, horizon());
  engine_.delivery.push_offer(horizon());
  if (may_tell() && event->can_push()) event->push(engine_.events.pop());
  serve_credits();
  return sent ? Wake::next_cycle() : next_wake();
}

Wake SctpAssociation::next_wake() {
  const bool more = in->can_pop() || ended->can_pop() || early->can_pop() || op->can_pop() || !engine_.idle.empty() ||
                    (may_tell() && event->can_push()) || (!engine_.credits.empty() && credit->can_push()) ||
                    (!engine_.acks.empty() && acked->can_push()) ||
                    ((!engine_.answers.empty() || !engine_.sends.empty()) && packets->can_push());
  if (more) return Wake::next_cycle();
  Cycle at = std::min(engine_.timers.next(), engine_.delivery.next(*out));
  if (has_room() && received->can_pop()) at = std::min(at, engine_.busy_until);
  return Wake::at_cycle(std::max(at, now() + 1));
}

// ---- The firmware

void SctpAssociation::on_op(const LlpOp& operation) {
  operation.visit(Overloaded{
      [&](const fw::SctpListen& o) { listening_.set(o.port); },
      [&](const fw::SctpUnlisten& o) { listening_.reset(o.port); },
      [&](const fw::SctpConnect& o) { connect(o); },
      [&](const fw::SctpSend& o) {
        if (!is_current(o)) return;
        Association(engine_, engine_.association_of(o.flow))
            .send_control(engine_.stream_of(o.flow), {operation.data->bytes(), o.octets.bytes});
      },
      [&](const fw::SctpStream& o) {
        if (!is_current(o)) return;
        Association(engine_, engine_.association_of(o.flow)).on_stream_op(engine_.stream_of(o.flow), o.action);
      },
      [](const auto& other) { RNIC_CHECK_MSG(false, std::string(other.kName) + " is not for SCTP"); },
  });
}

// An operation for an earlier life of the flow has no effect, nor has a message after the host's last one: the
// association is gone, or will be, as the firmware will hear.
template <class Op>
bool SctpAssociation::is_current(const Op& o) {
  const AssociationId id = engine_.association_of(o.flow);
  RNIC_CHECK(o.flow.v >= engine_.first_flow && id.v < engine_.contexts.size());
  const sctp::AssociationContext* const c = engine_.contexts[id.v].get();
  const bool current = c != nullptr && engine_.stream_of(o.flow) < c->ddp_streams && o.life == engine_.life(o.flow) &&
                       (!std::is_same_v<Op, fw::SctpSend> || c->setup.takes_host_data());
  if (!current) ++engine_.counters.ops_ignored;
  return current;
}

void SctpAssociation::connect(const fw::SctpConnect& o) {
  if (const AssociationId there = association_to(o.peer_ip, o.peer_port); there != kNoAssociation) {
    return Association(engine_, there).want_stream(o.cookie);
  }
  const wire::MacAddress* const mac = engine_.station.mac_of(wire::Ipv4Address{o.peer_ip});
  const std::uint16_t port = o.port != 0 ? o.port : ephemeral_port(o.peer_ip, o.peer_port);
  const llp::FlowKey key{o.peer_ip, o.peer_port, port};
  if (mac == nullptr) return engine_.refuse(o.cookie, fw::OpenFailure::kTimeout);
  if (port == 0 || engine_.table.find(key) != kNoAssociation || !make_room()) {
    return engine_.refuse(o.cookie, fw::OpenFailure::kNoResources);
  }
  Association(engine_, Association::begin(engine_, key, *mac)).connect({o.peer_ip, port, o.peer_port}, o.cookie);
}

// One that exists or is being opened, with a free stream for this side.
AssociationId SctpAssociation::association_to(std::uint32_t peer_ip, std::uint16_t peer_port) {
  for (std::uint32_t i = 0; i < engine_.contexts.size(); ++i) {
    engine_.charge(engine_.config.scan_cycles);
    const sctp::AssociationContext* const c = engine_.contexts[i].get();
    if (c == nullptr || !c->in_service) continue;
    const sctp::Ends& ends = c->setup.ends();
    if (ends.peer_ip != peer_ip || ends.peer_port != peer_port) continue;
    if (c->ddp_streams != 0 && !c->setup.takes_host_data()) continue;  // it ends
    if (Association(engine_, AssociationId{i}).free_streams() != 0) return AssociationId{i};
  }
  return kNoAssociation;
}

std::uint16_t SctpAssociation::ephemeral_port(std::uint32_t peer_ip, std::uint16_t peer_port) {
  for (unsigned tries = 0; tries < 65536u - kFirstEphemeral; ++tries) {
    const std::uint16_t port = next_port_;
    next_port_ = next_port_ == 0xffff ? kFirstEphemeral : static_cast<std::uint16_t>(next_port_ + 1);
    if (!listening_.test(port) && engine_.table.find({peer_ip, peer_port, port}) == kNoAssociation) return port;
  }
  return 0;
}

// By aborting the association that has been without a session for longest. False: there is none.
bool SctpAssociation::make_room() {
  if (!engine_.free.empty()) return true;
  engine_.charge(engine_.contexts.size() * Cycle{engine_.config.scan_cycles});
  AssociationId oldest = kNoAssociation;
  for (AssociationId i; i.v < engine_.contexts.size(); ++i.v) {
    if (!Association(engine_, i).is_idle()) continue;
    if (oldest == kNoAssociation || engine_.context(i).idle_at < engine_.context(oldest).idle_at) oldest = i;
  }
  if (oldest == kNoAssociation) return false;
  ++engine_.counters.evicted;
  Association(engine_, oldest).abort(wire::SctpCause::kOutOfResource);
  return true;
}

// ---- Packets

// The engine is busy for each of its DATA chunks.
void SctpAssociation::take_packet() {
  const SctpPacket p = received->pop();
  engine_.charge(engine_.config.chunk_cycles);
  if (p.path_mtu != 0) return on_path_mtu(p);
  const auto packet = sctp::Received::parse({p.data(), p.bytes}, p.peer_ip);
  if (!packet) {
    ++engine_.counters.bad_header;
    return drops(now(), p.buf->owner(), p.bytes, "no valid packet");
  }
  const llp::FlowKey key{p.peer_ip, packet->header.src_port, packet->header.dst_port};
  if (const AssociationId found = engine_.table.find(key); found != kNoAssociation) {
    return Association(engine_, found).receive(*packet, p.buf);
  }
  sctp::Outcome& outcome = engine_.outcome;
  const auto cookie = engine_.endpoint.receive(*packet, listening_.test(key.port), now(), outcome);
  engine_.charge(Cycle{outcome.macs} * engine_.config.mac_cycles);
  if (cookie && make_room()) {
    return Association(engine_, Association::begin(engine_, key, p.peer_mac)).accept(*cookie, *packet, p.buf);
  }
  if (cookie) {
    ++engine_.counters.no_association;
    engine_.endpoint.refuse(*cookie, outcome);
  }
  engine_.answer(outcome, p.peer_ip, p.peer_mac, {engine_.station.node, RequestId::Kind::kFlow, kNoFlow.v, 0, 0});
}

// The packet that a router quotes was sent by this side.
void SctpAssociation::on_path_mtu(const SctpPacket& told) {
  const llp::FlowKey key{told.peer_ip, load_be16(told.data() + 2), load_be16(told.data())};
  const AssociationId found = engine_.table.find(key);
  if (found != kNoAssociation) Association(engine_, found).on_path_mtu(told);
}

bool SctpAssociation::send_packet() {
  if (!engine_.answers.empty()) {
    packets->push(engine_.answers.pop());
    return true;
  }
  while (!engine_.sends.empty()) {
    const AssociationId id = engine_.sends.pop();
    auto packet = Association(engine_, id).next_packet();
    if (!packet) continue;
    packets->push(std::move(*packet));
    engine_.sends.push(id);
    return true;
  }
  return false;
}

// ---- Segments

void SctpAssociation::take_ulpdu() {
  Ulpdu u = in->pop();
  const AssociationId id = engine_.association_of(u.flow);
  if (engine_.contexts[id.v]) Association(engine_, id).send_segment(std::move(u));
  else ++engine_.counters.late_ulpdus;  // of a session that is over
}

void SctpAssociation::on_ended(StreamEnded end) {
  if (engine_.delivery.is_fence(end.flow)) return engine_.delivery.fence_passed();
  const AssociationId id = engine_.association_of(end.flow);
  if (engine_.contexts[id.v]) Association(engine_, id).on_ended(engine_.stream_of(end.flow), end.told);
}

// One message of each kind per cycle.
void SctpAssociation::serve_credits() {
  while (!engine_.credits.empty() && credit->can_push()) {
    const sctp::StreamIndex i = engine_.credits.pop();
    sctp::StreamContext& s = engine_.stream(i);
    const std::uint32_t octets = s.open ? Association(engine_, engine_.association_of(i)).grantable(s) : 0;
    if (octets == 0) continue;
    s.credit += octets;
    const QpUse& qp = engine_.qps[engine_.flow_of(i)];
    credit->push({engine_.flow_of(i), octets, qp.qpn, qp.epoch});
    break;
  }
  if (engine_.acks.empty() || !acked->can_push()) return;
  const sctp::StreamIndex i = engine_.acks.pop();
  const std::uint32_t wqes = std::exchange(engine_.stream(i).wqes_acked, 0);
  const QpUse& qp = engine_.qps[engine_.flow_of(i)];
  if (wqes != 0) acked->push({engine_.flow_of(i), wqes, qp.qpn, qp.epoch});
}

// ---- Timers

void SctpAssociation::run_timers() {
  while (engine_.timers.due(now())) {
    const std::uint32_t timer = engine_.timers.take();
    Association(engine_, AssociationId{timer / sctp::kTimers}).expired(timer % sctp::kTimers);
  }
}

std::string SctpAssociation::waiting_for() const {
  std::string text;
  for (std::uint32_t i = 0; i < engine_.contexts.size(); ++i) {
    const sctp::AssociationContext* const c = engine_.contexts[i].get();
    if (c == nullptr || !c->in_service || c->ddp_streams == 0 || c->sender.idle()) continue;
    text += (text.empty() ? "association " : ", association ") + std::to_string(i) + ": SACK";
  }
  return text;
}

void SctpAssociation::describe(const Description& d) {
  d.counters(engine_.counters);
  d.drops(drops);
  d.point(engine_.windows.point);
  const std::size_t associations = engine_.contexts.size();
  const std::size_t bytes =
      sctp::AssociationContext::bytes(engine_.sender_settings, engine_.receiver_settings, engine_.stream_limits);
  describe_memory(
      d.part("associations").stats(),
      {associations, associations, static_cast<unsigned>(8 * bytes), "associations", "sctp.max_associations"},
      engine_.in_service);
  describe_memory(d.part("association_hash").stats(),
                  {engine_.table.places(), engine_.table.places(), llp::IdTable<AssociationId>::slot_bits(associations),
                   "slots", "2 x sctp.max_associations at least, a power of two, in buckets of 4"},
                  engine_.in_service);
  engine_.fragments.pool.describe(d);
  engine_.sent.describe(d);
  engine_.delivery.describe(d);
  const StatsGroup& group = d.stats();
  const sctp::SetupCounters& setup = engine_.endpoint.counters();
  group.counter("malformed", setup.malformed, "packets", "dropped: truncated, or a length that is wrong");
  group.counter("wrong_tag", setup.wrong_tag, "packets", "dropped: verification tag");
  group.counter("unexpected", setup.unexpected, "chunks", "dropped: no place in the state, or in the packet");
  group.counter("forged_cookies", setup.forged_cookies, "packets", "dropped: cookies that are not ours");
  group.counter("stale_cookies", setup.stale_cookies, "packets", "cookies that came too late, answered by ERROR");
  group.counter("unmatched_cookies", setup.unmatched_cookies, "packets", "dropped: cookies of no set-up");
  group.counter("refused", setup.refused, "packets", "INIT, INIT ACK and cookies answered by ABORT");
  group.counter("out_of_the_blue", setup.out_of_the_blue, "packets", "packets of no association");
  for (std::size_t i = 0; i < engine_.contexts.size() && d.shows_probes(); ++i) {
    const ProbeGroup association = d.probes().group("association", i);
    const auto number = [&](const char* name, std::uint32_t (sctp::DataSender::*read)() const) {
      association.number(name, 32, "octets", [this, i, read] {
        const auto& c = engine_.contexts[i];
        return c && c->ddp_streams != 0 ? (c->sender.*read)() : 0;
      });
    };
    number("cwnd", &sctp::DataSender::cwnd);
    number("flight", &sctp::DataSender::flight);
    number("peer_window", &sctp::DataSender::peer_window);
  }
}

}  // namespace rnic
