// Received chunks of an association: DATA and its segments, SACKs, a smaller path MTU.
#include <algorithm>
#include <cstring>

#include "model/rnic/llp/sctp/association.h"
#include "model/wire/ddp_session.h"

namespace rnic::sctp {

using wire::SctpChunkType;

// A router's report counts if it quotes the tag, which cannot be guessed (RFC 5927). Segments are shorter from now on;
// a chunk with a TSN is not cut again.
void Association::on_path_mtu(const SctpPacket& told) {
  if (c_.ddp_streams == 0 || load_be32(told.data() + 4) != c_.setup.terms().peer_tag) return;
  if (!c_.sender.on_path_mtu(told.path_mtu)) return;
  const std::uint32_t mtu = std::max<std::uint32_t>(told.path_mtu, e_.config.path_mtu_min);
  c_.mulpdu = static_cast<std::uint16_t>(wire::sctp_mulpdu(mtu, wire::Ipv4Header::kBytes, e_.config.bundle_reserve));
  ++e_.counters.path_mtu_changes;
  for (std::uint16_t s = 0; s < c_.ddp_streams; ++s) {
    if (c_.stream[s].in_use) tell(s, fw::SctpMulpduChanged{{}, c_.mulpdu});
  }
  set_timers();
  e_.sends.push(id_);
}

void Association::on_chunks(const Outcome& outcome, const BufferRef& packet) {
  std::uint64_t data = 0;
  std::optional<std::uint16_t> unknown_stream;  // the first one
  c_.receiver.begin_packet();
  for (std::size_t i = 0; i < outcome.chunks() && c_.in_service; ++i) {
    const PassedChunk& chunk = outcome.chunk(i);
    if (chunk.type == SctpChunkType::kData) {
      ++data;
      const auto unknown = on_data(packet, chunk);
      if (!unknown_stream) unknown_stream = unknown;
    } else {
      on_sack(chunk);
    }
  }
  if (data > 1) e_.charge((data - 1) * e_.config.chunk_cycles);  // the first is in every packet's time
  if (!c_.in_service) return;
  if (unknown_stream) {  // one ERROR per packet, however many chunks it has
    std::uint8_t information[4] = {};
    store_be16(information, *unknown_stream);
    c_.setup.report(wire::SctpCause::kInvalidStream, information, e_.second);
    answer(e_.second);
  }
  c_.receiver.end_packet(e_.receiver_settings, e_.now());
  set_timers();
  e_.sends.push(id_);
}

std::optional<std::uint16_t> Association::on_data(const BufferRef& packet, const PassedChunk& passed) {
  ++e_.counters.chunks;
  const wire::SctpChunk chunk{passed.type, passed.flags, passed.value, {}};
  const ReceivedData data = c_.receiver.on_data(e_.receiver_settings, e_.fragments, packet, chunk);
  if (data.fate == DataFate::kMessage) on_message(packet, data);
  for (const std::uint16_t stream : data.ended) {
    if (stream >= c_.ddp_streams) continue;
    c_.streams.violate(stream, StreamViolation::kTooLong);
    use(stream);
    tell<fw::SctpViolation>(stream);
  }
  const auto octets = static_cast<std::uint32_t>(passed.value.size());
  switch (data.fate) {
    case DataFate::kDuplicate:
      ++e_.counters.duplicates;
      e_.drops(e_.now(), packet->owner(), octets, "received before");
      break;
    case DataFate::kBeyondWindow:
    case DataFate::kNoRoom:
      ++e_.counters.no_room;
      e_.drops(e_.now(), packet->owner(), octets, "no room");
      break;
    case DataFate::kBroken:
      ++e_.counters.violations;
      break;
    case DataFate::kNoUserData: {
      ++e_.counters.violations;
      std::uint8_t tsn[4];
      store_be32(tsn, data.header.tsn);
      abort(wire::SctpCause::kNoUserData, tsn);
      break;
    }
    case DataFate::kUnknownStream:
      ++e_.counters.violations;
      return data.header.stream;
    default:
      break;
  }
  return std::nullopt;
}

// A whole message: kept by reference until it is delivered, or refused.
ReceivedId Association::keep(const BufferRef& packet, const ReceivedData& data) {
  const ReceivedId message = e_.delivery.take();
  ReceivedMessage& m = e_.delivery[message];
  const std::uint8_t* const begin = packet->bytes();
  const bool whole = data.message.data() >= begin && data.message.data() < begin + packet->capacity();
  const bool fits = kFrameHeadroom + data.message.size() + kEndBytes <= e_.pool.block_bytes();
  m.buf = whole ? packet : (fits ? e_.pool : e_.large).take_like(packet.get());
  m.data = m.buf->bytes() + (whole ? data.message.data() - begin : kFrameHeadroom);
  if (!whole) std::memcpy(m.data, data.message.data(), data.message.size());
  m.bytes = static_cast<std::uint16_t>(data.message.size());
  m.stream = data.header.stream;
  m.association = static_cast<std::uint16_t>(id_.v);
  m.life = c_.life;
  return message;
}

void Association::on_message(const BufferRef& packet, const ReceivedData& data) {
  const std::uint16_t stream = data.header.stream;
  if (stream >= c_.ddp_streams) {  // a direction without an opposite one
    ++e_.counters.strays;
    c_.receiver.accept(e_.fragments);
    return c_.receiver.consume(e_.receiver_settings, static_cast<std::uint32_t>(data.message.size()));
  }
  const ReceivedId message = keep(packet, data);
  const ReceivedMessage& m = e_.delivery[message];
  const std::uint16_t next = c_.streams.next_ssn(stream);
  const Arrival arrival = c_.streams.arrive({stream, data.header.ppid, data.unordered, {m.data, m.bytes}, message});
  if (arrival.fate == ChunkFate::kNoRoom) {
    ++e_.counters.no_room;
    c_.receiver.refuse(e_.fragments);
    return e_.delivery.give_back(message);
  }
  c_.receiver.accept(e_.fragments);
  switch (arrival.fate) {
    case ChunkFate::kPlace:
      if (load_be16(m.data) != next) e_.delivery.offer(message);
      break;
    case ChunkFate::kStray:
    case ChunkFate::kViolation: {
      const bool stray = arrival.fate == ChunkFate::kStray;
      ++(stray ? e_.counters.strays : e_.counters.violations);
      if (!arrival.terminate) use(stream);  // a Terminate is not answered
      if (stray) tell(stream, fw::SctpStray{{}, arrival.terminate});
      else tell(stream, fw::SctpViolation{{}, arrival.terminate});
      e_.delivery.consume(message);
      break;
    }
    case ChunkFate::kDropped:
      e_.delivery.consume(message);
      break;
    default:
      break;
  }
  deliver(stream);
}

// ---- Delivery

namespace {

bool is_terminate(const ReceivedMessage& m) {
  return m.bytes == wire::SessionMessage::kHeaderBytes &&
         load_be16(m.data + wire::kDdpSsnBytes) == static_cast<std::uint16_t>(wire::SessionCode::kTerminate);
}

}  // namespace

// What is in order. The end of an open session follows its last segment through the pipeline.
void Association::deliver(std::uint16_t stream) {
  for (;;) {
    const bool open = c_.streams.mode(stream) == StreamMode::kOpen;
    const auto next = c_.streams.deliver(stream);
    if (!next) return;
    ReceivedMessage& m = e_.delivery[next->token];
    switch (next->kind) {
      case Delivery::Kind::kRelease:
        e_.delivery.consume(next->token);
        break;
      case Delivery::Kind::kControl:
        m.ends = open && is_terminate(m);
        if (!m.ends) {
          tell_control(next->token);
          break;
        }
        c_.stream[stream].ending = true;
        [[fallthrough]];
      case Delivery::Kind::kSegment:
        e_.delivery.append(next->token);
        break;
    }
  }
}

void Association::tell_control(ReceivedId message) {
  const ReceivedMessage& m = e_.delivery[message];
  if (c_.stream[m.stream].abandoned) return e_.delivery.consume(message);
  use(m.stream);
  const auto bytes = static_cast<std::uint16_t>(m.bytes - wire::kDdpSsnBytes);
  BufferRef octets = e_.pool.take();
  std::memcpy(octets->bytes(), m.data + wire::kDdpSsnBytes, bytes);
  const Ends& ends = c_.setup.ends();
  const fw::SctpControl control{{}, ends.peer_ip, ends.peer_port, ends.port, c_.mulpdu, bytes};
  tell(m.stream, control, e_.now(), std::move(octets));
  e_.delivery.consume(message);
}

}  // namespace rnic::sctp
