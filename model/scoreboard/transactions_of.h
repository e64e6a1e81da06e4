// What the beats of a link are together, for an observer: it takes nothing and frees nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>
#include <variant>

#include "model/common/bytes.h"
#include "model/common/request_id.h"
#include "model/golden/dma.h"
#include "model/golden/terminate_octets.h"
#include "model/golden/transactions.h"
#include "model/rnic/messages/datapath.h"
#include "model/rnic/messages/dma.h"

namespace rnic::scoreboard {

// Whose message it is, if it says so; most say it in its segment.
template <class T>
auto said_owner(const T& message, int) -> decltype(RequestId{message.owner}) {
  return message.owner;
}
template <class T>
auto said_owner(const T& message, int) -> decltype(RequestId{message.segment.owner}) {
  return message.segment.owner;
}
template <class T>
auto said_owner(const T& message, int) -> decltype(RequestId{message.failed.owner}) {
  return message.failed.owner;
}
template <class... Kinds>
RequestId said_owner(const std::variant<Kinds...>& message, int) {
  return std::visit([](const auto& kind) { return said_owner(kind, 0); }, message);
}
template <class T>
RequestId said_owner(const T&, long) {
  return {};
}

// `join` takes the next beat, in the cycle in which it is put on the link, and returns whether `transaction` is
// complete. A control message is a beat of its own.
template <class T>
struct TransactionsOf {
  using Transaction = T;
  T transaction;
  RequestId owner;  // whose octets these are
  bool join(const T& message) {
    transaction = message;
    owner = said_owner(message, 0);
    return true;
  }
};

template <>
struct TransactionsOf<Ulpdu> {
  using Transaction = golden::UlpduMessage;
  Transaction transaction;
  RequestId owner;
  bool join(const Ulpdu& u) {
    const std::uint8_t* const from = u.buf->bytes() + Ulpdu::kOffset;
    transaction.octets.assign(from, from + u.bytes);
    transaction.flow = u.flow;
    transaction.completes_wqe = u.completes_wqe;
    transaction.markers = u.markers;
    transaction.crc = u.crc;
    transaction.position = u.position;
    owner = u.buf->owner();
    return true;
  }
};

// The octets of an FPDU are contiguous and complete when its last beat is put on the link, not before: a run may be put
// there before its octets.
template <>
struct TransactionsOf<FpduBeat> {
  using Transaction = golden::FpduMessage;
  Transaction transaction;
  RequestId owner;
  bool join(const FpduBeat& beat) {
    Transaction& m = transaction;
    if (beat.first) begin(beat);
    if (beat.marked()) {
      golden::Mark& mark = m.marks.emplace_back();
      mark.word = words_ + beat.marker_lane;
      std::copy(std::begin(beat.marker), std::end(beat.marker), mark.octets);
    }
    words_ += beat.words;
    if (!beat.last) return false;
    m.octets.assign(octets_, octets_ + std::size_t{4} * words_);
    m.completes_wqe = beat.completes_wqe;
    m.marker_ok = beat.marker_ok;
    m.crc_ok = beat.crc_ok;
    owner = beat.buf->owner();
    return true;
  }

 private:
  void begin(const FpduBeat& beat) {
    Transaction& m = transaction;
    m.flow = beat.flow;
    m.qpn = beat.qpn;
    m.life = beat.life;
    m.placed = beat.placed();
    m.ends = beat.ends();
    m.crc_on = beat.crc_on;
    m.wants_markers = !beat.marked() && beat.wants_markers();
    m.position = beat.marked() ? std::uint16_t{0} : beat.start();
    m.marks.clear();
    octets_ = beat.data;
    words_ = 0;
  }

  const std::uint8_t* octets_ = nullptr;
  std::uint32_t words_ = 0;
};

// Each beat is a piece of the stream: what is complete in a segment may leave a device before the segment has ended.
// Octets are read at once, as the consumer moves them where they are.
template <>
struct TransactionsOf<StreamBeat> {
  using Transaction = golden::SegmentMessage;
  Transaction transaction;
  RequestId owner;
  bool join(const StreamBeat& beat) {
    Transaction& m = transaction;
    m.octets.assign(beat.data, beat.data + beat.bytes);
    m.offset = beat.offset;
    m.flow = beat.flow;
    m.qpn = beat.qpn;
    m.life = beat.life;
    m.markers = beat.markers;
    m.crc = beat.crc;
    m.placed = beat.placed;
    m.ends = beat.ends;
    owner = beat.buf->owner();
    return true;
  }
};

template <>
struct TransactionsOf<TerminateMessage> : golden::Beats<TerminateMessage> {
  RequestId owner;
  bool join(const TerminateMessage& m) {
    owner = m.buf->owner();
    return golden::Beats<TerminateMessage>::join(m);
  }
};

template <>
struct TransactionsOf<DmaWriteRequest> : golden::Beats<DmaWriteRequest> {
  RequestId owner;
  bool join(const DmaWriteRequest& write) {
    owner = write.src->owner();
    return golden::Beats<DmaWriteRequest>::join(write);
  }
};

// Without what it holds in the chip.
template <>
struct TransactionsOf<DmaReadRequest> {
  using Transaction = DmaReadRequest;
  Transaction transaction;
  RequestId owner;
  bool join(const DmaReadRequest& read) {
    owner = read.owner;
    transaction.address = read.address;
    transaction.bytes = read.bytes;
    transaction.tag = read.tag;
    transaction.list = read.list;
    transaction.region = read.region;
    return true;
  }
};

// With the octets, which are where the read wants them before its answer is put on the link.
template <>
struct TransactionsOf<DmaReadDone> {
  using Transaction = golden::DmaReadMessage;
  Transaction transaction;
  RequestId owner;
  std::function<ByteSpan(std::uint32_t tag)> landed = {};
  bool join(const DmaReadDone& done) {
    transaction.tag = done.tag;
    transaction.ok = done.ok;
    transaction.octets.clear();
    if (!done.ok) return true;
    const ByteSpan octets = landed(done.tag);
    transaction.octets.assign(octets.begin(), octets.end());
    return true;
  }
};

}  // namespace rnic::scoreboard
