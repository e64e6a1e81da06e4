#include "model/rnic/llp/sctp/endpoint.h"

#include <algorithm>

#include "model/common/prng.h"
#include "model/rnic/llp/rto.h"

namespace rnic::sctp {

using wire::SctpCause;
using wire::SctpChunk;
using wire::SctpChunks;
using wire::SctpChunkType;
using wire::SctpItems;
using wire::SctpParameterType;

namespace {

constexpr std::uint8_t kNoDdp[] = {'n', 'o', ' ', 'D', 'D', 'P'};
constexpr std::uint16_t kLastNamed = static_cast<std::uint16_t>(SctpParameterType::kSupportedAddressTypes);

bool holds_stale_cookie(const SctpChunk& error) {
  SctpItems causes(error.value);
  while (const auto cause = causes.next()) {
    if (cause->type == static_cast<std::uint16_t>(SctpCause::kStaleCookie)) return true;
  }
  return false;
}

// The addresses that a peer lists in addition to the one in use, as whole parameters.
template <class F>
void each_address(const InitView& view, std::uint32_t source_ip, F&& visit) {
  SctpItems items(view.parameters);
  while (const auto item = items.next()) {
    const bool v4 = item->type == static_cast<std::uint16_t>(SctpParameterType::kIpv4Address);
    const bool v6 = item->type == static_cast<std::uint16_t>(SctpParameterType::kIpv6Address);
    if (v4 && item->value.size() == sizeof source_ip && load_be32(item->value.data()) == source_ip) continue;
    if (v4 || v6) visit(item->whole);
  }
}

}  // namespace

std::optional<Received> Received::parse(ByteSpan packet, std::uint32_t source_ip, bool unicast) {
  const auto header = wire::SctpHeader::parse(packet);
  if (!header || header->src_port == 0 || header->dst_port == 0) return std::nullopt;
  return Received{
      *header, {source_ip, header->dst_port, header->src_port}, packet.subspan(wire::SctpHeader::kBytes), unicast};
}

bool Received::alone() const {
  SctpChunks list(chunks);
  list.next();
  return !list.next() && !list.malformed();
}

std::optional<InitView> InitView::parse(ByteSpan value) {
  InitView view;
  const auto init = wire::SctpInit::parse(value);
  if (!init) return std::nullopt;
  view.init = *init;
  view.parameters = wire::SctpInit::parameters(value);
  SctpItems items(view.parameters);
  bool ended = false;  // the rest is only parsed for its lengths
  while (const auto item = items.next()) {
    if (ended) continue;
    switch (static_cast<SctpParameterType>(item->type)) {
      case SctpParameterType::kStateCookie:
        view.has_cookie = true;
        view.cookie = item->value;
        continue;
      case SctpParameterType::kCookiePreservative:
        if (item->value.size() == sizeof(std::uint32_t)) view.preservative_ms = load_be32(item->value.data());
        continue;
      case SctpParameterType::kHostName:
        view.host_name = item->whole;
        continue;
      case SctpParameterType::kAdaptationIndication:
        if (item->value.size() == sizeof(std::uint32_t)) view.adaptation = load_be32(item->value.data());
        continue;
      default:
        break;
    }
    if (item->type <= kLastNamed) continue;  // not used here, but known
    if (wire::unknown_parameter_is_reported(item->type) && view.reports_used < kMaxReports) {
      view.reports[view.reports_used++] = item->whole;
    }
    ended = wire::unknown_parameter_ends(item->type);
  }
  if (items.malformed()) return std::nullopt;
  return view;
}

SetupLimits::SetupLimits(const SctpConfig& config, std::uint64_t period)
    : rto_initial(llp::RtoLimits::cycles(config.rto_initial_us, period)),
      rto_max(llp::RtoLimits::cycles(config.rto_max_us, period)),
      heartbeat(config.heartbeat_us == 0 ? kNever : llp::RtoLimits::cycles(config.heartbeat_us, period)),
      cookie_life(llp::RtoLimits::cycles(config.cookie_life_us, period)),
      guard(5 * rto_max),
      max_init_retries(config.max_init_retries),
      max_retries(config.max_retries),
      streams(static_cast<std::uint16_t>(config.streams)),
      window(config.receive_buffer),
      period_ps(period) {}

Cycle SetupLimits::backed_off(Cycle rto, unsigned n) const {
  return n >= 32 ? rto_max : std::min(rto << n, std::max(rto, rto_max));
}

Endpoint::Endpoint(const SctpConfig& config, std::uint64_t period_ps, std::size_t packet_bytes, std::uint64_t seed)
    : limits_(config, period_ps),
      packet_bytes_(packet_bytes),
      cookie_key_(SipKey::of_seed(seed)),
      numbers_(SipKey::of_seed(mix64(seed + 1))) {}

void Endpoint::begin(Outcome& out) const {
  out.clear();
  out.limit(packet_bytes_);
}

// Never 0 (section 5.3.1).
std::uint32_t Endpoint::draw_tag() {
  std::uint32_t tag = 0;
  while (tag == 0) tag = static_cast<std::uint32_t>(numbers_.next());
  return tag;
}

wire::SctpInit Endpoint::init_of(const Own& own) const {
  return {own.tag, limits_.window, own.outbound, limits_.streams, own.tsn};
}

// A digest of the addresses that a peer lists in addition to the one in use, in any order; 0: none.
std::uint32_t Endpoint::address_digest(const InitView& view, std::uint32_t source_ip) const {
  std::uint32_t digest = 0;
  each_address(view, source_ip,
               [&](ByteSpan whole) { digest += static_cast<std::uint32_t>(siphash(cookie_key_, whole)); });
  return digest;
}

std::size_t Endpoint::quote_addresses(const InitView& view, std::uint32_t source_ip, MutableByteSpan out) const {
  std::size_t used = 0;
  each_address(view, source_ip, [&](ByteSpan whole) {
    if (whole.size() % wire::kSctpAlign != 0 || whole.size() > out.size() - used) return;
    std::copy(whole.begin(), whole.end(), out.data() + used);
    used += whole.size();
  });
  return used;
}

Terms Endpoint::agree(const InitView& view, const Own& own, std::uint32_t source_ip) const {
  Terms t;
  t.own_tag = own.tag;
  t.own_tsn = own.tsn;
  t.peer_tag = view.init.initiate_tag;
  t.peer_tsn = view.init.initial_tsn;
  t.peer_window = view.init.a_rwnd;
  t.adaptation = view.adaptation.value_or(0);
  t.peer_addresses = address_digest(view, source_ip);
  t.outbound = std::min(own.outbound, view.init.max_inbound_streams);
  t.inbound = std::min(limits_.streams, view.init.outbound_streams);
  return t;
}

bool Endpoint::refuse(const InitView& view, const Outcome::Header& to, Outcome& out) {
  const wire::SctpInit& i = view.init;
  if (i.a_rwnd < kLeastWindow || i.outbound_streams == 0 || i.max_inbound_streams == 0) {
    out.cause(to, SctpChunkType::kAbort, SctpCause::kInvalidParameter, {});
  } else if (!view.host_name.empty()) {
    out.cause(to, SctpChunkType::kAbort, SctpCause::kUnresolvableAddress, view.host_name);
  } else if (view.adaptation != kDdpAdaptation) {
    out.cause(to, SctpChunkType::kAbort, SctpCause::kUserInitiatedAbort, kNoDdp);
  } else {
    return false;
  }
  ++counters_.refused;
  return true;
}

void Endpoint::answer(const InitView& view, const Ends& ends, const Own& own, std::uint32_t own_tie,
                      std::uint32_t peer_tie, Cycle now, Outcome& out) {
  Cookie cookie;
  cookie.made_at = now;
  // The extension of the usual lifetime that the peer asks for, at most as much again (section 3.3.2.2).
  const Cycle more = Cycle{view.preservative_ms} * (1'000'000'000 / limits_.period_ps);
  cookie.life = limits_.cookie_life + std::min(more, limits_.cookie_life);
  cookie.ends = ends;
  cookie.terms = agree(view, own, ends.peer_ip);
  cookie.own_tie_tag = own_tie;
  cookie.peer_tie_tag = peer_tie;
  const CookieOctets octets = seal(cookie_key_, cookie);
  ++out.macs;
  std::uint8_t adaptation[sizeof kDdpAdaptation];
  store_be32(adaptation, kDdpAdaptation);
  SctpParameters parameters;
  parameters.add(SctpParameterType::kAdaptationIndication, adaptation);
  parameters.add(SctpParameterType::kStateCookie, octets);
  for (std::size_t i = 0; i < view.reports_used; ++i) {
    parameters.add(SctpParameterType::kUnrecognized, view.reports[i]);
  }
  const Outcome::Header to{ends.port, ends.peer_port, view.init.initiate_tag};
  if (out.init(to, SctpChunkType::kInitAck, init_of(own), parameters)) return;
  parameters.used = 2;  // the reports are too long for the packet
  out.init(to, SctpChunkType::kInitAck, init_of(own), parameters);
}

// Section 5.1.5, in its order: MAC, ports and tag, age.
Endpoint::CookieCheck Endpoint::check(const Received& packet, ByteSpan octets, Cycle now, Cookie& cookie) const {
  if (!unseal(cookie_key_, octets, cookie)) return CookieCheck::kForged;
  if (cookie.ends != packet.ends || cookie.terms.own_tag != packet.header.verification_tag) {
    return CookieCheck::kForged;
  }
  return now > cookie.ends_at() ? CookieCheck::kStale : CookieCheck::kGood;
}

void Endpoint::tell_stale(const Cookie& cookie, Cycle now, Outcome& out) {
  ++counters_.stale_cookies;
  const std::uint64_t us = (now - cookie.ends_at()) * limits_.period_ps / 1'000'000;
  std::uint8_t staleness[sizeof(std::uint32_t)];
  store_be32(staleness, static_cast<std::uint32_t>(std::min<std::uint64_t>(us, 0xffffffff)));
  out.cause({cookie.ends.port, cookie.ends.peer_port, cookie.terms.peer_tag}, SctpChunkType::kError,
            SctpCause::kStaleCookie, staleness);
}

std::optional<Cookie> Endpoint::receive(const Received& packet, bool listening, Cycle now, Outcome& out) {
  begin(out);
  SctpChunks chunks(packet.chunks);
  const auto first = chunks.next();
  if (!first) {
    ++counters_.malformed;
    return std::nullopt;
  }
  const Ends& ends = packet.ends;
  if (!packet.unicast || (first->type != SctpChunkType::kInit && first->type != SctpChunkType::kCookieEcho)) {
    out_of_the_blue(packet, out);
    return std::nullopt;
  }
  if (first->type == SctpChunkType::kInit) {
    if (!packet.alone() || packet.header.verification_tag != 0) {
      ++counters_.unexpected;
      return std::nullopt;
    }
    const auto view = InitView::parse(first->value);
    if (!view || view->init.initiate_tag == 0) {
      ++counters_.malformed;
      return std::nullopt;
    }
    const Outcome::Header to{ends.port, ends.peer_port, view->init.initiate_tag};
    if (!listening) {
      ++counters_.refused;
      out.chunk(to, SctpChunkType::kAbort);
    } else if (!refuse(*view, to, out)) {
      const Own own{draw_tag(), draw_tsn(), std::min(limits_.streams, view->init.max_inbound_streams)};
      answer(*view, ends, own, 0, 0, now, out);
    }
    return std::nullopt;
  }
  Cookie cookie;
  ++out.macs;
  switch (check(packet, first->value, now, cookie)) {
    case CookieCheck::kForged:
      ++counters_.forged_cookies;
      return std::nullopt;
    case CookieCheck::kStale:
      tell_stale(cookie, now, out);
      return std::nullopt;
    case CookieCheck::kGood:
      break;
  }
  if (listening) return cookie;
  ++counters_.refused;
  out.chunk({ends.port, ends.peer_port, cookie.terms.peer_tag}, SctpChunkType::kAbort);
  return std::nullopt;
}

void Endpoint::refuse(const Cookie& cookie, Outcome& out) {
  begin(out);
  ++counters_.refused;
  out.cause({cookie.ends.port, cookie.ends.peer_port, cookie.terms.peer_tag}, SctpChunkType::kAbort,
            SctpCause::kOutOfResource, {});
}

// Section 8.4, except INIT and a COOKIE ECHO that comes first. An incomplete packet is not answered.
void Endpoint::out_of_the_blue(const Received& packet, Outcome& out) {
  ++counters_.out_of_the_blue;
  if (!packet.unicast) return;
  bool silent = false, shutdown_ack = false;
  SctpChunks chunks(packet.chunks);
  while (const auto chunk = chunks.next()) {
    switch (chunk->type) {
      case SctpChunkType::kAbort:
        return;
      case SctpChunkType::kShutdownAck:
        shutdown_ack = true;
        break;
      case SctpChunkType::kShutdownComplete:
      case SctpChunkType::kCookieAck:
        silent = true;
        break;
      case SctpChunkType::kError:
        silent = silent || holds_stale_cookie(*chunk);
        break;
      default:
        break;
    }
  }
  if (chunks.malformed()) {
    ++counters_.malformed;
    return;
  }
  if (silent && !shutdown_ack) return;
  out.chunk({packet.ends.port, packet.ends.peer_port, packet.header.verification_tag},
            shutdown_ack ? SctpChunkType::kShutdownComplete : SctpChunkType::kAbort, {}, SctpChunk::kTagReflected);
}

}  // namespace rnic::sctp
