#include "model/stats/histogram.h"

#include <algorithm>

#include "model/common/nearest_rank.h"

namespace rnic {
namespace {

constexpr unsigned kSubBits = 7;  // 128 buckets in each octave
constexpr std::uint64_t kSubBuckets = std::uint64_t{1} << kSubBits;
constexpr std::size_t kBuckets = (64 - kSubBits + 1) * kSubBuckets;

// Bucket i holds the values [ (128 + i % 128) << s, +1 << s ) with s = i / 128 - 1; the first 128 hold one value each.
std::size_t bucket_of(std::uint64_t value) {
  if (value < kSubBuckets) return value;
  const unsigned shift = 63u - static_cast<unsigned>(__builtin_clzll(value)) - kSubBits;
  return (std::size_t{shift} << kSubBits) + (value >> shift);
}

std::uint64_t middle_of(std::size_t bucket) {
  if (bucket < 2 * kSubBuckets) return bucket;
  const std::uint64_t shift = bucket / kSubBuckets - 1;
  const std::uint64_t low = (kSubBuckets + bucket % kSubBuckets) << shift;
  return low + (std::uint64_t{1} << (shift - 1));
}

}  // namespace

void Histogram::record(std::uint64_t value) {
  ++count_;
  sum_ += value;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
  if (count_ <= kExactSamples) {
    samples_.push_back(value);
    return;
  }
  if (buckets_.empty()) {
    buckets_.resize(kBuckets);
    for (const std::uint64_t sample : samples_) ++buckets_[bucket_of(sample)];
    samples_ = {};
  }
  ++buckets_[bucket_of(value)];
}

Histogram Histogram::since(const Histogram& earlier) const {
  Histogram rest;
  if (buckets_.empty()) {
    for (std::size_t i = earlier.samples_.size(); i < samples_.size(); ++i) rest.record(samples_[i]);
    return rest;
  }
  rest.samples_ = {};
  rest.buckets_ = buckets_;
  for (std::size_t i = 0; i < earlier.buckets_.size(); ++i) rest.buckets_[i] -= earlier.buckets_[i];
  for (const std::uint64_t sample : earlier.samples_) --rest.buckets_[bucket_of(sample)];
  rest.count_ = count_ - earlier.count_;
  rest.sum_ = sum_ - earlier.sum_;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    if (rest.buckets_[i] == 0) continue;
    rest.min_ = std::min(rest.min_, std::max(min_, middle_of(i)));
    rest.max_ = std::min(max_, middle_of(i));
  }
  return rest;
}

std::uint64_t Histogram::of_buckets(std::uint64_t rank) const {
  std::uint64_t below = 0;
  std::size_t bucket = 0;
  while ((below += buckets_[bucket]) < rank) ++bucket;
  return std::clamp(middle_of(bucket), min_, max_);
}

std::vector<std::uint64_t> Histogram::percentiles(const std::vector<unsigned>& per_mille) const {
  std::vector<std::uint64_t> values(per_mille.size());
  if (count_ == 0) return values;
  std::vector<std::uint64_t> sorted = samples_;
  std::sort(sorted.begin(), sorted.end());
  std::transform(per_mille.begin(), per_mille.end(), values.begin(), [&](unsigned p) {
    const std::uint64_t rank = nearest_rank(count_, p);
    return sorted.empty() ? of_buckets(rank) : sorted[rank - 1];
  });
  return values;
}

}  // namespace rnic
