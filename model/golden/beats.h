// From what a port's beats are together to the beats, and back.
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/common/buffer.h"
#include "model/golden/status.h"
#include "model/golden/transactions.h"
#include "model/rnic/messages/datapath.h"
#include "model/rnic/messages/parts.h"

namespace rnic::golden {

// `check` throws Error for what no stage takes; `cut` gives the beats of a transaction to `emit`, with the octets in a
// block of `pool`; `join` takes the next beat, and returns whether it was the transaction's last. A control message is
// a beat of its own.
template <class T>
struct Beats {
  using Transaction = T;
  T transaction;
  static void check(const T&, unsigned) {}
  template <class Emit>
  static void cut(T message, unsigned, BufferPool&, Emit emit) {
    emit(std::move(message));
  }
  bool join(T& message) {
    transaction = std::move(message);
    return true;
  }
};

template <>
struct Beats<Ulpdu> {
  using Transaction = UlpduMessage;
  Transaction transaction;
  static void check(const Transaction& m, unsigned beat_bytes);
  template <class Emit>
  static void cut(const UlpduMessage& m, unsigned, BufferPool& pool, Emit emit) {
    Ulpdu ulpdu{pool.take(), m.flow, static_cast<std::uint16_t>(m.octets.size()), m.completes_wqe};
    std::copy(m.octets.begin(), m.octets.end(), ulpdu.buf->bytes() + Ulpdu::kOffset);
    ulpdu.markers = m.markers;
    ulpdu.crc = m.crc;
    ulpdu.position = m.position;
    emit(std::move(ulpdu));
  }
};

template <>
struct Beats<FpduBeat> {
  using Transaction = FpduMessage;
  Transaction transaction;
  static void check(const Transaction& m, unsigned beat_bytes);
  template <class Emit>
  static void cut(const FpduMessage& m, unsigned beat_bytes, BufferPool& pool, Emit emit) {
    Buffer* const buf = pool.take().release();
    std::uint8_t* const octets = buf->bytes() + kFrameHeadroom;
    std::copy(m.octets.begin(), m.octets.end(), octets);
    const auto words = static_cast<std::uint32_t>(m.octets.size() / 4), per_beat = beat_bytes / 4;
    auto mark = m.marks.begin();
    for (std::uint32_t at = 0; at < words; at += per_beat) {
      FpduBeat beat = begin(m, at == 0);
      beat.buf = buf;
      beat.data = octets + 4 * at;
      beat.words = static_cast<std::uint8_t>(std::min(per_beat, words - at));
      if (mark != m.marks.end() && mark->word < at + per_beat) {
        beat.marker_lane = static_cast<std::uint8_t>(mark->word - at);
        std::copy(std::begin(mark->octets), std::end(mark->octets), beat.marker);
        ++mark;
      }
      if (at + per_beat >= words) end(m, beat);
      emit(beat);
    }
  }
  bool join(const FpduBeat& beat);

 private:
  static FpduBeat begin(const FpduMessage& m, bool first);
  static void end(const FpduMessage& m, FpduBeat& beat);
};

template <>
struct Beats<StreamBeat> {
  using Transaction = SegmentMessage;
  Transaction transaction;
  static void check(const Transaction& m, unsigned beat_bytes);
  template <class Emit>
  static void cut(const SegmentMessage& m, unsigned beat_bytes, BufferPool& pool, Emit emit) {
    Buffer* const buf = pool.take().release();
    std::copy(m.octets.begin(), m.octets.end(), buf->bytes());
    for (std::size_t at = 0; at < m.octets.size(); at += beat_bytes) {
      const std::size_t n = std::min<std::size_t>(beat_bytes, m.octets.size() - at);
      emit(beat(m, buf, at, n));
    }
  }
  bool join(const StreamBeat& beat);

 private:
  static StreamBeat beat(const SegmentMessage& m, Buffer* buf, std::size_t at, std::size_t n);
};

}  // namespace rnic::golden
