#include "model/rnic/llp/sctp/data_sender.h"

#include <algorithm>
#include <utility>

#include "model/common/check.h"
#include "model/rnic/llp/sctp/rfc9260.h"
#include "model/wire/ipv4.h"
#include "model/wire/tcp.h"

namespace rnic::sctp {

namespace {

using wire::seq_ge;
using wire::seq_lt;

constexpr std::uint32_t kDataHeader = wire::SctpChunk::kHeaderBytes + wire::SctpData::kBytes;
constexpr std::uint32_t kPacketHeaders = wire::Ipv4Header::kBytes + wire::SctpHeader::kBytes;
constexpr std::uint8_t kMissesOfALoss = 3;
constexpr std::uint8_t kMostBackoff = 31;
// As many may wait. A DDP stream may have 32767 chunks in both states (RFC 5043 section 5.2.1), TSNs may be 2^31 - 1
// ahead.
constexpr std::uint32_t kMostChunks = 8192;

constexpr std::uint32_t octets_of(std::uint32_t user_data) {
  constexpr auto kPad = static_cast<std::uint32_t>(wire::kSctpAlign - 1);
  return (kDataHeader + user_data + kPad) & ~kPad;
}

}  // namespace

std::uint32_t DataSender::Entry::octets() const { return octets_of(bytes); }

DataSender::DataSender(const SenderSettings& settings)
    : DataSender(settings, std::vector<Entry>(settings.send_chunks), std::vector<Entry>(settings.send_chunks)) {
  RNIC_CHECK((settings.send_chunks & mask_) == 0);
  RNIC_CHECK(settings.send_chunks <= kMostChunks);
}

DataSender::DataSender(const SenderSettings& settings, std::vector<Entry>&& sent, std::vector<Entry>&& unsent)
    : settings_(&settings), sent_(std::move(sent)), unsent_(std::move(unsent)), mask_(settings.send_chunks - 1) {}

void DataSender::open(std::uint32_t initial_tsn, std::uint32_t a_rwnd, std::uint32_t ip_mtu, Cycle now) {
  *this = DataSender(*settings_, std::move(sent_), std::move(unsent_));
  released_ = una_ = nxt_ = marked_from_ = initial_tsn;
  rwnd_ = advertised_ = a_rwnd;
  last_sent_ = now;
  settings_->algorithm.open(congestion_, ip_mtu - kPacketHeaders, settings_->initial_window);
  refill_burst();
}

// ---- What leaves

bool DataSender::push(const Message& message, Cycle now) {
  RNIC_CHECK(message.bytes != 0);
  if (unsent_tail_ - unsent_head_ == capacity() || lost_) return false;
  Entry entry;
  entry.handle = message.handle;
  entry.ppid = message.ppid;
  entry.bytes = message.bytes;
  entry.stream = message.stream;
  entry.flags = message.immediate ? wire::SctpData::kImmediate : 0;
  unsent_[unsent_tail_++ & mask_] = entry;
  refill_burst();
  if (!in_use() && deadline_ == kNever) set_timer(false, now);
  return true;
}

// An event that permits sending: Max.Burst packets.
void DataSender::refill_burst() {
  if (!alone_) burst_ = settings_->max_burst;
}

// The next piece of a message: all that is left of it, if the path allows that.
std::uint16_t DataSender::piece(const Entry& message) const {
  return message.octets() <= limit() ? message.bytes : static_cast<std::uint16_t>(limit() - kDataHeader);
}

std::uint32_t DataSender::lowest_marked() const {
  std::uint32_t tsn = marked_from_;
  while (sent(tsn).state != State::kMarked) ++tsn;
  return tsn;
}

std::uint32_t DataSender::next_octets() const {
  if (lost_ || !(may_send() || (marked_ != 0 && urgent_))) return 0;
  if (marked_ != 0) return sent(lowest_marked()).octets();
  if (unsent_head_ == unsent_tail_ || nxt_ - released_ == capacity()) return 0;
  const Entry& message = unsent_[unsent_head_ & mask_];
  return probe_due_ || window_holds(message) ? octets_of(piece(message)) : 0;
}

// A chunk that is too long for the path goes alone in its packet.
bool DataSender::fits(std::uint32_t octets, std::uint32_t room, const DataPacket& packet) const {
  return packet.octets + octets <= room || (packet.octets == 0 && octets > limit() && room >= limit());
}

bool DataSender::next(Cycle now, std::uint32_t room, DataPacket& packet) {
  packet.chunks.clear();
  packet.octets = 0;
  packet.resend = Resend::kNo;
  packet.beyond_path_mtu = false;
  if (lost_) return false;
  room = std::min(room, limit());
  return marked_ != 0 ? resend(now, room, packet) : send_new(now, room, packet);
}

// As many of the lowest marked chunks as fit, whatever the peer's window is: they also probe the window.
bool DataSender::resend(Cycle now, std::uint32_t room, DataPacket& packet) {
  if (!urgent_ && !may_send()) return false;
  bool lowest = false;
  for (std::uint32_t tsn = lowest_marked(); marked_ != 0; ++tsn) {
    Entry& chunk = sent(tsn);
    if (chunk.state != State::kMarked) continue;
    if (!fits(chunk.octets(), room, packet)) break;
    chunk.state = State::kInFlight;
    --marked_;
    marked_from_ = tsn + 1;
    lowest |= tsn == una_;
    if (packet.chunks.empty()) packet.resend = static_cast<Resend>(chunk.why + 1);
    leave(tsn, chunk, packet);
  }
  if (packet.chunks.empty()) return false;
  if (!std::exchange(urgent_, false)) --burst_;
  last_sent_ = now;
  if (lowest || deadline_ == kNever) deadline_ = now + rto();
  return true;
}

bool DataSender::send_new(Cycle now, std::uint32_t room, DataPacket& packet) {
  if (!may_send()) return false;
  const bool first = !in_use();
  while (unsent_head_ != unsent_tail_ && nxt_ - released_ != capacity()) {
    Entry& message = unsent_[unsent_head_ & mask_];
    const std::uint16_t bytes = piece(message);
    if (!fits(octets_of(bytes), room, packet) || !(probe_due_ || window_holds(message))) break;
    if (first && packet.chunks.empty()) apply_idle(now);
    Entry& chunk = sent(nxt_);
    chunk = message;
    chunk.bytes = bytes;
    chunk.flags = wire::SctpData::kUnordered;
    if (message.offset == 0) chunk.flags |= wire::SctpData::kBegin;
    if (bytes == message.bytes) {
      chunk.flags |= wire::SctpData::kEnd | message.flags;
      ++unsent_head_;
    } else {
      message.offset = static_cast<std::uint16_t>(message.offset + bytes);
      message.bytes = static_cast<std::uint16_t>(message.bytes - bytes);
    }
    leave(nxt_++, chunk, packet);
    if (probe_due_) {
      probe_due_ = false;
      probing_ = true;
      break;
    }
  }
  if (packet.chunks.empty()) return false;
  --burst_;
  last_sent_ = now;
  if (!timing_) {
    timing_ = true;
    timed_tsn_ = nxt_ - 1;
    timed_at_ = now;
  }
  if (first || deadline_ == kNever) deadline_ = now + rto();
  return true;
}

void DataSender::leave(std::uint32_t tsn, Entry& chunk, DataPacket& packet) {
  put_in_flight(chunk);
  packet.chunks.push_back({tsn, chunk.handle, chunk.ppid, chunk.offset, chunk.bytes, chunk.stream, chunk.flags});
  packet.octets += chunk.octets();
  packet.beyond_path_mtu = packet.octets > limit();
}

// Knowledge of a path expires while nothing is sent on it.
void DataSender::apply_idle(Cycle now) {
  const Cycle rto = rtt_.rto(settings_->rto, 0);
  for (Cycle silent = now - last_sent_; silent >= rto; silent -= rto) {
    const std::uint32_t before = cwnd();
    settings_->algorithm.on_idle(congestion_, settings_->initial_window);
    if (cwnd() == before) return;
  }
}

void DataSender::put_in_flight(Entry& chunk) {
  flight_ += chunk.octets();
  flight_data_ += chunk.bytes;
  rwnd_ -= std::min<std::uint32_t>(rwnd_, chunk.bytes);
}

void DataSender::take_from_flight(const Entry& chunk) {
  flight_ -= chunk.octets();
  flight_data_ -= chunk.bytes;
}

// It is retransmitted, and is no longer a round-trip sample.
void DataSender::mark(std::uint32_t tsn, Resend why) {
  Entry& chunk = sent(tsn);
  if (chunk.state == State::kInFlight) {
    take_from_flight(chunk);
    rwnd_ += chunk.bytes;
  } else {
    --held_;
  }
  chunk.state = State::kMarked;
  chunk.why = static_cast<std::uint8_t>(why) - 1;
  chunk.misses = 0;
  if (timed_tsn_ == tsn) timing_ = false;
  if (marked_++ == 0 || seq_lt(tsn, marked_from_)) marked_from_ = tsn;
}

// ---- SACKs

// Neither the cumulative TSN ack, which is not old, nor a gap block is beyond what was sent.
bool DataSender::known(const wire::SctpSackView& sack) const {
  const std::uint32_t cumulative = sack.header.cumulative_tsn;
  if (cumulative - (una_ - 1) > nxt_ - una_) return false;
  const std::uint32_t beyond = nxt_ - 1 - cumulative;
  for (unsigned i = 0; i < sack.header.gap_blocks; ++i) {
    const wire::SctpGapBlock block = sack.gap(i);
    if (block.start > beyond || block.end > beyond) return false;
  }
  return true;
}

SackOutcome DataSender::on_sack(const wire::SctpSackView& sack, Cycle now) {
  SackOutcome out;
  const std::uint32_t cumulative = sack.header.cumulative_tsn;
  if (lost_ || seq_lt(cumulative, una_ - 1)) {
    out.verdict = SackVerdict::kOld;
    return out;
  }
  if (!known(sack)) {
    out.verdict = SackVerdict::kNeverSent;
    return out;
  }
  const std::uint32_t flight_before = flight_;
  const bool advanced = cumulative != una_ - 1;
  const bool was_recovering = recovering_;
  answered_ = true;
  out.acked = acknowledge(cumulative, now);
  News news;
  if (sack.header.gap_blocks != 0 || held_ != 0) {
    read_gaps(sack, now, out, news);
    out.acked += news.octets;
    out.fast_retransmit = count_misses(news, was_recovering && advanced);
  }
  finish(flight_before, advanced, was_recovering, now, out);
  if (out.fast_retransmit) start_recovery(out);
  advertised_ = sack.header.a_rwnd;
  rwnd_ = advertised_ - std::min(advertised_, flight_data_);
  answer_probe(sack);
  set_timer(advanced, now);
  return out;
}

SackOutcome DataSender::on_shutdown(std::uint32_t cumulative, Cycle now) {
  SackOutcome out;
  if (lost_ || seq_lt(cumulative, una_ - 1)) {
    out.verdict = SackVerdict::kOld;
    return out;
  }
  if (cumulative - (una_ - 1) > nxt_ - una_) {
    out.verdict = SackVerdict::kNeverSent;
    return out;
  }
  const std::uint32_t flight_before = flight_;
  const bool advanced = cumulative != una_ - 1;
  const bool was_recovering = recovering_;
  out.acked = acknowledge(cumulative, now);
  finish(flight_before, advanced, was_recovering, now, out);
  set_timer(advanced, now);
  return out;
}

std::uint32_t DataSender::acknowledge(std::uint32_t cumulative, Cycle now) {
  std::uint32_t octets = 0;
  for (; seq_ge(cumulative, una_); ++una_) {
    const Entry& chunk = sent(una_);
    if (chunk.state != State::kHeld) octets += chunk.octets();
    if (chunk.state == State::kInFlight) take_from_flight(chunk);
    if (chunk.state == State::kMarked) --marked_;
    if (chunk.state == State::kHeld) --held_;
    measure(una_, now);
  }
  if (seq_lt(marked_from_, una_)) marked_from_ = una_;
  return octets;
}

// A chunk is acknowledged for the first time. A sample undoes the backoff of timeouts.
void DataSender::measure(std::uint32_t tsn, Cycle now) {
  if (!timing_ || tsn != timed_tsn_) return;
  timing_ = false;
  rtt_.sample(now - timed_at_);
  backoff_ = 0;
}

// Blocks ascend; the part of a block that does not exceed the earlier ones is ignored.
void DataSender::read_gaps(const wire::SctpSackView& sack, Cycle now, SackOutcome& out, News& news) {
  std::uint32_t tsn = una_;
  for (unsigned i = 0; i < sack.header.gap_blocks; ++i) {
    const wire::SctpGapBlock block = sack.gap(i);
    if (block.start == 0 || block.end < block.start) continue;
    for (; seq_lt(tsn, una_ - 1 + block.start); ++tsn) reveal(tsn, out, news);
    for (; seq_ge(una_ - 1 + block.end, tsn); ++tsn) hold(tsn, now, news);
  }
  for (; tsn != nxt_; ++tsn) reveal(tsn, out, news);
}

void DataSender::hold(std::uint32_t tsn, Cycle now, News& news) {
  Entry& chunk = sent(tsn);
  news.highest = tsn;
  if (chunk.state == State::kHeld) return;
  if (chunk.state == State::kInFlight) take_from_flight(chunk);
  else --marked_;
  chunk.state = State::kHeld;
  chunk.misses = 0;
  ++held_;
  news.octets += chunk.octets();
  news.highest_new = tsn;
  news.any_new = true;
  measure(tsn, now);
}

// Not in a gap block: if it was in one before, the peer has dropped it.
void DataSender::reveal(std::uint32_t tsn, SackOutcome& out, News& news) {
  Entry& chunk = sent(tsn);
  if (chunk.state != State::kHeld) return;
  chunk.state = State::kInFlight;
  chunk.revoked = true;
  --held_;
  put_in_flight(chunk);
  ++out.revoked;
  news.revoked = true;
}

// One missing report for each chunk below the highest newly acknowledged one, or, with `all_reported`, in a gap, and
// for revoked chunks. True if chunks must be retransmitted.
bool DataSender::count_misses(const News& news, bool all_reported) {
  std::uint32_t limit = news.any_new ? news.highest_new : una_;
  if (all_reported && held_ != 0) limit = news.highest;
  bool found = false;
  for (std::uint32_t tsn = una_; tsn != nxt_ && (news.revoked || seq_lt(tsn, limit)); ++tsn) {
    Entry& chunk = sent(tsn);
    const bool missing = chunk.revoked || seq_lt(tsn, limit);
    chunk.revoked = false;
    if (!missing || chunk.state != State::kInFlight || chunk.fast || ++chunk.misses < kMissesOfALoss) continue;
    mark(tsn, Resend::kFast);
    chunk.fast = true;
    found = true;
  }
  return found;
}

// The effect of acknowledged octets on the window and on the error count.
void DataSender::finish(std::uint32_t flight_before, bool advanced, bool was_recovering, Cycle now,
                        const SackOutcome& out) {
  if (out.acked != 0) {
    errors_ = 0;
    alone_ = false;
    if (!was_recovering) {
      llp::AckedOctets acked;
      acked.bytes = out.acked;
      acked.flight = flight_before;
      acked.snd_una = una_;
      acked.snd_nxt = nxt_;
      acked.now_ns = now * settings_->period_ps / 1000;
      acked.srtt_ns = rtt_.srtt() * settings_->period_ps / 1000;
      acked.advances = advanced;
      settings_->algorithm.on_ack(congestion_, acked);
    }
  }
  if (recovering_ && seq_lt(exit_, una_)) recovering_ = false;
  if (marked_ == 0) urgent_ = false;
  refill_burst();
}

void DataSender::start_recovery(SackOutcome& out) {
  urgent_ = true;
  if (recovering_) return;
  out.recovery = recovering_ = true;
  exit_ = nxt_ - 1;
  settings_->algorithm.on_loss(congestion_, flight_);
}

// The peer had no room for a probe, and has some now: the probe is retransmitted at once, one time.
void DataSender::answer_probe(const wire::SctpSackView& sack) {
  if (!in_use()) probing_ = false;
  if (!probing_ || sent(una_).state != State::kInFlight || sack.header.a_rwnd < sent(una_).bytes) return;
  probing_ = false;
  mark(una_, Resend::kWindowOpened);
}

void DataSender::set_timer(bool advanced, Cycle now) {
  if (in_use()) {
    if (advanced || deadline_ == kNever) deadline_ = now + rto();
    return;
  }
  const bool closed = unsent_head_ != unsent_tail_ && !window_holds(unsent_[unsent_head_ & mask_]);
  if (!closed) probe_due_ = false;
  if (!closed || probe_due_) deadline_ = kNever;
  else if (advanced || deadline_ == kNever) deadline_ = now + rto();
}

// ---- Time

TimerOutcome DataSender::on_timer(Cycle now) {
  if (deadline_ == kNever || now < deadline_ || lost_) return TimerOutcome::kNone;
  deadline_ = kNever;
  if (!in_use()) {
    probe_due_ = true;
    if (backoff_ < kMostBackoff) ++backoff_;
    refill_burst();
    return TimerOutcome::kProbe;
  }
  // A peer that answers but has no room is alive.
  const bool closed = std::exchange(answered_, false) && advertised_ < sent(una_).bytes;
  if (!closed && !count_error()) {
    lost_ = true;
    return TimerOutcome::kFailed;
  }
  settings_->algorithm.on_timeout(congestion_, flight_, backoff_ != 0);
  if (backoff_ < kMostBackoff) ++backoff_;
  for (std::uint32_t tsn = una_; tsn != nxt_; ++tsn) {
    if (sent(tsn).state == State::kInFlight) mark(tsn, Resend::kTimeout);
  }
  if (sent(una_).state == State::kHeld) mark(una_, Resend::kTimeout);
  recovering_ = urgent_ = probing_ = false;
  alone_ = true;
  burst_ = 1;
  return TimerOutcome::kResend;
}

void DataSender::on_answer(Cycle rtt) {
  rtt_.sample(rtt);
  backoff_ = 0;
  errors_ = 0;
}

bool DataSender::count_error() {
  if (errors_ >= settings_->max_retries) return false;
  ++errors_;
  return true;
}

bool DataSender::on_path_mtu(std::uint32_t ip_mtu) {
  const std::uint32_t pmdcs = std::max<std::uint32_t>(ip_mtu, settings_->path_mtu_min) - kPacketHeaders;
  if (pmdcs >= congestion_.mss) return false;
  congestion_.mss = pmdcs;
  for (std::uint32_t tsn = una_; tsn != nxt_; ++tsn) {
    const Entry& chunk = sent(tsn);
    if (chunk.state == State::kInFlight && chunk.octets() > limit()) mark(tsn, Resend::kPathMtu);
  }
  refill_burst();
  return true;
}

// ---- Released messages

std::optional<ReleasedMessage> DataSender::take_released() {
  while (released_ != una_) {
    const Entry& chunk = sent(released_++);
    if ((chunk.flags & wire::SctpData::kEnd) != 0) return ReleasedMessage{chunk.handle, chunk.stream};
  }
  if (!lost_ || unsent_head_ == unsent_tail_) return std::nullopt;
  const Entry& message = unsent_[unsent_head_++ & mask_];
  return ReleasedMessage{message.handle, message.stream};
}

void DataSender::abandon() {
  lost_ = true;
  una_ = nxt_;
  marked_ = held_ = flight_ = flight_data_ = 0;
  deadline_ = kNever;
}

}  // namespace rnic::sctp
