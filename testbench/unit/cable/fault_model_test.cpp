// The frames that each kind of fault strikes, and when they are passed on. The frames that a seed picks are literal: a
// change of the random streams would change every recorded run.
#include "model/cable/fault_model.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include <gmock/gmock.h>

#include "model/common/check.h"
#include "model/common/sctp_checksum.h"
#include "model/wire/checksum.h"
#include "model/wire/ethernet.h"
#include "model/wire/sctp.h"
#include "model/wire/tcp.h"

namespace rnic::test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using Fate = FaultModel::Fate;

constexpr std::uint64_t kSeed = 7;
constexpr std::uint32_t kBytes = 114;

class FaultModelTest : public testing::Test {
 protected:
  struct Passed {
    unsigned number;
    std::uint64_t ps;
  };
  Frame frame(std::uint32_t bytes = kBytes) {
    Frame f{pool.take(), 0, bytes, true};
    std::fill_n(f.buf->bytes(), bytes, std::uint8_t{0});
    return f;
  }
  // A TCP segment with correct checksums and a counting payload.
  Frame segment(std::uint32_t payload_bytes) {
    Frame f = frame(14 + 20 + 20 + payload_bytes);
    MutableByteSpan out{f.buf->bytes(), f.bytes};
    wire::EthernetHeader{}.emit(out);
    wire::Ipv4Header ip;
    ip.protocol = wire::kIpProtocolTcp;
    ip.src.v = 0x0a000001, ip.dst.v = 0x0a000002;
    ip.total_length = static_cast<std::uint16_t>(40 + payload_bytes);
    ip.emit({f.buf->bytes() + 14, f.bytes - 14});
    wire::TcpHeader tcp;
    tcp.emit({f.buf->bytes() + 34, f.bytes - 34});
    for (std::uint32_t i = 0; i < payload_bytes; ++i) f.buf->bytes()[54 + i] = static_cast<std::uint8_t>(i);
    auto sum = wire::tcp_pseudo_header(ip.src, ip.dst, 20 + payload_bytes);
    sum.add({f.buf->bytes() + 34, 20 + payload_bytes});
    store_be16(f.buf->bytes() + 34 + 16, sum.checksum());
    return f;
  }
  // An SCTP packet with a DATA chunk and a correct checksum.
  Frame packet(std::uint32_t user_bytes) {
    const std::uint32_t bytes = 12 + (16 + user_bytes + 3) / 4 * 4;
    Frame f = frame(14 + 20 + bytes);
    wire::EthernetHeader{}.emit({f.buf->bytes(), f.bytes});
    wire::Ipv4Header ip;
    ip.protocol = wire::kIpProtocolSctp;
    ip.src.v = 0x0a000001, ip.dst.v = 0x0a000002;
    ip.total_length = static_cast<std::uint16_t>(20 + bytes);
    ip.emit({f.buf->bytes() + 14, f.bytes - 14});
    MutableByteSpan out{f.buf->bytes() + 34, bytes};
    wire::SctpWriter w(out, {41000, 41001, 1});
    w.begin(wire::SctpChunkType::kData, 7);
    w.put(wire::SctpData{1, 0, 0, 16});
    const std::vector<std::uint8_t> octets(user_bytes, 0x5a);
    w.put(ByteSpan(octets));
    EXPECT_EQ(w.finish(), bytes);
    store_crc32c(&out[kSctpChecksumOffset], sctp_checksum(out));
    return f;
  }
  static bool sctp_right(const Frame& f) {
    const auto ip = wire::Ipv4View::parse(wire::EthernetView::parse({f.data(), f.bytes})->payload);
    return ip && ip->checksum_ok() &&
           load_crc32c(ip->payload.data() + kSctpChecksumOffset) == sctp_checksum(ip->payload);
  }
  static bool checksums_right(const Frame& f) {
    const auto ethernet = wire::EthernetView::parse({f.data(), f.bytes});
    const auto ip = wire::Ipv4View::parse(ethernet->payload);
    if (!ip || !ip->checksum_ok()) return false;
    auto sum = wire::tcp_pseudo_header(ip->header.src, ip->header.dst, ip->payload.size());
    sum.add(ip->payload);
    return sum.checksum() == 0;
  }
  // Sends frames 1 to n, one each microsecond from 1 us on; returns those passed on.
  std::vector<Passed> run(const FaultConfig& faults, unsigned n, std::uint64_t seed = kSeed) {
    FaultModel model(faults, "link.forward", seed);
    std::vector<Passed> out;
    for (unsigned i = 1; i <= n; ++i) {
      Frame f = frame();
      std::uint64_t ps = i * 1'000'000;
      const Fate fate = model.pass(f, ps);
      if (fate != Fate::kLost) out.push_back({i, ps});
      if (fate == Fate::kTwice) out.push_back({i, ps});
    }
    counters = model.counters();
    return out;
  }
  static std::vector<unsigned> numbers(const std::vector<Passed>& passed) {
    std::vector<unsigned> n;
    for (const Passed& p : passed) n.push_back(p.number);
    return n;
  }
  std::vector<unsigned> missing(const FaultConfig& faults, unsigned n, std::uint64_t seed = kSeed) {
    const std::vector<unsigned> there = numbers(run(faults, n, seed));
    std::vector<unsigned> lost;
    for (unsigned i = 1; i <= n; ++i) {
      if (!std::binary_search(there.begin(), there.end(), i)) lost.push_back(i);
    }
    return lost;
  }
  static std::vector<std::uint64_t> times(const std::vector<Passed>& passed) {
    std::vector<std::uint64_t> ns;
    for (const Passed& p : passed) ns.push_back(p.ps / 1000);
    return ns;
  }

  BufferPool pool{2048};
  FaultConfig config;
  FaultCounters counters;
};

TEST_F(FaultModelTest, NothingHappensWithoutSettings) {
  EXPECT_TRUE(FaultModel(config, "link.forward", kSeed).harmless());
  EXPECT_THAT(times(run(config, 3)), ElementsAre(1000, 2000, 3000));
}

TEST_F(FaultModelTest, LosesByNumberAndByCount) {
  config.loss.frames = "3,7,10-12,19-";
  EXPECT_THAT(missing(config, 20), ElementsAre(3, 7, 10, 11, 12, 19, 20));
  config.loss.every = 5;
  EXPECT_THAT(missing(config, 20), ElementsAre(3, 5, 7, 10, 11, 12, 15, 19, 20));
  EXPECT_EQ(counters.lost, 9u);
  EXPECT_EQ(counters.frames, 20u);
}

TEST_F(FaultModelTest, LosesByChanceTheSameFramesForASeed) {
  config.loss.ppm = 100'000;
  const std::vector<unsigned> lost = missing(config, 60);
  EXPECT_THAT(lost, ElementsAre(38, 48, 50, 58, 60));
  EXPECT_NE(missing(config, 60, kSeed + 1), lost);
  missing(config, 100'000);
  EXPECT_NEAR(static_cast<double>(counters.lost), 10'000, 4 * 95);  // four standard deviations
}

TEST_F(FaultModelTest, BurstsAreAsLongAndAsFrequentAsTheChainSays) {
  config.burst = {10'000, 200'000, 1'000'000};  // every 100th good frame begins one of 5 frames on average
  EXPECT_THAT(missing(config, 400), ElementsAre(45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62,
                                                63, 64, 139, 140, 206, 207, 208, 209));
  const std::vector<unsigned> lost = missing(config, 200'000);
  EXPECT_EQ(counters.lost_in_bursts, lost.size());
  EXPECT_NEAR(static_cast<double>(lost.size()) / static_cast<double>(counters.bursts), 5, 0.25);
  EXPECT_NEAR(static_cast<double>(lost.size()) / 200'000, 0.01 / (0.01 + 0.2), 0.003);
}

TEST_F(FaultModelTest, ABurstMayLoseAPartOfItsFrames) {
  config.burst = {10'000, 100'000, 500'000};
  missing(config, 200'000);
  EXPECT_NEAR(static_cast<double>(counters.lost_in_bursts) / static_cast<double>(counters.bursts), 5, 0.3);
}

TEST_F(FaultModelTest, AFaultThatIsAddedDoesNotMoveTheOthers) {
  config.loss.ppm = 100'000;
  const std::vector<unsigned> lost = missing(config, 60);
  config.duplicate.ppm = config.corrupt.ppm = config.reorder.ppm = 300'000;
  config.delay.jitter_ns = 500;
  EXPECT_EQ(missing(config, 60), lost);
}

TEST_F(FaultModelTest, DuplicatesAtTheSameTime) {
  config.duplicate.frames = "2";
  EXPECT_THAT(times(run(config, 3)), ElementsAre(1000, 2000, 2000, 3000));
  EXPECT_EQ(counters.duplicated, 1u);
}

TEST_F(FaultModelTest, DelaysInTurnAndReordersOutOfTurn) {
  config.delay = {300, 0, 1500};
  config.reorder.frames = "2";
  EXPECT_THAT(times(run(config, 4)), ElementsAre(1300, 3800, 3300, 4300));
  EXPECT_EQ(counters.reordered, 1u);
}

TEST_F(FaultModelTest, JitterKeepsTheOrder) {
  config.delay.jitter_ns = 5000;
  const std::vector<std::uint64_t> ns = times(run(config, 1000));
  EXPECT_TRUE(std::is_sorted(ns.begin(), ns.end()));
  std::uint64_t latest = 0, earliest = UINT64_MAX;
  for (std::size_t i = 0; i < ns.size(); ++i) {
    latest = std::max(latest, ns[i] - 1000 * (i + 1));
    earliest = std::min(earliest, ns[i] - 1000 * (i + 1));
  }
  EXPECT_GT(latest, 4900u);
  EXPECT_LE(latest, 5000u);
  EXPECT_LT(earliest, 1000u);
}

TEST_F(FaultModelTest, NothingPassesWhileDown) {
  config.down_us = "3-5,8-";
  EXPECT_THAT(numbers(run(config, 10)), ElementsAre(1, 2, 6, 7));
  EXPECT_EQ(counters.lost_while_down, 6u);
}

TEST_F(FaultModelTest, LongerPacketsAreLostWhileTheMtuIsSmall) {
  config.mtu.bytes = kBytes - wire::EthernetHeader::kBytes;
  EXPECT_THAT(missing(config, 3), ElementsAre());
  config.mtu = {config.mtu.bytes - 1, "2", false};
  EXPECT_THAT(missing(config, 3), ElementsAre(2));
  EXPECT_EQ(counters.too_long, 1u);
}

TEST_F(FaultModelTest, ARouterTellsOfWhatIsTooLongAndOfNothingElse) {
  const auto fate_of_all = [this] {
    FaultModel model(config, "link.forward", kSeed);
    std::vector<Fate> fates;
    for (std::uint64_t us = 1; us <= 3; ++us) {
      Frame f = frame();
      std::uint64_t ps = us * 1'000'000;
      fates.push_back(model.pass(f, ps));
    }
    return fates;
  };
  config.mtu = {60, "1-2", true};
  config.down_us = "2";
  config.loss.frames = "1,3";
  EXPECT_THAT(fate_of_all(), ElementsAre(Fate::kTooLong, Fate::kLost, Fate::kLost));
  config.mtu.icmp = false;
  EXPECT_THAT(fate_of_all(), Each(Fate::kLost));
}

// 114 octets take 1824 ns at 500 Mb/s.
TEST_F(FaultModelTest, FramesWaitForTheSlowStretch) {
  config.rate.mbps = 500;
  EXPECT_THAT(times(run(config, 4)), ElementsAre(2824, 4648, 6472, 8296));
  config.rate.at_us = "1-2";
  EXPECT_THAT(times(run(config, 6)), ElementsAre(2824, 4648, 4648, 4648, 5000, 6000)) << "and nobody overtakes them";
}

TEST_F(FaultModelTest, TheSlowStretchIsBusyWhileItCarries) {
  config.rate.mbps = 500;
  FaultModel model(config, "link.forward", kSeed);
  EXPECT_EQ(model.rate_busy_ps(500'000), 0u);
  for (const std::uint64_t at_ps : {1'000'000, 2'000'000, 9'000'000}) {
    Frame f = frame();
    std::uint64_t ps = at_ps;
    model.pass(f, ps);
    if (at_ps == 2'000'000) {
      EXPECT_EQ(model.rate_busy_ps(3'000'000), 2'000'000u) << "the rest waits";
    }
  }
  EXPECT_EQ(model.rate_busy_ps(8'000'000), 3'648'000u) << "the third has been told of and has not come";
  EXPECT_EQ(model.rate_busy_ps(9'500'000), 4'148'000u);
  EXPECT_EQ(model.rate_busy_ps(20'000'000), 5'472'000u);
}

TEST_F(FaultModelTest, AFullQueueDropsWhatComes) {
  config.rate = {500, 2048, "0-"};
  const std::vector<unsigned> lost = missing(config, 60);
  ASSERT_FALSE(lost.empty());
  // The queue grows by 51.5 octets a frame, as 62.5 octets leave each microsecond; it holds 2048 - 114 before the 39th.
  EXPECT_EQ(lost.front(), 39u);
  EXPECT_EQ(counters.queue_drops, lost.size());
}

TEST_F(FaultModelTest, CorruptionIsSeenByAChecksumAndTheOriginalStays) {
  config.corrupt.frames = "1-";
  FaultModel model(config, "link.forward", kSeed);
  for (unsigned i = 0; i < 200; ++i) {
    const Frame original = segment(64);
    Frame f = original;
    std::uint64_t ps = 0;
    ASSERT_EQ(model.pass(f, ps), Fate::kOnce);
    EXPECT_TRUE(checksums_right(original));
    EXPECT_FALSE(checksums_right(f));
    EXPECT_EQ(std::memcmp(f.data(), original.data(), 14), 0) << "the Ethernet header stays";
  }
  EXPECT_EQ(model.counters().corrupted, 200u);
}

TEST_F(FaultModelTest, ARepairedChecksumHidesOneFlippedBitOfPayload) {
  config.corrupt_repaired.frames = "1-";
  FaultModel model(config, "link.forward", kSeed);
  for (unsigned i = 0; i < 200; ++i) {
    const Frame original = segment(64);
    Frame f = original;
    std::uint64_t ps = 0;
    ASSERT_EQ(model.pass(f, ps), Fate::kOnce);
    EXPECT_TRUE(checksums_right(f));
    unsigned bits = 0;
    for (unsigned o = 54; o < f.bytes; ++o) bits += __builtin_popcount(f.data()[o] ^ original.data()[o]);
    EXPECT_EQ(bits, 1u);
    EXPECT_EQ(std::memcmp(f.data(), original.data(), 50), 0) << "nothing but checksum and payload";
  }
  Frame empty = segment(0);
  std::uint64_t ps = 0;
  model.pass(empty, ps);
  EXPECT_EQ(model.counters().corrupted_repaired, 200u) << "a segment without payload cannot be struck";
}

TEST_F(FaultModelTest, PacketsOfSctpAreLostDoubledHeldBackAndCorruptedAsAllFramesAre) {
  config.loss.frames = "2";
  config.duplicate.frames = "3";
  config.reorder.frames = "4";
  config.corrupt.frames = "5-";
  FaultModel model(config, "link.forward", kSeed);
  std::vector<Fate> fates;
  for (unsigned i = 1; i <= 104; ++i) {
    const Frame original = packet(61);
    Frame f = original;
    std::uint64_t ps = i * 1'000'000;
    const Fate fate = model.pass(f, ps);
    if (i <= 4) fates.push_back(fate);
    ASSERT_TRUE(sctp_right(original));
    EXPECT_EQ(sctp_right(f), i <= 4) << i;
    EXPECT_EQ(ps == i * 1'000'000 + 10'000'000, i == 4) << i;
  }
  EXPECT_THAT(fates, ElementsAre(Fate::kOnce, Fate::kLost, Fate::kTwice, Fate::kOnce));
  EXPECT_EQ(model.counters().corrupted, 100u);
}

// SCTP has no check above its checksum: nothing could detect a repaired corruption.
TEST_F(FaultModelTest, NoChecksumOfSctpIsRepaired) {
  config.corrupt_repaired.frames = "1-";
  FaultModel model(config, "link.forward", kSeed);
  const Frame original = packet(64);
  Frame f = original;
  std::uint64_t ps = 0;
  ASSERT_EQ(model.pass(f, ps), Fate::kOnce);
  EXPECT_EQ(std::memcmp(f.data(), original.data(), f.bytes), 0);
  EXPECT_EQ(model.counters().corrupted_repaired, 0u);
}

// ---- Congestion Experienced

TEST_F(FaultModelTest, MarksPacketsOfSendersThatUseEcnOnce) {
  config.mark.frames = "2-";
  FaultModel model(config, "link.forward", kSeed);
  const std::pair<unsigned, unsigned> cases[] = {{2, 2}, {0, 0}, {1, 3}, {2, 3}, {3, 3}};  // ECN before and after
  for (const auto& [before, after] : cases) {
    Frame original = segment(64);
    std::uint8_t* const ip = original.buf->bytes() + 14;
    wire::Ipv4Header header = wire::Ipv4View::parse({ip, original.bytes - 14})->header;
    header.tos = static_cast<std::uint8_t>(0xb8 | before);
    header.emit({ip, 20});
    Frame f = original;
    std::uint64_t ps = 0;
    ASSERT_EQ(model.pass(f, ps), Fate::kOnce);
    EXPECT_EQ(f.data()[15], 0xb8 | after) << "the DSCP stays";
    EXPECT_EQ(ip[1], 0xb8 | before) << "the original stays";
    EXPECT_TRUE(checksums_right(f));
    EXPECT_EQ(std::memcmp(f.data() + 34, original.data() + 34, f.bytes - 34), 0);
  }
  Frame arp = frame();
  std::uint64_t ps = 0;
  ASSERT_EQ(model.pass(arp, ps), Fate::kOnce);
  EXPECT_EQ(model.counters().marked, 2u);
}

// ---- What is told of faults

struct Told final : CableTap {
  void happened(const CableEvent& event) override {
    events.push_back(event);
    frames.push_back(*event.frame);
  }
  std::vector<CableEvent> events;
  std::vector<Frame> frames;  // as they were then
};
using Kind = CableEvent::Kind;

class TellsOfFaults : public FaultModelTest {
 protected:
  static constexpr std::uint64_t kPropagation = 400'000;
  // Frames of TCP 1 to n, one each microsecond from 1 us on, with their serial numbers.
  void run(unsigned n) {
    FaultModel model(config, "link.reverse", kSeed);
    model.tell(told, 1, kPropagation);
    for (unsigned i = 1; i <= n; ++i) {
      Frame f = segment(64);
      f.serial = i;
      sent.push_back(f);
      std::uint64_t ps = i * 1'000'000;
      model.pass(f, ps);
    }
    for (const CableEvent& e : told.events) EXPECT_EQ(e.direction, 1u);
  }
  struct What {
    Kind kind;
    std::uint32_t serial;
    std::uint64_t ns;
    std::string text;
    bool operator==(const What& o) const {
      return kind == o.kind && serial == o.serial && ns == o.ns && text == o.text;
    }
  };
  std::vector<What> what() const {
    std::vector<What> all;
    for (std::size_t i = 0; i < told.events.size(); ++i) {
      all.push_back({told.events[i].kind, told.frames[i].serial, told.events[i].ps / 1000, told.events[i].text});
    }
    return all;
  }
  Told told;
  std::vector<Frame> sent;
};

TEST_F(TellsOfFaults, WithNumberSettingAndTheTimeOfArrival) {
  config.loss.frames = "2";
  config.down_us = "3";
  config.duplicate.frames = "4";
  config.reorder.frames = "5";
  config.delay = {100, 0, 2500};
  config.mtu = {60, "6", false};
  run(7);
  EXPECT_THAT(what(), ElementsAre(What{Kind::kLost, 2, 2400, "loss"}, What{Kind::kLost, 3, 3400, "down_us"},
                                  What{Kind::kDuplicated, 4, 4500, "duplicate"},
                                  What{Kind::kReordered, 5, 8000, "reorder"}, What{Kind::kLost, 6, 6400, "mtu"}));
  EXPECT_EQ(told.events[3].late_ns, 2500u);
}

TEST_F(TellsOfFaults, OfABurstAndOfAFullQueue) {
  config.burst = {1'000'000, 1'000'000, 1'000'000};  // each second frame
  config.rate = {100, 2048, "0-"};
  run(100);
  ASSERT_FALSE(told.events.empty());
  EXPECT_EQ(what()[0], (What{Kind::kLost, 1, 1400, "burst"}));
  const std::vector<What> all = what();
  const auto dropped =
      std::find_if(all.begin(), all.end(), [](const What& w) { return w.kind == Kind::kQueueDropped; });
  ASSERT_NE(dropped, all.end());
  EXPECT_EQ(dropped->ns, dropped->serial * 1000) << "when it came to the queue";
  EXPECT_EQ(dropped->text, "rate.queue_bytes");
}

// Which bit is flipped: of what goes on.
TEST_F(TellsOfFaults, OfTheBitThatIsFlipped) {
  config.corrupt.frames = "1-100";
  config.corrupt_repaired.frames = "101-200";
  run(200);
  ASSERT_EQ(told.events.size(), 200u);
  for (std::size_t i = 0; i < told.events.size(); ++i) {
    const CableEvent& e = told.events[i];
    EXPECT_EQ(e.kind, Kind::kCorrupted);
    EXPECT_EQ(e.checksum_right, i >= 100);
    EXPECT_EQ(told.frames[i].data()[e.octet], sent[i].data()[e.octet] ^ 0x80 >> e.bit);
  }
}

TEST_F(FaultModelTest, MistakesNameTheSetting) {
  const auto message = [this] {
    try {
      FaultModel model(config, "link.reverse", kSeed);
    } catch (const ConfigError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  config.loss.frames = "3,x";
  EXPECT_EQ(message(), "link.reverse.loss.frames = 3,x: 'x' is not a number; write 3,7,10-12,20-");
  config.loss.frames = "5-3";
  EXPECT_EQ(message(), "link.reverse.loss.frames = 5-3: '5-3' ends before it begins");
  config.loss.frames = "";
  config.down_us = "1,,2";
  EXPECT_THAT(message(), HasSubstr("link.reverse.down_us = 1,,2"));
}

}  // namespace
}  // namespace rnic::test
