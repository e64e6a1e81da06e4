// The stage: its cycle, its associations and their timers.
#include "model/rnic/llp/sctp/sctp_association.h"

#include <algorithm>

#include "model/common/description.h"
#include "model/rnic/llp/rto.h"
#include "model/rnic/llp/sctp/packet.h"
#include "model/wire/ddp_session.h"

namespace rnic {

using llp::kNil;

namespace {

// Output that waits for a neighbour: a packet is not taken before there is room for everything it can cause. Operations
// are always taken, as the firmware takes no event while it waits for room for an operation.
constexpr std::size_t kMostAnswers = 4;
constexpr std::size_t kMostEvents = 32;

// The largest MTU of a peer: its fragmented messages can be that long, as far as they fit the receive buffer.
std::uint32_t peer_mtu(const SctpConfig& config, const TcpConfig& tcp) {
  return std::max<std::uint32_t>(tcp.mtu, std::min(sctp::kLargestMtu, config.receive_buffer / 4 * 3));
}

sctp::StreamLimits stream_limits(const SctpConfig& config) {
  sctp::StreamLimits limits;
  limits.streams = static_cast<std::uint16_t>(config.streams);
  limits.window = static_cast<std::uint16_t>(config.ddp_window);
  limits.held_octets = config.receive_buffer;
  return limits;
}

}  // namespace

SctpAssociation::SctpAssociation(sc_core::sc_module_name nm, ClockDomain& clk, const SctpConfig& config,
                                 const TcpConfig& tcp, const DatapathConfig& datapath, const LinkAddress& station,
                                 std::uint32_t first_flow, BufferPool& pool)
    : Stage(nm, clk),
      config_(config),
      station_(station),
      first_flow_(first_flow),
      mtu_(tcp.mtu),
      packet_limit_(sctp::packet_limit(tcp)),
      fence_flow_(first_flow + config.max_associations * config.streams),
      beat_bytes_(datapath.beat_bytes),
      pool_(pool),
      sender_settings_(config, congestion_, clk.period_ps()),
      receiver_settings_(config, peer_mtu(config, tcp), wire::Ipv4Header::kBytes, clk.period_ps()),
      stream_limits_(stream_limits(config)),
      idle_limit_(config.idle_us == 0 ? kNever : llp::RtoLimits::cycles(config.idle_us, clk.period_ps())),
      endpoint_(config, clk.period_ps(), packet_limit_, config.seed),
      fragments_(receiver_settings_.fragments),
      contexts_(config.max_associations),
      table_(config.max_associations),
      free_(config.max_associations),
      sends_(config.max_associations),
      idle_(config.max_associations),
      credits_(std::size_t{config.max_associations} * config.streams),
      acks_(std::size_t{config.max_associations} * config.streams),
      timers_(std::size_t{config.max_associations} * kTimers),
      emission_(datapath),
      next_port_(kFirstEphemeral) {
  for (std::uint32_t i = 0; i < config.max_associations; ++i) free_.push(FlowId{i});
}

SctpAssociation::~SctpAssociation() = default;

// The keys and the ports continue, so that no earlier packet fits a later association.
void SctpAssociation::reset() {
  const std::size_t associations = contexts_.size(), streams = associations * config_.streams;
  for (std::unique_ptr<Context>& c : contexts_) {
    if (c) c->receiver.clear(fragments_);
    c.reset();
  }
  table_ = llp::FlowTable(associations);
  free_ = sends_ = idle_ = llp::FlowQueue(associations);
  for (std::uint32_t i = 0; i < associations; ++i) free_.push(FlowId{i});
  credits_ = acks_ = llp::FlowQueue(streams);
  timers_ = llp::FlowTimers(associations * kTimers);
  sent_ = {};
  messages_ = {};
  ready_ = {};
  events_ = {};
  fences_ = 0;
  answers_ = {};
  emission_.reset();
  offer_ = {};
  offer_free_from_ = 0;
  emitted_ = kNil;
  busy_until_ = 0;
  listening_.reset();
}

// In one cycle at most one operation, one packet in, one message in, one packet out, one beat and one message to each
// neighbour. On output, answers of set-up go first.
Wake SctpAssociation::tick() {
  const bool room = answers_.size() < kMostAnswers && events_.size() < kMostEvents;
  if (ended->can_pop()) on_ended(ended->pop());
  if (op->can_pop()) on_op(op->pop());
  if (room && received->can_pop() && busy_until_ <= now()) take_packet();
  run_timers();  // after the packet: its SACK may have stopped one
  if (early->can_pop()) on_early(early->pop());
  if (in->can_pop()) take_ulpdu();
  if (!idle_.empty()) look_at_idle();
  const bool sent = packets->can_push() && send_one();
  emit();
  push_offer();
  if (may_tell() && event->can_push()) event->push(events_.pop());
  serve_credits();
  return sent ? Wake::next_cycle() : next_wake();
}

Wake SctpAssociation::next_wake() {
  const bool room = answers_.size() < kMostAnswers && events_.size() < kMostEvents;
  const bool more = in->can_pop() || ended->can_pop() || early->can_pop() || op->can_pop() || !idle_.empty() ||
                    (may_tell() && event->can_push()) || (!credits_.empty() && credit->can_push()) ||
                    (!acks_.empty() && acked->can_push()) ||
                    ((!answers_.empty() || !sends_.empty()) && packets->can_push());
  if (more) return Wake::next_cycle();
  Cycle at = std::min(timers_.next(), emission_.next(*out));
  const bool waits = ready_.empty() || messages_[ready_.head].offered;
  if (emission_.done() && (emitted_ != kNil || !waits)) at = std::min(at, emission_.free_from());
  if (!offer_.done()) at = std::min(at, std::max(behind->credit_at(), offer_free_from_));
  if (room && received->can_pop()) at = std::min(at, busy_until_);
  return Wake::at_cycle(std::max(at, now() + 1));
}

// ---- Associations

std::uint32_t SctpAssociation::begin(const llp::FlowKey& key, const wire::MacAddress& mac) {
  const std::uint32_t association = free_.pop().v;
  if (!contexts_[association]) {
    contexts_[association] = std::make_unique<Context>(endpoint_, sender_settings_, stream_limits_);
  }
  Context& c = context(association);
  table_.insert(FlowId{association}, key);
  c.peer_mac = mac;
  c.in_service = true;
  c.begun_at = c.idle_at = now();
  ++c.life;
  return association;
}

void SctpAssociation::on_up(std::uint32_t association) {
  Context& c = context(association);
  const sctp::Terms& terms = c.setup.terms();
  c.sender.open(terms.own_tsn, terms.peer_window, mtu_, now());
  c.receiver.start(receiver_settings_, fragments_, terms.peer_tsn, terms.inbound);
  c.receiver.set_mode(sctp::DataReceiver::Mode::kTake);
  c.mulpdu = static_cast<std::uint16_t>(wire::sctp_mulpdu(mtu_, wire::Ipv4Header::kBytes, config_.bundle_reserve));
  c.ddp_streams = std::min(terms.ddp_streams(), stream_limits_.streams);
  for (const std::uint32_t cookie : std::exchange(c.asked, {})) {
    if (free_streams(c) != 0) give_stream(association, cookie);
    else refuse(cookie, fw::OpenFailure::kNoResources);
  }
  idle_.push(FlowId{association});
}

// Everything queued for the peer, and kept from it, is dropped, except delivered messages that wait for the pipeline:
// they have been acknowledged. Sessions are lost, except that of `except`.
void SctpAssociation::forget_streams(std::uint32_t association, FlowId except) {
  Context& c = context(association);
  if (has_session(c)) send_fence(association);
  c.sender.abandon();
  while (const auto released = c.sender.take_released()) sent_.give_back(released->handle);
  c.backlog.clear(sent_);
  c.streams.reset([this](std::uint32_t message) { give_back(message); });
  c.receiver.clear(fragments_);
  ++c.life;
  for (std::uint32_t s = 0; s < c.stream.size(); ++s) {
    const FlowId flow = flow_of(association, s);
    if (c.stream[s].in_use && !c.stream[s].abandoned && flow != except) tell<fw::SctpLost>(flow);
    c.stream[s].renew();
  }
  c.in_use = c.open = c.ddp_streams = 0;
}

void SctpAssociation::end(std::uint32_t association, fw::OpenFailure reason, FlowId except) {
  Context& c = context(association);
  forget_streams(association, except);
  for (const std::uint32_t cookie : std::exchange(c.asked, {})) refuse(cookie, reason);
  c.in_service = false;
  for (std::uint32_t t = 0; t < kTimers; ++t) timers_.stop(timer(association, t));
  table_.erase(FlowId{association});
  free_.push(FlowId{association});
}

void SctpAssociation::abort(std::uint32_t association, wire::SctpCause cause, ByteSpan information, FlowId except) {
  Context& c = context(association);
  c.setup.abort(cause, information, second_);
  answer(second_, c.setup.ends().peer_ip, c.peer_mac, owner(association));
  ++counters_.failed;
  end(association, fw::OpenFailure::kRefused, except);
}

// Those that the firmware knows.
bool SctpAssociation::has_session(const Context& c) {
  const auto live = [](const sctp::StreamContext& s) { return s.in_use && !s.abandoned; };
  return std::any_of(c.stream.begin(), c.stream.end(), live);
}

// RFC 5040 section 7: when all streams are down, the side that opened the association shuts it down. If it does not,
// this side does.
void SctpAssociation::look_at_idle() {
  const std::uint32_t association = idle_.pop().v;
  Context& c = context(association);
  if (!c.in_service || !c.asked.empty() || has_session(c) || !c.setup.takes_host_data()) return;
  if (c.in_use != 0) return abort(association, wire::SctpCause::kUserInitiatedAbort, {});  // abandoned ones
  if (!c.setup.initiator()) {
    c.idle_at = now();
    if (idle_limit_ != kNever) timers_.start(timer(association, kIdle), now() + idle_limit_);
    return;
  }
  c.setup.shutdown(progress(c), now(), outcome_);
  settle(association, outcome_);
}

// By aborting the association that has been without a session for longest. False: there is none.
bool SctpAssociation::make_room() {
  if (!free_.empty()) return true;
  std::uint32_t oldest = kNil;
  for (std::uint32_t i = 0; i < contexts_.size(); ++i) {
    const Context& c = context(i);
    if (!c.setup.takes_host_data() || c.in_use != 0 || !c.asked.empty()) continue;
    if (oldest == kNil || c.idle_at < context(oldest).idle_at) oldest = i;
  }
  if (oldest == kNil) return false;
  ++counters_.evicted;
  abort(oldest, wire::SctpCause::kOutOfResource, {});
  return true;
}

// ---- Timers

void SctpAssociation::run_timers() {
  for (FlowId t; (t = timers_.expired(now())) != kNoFlow;) {
    const std::uint32_t association = t.v / kTimers, which = t.v % kTimers;
    Context& c = context(association);
    if (which == kSackDelay) {
      c.receiver.on_delay_over(now());
      sends_.push(FlowId{association});
    } else if (which == kT3) {
      ++counters_.timeouts;
      if (c.sender.on_timer(now()) == sctp::TimerOutcome::kFailed) {
        abort(association, wire::SctpCause::kUserInitiatedAbort, {});
        continue;
      }
      sends_.push(FlowId{association});
    } else if (which == kIdle) {
      if (c.in_use != 0 || !c.setup.takes_host_data()) continue;
      ++counters_.idle_ended;
      c.setup.shutdown(progress(c), now(), outcome_);
      settle(association, outcome_);
      continue;
    } else {
      c.setup.expired(static_cast<sctp::SetupTimer>(which), now(), outcome_);
      settle(association, outcome_);
      continue;
    }
    set_timers(association);
  }
}

// Of the sender and the receiver, after anything that may have moved them.
void SctpAssociation::set_timers(std::uint32_t association) {
  Context& c = context(association);
  const auto set = [&](std::uint32_t which, Cycle at) {
    if (at == kNever) timers_.stop(timer(association, which));
    else timers_.start(timer(association, which), at);
  };
  set(kT3, c.sender.deadline());
  set(kSackDelay, c.receiver.deadline());
}

// A packet without a segment belongs to the association.
RequestId SctpAssociation::owner(std::uint32_t association) const {
  return {station_.node, RequestId::Kind::kFlow, flow_of(association, 0).v, contexts_[association]->life, 0};
}

std::string SctpAssociation::waiting_for() const {
  std::string text;
  for (std::uint32_t i = 0; i < contexts_.size(); ++i) {
    if (!contexts_[i] || !contexts_[i]->in_service || contexts_[i]->ddp_streams == 0) continue;
    if (contexts_[i]->sender.idle()) continue;
    text += (text.empty() ? "association " : ", association ") + std::to_string(i) + ": SACK";
  }
  return text;
}

void SctpAssociation::describe(const Description& d) {
  d.counters(counters_);
  d.drops(drops);
  const StatsGroup& group = d.stats();
  const sctp::SetupCounters& setup = endpoint_.counters();
  group.counter("malformed", setup.malformed, "packets", "dropped: truncated, or a length that is wrong");
  group.counter("wrong_tag", setup.wrong_tag, "packets", "dropped: verification tag");
  group.counter("unexpected", setup.unexpected, "chunks", "dropped: no place in the state, or in the packet");
  group.counter("forged_cookies", setup.forged_cookies, "packets", "dropped: cookies that are not ours");
  group.counter("stale_cookies", setup.stale_cookies, "packets", "cookies that came too late, answered by ERROR");
  group.counter("unmatched_cookies", setup.unmatched_cookies, "packets", "dropped: cookies of no set-up");
  group.counter("refused", setup.refused, "packets", "INIT, INIT ACK and cookies answered by ABORT");
  group.counter("out_of_the_blue", setup.out_of_the_blue, "packets", "packets of no association");
  for (std::size_t i = 0; i < contexts_.size() && d.shows_probes(); ++i) {
    const ProbeGroup association = d.probes().group("association", i);
    const auto number = [&](const char* name, std::uint32_t (sctp::DataSender::*read)() const) {
      association.number(name, 32, "octets", [this, i, read] {
        return contexts_[i] && contexts_[i]->ddp_streams != 0 ? (contexts_[i]->sender.*read)() : 0;
      });
    };
    number("cwnd", &sctp::DataSender::cwnd);
    number("flight", &sctp::DataSender::flight);
    number("peer_window", &sctp::DataSender::peer_window);
  }
}

}  // namespace rnic
