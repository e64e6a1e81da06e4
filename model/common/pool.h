// What pools of elements and FIFOs have in common: how many there may be, how many there were, and what that takes. See
// pool.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "model/common/memory.h"
#include "model/stats/high_water.h"

namespace rnic {

class Description;

// Who sees to it that a pool does not run out. The chip: one element too many is an error of ours and stops the run.
// The others are trusted: the pool grows, and its figures show it. kHome: elements whose list is lost with its row are
// nobody's.
enum class PoolLimit : std::uint8_t { kChip, kHost, kPeer, kHome };

struct PoolSize {
  const char* name = "";  // of its part of the statistics
  std::size_t entries = std::numeric_limits<std::uint32_t>::max();
  const char* follows_from = "";  // the settings
  PoolLimit limit = PoolLimit::kChip;
};

class PoolBase {
 public:
  PoolBase(const PoolBase&) = default;
  PoolBase& operator=(const PoolBase&) = delete;  // reset() keeps size and figures

  std::size_t entries() const { return size_.entries; }
  unsigned bits() const { return bits_; }  // of an element, with its link to the next one if it has one
  std::size_t in_use() const { return level_.now(); }
  std::uint64_t most() const { return level_; }
  // A part of its owner's.
  void describe(const Description& d) const;

 protected:
  PoolBase(const PoolSize& size, unsigned bits) : size_(size), bits_(bits) {}
  ~PoolBase() = default;
  // Before there is one more than ever before.
  void check_room(std::size_t elements) const {
    if (elements >= size_.entries && size_.limit == PoolLimit::kChip) run_out();
  }
  void taken() { level_.rise(); }
  void given_back() { level_.fall(); }
  void all_given_back() { level_.level(0); }

 private:
  [[noreturn]] void run_out() const;

  const PoolSize size_;
  const unsigned bits_;
  HighWater level_;
};

}  // namespace rnic
