// A distribution of integers (picoseconds, cycles, bytes, queue depths) and its percentiles.
#pragma once

#include <cstdint>
#include <vector>

namespace rnic {

// The first kExactSamples samples are kept, and all figures are exact. With more, samples are counted in buckets of
// 1/128 octave: percentiles are then wrong by at most 0.4 % (values below 256 stay exact), while count, minimum,
// maximum and mean are always exact. The sum of all samples must be below 2^64.
class Histogram {
 public:
  static constexpr std::size_t kExactSamples = 4096;

  Histogram() { samples_.reserve(kExactSamples); }

  void record(std::uint64_t value);

  // The samples recorded after `earlier`, a copy of this histogram. Once there are buckets, minimum and maximum are
  // wrong by at most 0.4 %, too.
  Histogram since(const Histogram& earlier) const;

  std::uint64_t count() const { return count_; }
  std::uint64_t min() const { return count_ == 0 ? 0 : min_; }
  std::uint64_t max() const { return max_; }
  double mean() const { return count_ == 0 ? 0.0 : static_cast<double>(sum_) / static_cast<double>(count_); }

  // By nearest_rank(); 0 for an empty histogram.
  std::uint64_t percentile(unsigned per_mille) const { return percentiles({per_mille})[0]; }
  // Several at once: the samples are sorted only once.
  std::vector<std::uint64_t> percentiles(const std::vector<unsigned>& per_mille) const;

 private:
  std::uint64_t of_buckets(std::uint64_t rank) const;

  std::vector<std::uint64_t> samples_;  // empty as soon as there are buckets
  std::vector<std::uint64_t> buckets_;  // empty as long as all samples are kept
  std::uint64_t count_ = 0, sum_ = 0, min_ = UINT64_MAX, max_ = 0;
};

}  // namespace rnic
