// Sending: messages, SACKs, the answers of set-up; and the credit of the segmenter.
#include <algorithm>
#include <cstring>

#include "model/rnic/llp/sctp/packet.h"
#include "model/rnic/llp/sctp/sctp_association.h"

namespace rnic {

using sctp::DataChunk;
using sctp::SentMessage;
using wire::SctpChunkType;
using State = sctp::Setup::State;

namespace {

constexpr std::uint32_t kDataHeaderBytes = wire::SctpChunk::kHeaderBytes + wire::SctpData::kBytes;

constexpr std::uint32_t padded(std::uint32_t octets) { return static_cast<std::uint32_t>(wire::sctp_padded(octets)); }
// Octets of a message's DATA chunk, with header and pad: its share of the congestion window, and of the credit.
constexpr std::uint32_t chunk_octets(std::uint32_t user_data) {
  return static_cast<std::uint32_t>(wire::SctpData::chunk_bytes(user_data));
}

}  // namespace

// ---- Messages

void SctpAssociation::take_ulpdu() {
  Ulpdu u = in->pop();
  const std::uint32_t association = association_of(u.flow);
  const std::uint16_t stream = stream_of(u.flow);
  const auto bytes = static_cast<std::uint16_t>(u.bytes + wire::kDdpSsnBytes);
  const sctp::StreamContext* const there = contexts_[association] ? &context(association).stream[stream] : nullptr;
  if (there == nullptr || !there->open || there->credit < chunk_octets(bytes)) {
    ++counters_.late_ulpdus;  // of a session that is over
    return;
  }
  sctp::StreamContext& s = context(association).stream[stream];
  s.credit -= chunk_octets(bytes);
  s.held += chunk_octets(bytes);
  SentMessage m;
  m.buf = std::move(u.buf);
  m.offset = Ulpdu::kOffset - wire::kDdpSsnBytes;
  m.ppid = wire::kPpidDdpSegment;
  m.bytes = bytes;
  m.stream = stream;
  m.completes_wqe = u.completes_wqe;
  queue(association, std::move(m));
}

void SctpAssociation::send_control(const fw::SctpSend& o, const BufferRef& octets) {
  const std::uint32_t association = association_of(o.flow);
  SentMessage m;
  m.buf = pool_.take(owner(association));
  std::memcpy(m.buf->bytes() + Ulpdu::kOffset, octets->bytes(), o.octets.bytes);
  m.offset = Ulpdu::kOffset - wire::kDdpSsnBytes;
  m.ppid = wire::kPpidDdpSession;
  m.bytes = static_cast<std::uint16_t>(o.octets.bytes + wire::kDdpSsnBytes);
  m.stream = stream_of(o.flow);
  // Nothing follows the end of a session: segments of a queue pair that was flushed may still be on their way.
  const auto code = static_cast<wire::SessionCode>(o.octets.bytes < 2 ? 0 : load_be16(octets->bytes()));
  sctp::StreamContext& s = context(association).stream[m.stream];
  if (code == wire::SessionCode::kTerminate && std::exchange(s.open, false)) --context(association).open;
  queue(association, std::move(m));
}

void SctpAssociation::queue(std::uint32_t association, SentMessage&& message) {
  Context& c = context(association);
  ++counters_.messages;
  const std::uint32_t slot = sent_.take();
  sent_[slot] = std::move(message);
  c.backlog.append(sent_, slot);
  push_backlog(association);
}

void SctpAssociation::push_backlog(std::uint32_t association) {
  Context& c = context(association);
  while (!c.backlog.empty() && push(association, c.backlog.head)) {
    SentMessage& m = sent_[c.backlog.head];
    c.backlog.head = std::exchange(m.next, llp::kNil);
    if (c.backlog.head == llp::kNil) c.backlog.tail = llp::kNil;
  }
  set_timers(association);
  sends_.push(FlowId{association});
}

// It gets its number when SCTP accepts it. False: it has to wait.
bool SctpAssociation::push(std::uint32_t association, std::uint32_t message) {
  Context& c = context(association);
  SentMessage& m = sent_[message];
  if (c.sender.full()) return false;
  const auto ssn = c.streams.take_ssn(m.stream, m.ppid == wire::kPpidDdpSession);
  if (!ssn) return false;
  store_be16(m.buf->bytes() + m.offset, *ssn);
  RNIC_CHECK(c.sender.push({message, m.ppid, m.bytes, m.stream, false}, now()));
  return true;
}

// A SACK, or a SHUTDOWN, which acknowledges as well.
void SctpAssociation::on_sack(std::uint32_t association, const sctp::PassedChunk& chunk) {
  Context& c = context(association);
  sctp::SackOutcome o;
  if (chunk.type == SctpChunkType::kShutdown) {
    o = c.sender.on_shutdown(load_be32(chunk.value.data()), now());
  } else {
    o = c.sender.on_sack(*wire::SctpSackView::parse(chunk.value), now());
  }
  if (o.verdict == sctp::SackVerdict::kNeverSent) {
    return abort(association, wire::SctpCause::kProtocolViolation, {});
  }
  if (o.verdict == sctp::SackVerdict::kOld) return;
  counters_.fast_retransmits += o.fast_retransmit;
  c.setup.set_rto(c.sender.rto());
  if (o.acked != 0) c.setup.data_acknowledged(now());
  take_released(association);
  push_backlog(association);
  grant_all(association);
}

void SctpAssociation::take_released(std::uint32_t association) {
  Context& c = context(association);
  while (const auto released = c.sender.take_released()) {
    const SentMessage& m = sent_[released->handle];
    sctp::StreamContext& s = c.stream[m.stream];
    if (c.streams.acknowledged(m.stream)) {
      tell<fw::SctpAcked>(flow_of(association, m.stream));
    } else {
      s.held -= chunk_octets(m.bytes);
      if (m.completes_wqe) {
        ++s.wqes_acked;
        acks_.push(FlowId{association * config_.streams + m.stream});
      }
    }
    sent_.give_back(released->handle);
  }
}

// ---- Packets

bool SctpAssociation::send_one() {
  if (!answers_.empty()) {
    packets->push(answers_.pop());
    return true;
  }
  while (!sends_.empty()) {
    const FlowId association = sends_.pop();
    if (!send_of(association.v)) continue;
    sends_.push(association);
    return true;
  }
  return false;
}

// One DATA chunk per packet, as TCP has one FPDU per segment, preceded by a SACK if one is due. A SACK that does not
// fit the packet goes alone if it is due, and waits if it is only pending.
bool SctpAssociation::send_of(std::uint32_t association) {
  Context& c = context(association);
  if (!c.in_service || c.ddp_streams == 0) return false;
  const State state = c.setup.state();
  const bool sends =
      state == State::kEstablished || state == State::kShutdownPending || state == State::kShutdownReceived;
  if (!sends && state != State::kShutdownSent) return false;
  const std::uint32_t room = c.sender.pmdcs() / 4 * 4;
  std::uint32_t data = sends ? c.sender.next_octets() : 0;
  std::uint32_t sack = 0;
  if (c.receiver.sack_owed() || (data != 0 && c.receiver.sack_pending())) {
    sack = static_cast<std::uint32_t>(c.receiver.sack_bytes(room));
    if (data + sack > room && data != 0) (c.receiver.sack_owed() ? data : sack) = 0;
  }
  if (data + sack == 0) return false;
  packet_.chunks.clear();
  packet_.retransmission = packet_.beyond_path_mtu = false;
  if (data != 0 && !c.sender.next(now(), data, packet_) && sack == 0) return false;

  SentMessage* const m = packet_.chunks.size() == 1 ? &sent_[packet_.chunks[0].handle] : nullptr;
  const bool fresh = m != nullptr && !m->sent && packet_.chunks[0].bytes == m->bytes;
  const std::uint32_t before = sctp::kLowerHeaderBytes + wire::SctpHeader::kBytes + sack + kDataHeaderBytes;
  packets->push(fresh && before <= m->offset ? in_place(association, *m, packet_.chunks[0], sack)
                                             : copied(association, sack));
  set_timers(association);
  return true;
}

namespace {

std::uint8_t* emit_data_header(const DataChunk& chunk, std::uint8_t* at) {
  at[0] = static_cast<std::uint8_t>(SctpChunkType::kData);
  at[1] = chunk.flags;
  store_be16(at + 2, static_cast<std::uint16_t>(kDataHeaderBytes + chunk.bytes));
  store_be32(at + 4, chunk.tsn);
  store_be16(at + 8, chunk.stream);
  store_be16(at + 10, 0);  // SSN: nothing is ordered
  store_be32(at + 12, chunk.ppid);
  return at + kDataHeaderBytes;
}

}  // namespace

void SctpAssociation::write_sack(Context& c, wire::SctpWriter& to, std::uint32_t sack) {
  if (sack == 0) return;
  c.receiver.write_sack(receiver_settings_, to, sack);
  ++counters_.sacks;
}

// Headers go in front of the message, in its buffer, which the frame shares.
SctpPacket SctpAssociation::in_place(std::uint32_t association, SentMessage& m, const DataChunk& chunk,
                                     std::uint32_t sack) {
  Context& c = context(association);
  const std::uint32_t header = static_cast<std::uint32_t>(wire::SctpHeader::kBytes) + sack;
  const std::uint32_t offset = m.offset - kDataHeaderBytes - header;
  const sctp::Ends& ends = c.setup.ends();
  wire::SctpWriter writer({m.buf->bytes() + offset, header}, {ends.port, ends.peer_port, c.setup.terms().peer_tag});
  write_sack(c, writer, sack);
  RNIC_CHECK(writer.finish() == header);
  emit_data_header(chunk, m.buf->bytes() + m.offset - kDataHeaderBytes);
  std::memset(m.buf->bytes() + m.offset + m.bytes, 0, padded(m.bytes) - m.bytes);
  m.sent = true;
  return {m.buf, offset, static_cast<std::uint16_t>(header + chunk_octets(m.bytes)), ends.peer_ip, c.peer_mac};
}

// A retransmission, a piece, or no message at all: the frame that has the octets may still be on its way.
SctpPacket SctpAssociation::copied(std::uint32_t association, std::uint32_t sack) {
  Context& c = context(association);
  const bool data = !packet_.chunks.empty();
  BufferRef buf = pool_.take(data ? sent_[packet_.chunks[0].handle].buf->owner() : owner(association));
  std::uint8_t* const begin = buf->bytes() + kFrameHeadroom;
  const std::uint32_t header = static_cast<std::uint32_t>(wire::SctpHeader::kBytes) + sack;
  const sctp::Ends& ends = c.setup.ends();
  wire::SctpWriter writer({begin, header}, {ends.port, ends.peer_port, c.setup.terms().peer_tag});
  write_sack(c, writer, sack);
  RNIC_CHECK(writer.finish() == header);
  std::uint8_t* at = begin + header;
  for (const DataChunk& chunk : packet_.chunks) {
    SentMessage& m = sent_[chunk.handle];
    m.sent = true;
    at = emit_data_header(chunk, at);
    std::memcpy(at, m.buf->bytes() + m.offset + chunk.offset, chunk.bytes);
    std::memset(at + chunk.bytes, 0, padded(chunk.bytes) - chunk.bytes);
    at += padded(chunk.bytes);
  }
  return {std::move(buf),         kFrameHeadroom, static_cast<std::uint16_t>(at - begin),
          ends.peer_ip,           c.peer_mac,     packet_.retransmission,
          packet_.beyond_path_mtu};
}

// A packet of set-up or shutdown.
void SctpAssociation::answer(const sctp::Outcome& outcome, std::uint32_t peer_ip, const wire::MacAddress& mac,
                             RequestId owner) {
  const ByteSpan octets = outcome.packet();
  if (octets.empty()) return;
  BufferRef buf = pool_.take(owner);
  std::memcpy(buf->bytes() + kFrameHeadroom, octets.data(), octets.size());
  answers_.push({std::move(buf), kFrameHeadroom, static_cast<std::uint16_t>(octets.size()), peer_ip, mac});
}

// ---- Credit

// The octets that a stream may be given: an equal share, among the open streams, of what the windows allow the
// association to have in flight plus a few waiting chunks. Without those the congestion window would never be full, and
// would not grow (RFC 9260 section 7.2.1), and a SACK would find nothing to send. One full chunk in any case.
std::uint32_t SctpAssociation::grantable(const Context& c, const sctp::StreamContext& s) const {
  constexpr std::uint32_t kWaiting = 8;
  const std::uint32_t window =
      std::min(c.sender.cwnd(), c.sender.peer_window() + c.sender.flight()) + kWaiting * c.sender.pmdcs();
  const std::uint32_t part = std::max(window / std::max<std::uint32_t>(c.open, 1), c.sender.pmdcs());
  const std::uint32_t used = s.credit + s.held;
  return part > used ? part - used : 0;
}

void SctpAssociation::grant_all(std::uint32_t association) {
  const Context& c = context(association);
  for (std::uint32_t s = 0; s < c.stream.size(); ++s) {
    if (c.stream[s].open) credits_.push(FlowId{association * config_.streams + s});
  }
}

// One message of each kind per cycle.
void SctpAssociation::serve_credits() {
  while (!credits_.empty() && credit->can_push()) {
    const FlowId i = credits_.pop();
    const std::uint32_t association = i.v / config_.streams;
    Context& c = context(association);
    sctp::StreamContext& s = c.stream[i.v % config_.streams];
    const std::uint32_t octets = s.open ? grantable(c, s) : 0;
    if (octets == 0) continue;
    s.credit += octets;
    credit->push({FlowId{first_flow_ + i.v}, octets});
    break;
  }
  if (acks_.empty() || !acked->can_push()) return;
  const FlowId i = acks_.pop();
  const std::uint32_t wqes = std::exchange(context(i.v / config_.streams).stream[i.v % config_.streams].wqes_acked, 0);
  if (wqes != 0) acked->push({FlowId{first_flow_ + i.v}, wqes});
}

}  // namespace rnic
