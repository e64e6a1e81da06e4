// Two association engines on a wire, each with its neighbouring stages.
#include <algorithm>
#include <functional>
#include <set>

#include "testbench/unit/rnic/llp/sctp/sctp_pair.h"

namespace rnic::test {
namespace {

using testing::Each;
using testing::Pair;
using Kind = SctpEvents;
using Action = fw::SctpStreamAction;

class SctpStages : public SctpPairTest {};

TEST_F(SctpStages, ASessionOpensAndSegmentsArriveWholeAndInOrder) {
  build();
  const FlowId flow = open_session();
  std::vector<Bytes> sent;
  for (unsigned i = 0; i < 200; ++i) sent.push_back(segment(14 + i * 7 % 1400, i));
  for (const Bytes& s : sent) a->source.send(flow, s);
  for (const Bytes& s : sent) b->source.send(flow, s);
  run();
  EXPECT_EQ(b->sink.segments[flow.v], sent);
  EXPECT_EQ(a->sink.segments[flow.v], sent);
  EXPECT_EQ(a->source.wqes[flow.v], sent.size());
  EXPECT_EQ(b->source.wqes[flow.v], sent.size());
  EXPECT_EQ(a->tx.counters().retransmissions + b->tx.counters().retransmissions, 0u);
  EXPECT_GT(ab->bundles, 0u);  // of a SACK and DATA
}

// ---- Cycles

class SctpCycles : public SctpPairTest {
 protected:
  static Cycle beats(std::size_t octets) { return (octets + 63) / 64; }
  // Includes the word after the packet.
  static Cycle packet_beats(std::size_t segment) { return beats(12 + 16 + (2 + segment + 3) / 4 * 4 + 4); }
  static Cycle segment_beats(std::size_t segment) { return beats((2 + segment + 3) / 4 * 4 + 4); }
  // Cycles from an engine's sending a packet until the wire has its frame, and from there to the other engine, for a
  // packet of this number of beats.
  Cycle to_wire(Cycle packet) const {
    return kToEnd + packet - 1 + kToEnd + CrcInsertConfig{}.pipeline_cycles + config.tx_cycles;
  }
  Cycle from_wire(Cycle packet) const {
    return ab->delay + kToEnd + packet - 1 + kToEnd + CrcCheckConfig{}.pipeline_cycles + kToEnd;
  }
};

// A segment leaves in the cycle in which the engine takes it, and goes on to the pipeline in the cycle of its packet.
TEST_F(SctpCycles, ASegmentTakesItsBeatsAndTheDepthsOfThePipelines) {
  build();
  const FlowId flow = open_session();
  const std::vector<std::size_t> sizes = {14, 32, 33, 58, 59, 1434};
  for (const std::size_t bytes : sizes) {
    a->source.cycles.clear(), b->sink.last_beats.clear();
    a->source.send(flow, segment(bytes, 1));
    run();
    ASSERT_EQ(b->sink.last_beats.size(), 1u);
    const Cycle packet = packet_beats(bytes);
    EXPECT_EQ(b->sink.last_beats[0], a->source.cycles[0] + kToEnd + to_wire(packet) + from_wire(packet) +
                                         segment_beats(bytes) - 1 + config.rx_cycles)
        << bytes;
  }
}

class SctpChunkCycles : public SctpCycles, public testing::WithParamInterface<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Cycles, SctpChunkCycles, testing::Values(1u, 3u, 20u));

// Packets of one beat, one per cycle. The first one has more chunks, so the others wait for the engine.
TEST_P(SctpChunkCycles, ADataChunkKeepsTheReceivingSideForChunkCycles) {
  constexpr std::size_t kChunks = 8;
  config.chunk_cycles = GetParam();
  build();
  const FlowId flow = open_session();
  ab->fate = [first = ab->seen.size()](std::size_t n, const Frame&) {
    Wire::Fate f;
    if (n != first) return f;
    f.forge = [](Bytes& packet) {
      const Bytes chunk(packet.begin() + 12, packet.end());
      for (std::size_t i = 1; i < kChunks; ++i) packet.insert(packet.end(), chunk.begin(), chunk.end());
    };
    return f;
  };
  for (unsigned i = 0; i < 3; ++i) a->source.send(flow, segment(14, i));
  run();
  EXPECT_EQ(b->association.counters().duplicates, kChunks - 1);
  ASSERT_EQ(b->sink.last_beats.size(), 3u);
  EXPECT_EQ(b->sink.last_beats[1] - b->sink.last_beats[0], kChunks * config.chunk_cycles);
  EXPECT_EQ(b->sink.last_beats[2] - b->sink.last_beats[1], config.chunk_cycles);
}

// Other work than DATA that occupies the receiving side: it delays the next packet's delivery by its cycles.
class SctpCosts : public SctpCycles, public testing::WithParamInterface<unsigned> {
 protected:
  // Packets of one beat, one per cycle, on two streams; the second one is changed. Returns the cycles between the first
  // and the last one being taken from the wire, the last one as the `delivered`-th segment.
  Cycle third_after_first(std::size_t delivered, const std::function<void(Bytes& packet)>& forge) {
    const FlowId flow = open_session(), other = open_session();
    b->sink.last_beats.clear();
    ab->fate = [this, forge, first = ab->seen.size()](std::size_t n, const Frame&) {
      Wire::Fate f;
      if (n != first + 1) return f;
      f.forge = [this, forge](Bytes& packet) {
        forge(packet);
        forged_beats = beats(packet.size() + 4);
      };
      return f;
    };
    for (const FlowId to : {flow, other, flow}) a->source.send(to, segment(14, 1));
    run();
    return b->sink.last_beats.at(delivered) - b->sink.last_beats.at(0);
  }
  // A packet of one beat arrives in the cycle in which the engine gets the operation. Returns its delay against a
  // packet without an operation, sent before `prepare`.
  Cycle delay_by(FlowId flow, const std::function<LlpOp()>& prepare) {
    Cycle after[2];
    for (unsigned round = 0; round < 2; ++round) {
      const LlpOp operation = round == 1 ? prepare() : LlpOp();
      sc_core::sc_start(sc_core::sc_time::from_value(1000 * clk.period_ps()));
      b->sink.last_beats.clear();
      const Cycle begin = clk.cycle_at_or_after(static_cast<std::uint64_t>(sc_core::sc_time_stamp().value()));
      if (round == 1) b->op.send_at(begin + after[0] - config.rx_cycles - 1, operation);
      a->source.send(flow, segment(14, round));
      run();
      after[round] = b->sink.last_beats.back() - begin;  // the end of an association comes before it
    }
    return after[1] - after[0];
  }
  Cycle forged_beats = 0;
};
INSTANTIATE_TEST_SUITE_P(Cycles, SctpCosts, testing::Values(0u, 1u, 20u));

TEST_P(SctpCosts, AGapBlockTakesGapCycles) {
  constexpr std::uint16_t kBlocks = 7;
  config.gap_cycles = GetParam();
  build();
  const Cycle later = third_after_first(2, [this](Bytes& packet) {
    std::uint32_t acked = 0;  // by a, long ago
    for (const Bytes& f : ba->seen) {
      if (f[34 + 12] == 0) acked = load_be32(&f[34 + 12 + 4]);
    }
    Bytes sack(16 + 4 * kBlocks);
    sack[0] = 3;
    store_be16(&sack[2], static_cast<std::uint16_t>(sack.size()));
    store_be32(&sack[4], acked - 1);
    store_be32(&sack[8], 1 << 16);
    store_be16(&sack[12], kBlocks);
    for (std::uint16_t i = 0; i < kBlocks; ++i) {
      store_be16(&sack[16 + 4u * i], static_cast<std::uint16_t>(2 + 2 * i));
      store_be16(&sack[18 + 4u * i], static_cast<std::uint16_t>(2 + 2 * i));
    }
    packet.insert(packet.begin() + 12, sack.begin(), sack.end());
  });
  EXPECT_EQ(later, forged_beats - 1 + 2 * config.chunk_cycles + kBlocks * config.gap_cycles);
}

TEST_P(SctpCosts, TheMacOfACookieTakesMacCycles) {
  config.mac_cycles = GetParam();
  build();
  const Cycle later = third_after_first(1, [](Bytes& packet) {
    store_be16(&packet[0], 7);  // no association
    packet.resize(12 + 4 + 72);
    packet[12] = 10;  // COOKIE ECHO
    packet[13] = 0;
    store_be16(&packet[14], 4 + 72);
  });
  EXPECT_EQ(later, forged_beats - 1 + 2 * config.chunk_cycles + config.mac_cycles);
}

TEST_P(SctpCosts, ASearchTakesScanCyclesForEachAssociation) {
  config.scan_cycles = GetParam();
  build();
  const FlowId flow = open_session();
  const auto connect = [] { return fw::SctpConnect{0x0a0000fe, kPort}; };
  EXPECT_EQ(delay_by(flow, connect), config.max_associations * config.scan_cycles);
}

TEST_P(SctpCosts, AReleaseTakesReleaseCyclesForEachSixteenMessages) {
  config.release_cycles = GetParam();
  build();
  const FlowId flow = open_session();
  b->op.send(fw::SctpListen{kPort + 1});
  a->op.send(fw::SctpConnect{kSctpIp[1], kPort + 1, 0, 8});
  run();
  const FlowId other = a->event.back().flow();
  a->op.send(a->flow_op(Action::kBegin, other));
  control(*a, other, {0, 1});
  run();
  const FlowId at_b = b->event.back().flow();
  control(*b, at_b, {0, 2});
  b->op.send(b->flow_op(Action::kOpen, at_b));
  run();
  constexpr unsigned kMessages = 33;
  const auto fill = [&] {
    ba->fate = [](std::size_t, const Frame& f) {  // packets of that association do not arrive
      Wire::Fate fate;
      if (load_be16(f.data() + 34) == kPort + 1) fate.copies = 0;
      return fate;
    };
    for (unsigned i = 0; i < kMessages; ++i) b->source.send(at_b, segment(14, i));
    return b->flow_op(Action::kAbort, at_b);
  };
  const Cycle beat = 1;  // the end of the association goes first
  EXPECT_EQ(delay_by(flow, fill), std::max<Cycle>(beat, 3 * config.release_cycles));
}

TEST_F(SctpCycles, ASackLeavesWithItsSecondPacketOrAfterTheDelay) {
  build();
  const FlowId flow = open_session();
  const Cycle delay = config.sack_delay_ns * Cycle{1000} / clk.period_ps();
  const auto taken = [&](std::size_t i) { return b->sink.last_beats[i] - config.rx_cycles; };  // one beat
  b->sink.last_beats.clear(), ba->seen.clear(), ba->seen_at.clear();
  a->source.send(flow, segment(14, 1));
  run();
  ASSERT_EQ(ba->seen_at.size(), 1u);
  EXPECT_EQ(ba->seen_at[0], taken(0) + delay + to_wire(1));
  a->source.send(flow, segment(14, 2));
  a->source.send(flow, segment(14, 3));
  run();
  ASSERT_EQ(ba->seen_at.size(), 2u);
  EXPECT_EQ(ba->seen_at[1], taken(2) + to_wire(1));
}

class SctpWire : public SctpPairTest, public testing::WithParamInterface<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Seeds, SctpWire, testing::Range(1u, 21u));

TEST_P(SctpWire, LosesRepeatsDelaysAndCorruptsAndNothingIsMissing) {
  build();
  const FlowId flow = open_session();
  const auto random = std::make_shared<Prng>(GetParam());
  ab->fate = ba->fate = [random](std::size_t, const Frame&) {
    const std::uint64_t n = random->below(100);
    Wire::Fate f;
    if (n < 5) f.copies = 0;
    else if (n < 8) f.copies = 2;
    else if (n < 14) f.extra = 1 + random->below(3000);
    else if (n < 17) f.corrupt = true;
    return f;
  };
  std::vector<Bytes> sent;
  for (unsigned i = 0; i < 1000; ++i) sent.push_back(segment(14 + i * 37 % 1430, i));
  for (const Bytes& s : sent) a->source.send(flow, s);
  for (const Bytes& s : sent) b->source.send(flow, s);
  run();
  EXPECT_EQ(b->sink.segments[flow.v], sent);
  EXPECT_EQ(a->sink.segments[flow.v], sent);
  EXPECT_EQ(a->source.wqes[flow.v], sent.size());
  EXPECT_EQ(b->source.wqes[flow.v], sent.size());
  EXPECT_GT(b->association.counters().out_of_order, 0u);
  EXPECT_GT(b->association.counters().early_segments, 0u);
  EXPECT_GT(b->rx.counters().bad_checksum, 0u);
}

// Octets of packets change on the way, with a correct checksum. Whatever this causes, the engines come to rest, and
// once the association has ended, nothing is left of it.
TEST_P(SctpWire, ForgedPacketsLeaveNothingBehind) {
  config.rto_max_us = 1000;
  build();
  const FlowId flow = open_session();
  const auto random = std::make_shared<Prng>(1000 + GetParam());
  ab->fate = ba->fate = [random](std::size_t, const Frame&) {
    Wire::Fate f;
    if (random->below(10) != 0) return f;
    f.copies = 1 + static_cast<unsigned>(random->below(2));
    f.forge = [random](Bytes& packet) {
      const std::uint64_t near = random->below(2) != 0 ? 44 : packet.size();  // headers above all
      for (std::uint64_t n = 1 + random->below(3); n-- > 0;) {
        packet[random->below(std::min<std::uint64_t>(near, packet.size()))] =
            static_cast<std::uint8_t>(random->below(256));
      }
    };
    return f;
  };
  for (unsigned i = 0; i < 200; ++i) {
    a->source.send(flow, segment(14 + i * 37 % 1430, i));
    b->source.send(flow, segment(14 + i * 31 % 1430, i));
  }
  run();
  a->op.send(a->flow_op(Action::kAbort, flow));
  run();
  b->op.send(b->flow_op(Action::kAbort, flow));
  run();
  a->event.clear(), b->event.clear();
  EXPECT_EQ(pool.in_use(), 0u);
}

// The wire's contents, read at fixed offsets: no code in common with the model.
// Whatever goes up from a stream names the queue pair that was written last, each end's own.
TEST_F(SctpStages, CreditAcknowledgementsAndSegmentsNameWhatTheFirmwareHasWritten) {
  build();
  const FlowId flow = open_session();
  for (const std::uint32_t use : {0x105u, 0x206u}) {
    FlowContext at_a, at_b;
    at_a.llp = at_b.llp = LlpId::kSctp;
    at_a.qpn = Qpn{70'000}, at_a.qp_epoch = use;
    at_b.qpn = Qpn{9}, at_b.qp_epoch = use + 0x40;
    a->association.flow_rows().write(flow, at_a);
    b->association.flow_rows().write(flow, at_b);
    a->source.named.clear();
    b->sink.named.clear();
    for (unsigned i = 0; i < 3; ++i) a->source.send(flow, segment(300, i));
    run();
    EXPECT_EQ(a->source.wqes[flow.v], 3u);
    a->source.wqes.clear();
    EXPECT_THAT(a->source.named, Each(Pair(70'000u, use)));
    EXPECT_EQ(b->sink.named.size(), 3u * ((2 + 300 + 2 + 4 + 63) / 64));
    EXPECT_THAT(b->sink.named, Each(Pair(9u, (use + 0x40) & 0xff)));
  }
  EXPECT_EQ(a->association.flow_rows().peek(flow).epoch, 0x206u);
  clk.reset(a->association);
  run();
  EXPECT_EQ(a->association.flow_rows().peek(flow).epoch, 0u);
}

TEST_F(SctpStages, EveryDataChunkIsUnorderedAndHasItsNumber) {
  build();
  const FlowId flow = open_session();
  const std::vector<Bytes> sent = {segment(14, 1), segment(15, 2), segment(1436, 3)};
  for (const Bytes& s : sent) a->source.send(flow, s);
  run();
  control(*a, flow, {0, 4});
  run();
  const auto u16 = [](const Bytes& f, std::size_t at) { return f[at] << 8 | f[at + 1]; };
  const auto u32 = [&](const Bytes& f, std::size_t at) {
    return std::uint32_t(u16(f, at)) << 16 | std::uint32_t(u16(f, at + 2));
  };
  std::vector<Bytes> user_data;
  std::vector<unsigned> ppids;
  std::uint32_t tsn = 0;
  for (const Bytes& f : ab->seen) {
    std::size_t at = 34 + 12;
    if (f[at] == 1) {  // INIT: the adaptation indication is its only parameter
      tsn = u32(f, at + 16);
      EXPECT_EQ(Bytes(f.begin() + static_cast<std::ptrdiff_t>(at) + 20, f.end()), (Bytes{0xc0, 6, 0, 8, 0, 0, 0, 1}));
    }
    while (at + 4 <= f.size()) {
      const auto length = static_cast<std::size_t>(u16(f, at + 2));
      if (f[at] == 0) {
        EXPECT_EQ(f[at + 1], 7);  // U, B and E
        EXPECT_EQ(u32(f, at + 4), tsn++);
        EXPECT_EQ(u16(f, at + 10), 0);
        ppids.push_back(u32(f, at + 12));
        user_data.emplace_back(f.begin() + static_cast<std::ptrdiff_t>(at + 16),
                               f.begin() + static_cast<std::ptrdiff_t>(at + length));
      }
      at += (length + 3) / 4 * 4;
    }
  }
  EXPECT_EQ(ppids, (std::vector<unsigned>{17, 16, 16, 16, 17}));
  ASSERT_EQ(user_data.size(), 5u);
  EXPECT_EQ(user_data[0], (Bytes{0, 0, 0, 1, 'h', 'i'}));
  for (std::size_t i = 0; i < sent.size(); ++i) {
    EXPECT_EQ(u16(user_data[i + 1], 0), static_cast<int>(i + 1));
    EXPECT_EQ(Bytes(user_data[i + 1].begin() + 2, user_data[i + 1].end()), sent[i]);
  }
  EXPECT_EQ(user_data[4], (Bytes{0, 4, 0, 4}));
}

// Both ends open the association between the same two ports, at every distance from simultaneous to one after the
// other. There is one association, each end has its own stream on it, and one of them shuts it down.
TEST_F(SctpStages, TwoEndsThatInitiateAtOnceTakeStreamsOfTheirOwn) {
  build();
  listen(*a), listen(*b);
  unsigned at_once = 0;
  for (Cycle distance = 0; distance <= 300; ++distance) {
    SCOPED_TRACE(distance);
    const Cycle now = clk.next();
    connect(*a, kSctpIp[1], 1, kPort, now);
    connect(*b, kSctpIp[0], 2, kPort, now + distance);
    sc_core::sc_start(sc_core::sc_time::from_value(5000 * clk.period_ps()));
    ASSERT_EQ(kinds(*a), std::vector{Kind::kConnected});
    ASSERT_EQ(kinds(*b), std::vector{Kind::kConnected});
    const FlowId of_a = a->event[0].flow(), of_b = b->event[0].flow();
    EXPECT_NE(of_a.v, of_b.v);
    EXPECT_EQ(a->association.counters().accepted + a->association.counters().opened, distance + 1);
    EXPECT_EQ(b->association.counters().accepted + b->association.counters().opened, distance + 1);
    EXPECT_EQ(a->association.counters().opened + b->association.counters().opened, distance + 1);
    at_once += b->association.counters().opened != 0;
    a->event.clear(), b->event.clear();
    for (const auto& [side, flow] : {std::pair(a.get(), of_a), std::pair(b.get(), of_b)}) {
      side->op.send(side->flow_op(Action::kBegin, flow));
      control(*side, flow, {0, 1});
    }
    sc_core::sc_start(sc_core::sc_time::from_value(5000 * clk.period_ps()));
    for (const auto& [side, flow] : {std::pair(a.get(), of_b), std::pair(b.get(), of_a)}) {
      EXPECT_THAT(kinds(*side), testing::UnorderedElementsAre(Kind::kAcked, Kind::kControl));
      for (const LlpEvent& e : side->event) {
        if (e.kind() == Kind::kControl) {
          EXPECT_EQ(e.flow().v, flow.v);
        }
      }
    }
    a->op.send(a->flow_op(Action::kAbort, of_a));
    sc_core::sc_start(sc_core::sc_time::from_value(5000 * clk.period_ps()));
    a->event.clear(), b->event.clear();
  }
  EXPECT_GT(at_once, 0u);
}

// The peer's Terminate comes after the last segment, and the association ends with its last session.
TEST_F(SctpStages, BothTerminateAndTheAssociationShutsDown) {
  build();
  const FlowId flow = open_session();
  for (unsigned i = 0; i < 20; ++i) a->source.send(flow, segment(1400, i));
  run();
  a->event.clear(), b->event.clear();
  control(*a, flow, {0, 4});
  run();
  EXPECT_EQ(b->sink.segments[flow.v].size(), 20u);
  EXPECT_EQ(b->sink.ends, std::vector<std::uint32_t>{flow.v});
  EXPECT_EQ(kinds(*b), std::vector{Kind::kPeerClosed});
  control(*b, flow, {0, 4});
  run();
  EXPECT_EQ(a->sink.ends, std::vector<std::uint32_t>{flow.v});
  b->op.send(b->flow_op(Action::kRestart, flow));
  run();
  EXPECT_EQ(b->association.counters().shut_down, 0u);
  a->op.send(a->flow_op(Action::kRestart, flow));
  run();
  EXPECT_EQ(a->association.counters().shut_down, 1u);
  EXPECT_EQ(b->association.counters().shut_down, 1u);
  EXPECT_EQ(pool.in_use(), 0u);
}

// A session Terminate is the last chunk of its sender: a segment that follows it is dropped.
TEST_F(SctpStages, NothingFollowsATerminate) {
  build();
  const FlowId flow = open_session();
  control(*a, flow, {0, 4});
  run();
  a->source.send(flow, segment(100, 1));
  run();
  EXPECT_TRUE(b->sink.segments[flow.v].empty());
  EXPECT_EQ(a->association.counters().late_ulpdus, 1u);
  EXPECT_EQ(b->association.counters().violations, 0u);
}

// Side a keeps no more than two segments of 100 octets: a chunk of each has 16 + 2 + 100 octets, 120 with its pad.
class SctpMemory : public SctpStages {
 protected:
  FlowId begin() {
    build();
    memory.serve(a->source);
    a->source.memory = &memory;
    a->association.keep_in(memory);
    return open_session();
  }
  std::pair<std::uint32_t, std::uint32_t> used() const { return {memory.used().octets, memory.used().records}; }
  llp::TransmitMemory memory{clk, {240, 100}, FlowId{kFirstFlow}, 256};
};

TEST_F(SctpMemory, SegmentsAreKeptUntilTheyAreAcknowledged) {
  const FlowId flow = begin();
  EXPECT_EQ(used(), std::pair(0u, 0u)) << "messages of the set-up are acknowledged";
  const std::uint64_t waits = memory.counters().waits;
  for (unsigned i = 0; i < 20; ++i) a->source.send(flow, segment(100, i));
  run();
  EXPECT_EQ(b->sink.segments[flow.v].size(), 20u);
  EXPECT_EQ(memory.counters().waits - waits, 19u) << "one flow alone has half";
  EXPECT_EQ(used(), std::pair(0u, 0u));
}

TEST_F(SctpMemory, AnAssociationThatEndsGivesAllBack) {
  const FlowId first = begin(), second = open_session();
  ab->fate = [](std::size_t, const Frame&) { return Wire::Fate{0, 0, false, {}}; };
  for (const FlowId flow : {first, second}) a->source.send(flow, segment(100, 1));
  sc_core::sc_start(sc_core::sc_time::from_value(1000 * clk.period_ps()));
  EXPECT_EQ(used(), std::pair(240u, 2u));
  a->op.send(a->flow_op(Action::kAbort, second));
  run();
  EXPECT_EQ(used(), std::pair(0u, 0u));
}

TEST_F(SctpMemory, ASegmentAfterTheTerminateIsGivenBack) {
  const FlowId flow = begin();
  control(*a, flow, {0, 4});
  run();
  a->source.send(flow, segment(100, 1));
  run();
  EXPECT_EQ(a->association.counters().late_ulpdus, 1u);
  EXPECT_EQ(used(), std::pair(0u, 0u));
}

TEST_F(SctpStages, TwoSessionsShareAnAssociation) {
  build();
  const FlowId first = open_session(), second = open_session();
  EXPECT_EQ(second.v, first.v + 2);  // the end that opened it has the even ids
  EXPECT_EQ(a->association.counters().opened, 1u);
  for (unsigned i = 0; i < 300; ++i) {
    a->source.send(first, segment(1400, i));
    a->source.send(second, segment(900, i));
  }
  run();
  EXPECT_EQ(b->sink.segments[first.v].size(), 300u);
  EXPECT_EQ(b->sink.segments[second.v].size(), 300u);
  EXPECT_EQ(a->source.wqes[first.v] + a->source.wqes[second.v], 600u);
}

// Chunks with a TSN go in IP fragments, SCTP cuts those without one, and the firmware makes segments shorter.
TEST_F(SctpStages, APathThatShrinksLosesNothing) {
  build();
  const FlowId flow = open_session();
  std::vector<Bytes> sent;
  for (unsigned i = 0; i < 300; ++i) sent.push_back(segment(1434, i));
  for (const Bytes& s : sent) a->source.send(flow, s);
  sc_core::sc_start(sc_core::sc_time::from_value(1000 * clk.period_ps()));
  ab->mtu = 1000;
  run();
  EXPECT_EQ(b->sink.segments[flow.v], sent);
  EXPECT_EQ(a->source.wqes[flow.v], sent.size());
  ASSERT_EQ(kinds(*a), std::vector{Kind::kMulpduChanged});
  EXPECT_EQ(a->event[0].segment_limit(), 1000 - 20 - 12 - 16 - 18);
  EXPECT_GT(b->rx.counters().fragments, 0u);
  EXPECT_EQ(a->association.counters().timeouts, 0u);
}

// A sender that does not know the tag cannot make segments shorter.
TEST_F(SctpStages, ARouterThatDoesNotQuoteTheTagIsNotBelieved) {
  build();
  const FlowId flow = open_session();
  Router router;
  const Bytes packet = ab->seen.back();
  BufferPool frames(2048);
  Frame f{frames.take(), 0, static_cast<std::uint32_t>(packet.size()), true};
  std::copy(packet.begin(), packet.end(), f.buf->bytes());
  f.buf->bytes()[34 + 4] ^= 1;  // the tag
  ba->insert(*router.fragmentation_needed(f, 600), clk.next());
  run();
  EXPECT_EQ(a->rx.counters().path_mtu_reports, 1u);
  EXPECT_EQ(a->association.counters().path_mtu_changes, 0u);
  f.buf->bytes()[34 + 4] ^= 1;
  ba->insert(*router.fragmentation_needed(f, 600), clk.next());
  run();
  EXPECT_EQ(a->association.counters().path_mtu_changes, 1u);
  ASSERT_EQ(kinds(*a), std::vector{Kind::kMulpduChanged});
  EXPECT_EQ(a->event[0].flow().v, flow.v);
}

TEST_F(SctpStages, NobodyListens) {
  build();
  connect(*a, kSctpIp[1]);
  run();
  EXPECT_EQ(kinds(*a), std::vector{Kind::kOpenFailed});
  EXPECT_EQ(a->event[0].reason(), fw::OpenFailure::kRefused);
  EXPECT_EQ(a->event[0].cookie(), 7u);
  connect(*a, 0x0a000009);  // no neighbour
  run();
  EXPECT_EQ(a->event[1].reason(), fw::OpenFailure::kTimeout);
  EXPECT_EQ(pool.in_use(), 0u);
}

TEST_F(SctpStages, NobodyAnswers) {
  config.rto_max_us = 1000;
  build();
  ab->fate = [](std::size_t, const Frame&) { return Wire::Fate{0, 0, false, {}}; };
  listen(*b);
  connect(*a, kSctpIp[1]);
  run();
  EXPECT_EQ(kinds(*a), std::vector{Kind::kOpenFailed});
  EXPECT_EQ(a->event[0].reason(), fw::OpenFailure::kTimeout);
  EXPECT_EQ(ab->seen.size(), 1u + config.max_init_retries);
}

// All sessions hear of it except the one whose firmware requested it.
TEST_F(SctpStages, AnAbortEndsAllSessions) {
  build();
  const FlowId first = open_session(), second = open_session();
  a->op.send(a->flow_op(Action::kAbort, second));
  run();
  ASSERT_EQ(kinds(*a), std::vector{Kind::kLost});
  EXPECT_EQ(a->event[0].flow().v, first.v);
  ASSERT_EQ(kinds(*b), (std::vector{Kind::kLost, Kind::kLost}));
  EXPECT_EQ(pool.in_use(), 0u);
}

TEST_F(SctpStages, ThePeerGoesSilent) {
  config.rto_max_us = 1000;
  build();
  const FlowId flow = open_session();
  ab->fate = [](std::size_t, const Frame&) { return Wire::Fate{0, 0, false, {}}; };
  a->source.send(flow, segment(100, 1));
  run();
  EXPECT_EQ(kinds(*a), std::vector{Kind::kLost});
  EXPECT_EQ(a->association.counters().timeouts, config.max_retries + 1u);
}

// A slow pipeline closes the window; nothing is lost.
TEST_F(SctpStages, ASlowPipelineHoldsThePeerBack) {
  config.receive_buffer = 8192;
  build();
  const FlowId flow = open_session();
  b->sink.pause = every(64, 63);
  for (unsigned i = 0; i < 100; ++i) a->source.send(flow, segment(1400, i));
  run();
  EXPECT_EQ(b->sink.segments[flow.v].size(), 100u);
  EXPECT_EQ(a->source.wqes[flow.v], 100u);
}

// RFC 9260 section 9.2: in SHUTDOWN-RECEIVED no new data is accepted; data in flight goes on.
TEST_F(SctpStages, APeerThatShutsDownAmidASessionGetsNothingNew) {
  config.rto_max_us = 1000;
  build();
  const FlowId flow = open_session();
  const Bytes last = ab->seen.back();  // only a SACK: its TSN acknowledges all that b has sent
  ASSERT_EQ(last[34 + 12], 3);
  const Bytes cumulative(last.begin() + 34 + 16, last.begin() + 34 + 20);
  ab->fate = [cumulative](std::size_t, const Frame&) {
    Wire::Fate f;
    f.forge = [cumulative](Bytes& packet) {
      packet.resize(12);
      packet.insert(packet.end(), {7, 0, 0, 8});
      packet.insert(packet.end(), cumulative.begin(), cumulative.end());
    };
    return f;
  };
  ba->seen.clear();
  for (unsigned i = 0; i < 3; ++i) b->source.send(flow, segment(100, i));
  sc_core::sc_start(sc_core::sc_time::from_value(5000 * clk.period_ps()));
  for (unsigned i = 0; i < 5; ++i) b->source.send(flow, segment(100, i));
  control(*b, flow, {0, 4});
  run();
  EXPECT_EQ(b->association.counters().late_ulpdus, 5u);
  EXPECT_EQ(b->association.counters().ops_ignored, 1u);
  std::set<Bytes> tsns;
  for (const Bytes& f : ba->seen) {
    if (f[34 + 12] == 0) tsns.insert(Bytes(f.begin() + 34 + 16, f.begin() + 34 + 20));
  }
  EXPECT_EQ(tsns.size(), 3u);
  EXPECT_EQ(kinds(*b), std::vector{Kind::kLost});
}

// Nothing answers a Terminate, so its stream is not in use.
TEST_F(SctpStages, AStrayTerminateDoesNotKeepTheAssociationUp) {
  build();
  const FlowId flow = open_session();
  control(*b, FlowId{flow.v + 2}, {0, 4});
  run();
  ASSERT_EQ(kinds(*a), std::vector{Kind::kStray});
  control(*a, flow, {0, 4});
  control(*b, flow, {0, 4});
  run();
  b->op.send(b->flow_op(Action::kRestart, flow));
  a->op.send(a->flow_op(Action::kRestart, flow));
  run();
  EXPECT_EQ(a->association.counters().shut_down, 1u);
  EXPECT_EQ(b->association.counters().shut_down, 1u);
}

// The end of a session is still in the pipeline when the firmware, which knows of it, begins the next one on its
// stream.
TEST_F(SctpStages, AnEndIsOfTheSessionThatItBelongsTo) {
  build();
  const FlowId first = open_session();
  open_session();  // keeps the association up
  a->sink.keeps_ends = true;
  control(*b, first, {0, 4});
  control(*a, first, {0, 4});
  run();
  EXPECT_EQ(a->sink.ends, std::vector<std::uint32_t>{first.v});
  EXPECT_THAT(kinds(*b), testing::UnorderedElementsAre(Kind::kAcked, Kind::kPeerClosed));
  EXPECT_EQ(kinds(*a), std::vector{Kind::kAcked});
  b->op.send(b->flow_op(Action::kRestart, first));
  a->op.send(a->flow_op(Action::kRestart, first));
  run();
  const FlowId again = open_session();
  ASSERT_EQ(again.v, first.v);
  a->sink.answer_ends();
  run();
  EXPECT_TRUE(a->event.empty());
  control(*b, again, {0, 4});  // its own end is reported
  run();
  EXPECT_EQ(kinds(*a), std::vector{Kind::kPeerClosed});
}

// One error, however many of its chunks name a stream that does not exist.
TEST_F(SctpStages, APacketIsAnsweredByOneError) {
  build();
  const FlowId flow = open_session();
  ab->fate = [](std::size_t, const Frame&) {
    Wire::Fate f;
    f.forge = [](Bytes& packet) {
      if (packet[12] != 0) return;  // the acknowledgement of the session's message
      const std::uint32_t tsn = load_be32(&packet[16]);
      packet.resize(12);
      for (std::uint32_t i = 0; i < 50; ++i) {
        Bytes chunk = {0, 7, 0, 20, 0, 0, 0, 0, 0xff, static_cast<std::uint8_t>(i), 0, 0, 0, 0, 0, 16, 0, 0, 1, 2};
        store_be32(&chunk[4], tsn + i);
        packet.insert(packet.end(), chunk.begin(), chunk.end());
      }
    };
    return f;
  };
  ba->seen.clear();
  a->source.send(flow, segment(14, 1));
  sc_core::sc_start(sc_core::sc_time::from_value(5000 * clk.period_ps()));
  std::vector<Bytes> errors;
  for (const Bytes& f : ba->seen) {
    if (f[34 + 12] == 9) errors.push_back(f);
  }
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(Bytes(errors[0].begin() + 34 + 16, errors[0].end()), (Bytes{0, 1, 0, 8, 0xff, 0, 0, 0}));
  EXPECT_EQ(b->association.counters().violations, 50u);
}

TEST_F(SctpStages, AStrayAndAViolationAreTold) {
  build();
  const FlowId flow = open_session();
  control(*a, FlowId{flow.v + 2}, {0, 4});  // no session there
  run();
  ASSERT_EQ(kinds(*b), std::vector{Kind::kStray});
  EXPECT_TRUE(b->event[0].terminate());
  control(*a, flow, {0, 1});  // an Initiate during a session: left to the state machine
  run();
  ASSERT_EQ(b->event.size(), 2u);
  EXPECT_EQ(text(b->event[1]), (Bytes{0, 1}));
}

}  // namespace
}  // namespace rnic::test
