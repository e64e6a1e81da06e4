#include "model/rnic/rx/fpdu_search.h"

#include <gmock/gmock.h>

#include "testbench/support/mpa_reference.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Spans = std::vector<std::pair<std::uint32_t, std::uint32_t>>;  // from, octets

constexpr FpduSearch::Stream kPlain{false, true}, kMarked{true, true};

// FPDUs of one stream, joined, and the start of each.
struct SentStream {
  MpaReference reference;
  std::uint64_t from;
  Bytes octets;
  std::vector<std::uint64_t> starts;

  explicit SentStream(bool markers, std::uint64_t position = 0, bool crc = true)
      : reference{markers, crc, position}, from(position) {}
  SentStream& add(std::size_t ulpdu_bytes) {
    starts.push_back(reference.pos - from);
    const Bytes fpdu = reference.fpdu(counting(ulpdu_bytes, static_cast<std::uint8_t>(starts.size())));
    octets.insert(octets.end(), fpdu.begin(), fpdu.end());
    return *this;
  }
};

struct Searched {
  bool located;
  Spans intact, damaged;
};
Searched search(const SentStream& s, std::size_t first, std::size_t last, FpduSearch::Stream stream) {
  FpduSearch search;
  Searched r{};
  r.located = search.search(ByteSpan(s.octets).subspan(first, last - first),
                            static_cast<wire::StreamPosition>(s.from + first), stream);
  for (const FpduSearch::Found& f : search.found()) (f.intact ? r.intact : r.damaged).emplace_back(f.at, f.bytes);
  return r;
}

// A row of whole FPDUs with correct CRCs, and any part of it: it could also be the payload of an FPDU that began
// earlier.
TEST(FpduSearch, WithoutMarkersNothingIsBelieved) {
  SentStream s(false, 8192);
  s.add(100).add(30).add(500);
  for (std::size_t first = 0; first < s.octets.size(); ++first) {
    for (const std::size_t last : {s.octets.size(), s.octets.size() - 4, first + 1}) {
      if (first >= last) continue;
      const Searched r = search(s, first, last, kPlain);
      EXPECT_FALSE(r.located) << first << " to " << last;
      EXPECT_THAT(r.intact, IsEmpty());
      EXPECT_THAT(r.damaged, IsEmpty());
    }
  }
}

// Every position of a segment in a stream of FPDUs around several markers. The search finds the whole FPDUs in it,
// beginning with the first one to which a marker in the segment belongs, and nothing else.
TEST(FpduSearch, MarkersFindWhatLiesWhollyInAnySegment) {
  SentStream s(true, 65536 - 300);
  for (const std::size_t bytes : {70, 10, 900, 0, 42, 330, 3, 1200, 500, 60}) s.add(bytes);
  s.starts.push_back(s.octets.size());
  const auto is_marker = [&](std::size_t at) { return (s.from + at) % 512 == 0; };
  unsigned found = 0;
  for (std::size_t first = 0; first < s.octets.size(); first += first % 7 == 0 ? 4 : 1) {
    for (std::size_t last = first + 600; last <= s.octets.size(); last += 300) {
      Spans expected;
      bool known = false, any_marker = false;
      for (std::size_t at = first; at + 4 <= last; ++at) any_marker |= is_marker(at);
      for (std::size_t k = 0; k + 1 < s.starts.size(); ++k) {
        const std::size_t from = s.starts[k], to = s.starts[k + 1];
        for (std::size_t at = from; at < to && from >= first; ++at) known |= is_marker(at) && at + 4 <= last;
        if (known && from >= first && to <= last) {
          expected.emplace_back(static_cast<std::uint32_t>(from - first), static_cast<std::uint32_t>(to - from));
        }
      }
      ASSERT_TRUE(any_marker);
      const Searched r = search(s, first, last, kMarked);
      EXPECT_EQ(r.located, known) << first << " to " << last;
      EXPECT_EQ(r.intact, expected) << first << " to " << last;
      EXPECT_THAT(r.damaged, IsEmpty());
      found += static_cast<unsigned>(expected.size());
    }
  }
  EXPECT_GT(found, 1000u);
}

TEST(FpduSearch, BetweenTwoMarkersNothingIsBelieved) {
  SentStream s(true, 1024 + 100);
  s.add(80).add(50);
  EXPECT_FALSE(search(s, 0, s.octets.size(), kMarked).located);
  EXPECT_THAT(search(s, 0, s.octets.size(), kMarked).intact, IsEmpty());
}

// The FPDU that the marker names has ended before it. So the marker is wrong, and it points only to payload.
TEST(FpduSearch, AMarkerBehindTheFpduThatItNamesProvesNothing) {
  SentStream inner(true, 1024 + 100);
  inner.add(80).add(50);
  SentStream s(true, 1024);
  s.add(900);
  std::copy(inner.octets.begin(), inner.octets.end(), s.octets.begin() + 100);
  store_be16(&s.octets[512 + 2], 512 - 100);
  EXPECT_FALSE(search(s, 100, s.octets.size(), kMarked).located);
  EXPECT_THAT(search(s, 100, s.octets.size(), kMarked).intact, IsEmpty());
}

TEST(FpduSearch, WithoutCrcMarkersAreEnough) {
  SentStream s(true, 512, false);
  s.add(1000);
  EXPECT_THAT(search(s, 0, s.octets.size(), {true, false}).intact, ElementsAre(std::pair(0, 1016)));
}

TEST(FpduSearch, WhatStandsBehindAWrongFpduIsNotBelieved) {
  SentStream s(true, 500);
  s.add(40).add(60).add(70);
  s.octets[s.starts[1] + 9] ^= 1;
  const Searched r = search(s, 0, s.octets.size(), kMarked);
  EXPECT_THAT(r.intact, ElementsAre(std::pair(0, 52)));
  EXPECT_EQ(r.damaged.size(), 1u);
}

TEST(FpduSearch, AMarkerThatPointsElsewhereMakesItsFpduWrong) {
  SentStream s(true, 1024, false);
  s.add(1000);
  s.octets[512 + 3] ^= 0x10;
  const Searched r = search(s, 0, s.octets.size(), {true, false});
  EXPECT_THAT(r.intact, IsEmpty());
  EXPECT_EQ(r.damaged.size(), 1u);
}

}  // namespace
}  // namespace rnic::test
