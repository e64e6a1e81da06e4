// Percentiles against a sorted copy of the samples, on both sides of the exact limit.
#include "model/stats/histogram.h"

#include <algorithm>
#include <random>

#include <gmock/gmock.h>

#include "model/common/check.h"

namespace rnic {
namespace {

constexpr unsigned kReported[] = {500, 900, 990, 999};

std::vector<std::uint64_t> sorted(std::vector<std::uint64_t> samples) {
  std::sort(samples.begin(), samples.end());
  return samples;
}

std::uint64_t nearest_rank(const std::vector<std::uint64_t>& sorted_samples, unsigned per_mille) {
  return sorted_samples[(sorted_samples.size() * per_mille + 999) / 1000 - 1];
}

// Samples spread over nine decades, as latencies in picoseconds are.
std::vector<std::uint64_t> samples_over_decades(std::size_t count) {
  std::mt19937_64 random(7);
  std::vector<std::uint64_t> samples(count);
  for (std::uint64_t& s : samples) s = random() >> (30 + random() % 34);
  return samples;
}

Histogram histogram_of(const std::vector<std::uint64_t>& samples) {
  Histogram h;
  for (const std::uint64_t s : samples) h.record(s);
  return h;
}

TEST(Histogram, EmptyOneIsAllZero) {
  const Histogram h;
  EXPECT_EQ(h.count(), 0u);
  EXPECT_EQ(h.min(), 0u);
  EXPECT_EQ(h.max(), 0u);
  EXPECT_EQ(h.mean(), 0.0);
  EXPECT_EQ(h.percentile(999), 0u);
}

TEST(Histogram, PercentileIsTheNearestRank) {
  const Histogram h = histogram_of({50, 10, 40, 20, 30});
  EXPECT_EQ(h.percentile(1), 10u);
  EXPECT_EQ(h.percentile(200), 10u);
  EXPECT_EQ(h.percentile(201), 20u);
  EXPECT_EQ(h.percentile(500), 30u);
  EXPECT_EQ(h.percentile(900), 50u);
  EXPECT_EQ(h.percentile(1000), 50u);
  EXPECT_EQ(h.mean(), 30.0);
  EXPECT_THROW(h.percentile(0), InternalError);
  EXPECT_THROW(h.percentile(1001), InternalError);
}

TEST(Histogram, IsExactUpToItsLimit) {
  const auto samples = samples_over_decades(Histogram::kExactSamples);
  const Histogram h = histogram_of(samples);
  const auto reference = sorted(samples);
  for (const unsigned p : kReported) EXPECT_EQ(h.percentile(p), nearest_rank(reference, p)) << p;
}

TEST(Histogram, ErrsByLessThanHalfAPercentBeyondItsLimit) {
  const auto samples = samples_over_decades(Histogram::kExactSamples * 25 + 1);
  const Histogram h = histogram_of(samples);
  EXPECT_EQ(h.count(), samples.size());
  const auto reference = sorted(samples);
  EXPECT_EQ(h.min(), reference.front());
  EXPECT_EQ(h.max(), reference.back());
  for (unsigned p = 1; p <= 1000; ++p) {
    const auto exact = static_cast<double>(nearest_rank(reference, p));
    EXPECT_NEAR(static_cast<double>(h.percentile(p)), exact, exact * 0.004) << p;
  }
}

TEST(Histogram, SmallValuesStayExactInBuckets) {
  Histogram h;
  for (std::uint64_t i = 0; i < 256 * 100; ++i) h.record(i % 256);
  for (unsigned p = 1; p <= 1000; ++p) EXPECT_EQ(h.percentile(p), (p * 256 + 999) / 1000 - 1) << p;
}

TEST(Histogram, WhatCameSinceIsAHistogramOfItsOwn) {
  for (const std::size_t before : {std::size_t{0}, std::size_t{100}, Histogram::kExactSamples + 10}) {
    for (const std::size_t after : {std::size_t{0}, std::size_t{50}, Histogram::kExactSamples * 2}) {
      const auto samples = samples_over_decades(before + after);
      const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(before);
      const Histogram whole = histogram_of(samples), earlier = histogram_of({samples.begin(), middle});
      const Histogram expected = histogram_of({middle, samples.end()}), since = whole.since(earlier);
      EXPECT_EQ(since.count(), after);
      EXPECT_EQ(since.mean(), expected.mean());
      for (const unsigned p : {1u, 500u, 990u, 1000u}) {
        const auto exact = static_cast<double>(expected.percentile(p));
        EXPECT_NEAR(static_cast<double>(since.percentile(p)), exact, exact * 0.008) << before << ' ' << after;
      }
      EXPECT_NEAR(static_cast<double>(since.min()), static_cast<double>(expected.min()), 0.004 * 1e9);
    }
  }
}

TEST(Histogram, HoldsTheLargestValue) {
  Histogram h;
  for (std::size_t i = 0; i < Histogram::kExactSamples; ++i) h.record(0);
  h.record(UINT64_MAX);
  EXPECT_EQ(h.max(), UINT64_MAX);
  EXPECT_NEAR(static_cast<double>(h.percentile(1000)), static_cast<double>(UINT64_MAX), 0.004 * 1.9e19);
  EXPECT_EQ(h.percentile(999), 0u);
}

}  // namespace
}  // namespace rnic
