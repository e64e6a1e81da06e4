#include "model/golden/sctp_end.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "model/common/check.h"
#include "model/common/sctp_checksum.h"
#include "model/rnic/llp/sctp/packet.h"
#include "model/rnic/llp/sctp/packet_contents.h"
#include "model/wire/ipv4.h"

namespace rnic::golden {

using sctp::DataFate;
using sctp::Outcome;
using sctp::Setup;

namespace {

constexpr Cycle kNow = 0;                       // always
constexpr std::uint64_t kPeriodPs = 1000;       // in which the settings' times are counted, which never pass
constexpr std::uint32_t kPeerIp = 0x0a00'0002;  // the source of all packets
constexpr std::uint64_t kSeed = 1;              // of tags and cookies, of which there are none

const std::size_t kMostPacket = sctp::packet_limit(sctp::kLargestMtu);

void check_first_chunk(ByteSpan chunks) {
  const auto first = wire::SctpChunks(chunks).next();
  if (!first) return;
  const bool sets_up = first->type == wire::SctpChunkType::kInit || first->type == wire::SctpChunkType::kCookieEcho;
  require(!sets_up, "sctp_packet_octets: this kind predicts no set-up, as tags and cookies are their maker's");
}

void seal(std::vector<std::uint8_t>& packet) {
  store_crc32c(packet.data() + kSctpChecksumOffset, sctp_checksum(packet));
}

}  // namespace

SctpEnd::SctpEnd(const SctpConfig& config, std::uint32_t mtu, BufferPool& pool)
    : pool_(pool),
      mtu_(mtu),
      sender_settings_(config, congestion_, kPeriodPs),
      receiver_settings_(config, mtu, wire::Ipv4Header::kBytes, kPeriodPs),
      endpoint_(config, kPeriodPs, sctp::packet_limit(mtu), kSeed) {}

// ---- Set-up and end

// As if the peer had echoed a cookie with these terms.
void SctpEnd::establish(std::uint16_t port, std::uint16_t peer_port, const sctp::Terms& terms) {
  a_ = std::make_unique<Association>(endpoint_, sender_settings_, receiver_settings_);
  sctp::Cookie cookie;
  cookie.ends = {kPeerIp, port, peer_port};
  cookie.terms = terms;
  cookie.terms.adaptation = sctp::kDdpAdaptation;
  a_->setup.accept(cookie, sctp::Received{}, kNow, outcome_);
  a_->sender.open(terms.own_tsn, terms.peer_window, mtu_, kNow);
  a_->receiver.start(receiver_settings_, a_->fragments, terms.peer_tsn, terms.inbound);
}

SctpEnd::Association& SctpEnd::up() {
  require(a_ != nullptr, "there is no association: the row \"association\" makes one");
  return *a_;
}

// In the order of the association engine: the events, the chunks, the answer, and what a shutdown was waiting for.
void SctpEnd::settle(const Outcome& outcome, const BufferRef& packet) {
  Association& a = *a_;
  for (std::size_t i = 0; i < outcome.events(); ++i) on_event(outcome.event(i));
  if (outcome.chunks() != 0 && !a.closed()) on_chunks(outcome, packet);
  answer(outcome);
  if (a.closed() || a.setup.takes_host_data()) return;
  a.receiver.set_mode(sctp::DataReceiver::Mode::kDrop);
  if (&outcome == &second_) return;
  a.setup.proceed({a.receiver.cumulative_tsn(), a.sender.idle()}, kNow, second_);
  settle(second_);
}

void SctpEnd::on_event(const sctp::SetupEvent& event) {
  AssociationEvent told;
  told.kind = event.kind;
  told.cause = event.cause;
  told.octets.assign(event.information.begin(), event.information.end());
  events.push_back(std::move(told));
}

void SctpEnd::fail(wire::SctpCause cause, ByteSpan information) {
  a_->setup.abort(cause, information, second_);
  for (std::size_t i = 0; i < second_.events(); ++i) on_event(second_.event(i));
  answer(second_);
}

// ---- Timers

void SctpEnd::sack_delay_over() {
  sctp::DataReceiver& receiver = up().receiver;
  require(receiver.deadline() != kNever, "sctp_command: no acknowledgement is delayed");
  receiver.on_delay_over(receiver.deadline());
  give();
}

void SctpEnd::t3_expired() {
  sctp::DataSender& sender = up().sender;
  require(sender.deadline() != kNever, "sctp_command: T3-rtx does not run: nothing waits to be acknowledged");
  if (sender.on_timer(sender.deadline()) == sctp::TimerOutcome::kFailed) fail(wire::SctpCause::kUserInitiatedAbort);
  give();
}

// ---- Receiving

void SctpEnd::receive(const std::vector<std::uint8_t>& octets) {
  const auto packet = sctp::Received::parse(octets, kPeerIp);
  const bool shape = packet && octets.size() % wire::kSctpAlign == 0 && octets.size() <= kMostPacket;
  const bool good = shape && load_crc32c(octets.data() + kSctpChecksumOffset) == sctp_checksum(octets);
  if (good) check_first_chunk(packet->chunks);
  ++counters_.packets;
  if (!shape) ++counters_.bad_shape;
  else if (!good) ++counters_.bad_checksum;
  if (!good) return;

  const BufferRef kept = pool_.take();
  std::copy(octets.begin(), octets.end(), kept->bytes());
  const auto here = sctp::Received::parse({kept->bytes(), octets.size()}, kPeerIp);
  if (a_ && here->ends == a_->setup.ends()) {
    a_->setup.receive(*here, kNow, outcome_);
    settle(outcome_, kept);
  } else {
    endpoint_.receive(*here, false, kNow, outcome_);
    answer(outcome_);
  }
  give();
}

void SctpEnd::on_chunks(const Outcome& outcome, const BufferRef& packet) {
  Association& a = *a_;
  std::optional<std::uint16_t> unknown_stream;  // the first one
  a.receiver.begin_packet();
  for (std::size_t i = 0; i < outcome.chunks() && !a.closed(); ++i) {
    const sctp::PassedChunk& chunk = outcome.chunk(i);
    if (chunk.type != wire::SctpChunkType::kData) {
      on_sack(chunk);
    } else if (const auto unknown = on_data(packet, chunk); !unknown_stream) {
      unknown_stream = unknown;
    }
  }
  if (a.closed()) return;
  if (unknown_stream) {
    std::uint8_t information[4] = {};
    store_be16(information, *unknown_stream);
    a.setup.report(wire::SctpCause::kInvalidStream, information, second_);
    answer(second_);
  }
  a.receiver.end_packet(receiver_settings_, kNow);
}

// What is above has room for each message.
std::optional<std::uint16_t> SctpEnd::on_data(const BufferRef& packet, const sctp::PassedChunk& passed) {
  Association& a = *a_;
  const wire::SctpChunk chunk{passed.type, passed.flags, passed.value, {}};
  const sctp::ReceivedData received = a.receiver.on_data(receiver_settings_, a.fragments, packet, chunk);
  DataMessage told;
  told.fate = received.fate;
  told.header = received.header;
  told.flags = passed.flags;
  if (received.fate == DataFate::kMessage) {
    told.octets.assign(received.message.begin(), received.message.end());
    a.unconsumed += static_cast<std::uint32_t>(received.message.size());
    a.receiver.accept(a.fragments);
  }
  data.push_back(std::move(told));
  if (received.fate == DataFate::kNoUserData) {
    std::uint8_t tsn[4];
    store_be32(tsn, received.header.tsn);
    fail(wire::SctpCause::kNoUserData, tsn);
  }
  if (received.fate == DataFate::kUnknownStream) return received.header.stream;
  return std::nullopt;
}

void SctpEnd::consume(std::uint32_t octets) {
  Association& a = up();
  require(octets <= a.unconsumed,
          fmt::format("sctp_command.consumed is {}, but {} octets wait to be consumed", octets, a.unconsumed));
  a.unconsumed -= octets;
  a.receiver.consume(receiver_settings_, octets);
  give();
}

// A SACK, or a SHUTDOWN, which acknowledges as well.
void SctpEnd::on_sack(const sctp::PassedChunk& chunk) {
  Association& a = *a_;
  const bool shutdown = chunk.type == wire::SctpChunkType::kShutdown;
  const sctp::SackOutcome out = shutdown ? a.sender.on_shutdown(load_be32(chunk.value.data()), kNow)
                                         : a.sender.on_sack(*wire::SctpSackView::parse(chunk.value), kNow);
  if (out.verdict == sctp::SackVerdict::kNeverSent) return fail(wire::SctpCause::kProtocolViolation);
  while (const auto released = a.sender.take_released()) {
    a.kept.erase(released->handle.v);
    acknowledged.push_back({released->stream});
  }
}

// ---- Sending

void SctpEnd::send(const UserMessage& m) {
  Association& a = up();
  require(a.setup.takes_host_data(), "sctp_user_message: the association is being shut down");
  const unsigned streams = a.setup.terms().outbound;
  require(m.stream < streams,
          fmt::format("sctp_user_message: the association has streams 0 to {}, and no {}", streams - 1, m.stream));
  require(m.unordered, "sctp_user_message: a RNIC sends all user data unordered (RFC 5043 section 5)");
  require(!m.octets.empty(), "sctp_user_message: it has no octets (RFC 9260 section 3.3.1)");
  require(m.octets.size() <= kMostUserData, fmt::format("sctp_user_message: more than {} octets", kMostUserData));
  require(!a.sender.full(), fmt::format("sctp_user_message: {} messages wait already", sender_settings_.send_chunks));
  const sctp::SentId handle{a.next_handle++};
  a.kept[handle.v] = m.octets;
  RNIC_CHECK(a.sender.push({handle, m.ppid, static_cast<std::uint16_t>(m.octets.size()), m.stream, false}, kNow));
  give();
}

void SctpEnd::answer(const Outcome& outcome) {
  if (outcome.packet().empty()) return;
  PacketMessage packet;
  packet.octets.assign(outcome.packet().begin(), outcome.packet().end());
  seal(packet.octets);
  packets.push_back(std::move(packet));
}

// All that may be sent now. An association that has ended is forgotten.
void SctpEnd::give() {
  const sctp::SetupCounters& setup = endpoint_.counters();
  counters_.malformed = setup.malformed;
  counters_.wrong_tag = setup.wrong_tag;
  counters_.unexpected = setup.unexpected;
  counters_.out_of_the_blue = setup.out_of_the_blue;
  if (a_ && a_->closed()) a_.reset();
  while (a_ && give_packet(*a_)) {
  }
}

bool SctpEnd::give_packet(Association& a) {
  const auto [data_octets, sack] = sctp::next_contents(a.setup, a.sender, a.receiver);
  if (data_octets + sack == 0) return false;
  sent_.chunks.clear();
  sent_.resend = Resend::kNo;
  sent_.octets = 0;
  if (data_octets != 0 && !a.sender.next(kNow, data_octets, sent_) && sack == 0) return false;

  const std::size_t header = wire::SctpHeader::kBytes + sack;
  PacketMessage packet;
  packet.resend = sent_.resend;
  packet.octets.resize(header + sent_.octets);
  const sctp::Ends& ends = a.setup.ends();
  wire::SctpWriter writer({packet.octets.data(), header}, {ends.port, ends.peer_port, a.setup.terms().peer_tag});
  if (sack != 0) a.receiver.write_sack(receiver_settings_, writer, sack);
  RNIC_CHECK(writer.finish() == header);
  std::uint8_t* at = packet.octets.data() + header;
  for (const sctp::DataChunk& chunk : sent_.chunks) at = sctp::write_data(chunk, a.kept.at(chunk.handle.v).data(), at);
  seal(packet.octets);
  packets.push_back(std::move(packet));
  return true;
}

}  // namespace rnic::golden
