#include "model/common/residency.h"

#include <string>
#include <utility>

#include "model/common/check.h"

namespace rnic {

namespace {
constexpr std::uint64_t kSeed = 1;
}

std::string fault_of(const CacheConfig& config) {
  const std::string ways = std::to_string(config.ways);
  if (config.entries % config.ways != 0) {
    return "ways: " + ways + " do not divide " + std::to_string(config.entries) + " entries";
  }
  const bool power = (config.ways & (config.ways - 1)) == 0;
  return power || config.policy != CachePolicy::kPlru ? "" : "ways: plru needs a power of two, not " + ways;
}

Residency::Residency(const CacheConfig& config)
    : config_(config), sets_(config.entries / config.ways), lines_(config.entries), random_(kSeed) {
  RNIC_CHECK(fault_of(config).empty());
  if (config.policy == CachePolicy::kPlru) trees_.resize(sets_);
}

std::uint32_t Residency::find(std::uint32_t index) const {
  for (std::size_t place = index % sets_; place < config_.entries; place += sets_) {
    if (lines_[place].index == index) return static_cast<std::uint32_t>(place);
  }
  for (std::size_t place = config_.entries; place < lines_.size(); ++place) {
    if (lines_[place].index == index) return static_cast<std::uint32_t>(place);
  }
  return kNone;
}

std::uint32_t Residency::place(std::uint32_t index, std::uint32_t& leaving) {
  const std::uint32_t set = index % sets_;
  const unsigned way = victim(set);
  if (way == config_.ways) return kNone;
  Line& l = line(way, set);
  leaving = std::exchange(l.index, index);
  return way * sets_ + set;
}

// The free one, or the one used longest ago.
std::uint32_t Residency::spare_place(std::uint32_t index, std::uint32_t& leaving) {
  std::uint32_t found = kNone;
  for (std::uint32_t place = config_.entries; place < lines_.size(); ++place) {
    const Line& l = lines_[place];
    if (l.pins != 0) continue;
    if (found == kNone || l.index == kNone || (lines_[found].index != kNone && l.used < lines_[found].used))
      found = place;
  }
  if (found != kNone) leaving = std::exchange(lines_[found].index, index);
  return found;
}

void Residency::use(std::uint32_t place) {
  lines_[place].used = ++clock_;
  if (is_spare(place) || config_.policy != CachePolicy::kPlru) return;
  std::uint64_t& tree = trees_[place % sets_];
  const unsigned way = place / sets_;
  for (unsigned node = way + config_.ways; node > 1; node /= 2) {
    const std::uint64_t parent = std::uint64_t{1} << (node / 2);
    tree = (node & 1) != 0 ? tree & ~parent : tree | parent;  // away from this one
  }
}

void Residency::unpin(std::uint32_t place) {
  RNIC_CHECK(lines_[place].pins != 0);
  --lines_[place].pins;
}

// `ways` if all are pinned.
unsigned Residency::victim(std::uint32_t set) {
  for (unsigned way = 0; way < config_.ways; ++way) {
    if (line(way, set).index == kNone && line(way, set).pins == 0) return way;
  }
  switch (config_.policy) {
    case CachePolicy::kLru:
      return oldest(set);
    case CachePolicy::kPlru:
      break;
    case CachePolicy::kRandom:
      return any(set);
  }
  // Where the tree points, or the next one that is not pinned.
  const unsigned first = of_tree(set);
  for (unsigned n = 0; n < config_.ways; ++n) {
    const unsigned way = (first + n) % config_.ways;
    if (line(way, set).pins == 0) return way;
  }
  return config_.ways;
}

unsigned Residency::oldest(std::uint32_t set) {
  unsigned found = config_.ways;
  for (unsigned way = 0; way < config_.ways; ++way) {
    if (line(way, set).pins != 0) continue;
    if (found == config_.ways || line(way, set).used < line(found, set).used) found = way;
  }
  return found;
}

unsigned Residency::of_tree(std::uint32_t set) const {
  unsigned node = 1;
  while (node < config_.ways) node = 2 * node + static_cast<unsigned>(trees_[set] >> node & 1);
  return node - config_.ways;
}

unsigned Residency::any(std::uint32_t set) {
  unsigned free = 0;
  for (unsigned way = 0; way < config_.ways; ++way) free += line(way, set).pins == 0;
  if (free == 0) return config_.ways;
  std::uint64_t n = random_.below(free);
  for (unsigned way = 0;; ++way) {
    if (line(way, set).pins == 0 && n-- == 0) return way;
  }
}

void Residency::reset() {
  lines_.assign(lines_.size(), {});
  trees_.assign(trees_.size(), 0);
  clock_ = 0;
  random_ = Prng(kSeed);
}

}  // namespace rnic
