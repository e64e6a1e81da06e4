#include "model/rnic/llp/sctp/data_receiver.h"

#include <algorithm>
#include <string>
#include <utility>

#include "model/common/check.h"
#include "model/wire/ddp_session.h"
#include "model/wire/tcp.h"

namespace rnic::sctp {

using wire::SctpChunkType;
using wire::SctpData;
using wire::SctpSack;

ReceiverSettings::ReceiverSettings(const SctpConfig& config, std::uint32_t ip_mtu, std::uint32_t ip_header_bytes,
                                   std::uint64_t period_ps)
    : tsn_window(config.reorder_chunks),
      buffer(config.receive_buffer),
      window_step(std::max<std::uint32_t>(1, config.receive_buffer / 4)),
      sack_every(config.sack_every),
      sack_delay(std::max<Cycle>(1, config.sack_delay_ns * 1000 / period_ps)),
      fragments(config.reassembly_messages, ip_mtu, ip_header_bytes) {
  // Otherwise the window might stay closed before the last piece of a long message.
  if (buffer - window_step < fragments.segment_message) {
    throw ConfigError("rnic.sctp.receive_buffer: three quarters of " + std::to_string(buffer) +
                      " octets do not hold a message in fragments, of up to " +
                      std::to_string(fragments.segment_message) + " at this MTU");
  }
}

void DataReceiver::start(const ReceiverSettings& s, FragmentMemory& m, std::uint32_t initial_tsn,
                         std::uint16_t streams) {
  clear(m);
  *this = DataReceiver();
  tsns_.start(initial_tsn, s.tsn_window);
  announced_ = s.buffer;
  streams_ = streams;
  mode_ = Mode::kTake;
}

ReceivedData DataReceiver::on_data(const ReceiverSettings& s, FragmentMemory& m, const BufferRef& packet,
                                   const wire::SctpChunk& chunk) {
  RNIC_CHECK(!offers_);
  ReceivedData data;
  if (mode_ == Mode::kDrop) return data;
  const auto header = SctpData::parse(chunk.value);
  if (!header) {
    data.fate = DataFate::kMalformed;
    return data;
  }
  data.header = *header;
  data.unordered = chunk.flags & SctpData::kUnordered;
  const std::uint32_t tsn = header->tsn;
  const std::size_t bytes = SctpData::user_data(chunk.value).size();
  const bool whole = (chunk.flags & SctpData::kBegin) && (chunk.flags & SctpData::kEnd);
  if (bytes == 0) {
    data.fate = DataFate::kNoUserData;
    return data;
  }
  data_ = true;
  if (chunk.flags & SctpData::kImmediate) immediate_ = true;
  if (tsns_.has(tsn)) {
    data.fate = DataFate::kDuplicate;
    if (listed_ < kListedDuplicates) duplicates_[listed_++] = tsn;
  } else if (!tsns_.in_window(tsn)) {
    data.fate = DataFate::kBeyondWindow;
    dropped_ = true;
  } else if (!make_room(s, m, bytes, !whole, data)) {
    data.fate = DataFate::kNoRoom;
    dropped_ = true;
  } else {
    take(m, packet, chunk, data);
  }
  return data;
}

// Whether the window has room for a new chunk. A chunk that fills a gap takes precedence over pieces beyond it, whose
// acknowledgement is still revocable: they are given up, the highest first (section 6.2).
bool DataReceiver::make_room(const ReceiverSettings& s, FragmentMemory& m, std::size_t bytes, bool piece,
                             ReceivedData& data) {
  const std::uint32_t tsn = data.header.tsn;
  const auto short_of_room = [&] { return free_octets(s) == 0 || (piece && !fragments_.room_for(m, bytes)); };
  if (wire::seq_gt(tsn, tsns_.highest())) {
    if (window(s) == 0) return false;
  } else {
    while (short_of_room()) {
      const auto given_up = fragments_.drop_last(m, tsn);
      if (!given_up) break;
      tsns_.remove(*given_up);
      ++data.given_up;
    }
  }
  // With the next TSN, all remaining pieces belong to one message, which it makes complete or too long.
  return !short_of_room() || (free_octets(s) != 0 && tsn == tsns_.cumulative() + 1);
}

void DataReceiver::take(FragmentMemory& m, const BufferRef& packet, const wire::SctpChunk& chunk, ReceivedData& data) {
  const ByteSpan octets = SctpData::user_data(chunk.value);
  const bool begins = chunk.flags & SctpData::kBegin, ends = chunk.flags & SctpData::kEnd;
  if (data.header.stream >= streams_) {
    data.fate = DataFate::kUnknownStream;
    fragments_.pass(m, data.header.tsn, data.ended);
  } else if (begins && ends) {
    data.fate = DataFate::kMessage;
    data.message = octets;
    fragments_.pass(m, data.header.tsn, data.ended);
  } else {
    take_piece(m, packet, chunk.flags, octets, data);
  }
  if (data.fate == DataFate::kMessage) {
    offers_ = true;
    of_pieces_ = !(begins && ends);
    offered_tsn_ = data.header.tsn;
    offered_octets_ = static_cast<std::uint16_t>(data.message.size());
  } else {
    fresh_ = true;
    tsns_.add(data.header.tsn);
  }
}

// Only DDP's messages are reassembled: ordered ones, and those of other protocols, end their session anyway.
void DataReceiver::take_piece(FragmentMemory& m, const BufferRef& packet, std::uint8_t flags, ByteSpan octets,
                              ReceivedData& data) {
  const SctpData& header = data.header;
  const bool ddp = header.ppid == wire::kPpidDdpSegment || header.ppid == wire::kPpidDdpSession;
  if (!data.unordered || !ddp) {
    data.fate = DataFate::kBroken;
    data.ended.add(header.stream);
    fragments_.pass(m, header.tsn, data.ended);
    return;
  }
  Piece piece;
  piece.packet = packet;
  piece.data = octets.data();
  piece.tsn = header.tsn;
  piece.ppid = header.ppid;
  piece.stream = header.stream;
  piece.bytes = static_cast<std::uint16_t>(octets.size());
  piece.flags = flags;
  switch (fragments_.put(m, tsns_, std::move(piece), data.message, data.ended)) {
    case Fragments::Fate::kKept:
      data.fate = DataFate::kPiece;
      break;
    case Fragments::Fate::kComplete:
      data.fate = DataFate::kMessage;
      break;
    case Fragments::Fate::kBroken:
      data.fate = DataFate::kBroken;
      break;
  }
}

void DataReceiver::accept(FragmentMemory& m) {
  RNIC_CHECK(offers_);
  offers_ = false;
  fresh_ = true;
  tsns_.add(offered_tsn_);
  unconsumed_ += offered_octets_;
  if (of_pieces_) fragments_.finish(m, offered_tsn_);
}

void DataReceiver::refuse(FragmentMemory& m) {
  RNIC_CHECK(offers_);
  offers_ = false;
  dropped_ = true;
  if (of_pieces_) fragments_.take_back(m, offered_tsn_);
}

void DataReceiver::end_packet(const ReceiverSettings& s, Cycle now) {
  RNIC_CHECK(!offers_);
  if (!data_) return;
  const bool first = first_;
  first_ = false;
  const bool gap = tsns_.has_gap();
  if (mode_ == Mode::kShutdownSent) {
    if (gap || listed_ != 0 || dropped_) owed_ = true;  // more than SHUTDOWN can express
    return;
  }
  const bool enough = packets_ + 1u >= s.sack_every;
  if (!enough) ++packets_;
  if (first || enough || gap || met_gap_ || immediate_ || dropped_ || !fresh_) owed_ = true;
  else if (deadline_ == kNever) deadline_ = now + s.sack_delay;
}

void DataReceiver::consume(const ReceiverSettings& s, std::uint32_t octets) {
  RNIC_CHECK(octets <= unconsumed_);
  unconsumed_ -= octets;
  const std::uint32_t opened = window(s);
  if (mode_ != Mode::kDrop && opened >= announced_ && opened - announced_ >= s.window_step) owed_ = true;
}

// As many as fit, the lowest gap blocks first.
DataReceiver::Entries DataReceiver::entries(std::size_t room) const {
  RNIC_CHECK(room >= kMinSackBytes);
  const std::size_t most = (room - kMinSackBytes) / SctpSack::kEntryBytes;
  Entries e;
  for (auto run = tsns_.next_run(0); run.start != 0 && e.blocks < most; run = tsns_.next_run(run.end)) ++e.blocks;
  e.duplicates = std::min<std::size_t>(listed_, most - e.blocks);
  return e;
}

std::size_t DataReceiver::sack_bytes(std::size_t room) const {
  const Entries e = entries(room);
  return kMinSackBytes + (e.blocks + e.duplicates) * SctpSack::kEntryBytes;
}

void DataReceiver::write_sack(const ReceiverSettings& s, wire::SctpWriter& to, std::size_t room) {
  const Entries e = entries(room);
  announced_ = window(s);
  to.begin(SctpChunkType::kSack);
  to.put(SctpSack{tsns_.cumulative(), announced_, static_cast<std::uint16_t>(e.blocks),
                  static_cast<std::uint16_t>(e.duplicates)});
  TsnMap::Run run;
  for (std::size_t i = 0; i < e.blocks; ++i) {
    run = tsns_.next_run(run.end);
    to.put(wire::SctpGapBlock{static_cast<std::uint16_t>(run.start), static_cast<std::uint16_t>(run.end)});
  }
  for (std::size_t i = 0; i < e.duplicates; ++i) to.put(duplicates_[i]);
  listed_ = packets_ = 0;
  deadline_ = kNever;
  owed_ = false;
}

void DataReceiver::shutdown_sent() {
  if (tsns_.has_gap() || listed_ != 0) return;
  packets_ = 0;
  deadline_ = kNever;
}

}  // namespace rnic::sctp
