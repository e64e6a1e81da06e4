// Received packets: set-up, DATA, and segments on their way to ddp_placement.
#include <algorithm>
#include <cstring>

#include "model/rnic/llp/sctp/sctp_association.h"
#include "model/wire/fpdu.h"

namespace rnic {

using llp::kNil;
using sctp::ChunkFate;
using sctp::DataFate;
using sctp::ReceivedMessage;
using sctp::SetupEvent;
using wire::SctpChunkType;
using State = sctp::Setup::State;

// The engine is busy for each of its DATA chunks.
void SctpAssociation::take_packet() {
  const SctpPacket p = received->pop();
  busy_until_ = now() + config_.chunk_cycles;
  if (p.path_mtu != 0) return on_path_mtu(p);
  const auto packet = sctp::Received::parse({p.data(), p.bytes}, p.peer_ip);
  if (!packet) {
    ++counters_.bad_header;
    return drops(now(), p.buf->owner(), p.bytes, "no valid packet");
  }
  const llp::FlowKey key{p.peer_ip, packet->header.src_port, packet->header.dst_port};
  if (const FlowId found = table_.find(key); found != kNoFlow) {
    context(found.v).setup.receive(*packet, now(), outcome_);
    return settle(found.v, outcome_, p.buf);
  }
  const auto cookie = endpoint_.receive(*packet, listening_.test(key.port), now(), outcome_);
  if (cookie && make_room()) {
    const std::uint32_t association = begin(key, p.peer_mac);
    context(association).setup.accept(*cookie, *packet, now(), outcome_);
    return settle(association, outcome_, p.buf);
  }
  if (cookie) {
    ++counters_.no_association;
    endpoint_.refuse(*cookie, outcome_);
  }
  answer(outcome_, p.peer_ip, p.peer_mac, {station_.node, RequestId::Kind::kFlow, kNoFlow.v, 0, 0});
}

// A router's report counts if it quotes the tag, which cannot be guessed (RFC 5927). Segments are shorter from now on;
// a chunk with a TSN is not cut again.
void SctpAssociation::on_path_mtu(const SctpPacket& told) {
  const llp::FlowKey key{told.peer_ip, load_be16(told.data() + 2), load_be16(told.data())};
  const FlowId found = table_.find(key);
  if (found == kNoFlow) return;
  Context& c = context(found.v);
  if (c.ddp_streams == 0 || load_be32(told.data() + 4) != c.setup.terms().peer_tag) return;
  if (!c.sender.on_path_mtu(told.path_mtu)) return;
  const std::uint32_t mtu = std::max<std::uint32_t>(told.path_mtu, config_.path_mtu_min);
  c.mulpdu = static_cast<std::uint16_t>(wire::sctp_mulpdu(mtu, wire::Ipv4Header::kBytes, config_.bundle_reserve));
  ++counters_.path_mtu_changes;
  for (std::uint16_t s = 0; s < c.ddp_streams; ++s) {
    if (!c.stream[s].in_use) continue;
    tell(flow_of(found.v, s), fw::SctpMulpduChanged{{}, c.mulpdu});
  }
  set_timers(found.v);
  sends_.push(found);
}

// Carries out the set-up's result of an input. During a shutdown, more may follow from what arrived.
void SctpAssociation::settle(std::uint32_t association, const sctp::Outcome& outcome, const BufferRef& packet) {
  Context& c = context(association);
  const std::uint32_t peer_ip = c.setup.ends().peer_ip;
  const RequestId of = owner(association);
  for (std::uint32_t t = 0; t < sctp::kSetupTimers; ++t) {
    const auto& at = outcome.timer(static_cast<sctp::SetupTimer>(t));
    if (!at) continue;
    if (*at == kNever) timers_.stop(timer(association, t));
    else timers_.start(timer(association, t), *at);
  }
  for (std::size_t i = 0; i < outcome.events(); ++i) on_setup_event(association, outcome.event(i));
  if (outcome.rtt) c.sender.on_answer(*outcome.rtt);
  if (outcome.chunks() != 0 && c.in_service) on_chunks(association, outcome, packet);
  answer(outcome, peer_ip, c.peer_mac, of);
  if (!c.in_service) return;

  const State state = c.setup.state();
  if (state == State::kShutdownSent) {
    c.receiver.set_mode(sctp::DataReceiver::Mode::kShutdownSent);
    if (!outcome.packet().empty()) c.receiver.shutdown_sent();
  } else if (state == State::kShutdownReceived || state == State::kShutdownAckSent) {
    c.receiver.set_mode(sctp::DataReceiver::Mode::kDrop);
  }
  const bool closing = state == State::kShutdownPending || state == State::kShutdownReceived;
  if (&outcome == &second_ || !(closing || state == State::kShutdownSent)) return;
  c.setup.proceed(progress(c), now(), second_);
  settle(association, second_);
}

void SctpAssociation::on_setup_event(std::uint32_t association, const SetupEvent& e) {
  switch (e.kind) {
    case SetupEvent::Kind::kUp:
      ++(context(association).setup.initiator() ? counters_.opened : counters_.accepted);
      return on_up(association);
    case SetupEvent::Kind::kRestarted:
      ++counters_.restarted;
      forget_streams(association, kNoFlow);
      return on_up(association);
    case SetupEvent::Kind::kShutDown:
      ++counters_.shut_down;
      return end(association, fw::OpenFailure::kRefused);
    case SetupEvent::Kind::kAborted:
      ++counters_.failed;
      return end(association, fw::OpenFailure::kRefused);
    case SetupEvent::Kind::kFailed:
      ++counters_.failed;
      return end(association, e.cause == 0 ? fw::OpenFailure::kTimeout : fw::OpenFailure::kRefused);
    case SetupEvent::Kind::kPeerShutdown:
      return close_streams(association);  // queued data is still sent
    case SetupEvent::Kind::kPeerError:
      ++counters_.peer_errors;
      return;
  }
}

// ---- Chunks

void SctpAssociation::on_chunks(std::uint32_t association, const sctp::Outcome& outcome, const BufferRef& packet) {
  Context& c = context(association);
  std::uint64_t data = 0;
  std::optional<std::uint16_t> unknown_stream;  // the first one
  c.receiver.begin_packet();
  for (std::size_t i = 0; i < outcome.chunks() && c.in_service; ++i) {
    const sctp::PassedChunk& chunk = outcome.chunk(i);
    if (chunk.type == SctpChunkType::kData) {
      ++data;
      const auto unknown = on_data(association, packet, chunk);
      if (!unknown_stream) unknown_stream = unknown;
    } else {
      on_sack(association, chunk);
    }
  }
  busy_until_ = now() + std::max<std::uint64_t>(data, 1) * config_.chunk_cycles;
  if (!c.in_service) return;
  if (unknown_stream) {  // one ERROR per packet, however many chunks it has
    std::uint8_t information[4] = {};
    store_be16(information, *unknown_stream);
    c.setup.report(wire::SctpCause::kInvalidStream, information, second_);
    answer(second_, c.setup.ends().peer_ip, c.peer_mac, owner(association));
  }
  c.receiver.end_packet(receiver_settings_, now());
  set_timers(association);
  sends_.push(FlowId{association});
}

std::optional<std::uint16_t> SctpAssociation::on_data(std::uint32_t association, const BufferRef& packet,
                                                      const sctp::PassedChunk& passed) {
  Context& c = context(association);
  ++counters_.chunks;
  const wire::SctpChunk chunk{passed.type, passed.flags, passed.value, {}};
  const sctp::ReceivedData data = c.receiver.on_data(receiver_settings_, fragments_, packet, chunk);
  if (data.fate == DataFate::kMessage) on_message(association, packet, data);
  for (const std::uint16_t stream : data.ended) {
    if (stream >= c.ddp_streams) continue;
    c.streams.violate(stream, sctp::StreamViolation::kTooLong);
    use(association, stream);
    tell<fw::SctpViolation>(flow_of(association, stream));
  }
  const auto octets = static_cast<std::uint32_t>(passed.value.size());
  switch (data.fate) {
    case DataFate::kDuplicate:
      ++counters_.duplicates;
      drops(now(), packet->owner(), octets, "received before");
      break;
    case DataFate::kBeyondWindow:
    case DataFate::kNoRoom:
      ++counters_.no_room;
      drops(now(), packet->owner(), octets, "no room");
      break;
    case DataFate::kBroken:
      ++counters_.violations;
      break;
    case DataFate::kNoUserData: {
      ++counters_.violations;
      std::uint8_t tsn[4];
      store_be32(tsn, data.header.tsn);
      abort(association, wire::SctpCause::kNoUserData, tsn);
      break;
    }
    case DataFate::kUnknownStream:
      ++counters_.violations;
      return data.header.stream;
    default:
      break;
  }
  return std::nullopt;
}

// A whole message: kept by reference until it is delivered, or refused.
void SctpAssociation::on_message(std::uint32_t association, const BufferRef& packet, const sctp::ReceivedData& data) {
  Context& c = context(association);
  const std::uint16_t stream = data.header.stream;
  if (stream >= c.ddp_streams) {  // a direction without an opposite one
    ++counters_.strays;
    c.receiver.accept(fragments_);
    return c.receiver.consume(receiver_settings_, static_cast<std::uint32_t>(data.message.size()));
  }
  const std::uint32_t message = messages_.take();
  ReceivedMessage& m = messages_[message];
  const std::uint8_t* const begin = packet->bytes();
  const bool whole = data.message.data() >= begin && data.message.data() < begin + packet->capacity();
  const bool fits = kFrameHeadroom + data.message.size() + kEndBytes <= pool_.block_bytes();
  m.buf = whole ? packet : (fits ? pool_ : large_).take(packet->owner());
  m.data = m.buf->bytes() + (whole ? data.message.data() - begin : kFrameHeadroom);
  if (!whole) std::memcpy(m.data, data.message.data(), data.message.size());
  m.bytes = static_cast<std::uint16_t>(data.message.size());
  m.stream = stream;
  m.association = static_cast<std::uint16_t>(association);
  m.life = c.life;

  const std::uint16_t next = c.streams.next_ssn(stream);
  const sctp::Arrival arrival =
      c.streams.arrive({stream, data.header.ppid, data.unordered, {m.data, m.bytes}, message});
  if (arrival.fate == ChunkFate::kNoRoom) {
    ++counters_.no_room;
    c.receiver.refuse(fragments_);
    give_back(message);
    return;
  }
  c.receiver.accept(fragments_);
  switch (arrival.fate) {
    case ChunkFate::kPlace:
      if (load_be16(m.data) != next) offer(message);
      break;
    case ChunkFate::kStray:
    case ChunkFate::kViolation: {
      const bool stray = arrival.fate == ChunkFate::kStray;
      ++(stray ? counters_.strays : counters_.violations);
      if (!arrival.terminate) use(association, stream);  // a Terminate is not answered
      if (const FlowId flow = flow_of(association, stream); stray) tell(flow, fw::SctpStray{{}, arrival.terminate});
      else tell(flow, fw::SctpViolation{{}, arrival.terminate});
      consume(message);
      break;
    }
    case ChunkFate::kDropped:
      consume(message);
      break;
    default:
      break;
  }
  deliver(association, stream);
}

// ---- Delivery

namespace {

bool is_terminate(const ReceivedMessage& m) {
  return m.bytes == wire::SessionMessage::kHeaderBytes &&
         load_be16(m.data + wire::kDdpSsnBytes) == static_cast<std::uint16_t>(wire::SessionCode::kTerminate);
}

}  // namespace

// What is in order. The end of an open session follows its last segment through the pipeline.
void SctpAssociation::deliver(std::uint32_t association, std::uint16_t stream) {
  Context& c = context(association);
  for (;;) {
    const bool open = c.streams.mode(stream) == sctp::StreamMode::kOpen;
    const auto next = c.streams.deliver(stream);
    if (!next) return;
    ReceivedMessage& m = messages_[next->token];
    switch (next->kind) {
      case sctp::Delivery::Kind::kRelease:
        consume(next->token);
        break;
      case sctp::Delivery::Kind::kControl:
        m.ends = open && is_terminate(m);
        if (!m.ends) {
          tell_control(association, next->token);
          break;
        }
        c.stream[stream].ending = true;
        [[fallthrough]];
      case sctp::Delivery::Kind::kSegment:
        ready_.append(messages_, next->token);
        break;
    }
  }
}

// Its octets have left the receive buffer.
void SctpAssociation::consume(std::uint32_t message) {
  const ReceivedMessage& m = messages_[message];
  Context& c = context(m.association);
  if (c.life == m.life) {
    c.receiver.consume(receiver_settings_, m.bytes);
    sends_.push(FlowId{m.association});
  }
  give_back(message);
}

// After the answer of early_placement, whose writes may still be in progress.
void SctpAssociation::give_back(std::uint32_t message) {
  if (messages_[message].offered) messages_[message].released = true;
  else messages_.give_back(message);
}

// ---- Early placement

// Out of order: its payload may go to memory at once, but it is delivered in order.
void SctpAssociation::offer(std::uint32_t message) {
  ++counters_.out_of_order;
  if (!config_.early_placement) return;
  if (!offer_.done() || now() < offer_free_from_ || !behind->can_push()) {
    ++counters_.not_offered;
    return;
  }
  ReceivedMessage& m = messages_[message];
  store_be16(m.data, static_cast<std::uint16_t>(m.bytes - wire::kDdpSsnBytes));
  m.offered = true;
  offer_.start(flow_of(m.association, m.stream), llp::received_octets(m.buf, {m.data, m.bytes}, 0), message);
  offer_free_from_ = now() + 1;
}

// One beat per cycle.
void SctpAssociation::push_offer() {
  if (!offer_.done()) offer_.push(*behind, beat_bytes_, offer_free_from_, horizon());
}

// Of a written segment only the header is kept; the last answer frees the message for delivery.
void SctpAssociation::on_early(EarlyPlaced placed) {
  const auto message = static_cast<std::uint32_t>(placed.offset);
  ReceivedMessage& m = messages_[message];
  if (placed.bytes != 0) {
    ++counters_.early_segments;
    m.placed = true;
    m.buf = std::move(placed.header);
    m.data = m.buf->bytes();
  }
  if (!placed.last) return;
  m.offered = false;
  if (m.released) messages_.give_back(message);
}

// ---- Into the pipeline

void SctpAssociation::send_fence(std::uint32_t association) {
  const std::uint32_t message = messages_.take();
  ReceivedMessage& m = messages_[message];
  m.fence = true;
  m.association = static_cast<std::uint16_t>(association);
  m.life = context(association).life;
  ready_.append(messages_, message);
  ++fences_;
}

// One segment after another. Its room is free in the cycle after its last beat.
void SctpAssociation::emit() {
  emission_.push(*out, now(), horizon());
  if (!emission_.free(now())) return;
  if (emitted_ != kNil) consume(std::exchange(emitted_, kNil));
  if (ready_.empty()) return;
  const std::uint32_t message = ready_.head;
  ReceivedMessage& m = messages_[message];
  if (m.offered) return;  // nothing is written after delivery
  ready_.head = std::exchange(m.next, kNil);
  if (ready_.head == kNil) ready_.tail = kNil;
  const FlowId flow = m.fence ? fence_flow_ : flow_of(m.association, m.stream);
  if (m.ends || m.fence) {
    BufferRef word = pool_.take(m.fence ? owner(m.association) : m.buf->owner());
    std::memset(word->bytes(), 0, kEndBytes);
    emission_.start_end(std::move(word), flow);
  } else {
    const auto ulpdu = static_cast<std::uint16_t>(m.bytes - wire::kDdpSsnBytes);
    store_be16(m.data, ulpdu);
    ++counters_.segments;
    if (m.placed) emission_.start_placed(m.buf, m.data, kPlacedHeaderBytes / 4, flow);
    else emission_.start(m.buf, m.data, static_cast<std::uint32_t>(wire::fpdu_bytes(ulpdu) / 4), flow);
  }
  emitted_ = message;
  emission_.push(*out, now(), horizon());
}

}  // namespace rnic
