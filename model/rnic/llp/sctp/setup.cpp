#include "model/rnic/llp/sctp/setup.h"

#include <algorithm>

#include "model/common/check.h"

namespace rnic::sctp {

using wire::SctpCause;
using wire::SctpChunks;
using wire::SctpItem;
using wire::SctpItems;
using wire::SctpParameterType;

namespace {

using Kind = SetupEvent::Kind;

constexpr std::size_t kNonceBytes = sizeof(std::uint64_t);

// The first cause of an ABORT or ERROR; type 0: none.
SctpItem first_cause(ByteSpan value) { return SctpItems(value).next().value_or(SctpItem{}); }

}  // namespace

void Setup::tell(Kind kind, Outcome& out, std::uint16_t cause, ByteSpan information) const {
  SetupEvent event;
  event.kind = kind;
  event.cause = cause;
  event.information = information;
  out.tell(event);
}

void Setup::start(SetupTimer timer, Cycle at, Outcome& out) {
  running_ = static_cast<std::uint8_t>(running_ | 1u << static_cast<unsigned>(timer));
  out.set(timer, at);
}

void Setup::stop(SetupTimer timer, Outcome& out) {
  if (!running(timer)) return;
  running_ = static_cast<std::uint8_t>(running_ & ~(1u << static_cast<unsigned>(timer)));
  out.set(timer, kNever);
}

void Setup::close(Outcome& out) {
  for (std::size_t t = 0; t < kSetupTimers; ++t) stop(static_cast<SetupTimer>(t), out);
  state_ = State::kClosed;
  shutdown_asked_ = answer_data_ = heartbeat_out_ = false;
  out.drop_chunks();
}

// A set-up that is impossible. The ABORT with the reason is in `out`.
void Setup::fail(SctpCause cause, Outcome& out) {
  close(out);
  tell(Kind::kFailed, out, static_cast<std::uint16_t>(cause));
}

// No answer. An ABORT informs the peer, in case it still hears us.
void Setup::give_up(Outcome& out) {
  if (state_ != State::kCookieWait) out.chunk(to_peer(), ChunkType::kAbort);
  close(out);
  tell(Kind::kFailed, out);
}

void Setup::connect(const Ends& ends, Cycle now, Outcome& out) {
  RNIC_CHECK(state_ == State::kClosed);
  endpoint_.begin(out);
  ends_ = ends;
  terms_ = {};
  terms_.own_tag = endpoint_.draw_tag();
  terms_.own_tsn = endpoint_.draw_tsn();
  rto_ = endpoint_.limits_.rto_initial;
  retries_ = missed_ = stale_ = 0;
  initiator_ = true;
  state_ = State::kCookieWait;
  send_init(now, out);
}

void Setup::shutdown(const DataProgress& progress, Cycle now, Outcome& out) {
  endpoint_.begin(out);
  if (opening()) shutdown_asked_ = true;
  if (state_ != State::kEstablished) return;
  state_ = State::kShutdownPending;
  proceed(progress, now, out);
}

void Setup::abort(SctpCause cause, ByteSpan information, Outcome& out) {
  endpoint_.begin(out);
  if (state_ == State::kClosed) return;
  if (state_ != State::kCookieWait && !out.cause(to_peer(), ChunkType::kAbort, cause, information)) {
    out.cause(to_peer(), ChunkType::kAbort, cause, {});
  }
  close(out);
  tell(Kind::kAborted, out, static_cast<std::uint16_t>(cause));
}

void Setup::report(SctpCause cause, ByteSpan information, Outcome& out) {
  endpoint_.begin(out);
  if (state_ != State::kClosed && !opening()) out.cause(to_peer(), ChunkType::kError, cause, information);
}

void Setup::proceed(const DataProgress& progress, Cycle now, Outcome& out) {
  endpoint_.begin(out);
  cumulative_tsn_ = progress.cumulative_tsn;
  if (state_ == State::kShutdownPending && progress.drained) {
    state_ = State::kShutdownSent;
    retries_ = 0;
    stop(SetupTimer::kHeartbeat, out);
    start(SetupTimer::kT5Guard, now + endpoint_.limits_.guard, out);
    send_shutdown(now, out);
  } else if (state_ == State::kShutdownReceived && progress.drained) {
    state_ = State::kShutdownAckSent;
    retries_ = 0;
    stop(SetupTimer::kHeartbeat, out);
    send_shutdown_ack(now, out);
  } else if (state_ == State::kShutdownSent && answer_data_) {
    retries_ = 0;  // the peer is alive
    send_shutdown(now, out);
  }
  answer_data_ = false;
}

void Setup::data_acknowledged(Cycle now) {
  active_at_ = now;
  missed_ = 0;
}

void Setup::expired(SetupTimer timer, Cycle now, Outcome& out) {
  endpoint_.begin(out);
  if (!running(timer)) return;
  const SetupLimits& limits = endpoint_.limits_;
  switch (timer) {
    case SetupTimer::kT1Init:
    case SetupTimer::kT1Cookie:
      if (retries_ == limits.max_init_retries) return give_up(out);
      ++retries_;
      return timer == SetupTimer::kT1Init ? send_init(now, out) : send_cookie(now, out);
    case SetupTimer::kT2Shutdown:
      if (retries_ == limits.max_retries) return give_up(out);
      ++retries_;
      return state_ == State::kShutdownSent ? send_shutdown(now, out) : send_shutdown_ack(now, out);
    case SetupTimer::kT5Guard:
      return give_up(out);
    case SetupTimer::kHeartbeat:
      if (heartbeat_out_) {
        if (missed_ == limits.max_retries) return give_up(out);
        ++missed_;
      }
      // Acknowledged data proves as much as a HEARTBEAT ACK.
      if (!heartbeat_out_ && active_at_ + limits.heartbeat > now) return await_idle(active_at_, out);
      return send_heartbeat(now, out);
  }
}

void Setup::send_init(Cycle now, Outcome& out, std::uint32_t preservative_ms) {
  std::uint8_t adaptation[sizeof kDdpAdaptation], preservative[sizeof preservative_ms];
  store_be32(adaptation, kDdpAdaptation);
  store_be32(preservative, preservative_ms);
  SctpParameters parameters;
  parameters.add(SctpParameterType::kAdaptationIndication, adaptation);
  if (preservative_ms != 0) parameters.add(SctpParameterType::kCookiePreservative, preservative);
  out.init({ends_.port, ends_.peer_port, 0}, ChunkType::kInit, endpoint_.init_of(own()), parameters);
  start(SetupTimer::kT1Init, now + endpoint_.limits_.backed_off(rto_, retries_), out);
}

void Setup::send_cookie(Cycle now, Outcome& out) {
  out.chunk(to_peer(), ChunkType::kCookieEcho, {cookie_.data(), cookie_bytes_});
  start(SetupTimer::kT1Cookie, now + endpoint_.limits_.backed_off(rto_, retries_), out);
}

void Setup::send_shutdown(Cycle now, Outcome& out) {
  std::uint8_t tsn[sizeof cumulative_tsn_];
  store_be32(tsn, cumulative_tsn_);
  out.chunk(to_peer(), ChunkType::kShutdown, tsn);
  start(SetupTimer::kT2Shutdown, now + endpoint_.limits_.backed_off(rto_, retries_), out);
}

void Setup::send_shutdown_ack(Cycle now, Outcome& out) {
  out.chunk(to_peer(), ChunkType::kShutdownAck);
  start(SetupTimer::kT2Shutdown, now + endpoint_.limits_.backed_off(rto_, retries_), out);
}

void Setup::send_heartbeat(Cycle now, Outcome& out) {
  heartbeat_nonce_ = endpoint_.draw();
  heartbeat_at_ = now;
  heartbeat_out_ = true;
  std::uint8_t info[wire::SctpItem::kHeaderBytes + kNonceBytes];
  store_be16(info, static_cast<std::uint16_t>(SctpParameterType::kHeartbeatInfo));
  store_be16(info + 2, sizeof info);
  store_be64(info + wire::SctpItem::kHeaderBytes, heartbeat_nonce_);
  out.chunk(to_peer(), ChunkType::kHeartbeat, info);
  await_idle(now, out);
}

// Section 8.3: HB.interval and an RTO, half of which is random.
void Setup::await_idle(Cycle since, Outcome& out) {
  const SetupLimits& limits = endpoint_.limits_;
  if (limits.heartbeat == kNever) return;
  const Cycle rto = limits.backed_off(rto_, missed_);
  start(SetupTimer::kHeartbeat, since + limits.heartbeat + rto / 2 + endpoint_.draw() % (rto + 1), out);
}

void Setup::accept(const Cookie& cookie, const Received& packet, Cycle now, Outcome& out) {
  RNIC_CHECK(state_ == State::kClosed);
  endpoint_.begin(out);
  rto_ = endpoint_.limits_.rto_initial;
  shutdown_asked_ = false;
  adopt(cookie, Kind::kUp, now, out);
  SctpChunks chunks(packet.chunks);
  chunks.next();
  on_chunks(chunks, packet, now, out);
}

void Setup::adopt(const Cookie& cookie, Kind kind, Cycle now, Outcome& out) {
  ends_ = cookie.ends;
  terms_ = cookie.terms;
  peer_known_at_ = cookie.made_at;
  initiator_ = false;  // it was the peer's INIT
  out.chunk(to_peer(), ChunkType::kCookieAck);
  establish(kind, now, out);
}

void Setup::establish(Kind kind, Cycle now, Outcome& out) {
  for (std::size_t t = 0; t < kSetupTimers; ++t) stop(static_cast<SetupTimer>(t), out);
  const bool asked = shutdown_asked_ && kind == Kind::kUp;
  state_ = asked ? State::kShutdownPending : State::kEstablished;
  shutdown_asked_ = answer_data_ = heartbeat_out_ = false;
  retries_ = missed_ = stale_ = 0;
  cumulative_tsn_ = terms_.peer_tsn - 1;
  active_at_ = now;
  tell(kind, out);
  await_idle(now, out);
}

// Section 8.5: the tag that a packet must have.
void Setup::receive(const Received& packet, Cycle now, Outcome& out) {
  RNIC_CHECK(state_ != State::kClosed);
  endpoint_.begin(out);
  SctpChunks chunks(packet.chunks);
  const auto first = chunks.next();
  if (!first) {
    ++endpoint_.counters_.malformed;
    return;
  }
  if (first->type == ChunkType::kInit) return on_init(*first, packet, now, out);
  if (first->type == ChunkType::kShutdownAck && opening()) return endpoint_.out_of_the_blue(packet, out);
  if (first->type == ChunkType::kCookieEcho) {
    if (!on_cookie_echo(*first, packet, now, out)) return;
    return on_chunks(chunks, packet, now, out);
  }
  const std::uint32_t tag = packet.header.verification_tag;
  if (tag != terms_.own_tag) {
    const bool closing = first->type == ChunkType::kAbort || first->type == ChunkType::kShutdownComplete;
    const bool reflected = (first->flags & Chunk::kTagReflected) != 0 && terms_.peer_tag != 0 && tag == terms_.peer_tag;
    if (!closing || !reflected) {
      ++endpoint_.counters_.wrong_tag;
      return;
    }
  }
  on_chunks(SctpChunks(packet.chunks), packet, now, out);
}

void Setup::on_chunks(SctpChunks chunks, const Received& packet, Cycle now, Outcome& out) {
  while (const auto chunk = chunks.next()) {
    if (!on_chunk(*chunk, packet, now, out)) return;
  }
  if (chunks.malformed()) ++endpoint_.counters_.malformed;
}

bool Setup::on_chunk(const Chunk& chunk, const Received& packet, Cycle now, Outcome& out) {
  switch (chunk.type) {
    case ChunkType::kData:
      on_data(chunk, out);
      return true;
    case ChunkType::kSack:
      on_sack(chunk, out);
      return true;
    case ChunkType::kInitAck:
      on_init_ack(chunk, packet, now, out);
      return false;
    case ChunkType::kInit:  // these two come first, or not at all
    case ChunkType::kCookieEcho:
      unexpected();
      return false;
    case ChunkType::kHeartbeat:
      on_heartbeat(chunk, out);
      return true;
    case ChunkType::kHeartbeatAck:
      on_heartbeat_ack(chunk, now, out);
      return true;
    case ChunkType::kAbort: {
      // The meaning of T is reversed if the tag is (section 8.5.1).
      const bool reflected = (chunk.flags & Chunk::kTagReflected) != 0;
      const std::uint32_t tag = reflected ? terms_.peer_tag : terms_.own_tag;
      if (packet.header.verification_tag == tag) on_abort(chunk, out);
      else ++endpoint_.counters_.wrong_tag;
      return false;
    }
    case ChunkType::kShutdown:
      on_shutdown(chunk, now, out);
      return true;
    case ChunkType::kShutdownAck:
      if (state_ != State::kShutdownSent && state_ != State::kShutdownAckSent) {
        unexpected();
        return true;
      }
      out.drop_packet();
      out.chunk(to_peer(), ChunkType::kShutdownComplete);
      close(out);
      tell(Kind::kShutDown, out);
      return false;
    case ChunkType::kShutdownComplete: {
      const bool reflected = (chunk.flags & Chunk::kTagReflected) != 0;
      const std::uint32_t tag = reflected ? terms_.peer_tag : terms_.own_tag;
      if (packet.header.verification_tag != tag) {
        ++endpoint_.counters_.wrong_tag;
      } else if (state_ != State::kShutdownAckSent || !packet.alone()) {
        unexpected();
      } else {
        close(out);
        tell(Kind::kShutDown, out);
      }
      return false;
    }
    case ChunkType::kError:
      on_error(chunk, now, out);
      return state_ != State::kCookieWait;
    case ChunkType::kCookieAck:
      if (state_ == State::kCookieEchoed) establish(Kind::kUp, now, out);
      else unexpected();
      return true;
  }
  return on_unknown(chunk, out);
}

// Section 3.2: by the two upper bits of the type.
bool Setup::on_unknown(const Chunk& chunk, Outcome& out) {
  const auto type = static_cast<std::uint8_t>(chunk.type);
  unexpected();
  // In COOKIE-WAIT there is no tag for an answer; in COOKIE-ECHOED nothing else may be sent.
  if (wire::unknown_chunk_is_reported(type) && !opening()) {
    out.cause(to_peer(), ChunkType::kError, SctpCause::kUnrecognizedChunk, chunk.whole);
  }
  return !wire::unknown_chunk_ends(type);
}

// Sections 5.2.1 and 5.2.2.
void Setup::on_init(const Chunk& chunk, const Received& packet, Cycle now, Outcome& out) {
  if (packet.header.verification_tag != 0 || !packet.alone()) return unexpected();
  const auto view = InitView::parse(chunk.value);
  if (!view || view->init.initiate_tag == 0) {
    ++endpoint_.counters_.malformed;
    return;
  }
  if (state_ == State::kShutdownAckSent) return send_shutdown_ack(now, out);
  const Outcome::Header to{ends_.port, ends_.peer_port, view->init.initiate_tag};
  if (endpoint_.refuse(*view, to, out)) return;
  if (state_ == State::kCookieWait) return endpoint_.answer(*view, ends_, own(), 0, 0, now, out);
  const std::uint32_t addresses = endpoint_.address_digest(*view, ends_.peer_ip);
  if (addresses != 0 && addresses != terms_.peer_addresses) {
    ++endpoint_.counters_.refused;
    std::array<std::uint8_t, Endpoint::kMaxQuoted> quoted;
    const std::size_t bytes = endpoint_.quote_addresses(*view, ends_.peer_ip, quoted);
    out.cause(to, ChunkType::kAbort, SctpCause::kRestartWithNewAddresses, {quoted.data(), bytes});
    return;
  }
  Endpoint::Own answered = own();
  if (state_ != State::kCookieEchoed) {
    answered.tag = endpoint_.draw_tag();
    answered.tsn = endpoint_.draw_tsn();
    answered.outbound = std::min(answered.outbound, view->init.max_inbound_streams);
  }
  endpoint_.answer(*view, ends_, answered, terms_.own_tag, terms_.peer_tag, now, out);
}

// Sections 3.3.3 and 5.1.
void Setup::on_init_ack(const Chunk& chunk, const Received& packet, Cycle now, Outcome& out) {
  if (state_ != State::kCookieWait || !packet.alone()) return unexpected();
  const auto view = InitView::parse(chunk.value);
  if (!view) {
    ++endpoint_.counters_.malformed;
    return;
  }
  if (view->init.initiate_tag == 0) {
    ++endpoint_.counters_.refused;
    out.chunk({ends_.port, ends_.peer_port, terms_.own_tag}, ChunkType::kAbort, {}, Chunk::kTagReflected);
    return fail(SctpCause::kInvalidParameter, out);
  }
  const Outcome::Header to{ends_.port, ends_.peer_port, view->init.initiate_tag};
  const bool streams = view->init.outbound_streams != 0 && view->init.max_inbound_streams != 0;
  if (streams && view->init.a_rwnd >= kLeastWindow && !view->has_cookie) {
    ++endpoint_.counters_.refused;
    constexpr std::uint8_t kOneCookie[] = {0, 0, 0, 1, 0, static_cast<std::uint8_t>(SctpParameterType::kStateCookie)};
    out.cause(to, ChunkType::kAbort, SctpCause::kMissingParameter, kOneCookie);
    return fail(SctpCause::kMissingParameter, out);
  }
  if (endpoint_.refuse(*view, to, out)) {
    if (!streams) return fail(SctpCause::kInvalidParameter, out);
    if (view->init.a_rwnd < kLeastWindow) return;  // another answer may be acceptable
    return fail(view->host_name.empty() ? SctpCause::kUserInitiatedAbort : SctpCause::kUnresolvableAddress, out);
  }
  if (view->cookie.size() > cookie_.size()) {
    ++endpoint_.counters_.refused;
    out.cause(to, ChunkType::kAbort, SctpCause::kOutOfResource, {});
    return fail(SctpCause::kOutOfResource, out);
  }
  cookie_bytes_ = static_cast<std::uint16_t>(view->cookie.size());
  std::copy(view->cookie.begin(), view->cookie.end(), cookie_.begin());
  terms_ = endpoint_.agree(*view, own(), ends_.peer_ip);
  peer_known_at_ = now;
  stop(SetupTimer::kT1Init, out);
  retries_ = 0;
  state_ = State::kCookieEchoed;
  send_cookie(now, out);
  for (std::size_t i = 0; i < view->reports_used; ++i) {
    out.cause(to, ChunkType::kError, SctpCause::kUnrecognizedParameters, view->reports[i]);
  }
}

// Section 5.2.4. True: the rest of the packet counts.
bool Setup::on_cookie_echo(const Chunk& chunk, const Received& packet, Cycle now, Outcome& out) {
  Cookie cookie;
  ++out.macs;
  const Endpoint::CookieCheck check = endpoint_.check(packet, chunk.value, now, cookie);
  if (check == Endpoint::CookieCheck::kForged) {
    ++endpoint_.counters_.forged_cookies;
    return false;
  }
  const bool own = cookie.terms.own_tag == terms_.own_tag;
  const bool peer = cookie.terms.peer_tag == terms_.peer_tag;
  if (check == Endpoint::CookieCheck::kStale && !(own && peer)) {
    endpoint_.tell_stale(cookie, now, out);
    return false;
  }
  if (own && peer) {  // D: our INIT ACK's or, in a simultaneous set-up, both
    out.chunk(to_peer(), ChunkType::kCookieAck);
    if (state_ == State::kCookieEchoed) {  // a simultaneous one: each side has the other's INIT
      initiator_ = terms_.own_tag < terms_.peer_tag;
      establish(Kind::kUp, now, out);
    }
    return true;
  }
  if (own && opening()) {  // B
    adopt(cookie, Kind::kUp, now, out);
    return true;
  }
  // B again: the peer restarted after we learnt its tag, if the cookie is newer; an older one is from before.
  if (own && cookie.made_at > peer_known_at_ && state_ != State::kShutdownAckSent) {
    adopt(cookie, Kind::kRestarted, now, out);
    return true;
  }
  const bool ties = cookie.own_tie_tag != 0 && cookie.own_tie_tag == terms_.own_tag && cookie.peer_tie_tag != 0 &&
                    cookie.peer_tie_tag == terms_.peer_tag;
  if (!own && !peer && ties) {  // A
    if (state_ == State::kShutdownAckSent) {
      send_shutdown_ack(now, out);
      out.cause(to_peer(), ChunkType::kError, SctpCause::kCookieWhileShuttingDown, {});
      return false;
    }
    adopt(cookie, Kind::kRestarted, now, out);
    return true;
  }
  ++endpoint_.counters_.unmatched_cookies;  // C, and everything else
  return false;
}

void Setup::on_data(const Chunk& chunk, Outcome& out) {
  if (state_ != State::kEstablished && state_ != State::kShutdownPending && state_ != State::kShutdownSent) {
    return unexpected();
  }
  if (!wire::SctpData::parse(chunk.value)) {
    ++endpoint_.counters_.malformed;
    return;
  }
  answer_data_ = state_ == State::kShutdownSent;
  out.pass(chunk);
}

void Setup::on_sack(const Chunk& chunk, Outcome& out) {
  if (state_ != State::kEstablished && state_ != State::kShutdownPending && state_ != State::kShutdownReceived) {
    return unexpected();
  }
  if (!wire::SctpSackView::parse(chunk.value)) {
    ++endpoint_.counters_.malformed;
    return;
  }
  out.pass(chunk);
}

void Setup::on_heartbeat(const Chunk& chunk, Outcome& out) {
  if (state_ == State::kCookieWait) return unexpected();
  if (first_cause(chunk.value).type != static_cast<std::uint16_t>(SctpParameterType::kHeartbeatInfo)) {
    ++endpoint_.counters_.malformed;
    return;
  }
  out.chunk(to_peer(), ChunkType::kHeartbeatAck, chunk.value);
}

void Setup::on_heartbeat_ack(const Chunk& chunk, Cycle now, Outcome& out) {
  const SctpItem info = first_cause(chunk.value);
  const bool ours = info.type == static_cast<std::uint16_t>(SctpParameterType::kHeartbeatInfo) &&
                    info.value.size() == kNonceBytes && load_be64(info.value.data()) == heartbeat_nonce_;
  if (!heartbeat_out_ || !ours) return unexpected();
  heartbeat_out_ = false;
  missed_ = 0;
  out.rtt = now - heartbeat_at_;
}

void Setup::on_abort(const Chunk& chunk, Outcome& out) {
  const SctpItem cause = first_cause(chunk.value);
  out.drop_packet();
  close(out);
  tell(Kind::kAborted, out, cause.type, cause.value);
}

void Setup::on_error(const Chunk& chunk, Cycle now, Outcome& out) {
  const SctpItem cause = first_cause(chunk.value);
  if (cause.type == 0) {
    ++endpoint_.counters_.malformed;
    return;
  }
  if (cause.type != static_cast<std::uint16_t>(SctpCause::kStaleCookie)) {
    if (state_ == State::kCookieWait) return unexpected();
    return tell(Kind::kPeerError, out, cause.type, cause.value);
  }
  if (state_ != State::kCookieEchoed) return unexpected();
  // Section 5.2.6: another INIT, which asks for a longer cookie lifetime, by the time that this cookie was too late.
  if (cause.value.size() < sizeof(std::uint32_t)) {
    ++endpoint_.counters_.malformed;
    return;
  }
  stop(SetupTimer::kT1Cookie, out);
  if (stale_ == endpoint_.limits_.max_init_retries) {
    out.chunk(to_peer(), ChunkType::kAbort);
    return fail(SctpCause::kStaleCookie, out);
  }
  ++stale_;
  retries_ = 0;
  terms_.peer_tag = 0;
  state_ = State::kCookieWait;
  out.drop_packet();
  send_init(now, out, load_be32(cause.value.data()) / 1000 + 1);
}

// Section 9.2.
void Setup::on_shutdown(const Chunk& chunk, Cycle now, Outcome& out) {
  if (chunk.value.size() < sizeof(std::uint32_t)) {
    ++endpoint_.counters_.malformed;
    return;
  }
  switch (state_) {
    case State::kEstablished:
    case State::kShutdownPending:
      state_ = State::kShutdownReceived;
      tell(Kind::kPeerShutdown, out);
      [[fallthrough]];
    case State::kShutdownReceived:
      out.pass(chunk);
      return;
    case State::kShutdownSent:  // they crossed
      state_ = State::kShutdownAckSent;
      retries_ = 0;
      return send_shutdown_ack(now, out);
    default:
      return unexpected();
  }
}

}  // namespace rnic::sctp
