#include "model/capture/replay/sctp_endpoint.h"

#include <algorithm>
#include <utility>

#include "model/capture/replay/session_octets.h"
#include "model/common/check.h"
#include "model/common/sctp_checksum.h"
#include "model/wire/ddp_session.h"
#include "model/wire/fpdu_view.h"
#include "model/wire/tcp.h"

namespace rnic::replay {

using wire::SctpChunk;
using wire::SctpChunkType;
using wire::SctpData;
using wire::SessionCode;

namespace {

constexpr std::uint16_t kStream = 0;  // first stream of the side that opens the association
constexpr std::uint32_t kWindow = 1u << 20;
constexpr std::size_t kPacketBytes = 16384;
constexpr std::uint8_t kWhole = SctpData::kBegin | SctpData::kEnd;
// This endpoint trusts its peer and keeps state from the INIT on.
constexpr std::uint8_t kCookie[] = {'r', 'e', 'p', 'l', 'a', 'y', 0, 0};

bool parameter(const SctpChunk& init, wire::SctpParameterType type, ByteSpan& value) {
  wire::SctpItems items(wire::SctpInit::parameters(init.value));
  while (const auto item = items.next()) {
    if (item->type != static_cast<std::uint16_t>(type)) continue;
    value = item->value;
    return true;
  }
  return false;
}

}  // namespace

SctpEndpoint::SctpEndpoint(const Config& config, Emit emit, Deliver deliver)
    : config_(config),
      emit_(std::move(emit)),
      deliver_(std::move(deliver)),
      peer_port_(config.peer_port),
      packet_(kPacketBytes) {}

void SctpEndpoint::open() {
  opener_ = true;
  state_ = State::kCookieWait;
  put_step();
}

void SctpEndpoint::listen() { state_ = State::kListen; }
void SctpEndpoint::refuse() { state_ = State::kRefuse; }

void SctpEndpoint::abort() {
  if (state_ >= State::kCookieWait && !over() && peer_tag_ != 0) put_chunk(SctpChunkType::kAbort);
  state_ = State::kOver;
}

// ---- Messages

void SctpEndpoint::send(ByteSpan octets) {
  while (!octets.empty()) {
    std::size_t taken = 0;
    if (octets_ == 0) {
      taken = wire::mpa_frame_bytes(octets).value_or(0);
      RNIC_CHECK(taken != 0 && taken <= octets.size());
      octets_ = taken;
      queue_startup(octets.subspan(0, taken));
    } else {
      const auto fpdu = wire::FpduView::parse(octets, 0, false);
      RNIC_CHECK(fpdu.has_value());
      taken = fpdu->octets().size();
      octets_ += taken;
      std::vector<std::uint8_t> user_data(wire::kDdpSsnBytes + fpdu->ulpdu_bytes());
      fpdu->copy_ulpdu(MutableByteSpan(user_data).subspan(wire::kDdpSsnBytes));
      queue(wire::kPpidDdpSegment, std::move(user_data));
    }
    octets = octets.subspan(taken);
  }
}

// Writes the fields one by one, as a captured Enhanced Reject may lack its IRD/ORD word.
void SctpEndpoint::queue_startup(ByteSpan frame) {
  const auto message = session_message(frame, config_.startup);
  RNIC_CHECK(message.has_value());
  std::vector<std::uint8_t> user_data(message->bytes());
  store_be16(&user_data[wire::kDdpSsnBytes], static_cast<std::uint16_t>(message->code));
  std::size_t at = wire::SessionMessage::kHeaderBytes;
  if (message->enhanced) at += message->enhanced->emit(MutableByteSpan(user_data).subspan(at));
  std::copy(message->private_data.begin(), message->private_data.end(),
            user_data.begin() + static_cast<std::ptrdiff_t>(at));
  rejected_ = rejected_ || is_reject(message->code);
  queue(wire::kPpidDdpSession, std::move(user_data));
}

void SctpEndpoint::close() {
  if (std::exchange(closing_, true) || rejected_) return;
  constexpr auto kTerminate = static_cast<std::uint8_t>(SessionCode::kTerminate);
  queue(wire::kPpidDdpSession, {0, 0, 0, kTerminate});
}

void SctpEndpoint::queue(std::uint32_t ppid, std::vector<std::uint8_t> user_data) {
  store_be16(user_data.data(), next_ssn());
  queue_.push_back({ppid, std::move(user_data), octets_});
}

// True once neither side has anything left to send.
bool SctpEndpoint::session_over() const { return closing_ && acked_ == queue_.size() && (terminated_ || rejected_); }

// ---- Receiving

bool SctpEndpoint::packet(std::uint8_t protocol, ByteSpan octets, std::uint64_t now_ps) {
  if (protocol != wire::kIpProtocolSctp) return false;
  const auto header = wire::SctpHeader::parse(octets);
  if (!header || header->dst_port != config_.port) return false;
  if (octets.size() % wire::kSctpAlign != 0 ||
      load_crc32c(octets.data() + kSctpChecksumOffset) != sctp_checksum(octets)) {
    return true;
  }
  wire::SctpChunks chunks(octets.subspan(wire::SctpHeader::kBytes));
  while (const auto chunk = chunks.next()) take(*header, *chunk, now_ps);
  if (chunks.malformed()) wrong("a chunk whose length is wrong");
  if (std::exchange(sack_due_, false) && !over()) {
    put([this](wire::SctpWriter& w) {
      w.begin(SctpChunkType::kSack);
      w.put(wire::SctpSack{rcv_next_ - 1, kWindow, 0, 0});
    });
  }
  return true;
}

void SctpEndpoint::take(const wire::SctpHeader& header, const SctpChunk& chunk, std::uint64_t now_ps) {
  if (over() || state_ == State::kClosed) return;
  if (chunk.type == SctpChunkType::kInit) return take_init(header, chunk);
  // Without T the tag must be this side's own.
  const bool reflected = (chunk.flags & SctpChunk::kTagReflected) != 0;
  if (header.verification_tag != config_.tag && !(reflected && header.verification_tag == peer_tag_)) return;
  switch (chunk.type) {
    case SctpChunkType::kInitAck: {
      const auto init = wire::SctpInit::parse(chunk.value);
      ByteSpan cookie;
      if (state_ != State::kCookieWait || !init) return;
      if (!parameter(chunk, wire::SctpParameterType::kStateCookie, cookie))
        return wrong("an INIT ACK without a cookie");
      peer_tag_ = init->initiate_tag;
      rcv_next_ = init->initial_tsn;
      window_ = init->a_rwnd;
      cookie_.assign(cookie.begin(), cookie.end());
      state_ = State::kCookieEchoed;
      return put_step();
    }
    case SctpChunkType::kCookieEcho:
      if (!std::equal(chunk.value.begin(), chunk.value.end(), std::begin(kCookie), std::end(kCookie))) return;
      if (state_ == State::kListen) state_ = State::kEstablished;
      return put_chunk(SctpChunkType::kCookieAck);
    case SctpChunkType::kCookieAck:
      if (state_ == State::kCookieEchoed) state_ = State::kEstablished;
      progress_ps_ = now_ps;
      return;
    case SctpChunkType::kData:
      return take_data(chunk);
    case SctpChunkType::kSack:
      if (const auto sack = wire::SctpSackView::parse(chunk.value)) {
        window_ = sack->header.a_rwnd;
        acknowledged(sack->header.cumulative_tsn, now_ps);
      }
      return;
    case SctpChunkType::kHeartbeat:
      return put_chunk(SctpChunkType::kHeartbeatAck, chunk.value);
    case SctpChunkType::kShutdown:
      if (chunk.value.size() >= 4) acknowledged(load_be32(chunk.value.data()), now_ps);
      state_ = State::kShutdownAckSent;
      progress_ps_ = now_ps;
      return put_step();
    case SctpChunkType::kShutdownAck:
      put_chunk(SctpChunkType::kShutdownComplete);
      state_ = State::kOver;
      return;
    case SctpChunkType::kAbort:
      refused_ = state_ == State::kCookieWait || state_ == State::kCookieEchoed;
      state_ = State::kOver;
      return;
    case SctpChunkType::kShutdownComplete:
      state_ = State::kOver;
      return;
    case SctpChunkType::kError:
      return wrong("an ERROR chunk");
    default:
      return wrong("a chunk of another type");
  }
}

void SctpEndpoint::take_init(const wire::SctpHeader& header, const SctpChunk& chunk) {
  const auto init = wire::SctpInit::parse(chunk.value);
  if (!init || (state_ != State::kListen && state_ != State::kRefuse)) return;
  peer_port_ = header.src_port;
  peer_tag_ = init->initiate_tag;
  rcv_next_ = init->initial_tsn;
  window_ = init->a_rwnd;
  if (state_ == State::kRefuse) {
    put_chunk(SctpChunkType::kAbort);
    state_ = State::kOver;
    return;
  }
  ByteSpan adaptation;
  if (!parameter(chunk, wire::SctpParameterType::kAdaptationIndication, adaptation) || adaptation.size() != 4 ||
      load_be32(adaptation.data()) != wire::kDdpAdaptation) {
    wrong("an INIT without the adaptation indication of DDP");
  }
  put_step();
}

// Takes chunks in order only; otherwise the SACK tells the peer what is missing.
void SctpEndpoint::take_data(const SctpChunk& chunk) {
  const auto data = SctpData::parse(chunk.value);
  if (!data || (state_ != State::kEstablished && state_ != State::kShutdownSent)) return;
  sack_due_ = true;
  if (data->tsn != rcv_next_) return;
  ++rcv_next_;
  const unsigned flags = chunk.flags & ~unsigned{SctpData::kImmediate};
  const ByteSpan user_data = SctpData::user_data(chunk.value);
  if (flags != (kWhole | SctpData::kUnordered)) return wrong("DATA that is ordered, or in pieces");
  if (data->stream != kStream) return wrong("DATA on another stream");
  if (user_data.size() < wire::kDdpSsnBytes || load_be16(user_data.data()) != expected_ssn_) return wrong("a DDP-SSN");
  ++expected_ssn_;
  if (terminated_) return wrong("DATA behind the session Terminate");
  take_message(data->ppid, user_data);
}

void SctpEndpoint::take_message(std::uint32_t ppid, ByteSpan user_data) {
  if (ppid == wire::kPpidDdpSession) return take_control(user_data);
  if (ppid != wire::kPpidDdpSegment) return wrong("a payload protocol identifier");
  std::vector<std::uint8_t> octets;
  append_fpdu(user_data.subspan(wire::kDdpSsnBytes), octets);
  deliver_(octets);
}

void SctpEndpoint::take_control(ByteSpan user_data) {
  const wire::SessionDecode decoded = wire::decode_session_message(user_data, true);
  if (decoded.error != wire::SessionError::kNone) return wrong("a session control message that cannot be read");
  terminated_ = decoded.message.code == SessionCode::kTerminate;
  if (terminated_) return;
  rejected_ = rejected_ || is_reject(decoded.message.code);
  std::vector<std::uint8_t> octets;
  append_startup(decoded.message, octets);
  deliver_(octets);
}

void SctpEndpoint::acknowledged(std::uint32_t cumulative_tsn, std::uint64_t now_ps) {
  const std::uint32_t up_to = cumulative_tsn - config_.tsn + 1;  // messages
  if (up_to <= acked_ || up_to > queue_.size()) return;
  acked_ = up_to;
  sent_ = std::max(sent_, acked_);
  progress_ps_ = now_ps;
}

void SctpEndpoint::wrong(const char* what) {
  if (error_.empty()) error_ = std::string("SCTP: ") + what;
}

// ---- Sending

void SctpEndpoint::advance(std::uint64_t now_ps) {
  if (over() || state_ <= State::kRefuse) return;
  const bool waiting = state_ != State::kEstablished || acked_ < sent_;
  if (!waiting || progress_ps_ == 0) progress_ps_ = now_ps;
  if (waiting && now_ps - progress_ps_ >= kRetransmitPs) {
    progress_ps_ = now_ps;
    sent_ = acked_;
    put_step();
  }
  if (state_ != State::kEstablished) return;
  std::size_t flight = 0;
  for (std::size_t n = acked_; n < sent_; ++n) flight += queue_[n].user_data.size();
  for (; sent_ < queue_.size(); ++sent_) {
    flight += queue_[sent_].user_data.size();
    if (flight > window_ && acked_ < sent_) return;
    put_data(sent_);
  }
  if (!opener_ || !session_over()) return;
  state_ = State::kShutdownSent;
  progress_ps_ = now_ps;
  put_step();
}

// Sends the chunk whose answer the state waits for.
void SctpEndpoint::put_step() {
  switch (state_) {
    case State::kListen:
    case State::kCookieWait:
      return put([this](wire::SctpWriter& w) {
        w.begin(state_ == State::kListen ? SctpChunkType::kInitAck : SctpChunkType::kInit);
        w.put(wire::SctpInit{config_.tag, kWindow, 1, 1, config_.tsn});
        std::uint8_t adaptation[4];
        store_be32(adaptation, wire::kDdpAdaptation);
        if (state_ == State::kListen)
          w.item(static_cast<std::uint16_t>(wire::SctpParameterType::kStateCookie), kCookie);
        w.item(static_cast<std::uint16_t>(wire::SctpParameterType::kAdaptationIndication), adaptation);
      });
    case State::kCookieEchoed:
      return put_chunk(SctpChunkType::kCookieEcho, cookie_);
    case State::kShutdownSent: {
      std::uint8_t cumulative[4];
      store_be32(cumulative, rcv_next_ - 1);
      return put_chunk(SctpChunkType::kShutdown, cumulative);
    }
    case State::kShutdownAckSent:
      return put_chunk(SctpChunkType::kShutdownAck);
    default:
      return;
  }
}

template <class Fill>
void SctpEndpoint::put(Fill fill) {
  wire::SctpWriter writer(packet_, {config_.port, peer_port_, peer_tag_});
  fill(writer);
  const std::size_t bytes = writer.finish();
  RNIC_CHECK(bytes != 0);
  const ByteSpan whole(packet_.data(), bytes);
  store_crc32c(&packet_[kSctpChecksumOffset], sctp_checksum(whole));
  emit_(whole);
}

void SctpEndpoint::put_chunk(SctpChunkType type, ByteSpan value) {
  put([&](wire::SctpWriter& w) {
    w.begin(type);
    w.put(value);
  });
}

void SctpEndpoint::put_data(std::size_t n) {
  put([&](wire::SctpWriter& w) {
    w.begin(SctpChunkType::kData, kWhole | SctpData::kUnordered);
    w.put(SctpData{config_.tsn + static_cast<std::uint32_t>(n), kStream, 0, queue_[n].ppid});
    w.put(queue_[n].user_data);
  });
}

}  // namespace rnic::replay
