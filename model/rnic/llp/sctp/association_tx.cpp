// What an association sends: messages, SACKs; and the credit of the segmenter.
#include <algorithm>
#include <cstring>
#include <utility>

#include "model/rnic/llp/sctp/association.h"
#include "model/rnic/llp/sctp/packet.h"
#include "model/rnic/llp/sctp/packet_contents.h"
#include "model/wire/ddp_session.h"

namespace rnic::sctp {

using wire::SctpChunkType;

namespace {

constexpr std::uint32_t padded(std::uint32_t octets) { return static_cast<std::uint32_t>(wire::sctp_padded(octets)); }
// Octets of a message's DATA chunk, with header and pad: its share of the congestion window, and of the credit.
constexpr std::uint32_t chunk_octets(std::uint32_t user_data) {
  return static_cast<std::uint32_t>(wire::SctpData::chunk_bytes(user_data));
}

}  // namespace

// ---- Messages

void Association::send_segment(Ulpdu&& u) {
  const std::uint16_t stream = e_.stream_of(u.flow);
  const auto bytes = static_cast<std::uint16_t>(u.bytes + wire::kDdpSsnBytes);
  StreamContext& s = c_.stream[stream];
  if (!s.open || s.credit < chunk_octets(bytes)) {
    ++e_.counters.late_ulpdus;  // of a session that is over
    e_.give_back(u.flow, chunk_octets(bytes));
    return;
  }
  s.credit -= chunk_octets(bytes);
  s.held += chunk_octets(bytes);
  SentMessage m;
  m.buf = std::move(u.buf);
  m.offset = Ulpdu::kOffset - wire::kDdpSsnBytes;
  m.ppid = wire::kPpidDdpSegment;
  m.bytes = bytes;
  m.stream = stream;
  m.completes_wqe = u.completes_wqe;
  queue(std::move(m));
}

void Association::send_control(std::uint16_t stream, ByteSpan message) {
  SentMessage m;
  m.buf = e_.pool.take(e_.owner(id_));
  std::memcpy(m.buf->bytes() + Ulpdu::kOffset, message.data(), message.size());
  m.offset = Ulpdu::kOffset - wire::kDdpSsnBytes;
  m.ppid = wire::kPpidDdpSession;
  m.bytes = static_cast<std::uint16_t>(message.size() + wire::kDdpSsnBytes);
  m.stream = stream;
  // Nothing follows the end of a session: segments of a queue pair that was flushed may still be on their way.
  const auto code = static_cast<wire::SessionCode>(message.size() < 2 ? 0 : load_be16(message.data()));
  if (code == wire::SessionCode::kTerminate && c_.stream[stream].open) close(stream);
  e_.keep(flow_of(stream), chunk_octets(m.bytes));
  queue(std::move(m));
}

// Nothing of it is kept any more: all that is acknowledged has been taken out before.
unsigned Association::forget_sent() {
  unsigned messages = 0;
  const auto forget = [this, &messages](std::uint32_t slot) {
    const SentMessage& m = e_.sent[slot];
    e_.give_back(flow_of(m.stream), chunk_octets(m.bytes));
    ++messages;
  };
  c_.sender.abandon();
  while (const auto message = c_.sender.take_released()) {
    forget(message->handle.v);
    e_.sent.give_back(message->handle.v);
  }
  for (std::uint32_t slot = c_.backlog.head; slot != llp::kNil; slot = e_.sent[slot].next) forget(slot);
  c_.backlog.clear(e_.sent);
  return messages;
}

void Association::queue(SentMessage&& message) {
  ++e_.counters.messages;
  const std::uint32_t slot = e_.sent.take();
  e_.sent[slot] = std::move(message);
  c_.backlog.append(e_.sent, slot);
  push_backlog();
}

void Association::push_backlog() {
  while (!c_.backlog.empty() && push(SentId{c_.backlog.head})) {
    SentMessage& m = e_.sent[c_.backlog.head];
    c_.backlog.head = std::exchange(m.next, llp::kNil);
    if (c_.backlog.head == llp::kNil) c_.backlog.tail = llp::kNil;
  }
  set_timers();
  e_.sends.push(id_);
}

// It gets its number when SCTP accepts it. False: it has to wait.
bool Association::push(SentId message) {
  SentMessage& m = e_.sent[message.v];
  if (c_.sender.full()) return false;
  const auto ssn = c_.streams.take_ssn(m.stream, m.ppid == wire::kPpidDdpSession);
  if (!ssn) return false;
  store_be16(m.buf->bytes() + m.offset, *ssn);
  RNIC_CHECK(c_.sender.push({message, m.ppid, m.bytes, m.stream, false}, e_.now()));
  return true;
}

// A SACK, or a SHUTDOWN, which acknowledges as well.
void Association::on_sack(const PassedChunk& chunk) {
  SackOutcome o;
  if (chunk.type == SctpChunkType::kShutdown) {
    o = c_.sender.on_shutdown(load_be32(chunk.value.data()), e_.now());
  } else {
    const auto sack = wire::SctpSackView::parse(chunk.value);
    e_.charge(Cycle{sack->header.gap_blocks} * e_.config.gap_cycles);
    o = c_.sender.on_sack(*sack, e_.now());
  }
  if (o.verdict == SackVerdict::kNeverSent) return abort(wire::SctpCause::kProtocolViolation);
  if (o.verdict == SackVerdict::kOld) return;
  e_.counters.fast_retransmits += o.fast_retransmit;
  c_.setup.set_rto(c_.sender.rto());
  if (o.acked != 0) c_.setup.data_acknowledged(e_.now());
  take_released();
  push_backlog();
  grant_all();
}

void Association::take_released() {
  while (const auto released = c_.sender.take_released()) {
    const SentMessage& m = e_.sent[released->handle.v];
    StreamContext& s = c_.stream[m.stream];
    e_.give_back(flow_of(m.stream), chunk_octets(m.bytes));
    if (c_.streams.acknowledged(m.stream)) {
      tell<fw::SctpAcked>(m.stream);
    } else {
      s.held -= chunk_octets(m.bytes);
      if (m.completes_wqe) {
        ++s.wqes_acked;
        e_.acks.push(e_.index_of(id_, m.stream));
      }
    }
    e_.sent.give_back(released->handle.v);
  }
}

// ---- Packets

std::optional<SctpPacket> Association::next_packet() {
  if (!c_.in_service || c_.ddp_streams == 0) return std::nullopt;
  const auto [data, sack] = next_contents(c_.setup, c_.sender, c_.receiver);
  if (data + sack == 0) return std::nullopt;
  e_.packet.chunks.clear();
  e_.packet.resend = Resend::kNo;
  e_.packet.beyond_path_mtu = false;
  if (data != 0 && !c_.sender.next(e_.now(), data, e_.packet) && sack == 0) return std::nullopt;

  SentMessage* const m = e_.packet.chunks.size() == 1 ? &e_.sent[e_.packet.chunks[0].handle.v] : nullptr;
  const bool fresh = m != nullptr && !m->sent && e_.packet.chunks[0].bytes == m->bytes;
  const std::uint32_t before = kLowerHeaderBytes + wire::SctpHeader::kBytes + sack + kDataHeaderBytes;
  SctpPacket packet = fresh && before <= m->offset ? in_place(*m, e_.packet.chunks[0], sack) : copied(sack);
  set_timers();
  return packet;
}

void Association::write_sack(wire::SctpWriter& to, std::uint32_t sack) {
  if (sack == 0) return;
  c_.receiver.write_sack(e_.receiver_settings, to, sack);
  ++e_.counters.sacks;
}

// Headers go in front of the message, in its buffer, which the frame shares.
SctpPacket Association::in_place(SentMessage& m, const DataChunk& chunk, std::uint32_t sack) {
  const std::uint32_t header = static_cast<std::uint32_t>(wire::SctpHeader::kBytes) + sack;
  const std::uint32_t offset = m.offset - kDataHeaderBytes - header;
  const Ends& ends = c_.setup.ends();
  wire::SctpWriter writer({m.buf->bytes() + offset, header}, {ends.port, ends.peer_port, c_.setup.terms().peer_tag});
  write_sack(writer, sack);
  RNIC_CHECK(writer.finish() == header);
  write_data_header(chunk, m.buf->bytes() + m.offset - kDataHeaderBytes);
  std::memset(m.buf->bytes() + m.offset + m.bytes, 0, padded(m.bytes) - m.bytes);
  m.sent = true;
  return {m.buf, offset, static_cast<std::uint16_t>(header + chunk_octets(m.bytes)), ends.peer_ip, c_.peer_mac};
}

// A retransmission, a piece, or no message at all: the frame that has the octets may still be on its way.
SctpPacket Association::copied(std::uint32_t sack) {
  const bool data = !e_.packet.chunks.empty();
  BufferRef buf =
      data ? e_.pool.take_like(e_.sent[e_.packet.chunks[0].handle.v].buf.get()) : e_.pool.take(e_.owner(id_));
  std::uint8_t* const begin = buf->bytes() + kFrameHeadroom;
  const std::uint32_t header = static_cast<std::uint32_t>(wire::SctpHeader::kBytes) + sack;
  const Ends& ends = c_.setup.ends();
  wire::SctpWriter writer({begin, header}, {ends.port, ends.peer_port, c_.setup.terms().peer_tag});
  write_sack(writer, sack);
  RNIC_CHECK(writer.finish() == header);
  std::uint8_t* at = begin + header;
  for (const DataChunk& chunk : e_.packet.chunks) {
    SentMessage& m = e_.sent[chunk.handle.v];
    m.sent = true;
    at = write_data(chunk, m.buf->bytes() + m.offset, at);
  }
  return {std::move(buf),   kFrameHeadroom,           static_cast<std::uint16_t>(at - begin), ends.peer_ip, c_.peer_mac,
          e_.packet.resend, e_.packet.beyond_path_mtu};
}

// ---- Credit

// Of a stream: an equal share, among the open streams, of what the windows allow the association to have in flight plus
// a few waiting chunks. Without those the congestion window would never be full, and would not grow (RFC 9260 section
// 7.2.1), and a SACK would find nothing to send. One full chunk in any case.
std::uint32_t Association::share() const {
  constexpr std::uint32_t kWaiting = 8;
  const std::uint32_t window =
      std::min(c_.sender.cwnd(), c_.sender.peer_window() + c_.sender.flight()) + kWaiting * c_.sender.pmdcs();
  return std::max(window / std::max<std::uint32_t>(c_.open, 1), c_.sender.pmdcs());
}

// The octets that a stream may be given.
std::uint32_t Association::grantable(const StreamContext& s) const {
  const std::uint32_t part = share(), used = s.credit + s.held;
  return part > used ? part - used : 0;
}

// For observers. Credit is granted ahead, so a share is used up when no other chunk fits behind what was handed over.
void Association::show_windows() {
  for (std::uint32_t s = 0; s < c_.stream.size(); ++s) {
    const StreamIndex stream = e_.index_of(id_, s);
    if (!c_.stream[s].open) {
      e_.windows.forget(stream);
      continue;
    }
    const FlowId flow = e_.flow_of(stream);
    e_.windows.look({stream, flow, e_.qps[flow].qpn}, c_.sender, c_.stream[s].held + c_.sender.pmdcs() > share());
  }
}

void Association::grant_all() {
  for (std::uint32_t s = 0; s < c_.stream.size(); ++s) {
    if (c_.stream[s].open) e_.credits.push(e_.index_of(id_, s));
  }
}

}  // namespace rnic::sctp
