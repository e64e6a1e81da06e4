// Which rows of a table are on the chip, and in which place: the tags of a set-associative cache. See table.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/common/prng.h"
#include "model/config/field.h"

namespace rnic {

enum class CachePolicy : std::uint8_t { kLru, kPlru, kRandom };
inline constexpr std::array<Named<CachePolicy>, 3> kCachePolicies{
    {{CachePolicy::kLru, "lru"}, {CachePolicy::kPlru, "plru"}, {CachePolicy::kRandom, "random"}}};

struct CacheConfig {
  unsigned entries = 1u << 20;
  unsigned ways = 4;
  CachePolicy policy = CachePolicy::kLru;
  unsigned misses_in_flight = 8;
  unsigned tag_cycles = 1;
  bool write_back = true;  // a setting of those whose rows are changed on the chip
  template <class V>
  static void fields(V& v) {
    v("entries", &CacheConfig::entries, "rows on the chip; as many as the table has, or more: all, without a home",
      in_range(1, 1 << 20), unit("rows"));
    v("ways", &CacheConfig::ways, "places of a row; a divisor of `entries`", in_range(1, 64));
    v("policy", &CacheConfig::policy,
      "which row makes room: the one used longest ago, a tree's approximation of it, any", one_of(kCachePolicies));
    v("misses_in_flight", &CacheConfig::misses_in_flight, "rows that are fetched at a time", in_range(1, 64));
    v("tag_cycles", &CacheConfig::tag_cycles, "compare of tags, ahead of a row's read", in_range(0, 16),
      unit("cycles"));
  }
};

struct ChangedRowsConfig : CacheConfig {
  template <class V>
  static void fields(V& v) {
    CacheConfig::fields(v);
    v("write_back", &ChangedRowsConfig::write_back,
      "whether a row that was changed goes to its home when it makes room; otherwise with each change");
  }
};

// What of the settings does not fit, beginning with its key; "" if all do. To be asked for of a cache that is used.
std::string fault_of(const CacheConfig& config);

// A row's set is its index modulo the sets, and its place is way * sets + set. A pinned row stays. After the sets come
// spare places, which any row can have.
class Residency {
 public:
  static constexpr std::uint32_t kNone = ~0u;

  // The ways divide the entries, and are a power of two for a tree (fault_of()).
  explicit Residency(const CacheConfig& config);

  std::size_t places() const { return lines_.size(); }
  void add_spare() { lines_.emplace_back(); }
  bool is_spare(std::uint32_t place) const { return place >= config_.entries; }
  // kNone: it is not here.
  std::uint32_t find(std::uint32_t index) const;
  // A place for a row that is not here: a free way, or that of the row `leaving` which the policy chooses among those
  // that are not pinned. kNone: there is none.
  std::uint32_t place(std::uint32_t index, std::uint32_t& leaving);
  // The same in a spare place.
  std::uint32_t spare_place(std::uint32_t index, std::uint32_t& leaving);
  // It is the one that was used last.
  void use(std::uint32_t place);
  void pin(std::uint32_t place) { ++lines_[place].pins; }
  void unpin(std::uint32_t place);
  bool pinned(std::uint32_t place) const { return lines_[place].pins != 0; }
  void drop(std::uint32_t place) { lines_[place].index = kNone; }
  // kNone: nothing.
  std::uint32_t index_at(std::uint32_t place) const { return lines_[place].index; }
  void reset();

 private:
  struct Line {
    std::uint32_t index = kNone;
    std::uint32_t pins = 0;
    std::uint64_t used = 0;  // the newest is the largest
  };
  Line& line(unsigned way, std::uint32_t set) { return lines_[std::size_t{way} * sets_ + set]; }
  unsigned victim(std::uint32_t set);
  unsigned oldest(std::uint32_t set);
  unsigned of_tree(std::uint32_t set) const;
  unsigned any(std::uint32_t set);

  const CacheConfig config_;
  const std::uint32_t sets_;
  std::vector<Line> lines_;
  std::vector<std::uint64_t> trees_;  // by set; bit n: node n points at its right half, and 1 is the root
  std::uint64_t clock_ = 0;
  Prng random_;
};

}  // namespace rnic
