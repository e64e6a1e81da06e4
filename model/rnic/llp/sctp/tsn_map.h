// Which of the peer's TSNs were received: all up to the cumulative one, and a bit for each one beyond it within a
// window.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/common/check.h"

namespace rnic::sctp {

// TSNs are compared modulo 2^32. A TSN exactly 2^31 away is ahead, hence beyond any window.
class TsnMap {
 public:
  // Nothing received. `window`: how far beyond the cumulative TSN others are accepted, a power of two of at least 64
  // that fits the 16 bits of a gap block. That many bits are allocated here, and nothing later.
  void start(std::uint32_t initial_tsn, std::uint32_t window) {
    RNIC_CHECK(window >= kWordBits && window <= 0x8000 && (window & (window - 1)) == 0);
    words_.assign(window / kWordBits, 0);
    cumulative_ = highest_ = initial_tsn - 1;
  }

  std::uint32_t window() const { return static_cast<std::uint32_t>(words_.size()) * kWordBits; }
  std::uint32_t cumulative() const { return cumulative_; }
  std::uint32_t highest() const { return highest_; }
  bool has_gap() const { return highest_ != cumulative_; }
  bool in_window(std::uint32_t tsn) const { return tsn - cumulative_ - 1 < window(); }
  bool has(std::uint32_t tsn) const {
    return cumulative_ - tsn < 0x8000'0000 || (tsn - cumulative_ <= highest_ - cumulative_ && bit(tsn));
  }

  // A missing TSN in the window.
  void add(std::uint32_t tsn) {
    flip(tsn);
    if (tsn - cumulative_ > highest_ - cumulative_) highest_ = tsn;
    while (cumulative_ != highest_ && bit(cumulative_ + 1)) flip(++cumulative_);
  }
  // A TSN beyond the cumulative one is given up: the peer must retransmit it (RFC 9260 section 6.2).
  void remove(std::uint32_t tsn) {
    flip(tsn);
    while (highest_ != cumulative_ && !bit(highest_)) --highest_;
  }

  // Consecutive received TSNs, as offsets from the cumulative one; `start` 0: none.
  struct Run {
    std::uint32_t start = 0, end = 0;
  };
  // The first run after the offset `behind`.
  Run next_run(std::uint32_t behind) const {
    const std::uint32_t from = find(cumulative_ + behind + 1, true);
    if (from == highest_ + 1) return {};
    return {from - cumulative_, find(from, false) - 1 - cumulative_};
  }

 private:
  static constexpr std::uint32_t kWordBits = 64;

  const std::uint64_t& word(std::uint32_t tsn) const { return words_[tsn / kWordBits & (words_.size() - 1)]; }
  bool bit(std::uint32_t tsn) const { return word(tsn) >> tsn % kWordBits & 1; }
  void flip(std::uint32_t tsn) { words_[tsn / kWordBits & (words_.size() - 1)] ^= std::uint64_t{1} << tsn % kWordBits; }
  // The first TSN from `tsn` on whose bit is `value`, or the one after the highest.
  std::uint32_t find(std::uint32_t tsn, bool value) const {
    const std::uint32_t end = highest_ + 1;
    while (tsn != end) {
      const std::uint64_t bits = (value ? word(tsn) : ~word(tsn)) >> tsn % kWordBits;
      const std::uint32_t left = end - tsn;
      if (bits != 0) return tsn + std::min(left, static_cast<std::uint32_t>(__builtin_ctzll(bits)));
      tsn += std::min(left, kWordBits - tsn % kWordBits);
    }
    return end;
  }

  std::vector<std::uint64_t> words_;  // TSN modulo window; set only beyond the cumulative one
  std::uint32_t cumulative_ = 0, highest_ = 0;
};

}  // namespace rnic::sctp
