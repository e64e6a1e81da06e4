#include "model/programs/workload/workload.h"

#include <map>
#include <set>

#include "testbench/support/stage_test.h"
#include "testbench/unit/host/driver/fake_device.h"

namespace rnic::workload {
namespace {

using test::FakeDevice;
using test::FakeHost;
using testing::HasSubstr;

class WorkloadTest : public test::StageTest {
 protected:
  WorkloadTest() {
    FakeDevice::join(a.device, b.device);
    ConnectionSpec c;
    c.name = "c0";
    c.to = 1;
    plan.connections = {c};
  }
  static WorkItem item(Op op, SizeSpec size, std::uint32_t count, std::uint32_t depth) {
    WorkItem i;
    i.name = op_name(op);
    i.connections = {0};
    i.op = op;
    i.size = size;
    i.count = count;
    i.depth = depth;
    return i;
  }
  void run(std::uint64_t us = 20'000) {
    workload = std::make_unique<Workload>(
        plan, std::vector<HostNode>{{&a.context, 0x0a000001}, {&b.context, 0x0a000002}}, WireParams{});
    sc_core::sc_start(static_cast<double>(us), sc_core::SC_US);
  }
  void expect_success() {
    EXPECT_TRUE(workload->done()) << workload->waiting_for();
    EXPECT_THAT(workload->errors(), testing::IsEmpty());
    EXPECT_EQ(a.device.sends_without_receive + b.device.sends_without_receive, 0u);
    for (const WorkResult& r : workload->results()) {
      EXPECT_TRUE(r.data_ok) << r.name << ": " << r.error;
      EXPECT_GT(r.goodput_gbps, 0);
      EXPECT_LE(r.goodput_gbps, 100);
    }
  }
  // Corrupts one octet of the n-th piece of at least 32 octets that reaches this host.
  static void corrupt(FakeHost& host, unsigned n, std::uint32_t offset) {
    host.device.corrupt = [n, offset, seen = 0u](std::uint8_t* p, std::uint32_t bytes) mutable {
      if (bytes >= 32 && seen++ == n) p[offset] ^= 1;
    };
  }

  FakeHost a{clk, "a"}, b{clk, "b"};
  Plan plan;
  std::unique_ptr<Workload> workload;
};

TEST_F(WorkloadTest, PhasesOfEveryOperation) {
  const SizeSpec sizes{SizeLaw::kLogUniform, 1, 65536};
  plan.phases = {{item(Op::kSend, sizes, 100, 16)}, {item(Op::kWrite, sizes, 60, 8)}, {item(Op::kRead, sizes, 60, 8)}};
  run();
  expect_success();
  const auto results = workload->results();
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[0].count, 100u);
  EXPECT_EQ(results[0].one_way.count, 100u);
  EXPECT_EQ(results[1].count, 60u);
  EXPECT_EQ(results[1].one_way.count, 0u);
  EXPECT_EQ(results[2].latency.count, 60u);
  EXPECT_EQ(workload->waiting_for(), "");
}

struct Batch {
  std::uint32_t given;
  unsigned at_a_time;
};
class WorkloadBatch : public WorkloadTest, public testing::WithParamInterface<Batch> {};
// The next connection is opened when one of the batch is set up.
TEST_P(WorkloadBatch, IsSetUpAtATime) {
  plan.connections[0].qps = 12;
  plan.phases = {{item(Op::kSend, {SizeLaw::kFixed, 64, 64}, 4, 2)}};
  plan.setup.batch = GetParam().given;
  run();
  expect_success();
  EXPECT_EQ(workload->results()[0].count, 48u);
  EXPECT_EQ(a.device.most_connecting, GetParam().at_a_time);
}
INSTANTIATE_TEST_SUITE_P(Batches, WorkloadBatch,
                         testing::Values(Batch{0, 12}, Batch{1, 1}, Batch{5, 5}, Batch{99, 12}));

TEST_F(WorkloadTest, AtomicsOfSeveralQueuePairsCountTheSameWords) {
  plan.connections[0].qps = 3;
  WorkItem adds = item(Op::kFetchAdd, {SizeLaw::kFixed, 8, 8}, 101, 8);
  adds.words = 4;
  adds.signal_every = 3;
  WorkItem swaps = item(Op::kCmpSwap, {SizeLaw::kFixed, 8, 8}, 50, 8);
  swaps.words = 3;
  swaps.direction = Direction::kReverse;
  plan.phases = {{adds, swaps}, {adds}};
  run();
  expect_success();
  const auto results = workload->results();
  EXPECT_EQ(results[0].count, 303u);
  EXPECT_EQ(results[0].bytes, 8 * 303u);
  EXPECT_EQ(results[1].count, 150u);
  EXPECT_NEAR(results[0].rate_mops, results[0].goodput_gbps * 1000 / 64, 1e-6);
}

TEST_F(WorkloadTest, OverSctpTheQueuePairsOfAConnectionShareAPort) {
  plan.transport = host::Transport::kSctp;
  plan.connections[0].qps = 5;
  plan.connections[0].from_side.private_data = "hello";
  WorkItem writes = item(Op::kWrite, {SizeLaw::kLogUniform, 1, 4096}, 40, 4);
  writes.direction = Direction::kBoth;
  plan.phases = {{item(Op::kSend, {SizeLaw::kLogUniform, 1, 4096}, 40, 4)}, {writes}};
  run();
  expect_success();
  unsigned listens = 0;
  for (const abi::Command& c : b.device.commands) {
    if (c.op != abi::CommandOp::kListen) continue;
    ++listens;
    EXPECT_EQ(c.u.cm.options, abi::kCmSctp);
    EXPECT_EQ(c.u.cm.local_port, 41000);
  }
  EXPECT_EQ(listens, 1u);
  unsigned connects = 0;
  for (const abi::Command& c : a.device.commands) {
    if (c.op != abi::CommandOp::kConnect) continue;
    ++connects;
    EXPECT_EQ(c.u.cm.options, abi::kCmSctp);
    EXPECT_EQ(c.u.cm.peer_port, 41000);
    EXPECT_EQ(c.private_bytes, 7);
  }
  EXPECT_EQ(connects, 5u);
}

// The answer arrives before the word is in memory, as with a responder whose memory is far away.
TEST_F(WorkloadTest, WordsThatAreWrittenLateAreWaitedFor) {
  for (const Op op : {Op::kFetchAdd, Op::kCmpSwap}) {
    plan.phases.push_back({item(op, {SizeLaw::kFixed, 8, 8}, 8, 4)});
    plan.phases.back()[0].words = 8;
  }
  a.device.word_late_ns = 40'000;
  run();
  expect_success();
  EXPECT_EQ(workload->results()[0].count, 8u);
}

TEST_F(WorkloadTest, AWordThatIsNeverWrittenIsNamed) {
  WorkItem adds = item(Op::kFetchAdd, {SizeLaw::kFixed, 8, 8}, 8, 4);
  adds.words = 8;
  plan.phases = {{adds}, {item(Op::kWrite, {SizeLaw::kFixed, 8, 8}, 8, 4)}};
  a.device.word_late_ns = 1'000'000'000;
  run();
  EXPECT_FALSE(workload->done());
  EXPECT_EQ(workload->waiting_for(), "c0 listening: fetch_add on c0: word 0 is 0 instead of 1\n");
  EXPECT_FALSE(workload->results()[0].data_ok);
}

// The receiving host's register writes arrive late: a phase begins when its device knows of the receives.
TEST_F(WorkloadTest, NoPhaseBeginsBeforeTheDeviceKnowsOfItsReceives) {
  b.device.register_ns = 50'000;
  const SizeSpec size{SizeLaw::kFixed, 64, 64};
  WorkItem ping = item(Op::kSend, size, 20, 1);
  ping.mode = Mode::kPingPong;
  plan.phases = {{item(Op::kSend, size, 20, 16)},
                 {item(Op::kWrite, {SizeLaw::kFixed, 0, 0}, 1, 1)},
                 {item(Op::kWriteImm, size, 20, 16)},
                 {ping}};
  run();
  EXPECT_TRUE(workload->done()) << workload->waiting_for();
  EXPECT_THAT(workload->errors(), testing::IsEmpty());
  EXPECT_EQ(a.device.sends_without_receive + b.device.sends_without_receive, 0u);
}

// An item that was finished stays so, however the run ends.
TEST_F(WorkloadTest, WhatWasDoneBeforeARunHangsIsNoFailure) {
  const SizeSpec size{SizeLaw::kFixed, 100, 100};
  plan.phases = {{item(Op::kWrite, size, 20, 4), item(Op::kFetchAdd, {SizeLaw::kFixed, 8, 8}, 20, 4)},
                 {item(Op::kRead, size, 20, 4), item(Op::kSend, size, 20, 4)},
                 {item(Op::kSend, size, 20, 4)}};
  a.device.inject_error = [this](const abi::Wqe& wqe) {
    if (wqe.opcode == abi::WrOpcode::kSend && wqe.sge[0].length == 100) a.device.execute_sends = false;
    return abi::WcStatus::kSuccess;
  };
  run();
  EXPECT_FALSE(workload->done());
  const auto results = workload->results();
  ASSERT_EQ(results.size(), 5u);
  EXPECT_TRUE(results[0].data_ok);
  EXPECT_TRUE(results[1].data_ok);
  EXPECT_FALSE(results[3].data_ok);
  EXPECT_FALSE(results[4].data_ok);
}

TEST_F(WorkloadTest, AnAtomicThatWasNotAtomicIsFound) {
  plan.phases = {{item(Op::kFetchAdd, {SizeLaw::kFixed, 8, 8}, 100, 4)}};
  a.device.inject_error = [this, n = 0](const abi::Wqe& wqe) mutable {
    if (wqe.opcode == abi::WrOpcode::kFetchAdd && n++ == 20) b.memory.span(wqe.remote_address, 1)[0] -= 1;
    return abi::WcStatus::kSuccess;
  };
  run();
  ASSERT_TRUE(workload->failed());
  EXPECT_THAT(workload->errors()[0], HasSubstr("fetch_add on c0: message 20: word 0 was 19 a second time"));
}

TEST_F(WorkloadTest, ALostAtomicIsFound) {
  plan.phases = {{item(Op::kCmpSwap, {SizeLaw::kFixed, 8, 8}, 100, 4)}};
  a.device.inject_error = [this, n = 0](const abi::Wqe& wqe) mutable {
    if (wqe.opcode == abi::WrOpcode::kCmpSwap && n++ == 20) b.memory.span(wqe.remote_address, 1)[0] -= 1;
    return abi::WcStatus::kSuccess;
  };
  run();
  ASSERT_TRUE(workload->failed());
  EXPECT_THAT(workload->errors()[0], HasSubstr("cmp_swap on c0: message 20 has found 19 instead of 20"));
}

TEST_F(WorkloadTest, WritesWithImmediateDataUseReceivesAndAreComparedAtOnce) {
  plan.phases = {{item(Op::kWriteImm, {SizeLaw::kLogUniform, 1, 9000}, 700, 16)}};
  run();
  expect_success();
  EXPECT_EQ(workload->results()[0].one_way.count, 700u);
}

TEST_F(WorkloadTest, AFlippedBitInAWriteWithImmediateDataIsFound) {
  plan.phases = {{item(Op::kWriteImm, {SizeLaw::kFixed, 1000, 1000}, 20, 4)}};
  corrupt(b, 7, 999);
  run();
  ASSERT_TRUE(workload->failed());
  EXPECT_THAT(workload->errors()[0], HasSubstr("write_imm on c0: message 7 of 1000 octets differs first at octet 999"));
}

TEST_F(WorkloadTest, LatencyIsWhatTheDeviceAndTheProgramTake) {
  plan.phases = {{item(Op::kWrite, {SizeLaw::kFixed, 100, 100}, 50, 1)}};
  run();
  expect_success();
  const WorkResult r = workload->results()[0];
  EXPECT_EQ(r.bytes, 5000u);
  // 45 ns to post, 400 ns to the device, 16 ns on the wire, 800 ns until the completion is written, 20 ns a turn,
  // 45 ns to poll two queues and take one completion.
  EXPECT_GE(r.latency.p50, 1'306'000u);
  EXPECT_LE(r.latency.p50, 1'306'000u + 40'000);
  EXPECT_LE(r.latency.p50, r.latency.p99);
  EXPECT_LE(r.latency.p99, r.latency.max);
  EXPECT_NEAR(r.goodput_gbps, 8 * 100 / (static_cast<double>(r.latency.p50) / 1000), 0.05);
}

TEST_F(WorkloadTest, SendsBeyondThePostedReceivesWaitForCredits) {
  plan.phases = {{item(Op::kSend, {SizeLaw::kUniform, 0, 300}, 1500, 64)}};  // 128 receives
  run();
  expect_success();
  EXPECT_EQ(workload->results()[0].count, 1500u);
}

// Counts of receives come 4 messages apart, which take 5 us. Every second one is placed after the next one, and the
// last one before its predecessor.
class CreditsTest : public WorkloadTest, public testing::WithParamInterface<std::tuple<Op, std::uint32_t>> {};

TEST_P(CreditsTest, ArePlacedInAnyOrder) {
  const auto [op, count] = GetParam();
  plan.phases = {{item(op, {SizeLaw::kFixed, 8, 8}, count, 1)}};  // 16 receives
  unsigned counts = 0;
  b.device.late_ns = [&, count = count](const abi::Wqe& wqe, std::size_t) {
    const bool is_last = load_le64(reinterpret_cast<const std::uint8_t*>(wqe.sge)) == count;
    return ++counts % 2 == 0 || is_last ? 0 : 8000;
  };
  run();
  expect_success();
  EXPECT_EQ(workload->results()[0].count, count);
  EXPECT_EQ(counts, (count - 16 + 3) / 4);
}
INSTANTIATE_TEST_SUITE_P(Work, CreditsTest,
                         testing::Combine(testing::Values(Op::kSend, Op::kWriteImm),
                                          testing::Values(41, 48, 96, 1000)));

TEST_F(WorkloadTest, BothDirectionsAndTwoItemsAtOnce) {
  WorkItem both = item(Op::kSend, {SizeLaw::kPowersOfTwo, 1, 8192}, 700, 32);
  both.direction = Direction::kBoth;
  WorkItem reads = item(Op::kRead, {SizeLaw::kFixed, 5000, 5000}, 100, 4);
  reads.direction = Direction::kReverse;
  plan.phases = {{both, reads}};
  run();
  expect_success();
  const auto results = workload->results();
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[0].name, "send forward");
  EXPECT_EQ(results[1].name, "send reverse");
  EXPECT_EQ(results[2].name, "read");
}

TEST_F(WorkloadTest, UnsignaledRequestsAndNotifiedPrograms) {
  plan.connections[0].notified = true;
  plan.connections[0].qps = 4;
  WorkItem writes = item(Op::kWrite, {SizeLaw::kFixed, 4096, 4096}, 101, 16);
  writes.signal_every = 8;
  plan.phases = {{writes}, {item(Op::kSend, {SizeLaw::kFixed, 64, 64}, 300, 8)}};
  run();
  expect_success();
  EXPECT_EQ(workload->results()[0].count, 404u);
  EXPECT_EQ(workload->results()[1].count, 1200u);
}

TEST_F(WorkloadTest, AReceiveAndAllAfterItAreNotPosted) {
  WorkItem sends = item(Op::kSend, {SizeLaw::kFixed, 64, 64}, 10, 1);
  RequestFault fault;
  fault.request = 3;
  fault.receive = true;
  fault.posted = false;
  sends.faults = {fault};
  plan.phases = {{sends}};
  run(500);
  EXPECT_FALSE(workload->done());
  EXPECT_EQ(b.device.sends_without_receive, 7u);  // this device does not end the stream at the first one
}

TEST(Fences, EachNthRequestHasOne) {
  WorkItem item;
  EXPECT_FALSE(is_fenced(item, 0));
  item.fence_every = 3;
  for (std::uint32_t m = 0; m < 12; ++m) EXPECT_EQ(is_fenced(item, m), m % 3 == 2) << m;
}

// The listening side posts first here; it must not send before it has received the other side's empty Send.
TEST_F(WorkloadTest, TheSideThatListensMayBeginTheWork) {
  WorkItem sends = item(Op::kSend, {SizeLaw::kFixed, 64, 64}, 20, 4);
  sends.direction = Direction::kReverse;
  plan.phases = {{sends}};
  bool received = false, sent_early = false;
  a.device.inject_error = [&](const abi::Wqe&) { return received = true, abi::WcStatus::kSuccess; };
  b.device.inject_error = [&](const abi::Wqe&) { return sent_early |= !received, abi::WcStatus::kSuccess; };
  run();
  expect_success();
  EXPECT_TRUE(received);
  EXPECT_FALSE(sent_early);
}

TEST_F(WorkloadTest, PingPongMeasuresHalfARoundTrip) {
  WorkItem ping = item(Op::kSend, {SizeLaw::kFixed, 64, 64}, 40, 1);
  ping.mode = Mode::kPingPong;
  plan.phases = {{ping}};
  run();
  expect_success();
  const WorkResult r = workload->results()[0];
  EXPECT_EQ(r.count, 40u);
  EXPECT_EQ(r.limit_gbps, 0);
  // One way: 45 ns to post, 400 ns to the device, 13.1 ns on the wire, 400 ns to the other side, then the loop.
  EXPECT_GE(r.latency.p50, 858'000u);
  EXPECT_LE(r.latency.p50, 858'000u + 120'000);
}

TEST_F(WorkloadTest, WritesToAndFroAreSeenInMemory) {
  WorkItem same = item(Op::kWrite, {SizeLaw::kFixed, 64, 64}, 40, 1),
           any = item(Op::kWrite, {SizeLaw::kLogUniform, 1, 9000}, 40, 1);
  same.mode = any.mode = Mode::kPingPong;
  any.direction = Direction::kReverse;
  plan.phases = {{same}, {any}};
  run();
  expect_success();
  const std::vector<WorkResult> results = workload->results();
  EXPECT_EQ(results[0].count, 40u);
  EXPECT_EQ(results[1].count, 40u);
  EXPECT_GE(results[0].latency.p50, 858'000u);  // as for Sends
  EXPECT_LE(results[0].latency.p50, 858'000u + 120'000);
}

// Both hosts place the last piece first, and the others in reverse order.
TEST_F(WorkloadTest, TheOctetsOfAWriteToAndFroArePlacedInAnyOrder) {
  for (const Pattern pattern : {Pattern::kRandom, Pattern::kCounting}) {
    WorkItem writes = item(Op::kWrite, {SizeLaw::kLogUniform, 1, 9000}, 40, 1);
    writes.mode = Mode::kPingPong;
    writes.pattern = pattern;
    plan.phases.push_back({writes});
  }
  for (FakeHost* host : {&a, &b}) {
    host->device.piece_bytes = 1000;
    host->device.late_ns = [](const abi::Wqe&, std::size_t offset) { return (9000 - offset) * 2; };
  }
  run();
  expect_success();
  EXPECT_EQ(workload->results()[0].count, 40u);
  EXPECT_EQ(workload->results()[1].count, 40u);
}

TEST_F(WorkloadTest, AFlippedBitInAWriteToAndFroIsFound) {
  WorkItem writes = item(Op::kWrite, {SizeLaw::kFixed, 1000, 1000}, 20, 1);
  writes.mode = Mode::kPingPong;
  plan.phases = {{writes}};
  corrupt(b, 7, 123);
  run();
  ASSERT_TRUE(workload->failed());
  EXPECT_THAT(workload->errors()[0], HasSubstr("write on c0: message 7 of 1000 octets differs first at octet 123"));
}

// One process elaborates once, so the orders are compared through literal figures.
class OrderTest : public WorkloadTest, public testing::WithParamInterface<std::uint64_t> {};

TEST_P(OrderTest, TheOrderInWhichStagesAreCalledDoesNotMatter) {
  plan.phases = {{item(Op::kSend, {SizeLaw::kLogUniform, 1, 9000}, 200, 16)}};
  if (GetParam() != 0) clk.shuffle(GetParam());
  run();
  expect_success();
  const WorkResult r = workload->results()[0];
  EXPECT_EQ(r.bytes, 314'674u);
  EXPECT_EQ(r.duration_ps, 32'227'000u);
  EXPECT_EQ(r.latency.p50, 2'209'000u);
  EXPECT_EQ(r.one_way.p99, 3'904'000u);
}
INSTANTIATE_TEST_SUITE_P(Seeds, OrderTest, testing::Values(0, 1, 77, 4711));

TEST_F(WorkloadTest, AFlippedBitInASendIsFound) {
  plan.phases = {{item(Op::kSend, {SizeLaw::kFixed, 1000, 1000}, 20, 4)}};
  corrupt(b, 7, 123);
  run();
  ASSERT_TRUE(workload->failed());
  EXPECT_THAT(workload->errors()[0],
              HasSubstr("send on c0: message 7 of 1000 octets differs first at octet 123: expected 0x"));
  EXPECT_FALSE(workload->done());
  EXPECT_FALSE(workload->results()[0].data_ok);
}

TEST_F(WorkloadTest, AFlippedBitInAWriteIsFound) {
  plan.phases = {{item(Op::kWrite, {SizeLaw::kFixed, 1000, 1000}, 20, 4)}};
  corrupt(b, 7, 999);
  run();
  ASSERT_TRUE(workload->failed());
  EXPECT_THAT(workload->errors()[0], HasSubstr("write on c0: message 7 of 1000 octets differs first at octet 999"));
}

struct Outstanding final : host::WorkObserver {
  void posted(Qpn qpn, std::uint64_t, unsigned count, std::uint64_t) override {
    now += count;
    if (order.size() >= first_of_items) most = std::max(most, now);
    for (unsigned n = 0; n < count; ++n) order.push_back(qpn.v);
  }
  void posted(Rqn, std::uint64_t, unsigned, std::uint64_t) override {}
  void rang(Qpn, std::uint32_t, std::uint64_t) override {}
  void polled(Qpn, bool receive, std::uint64_t, std::uint64_t) override { now -= !receive; }
  void worked(std::uint32_t, std::uint64_t, std::uint64_t) override {}
  RequestId owner(Qpn, bool, std::uint64_t) const override { return {}; }
  void spoiled(RequestId, const Spoiled&, std::uint64_t) override {}
  void seen(Qpn, RequestId, std::uint32_t, std::uint64_t) override {}
  void differs(Qpn, RequestId, std::uint32_t, Difference, std::uint64_t) override {}
  explicit Outstanding(std::size_t first_sends) : first_of_items(first_sends) {}
  const std::size_t first_of_items;  // those after the first Sends of the connections
  unsigned now = 0, most = 0;
  std::vector<std::uint32_t> order;
};

TEST_F(WorkloadTest, AWindowIsOfAllQueuePairsOfANodeTogether) {
  plan.connections[0].qps = 6;
  WorkItem reads = item(Op::kRead, {SizeLaw::kFixed, 100, 100}, 20, 4);
  reads.window = 4;
  plan.phases = {{reads}};
  Outstanding seen(6);
  a.context.cpu().observe_work(seen);
  run();
  expect_success();
  EXPECT_EQ(seen.most, 4u);
  ASSERT_EQ(seen.order.size(), 6u + 120u);
  std::map<std::uint32_t, unsigned> first;
  for (std::size_t n = 6; n < 66; ++n) ++first[seen.order[n]];
  EXPECT_EQ(first.size(), 6u);
  for (const auto& [qpn, reads_of_it] : first) EXPECT_NEAR(reads_of_it, 10, 6) << "QP " << qpn;
}

// A node posts to queue pairs that it has connected, and to others.
TEST_F(WorkloadTest, AWindowIsOfBothDirectionsTogether) {
  ConnectionSpec back = plan.connections[0];
  back.name = "c1";
  back.port += 10;
  std::swap(back.from, back.to);
  plan.connections.push_back(back);
  for (ConnectionSpec& c : plan.connections) c.qps = 3;
  WorkItem reads = item(Op::kRead, {SizeLaw::kFixed, 100, 100}, 20, 4);
  reads.connections = {0, 1};
  reads.direction = Direction::kBoth;
  reads.window = 4;
  plan.phases = {{reads}};
  Outstanding seen(3);
  a.context.cpu().observe_work(seen);
  run();
  expect_success();
  EXPECT_EQ(seen.most, 4u);
  EXPECT_EQ(seen.order.size(), 3u + 6 * 20u);
}

// Each Send waits for its receive, and the window does not lose it.
TEST_F(WorkloadTest, AWindowOfSendsEachWay) {
  plan.connections[0].qps = 3;
  WorkItem sends = item(Op::kSend, {SizeLaw::kUniform, 1, 200}, 900, 5), writes = item(Op::kWrite, sends.size, 30, 5);
  sends.window = writes.window = 5;
  sends.direction = Direction::kBoth;
  plan.phases = {{sends}, {writes}};
  run();
  expect_success();
}

// 30 messages in 5 places of 64 octets: the last Write of each stays.
TEST_F(WorkloadTest, MessagesThatSharePlacesAreComparedWithTheLastWrite) {
  WorkItem writes = item(Op::kWrite, {SizeLaw::kFixed, 50, 50}, 30, 4), reads = item(Op::kRead, writes.size, 30, 4);
  writes.places = reads.places = 5;
  plan.phases = {{writes}, {reads}};
  std::set<std::uint64_t> written;
  a.device.inject_error = [&](const abi::Wqe& wqe) {
    if (wqe.opcode == abi::WrOpcode::kRdmaWrite) written.insert(wqe.remote_address);
    return abi::WcStatus::kSuccess;
  };
  run();
  expect_success();
  EXPECT_EQ(written.size(), 5u);
  EXPECT_EQ(*written.rbegin() - *written.begin(), 4 * 64u);
}

TEST_F(WorkloadTest, AnOldMessageInASharedPlaceIsFound) {
  WorkItem writes = item(Op::kWrite, {SizeLaw::kFixed, 50, 50}, 30, 4);
  writes.places = 1;
  plan.phases = {{writes}};
  corrupt(b, 29, 3);
  run();
  ASSERT_TRUE(workload->failed());
  EXPECT_THAT(workload->errors()[0], HasSubstr("message 29 of 50 octets differs first at octet 3"));
}

TEST_F(WorkloadTest, AFlippedBitInAReadIsFound) {
  plan.phases = {{item(Op::kRead, {SizeLaw::kFixed, 1000, 1000}, 20, 4)}};
  corrupt(a, 0, 0);
  run();
  ASSERT_TRUE(workload->failed());
  EXPECT_THAT(workload->errors()[0], HasSubstr("read on c0: message 0 of 1000 octets differs first at octet 0"));
}

TEST_F(WorkloadTest, AWriteOutsideItsPlaceIsFound) {
  WorkItem writes = item(Op::kWrite, {SizeLaw::kFixed, 1000, 1000}, 20, 4);  // 24 octets between messages
  plan.phases = {{writes}};
  a.device.inject_error = [this](const abi::Wqe& wqe) {
    if (wqe.opcode == abi::WrOpcode::kRdmaWrite) b.memory.span(wqe.remote_address + 1003, 1)[0] = 1;
    return abi::WcStatus::kSuccess;
  };
  run();
  ASSERT_TRUE(workload->failed());
  EXPECT_THAT(workload->errors()[0], HasSubstr("a Write has touched octets before message 1"));
}

TEST_F(WorkloadTest, ACompletionInErrorEndsTheRun) {
  plan.phases = {{item(Op::kRead, {SizeLaw::kFixed, 100, 100}, 20, 1)}};
  a.device.inject_error = [n = 0](const abi::Wqe&) mutable {
    return ++n == 5 ? abi::WcStatus::kRemAccessErr : abi::WcStatus::kSuccess;
  };
  run();
  ASSERT_TRUE(workload->failed());
  EXPECT_THAT(workload->errors()[0], HasSubstr("message 3 completed with 'remote access error'"));
  EXPECT_EQ(workload->results()[0].count, 3u);
}

TEST_F(WorkloadTest, AConnectionThatBreaksEndsTheRun) {
  plan.phases = {{item(Op::kSend, {SizeLaw::kFixed, 100, 100}, 100, 1)}};
  a.device.inject_error = [this, n = 0](const abi::Wqe&) mutable {
    if (++n == 5) a.device.close(0, abi::EventType::kQpError);
    return abi::WcStatus::kSuccess;
  };
  run();
  ASSERT_TRUE(workload->failed());
  EXPECT_THAT(workload->errors()[0], HasSubstr("c0 connecting: "));
}

// A side without work waits for the other one, which may never hear of it.
TEST_F(WorkloadTest, AConnectionThatBreaksAtTheSideThatWaitsEndsTheRun) {
  plan.phases = {{item(Op::kRead, {SizeLaw::kFixed, 100, 100}, 100, 1)}};
  a.device.inject_error = [this, n = 0](const abi::Wqe&) mutable {
    if (++n == 5) {
      a.device.execute_sends = false;
      b.device.close(0, abi::EventType::kQpError);
    }
    return abi::WcStatus::kSuccess;
  };
  run();
  ASSERT_TRUE(workload->failed());
  EXPECT_THAT(workload->errors()[0], HasSubstr("c0 listening: the queue pair went to the error state"));
}

TEST_F(WorkloadTest, AConnectionThatTheDeviceRefusesEndsTheRun) {
  plan.phases = {{item(Op::kSend, {SizeLaw::kFixed, 100, 100}, 20, 4)}};
  a.device.refuse = [](const abi::Command& c) {
    return c.op == abi::CommandOp::kConnect ? abi::CommandStatus::kNoResources : abi::CommandStatus::kOk;
  };
  run();
  ASSERT_TRUE(workload->failed());
  EXPECT_EQ(workload->errors()[0],
            "c0 connecting: the connection failed: the device refused the command: no resources");
}

TEST_F(WorkloadTest, AHungRunSaysWhoWaitsForWhat) {
  plan.phases = {{item(Op::kSend, {SizeLaw::kFixed, 100, 100}, 20, 4)}};
  a.device.inject_error = [this](const abi::Wqe&) {
    a.device.execute_sends = false;  // the first Send is the last one
    return abi::WcStatus::kSuccess;
  };
  run();
  EXPECT_FALSE(workload->done());
  EXPECT_EQ(workload->waiting_for(),
            "c0 listening: send on c0: arrival of message 0\n"
            "c0 connecting: send on c0: completion of message 0 (4 outstanding)\n");
}

TEST_F(WorkloadTest, TooManyOctetsForOneItemAreAConfigurationError) {
  plan.phases = {{item(Op::kWrite, {SizeLaw::kFixed, 1 << 20, 1 << 20}, 257, 4)}};
  EXPECT_THROW(run(), ConfigError);
}

TEST(ResultsTable, OneLineEach) {
  WorkResult r;
  r.name = "writes";
  r.op = Op::kWrite;
  r.count = 1000;
  r.bytes = 65536000;
  r.goodput_gbps = 46.435;
  r.rate_mops = 7.5;
  r.limit_gbps = 92.87;
  r.latency = {1000, 12'345'600, 20'000'100, 0, 0};
  r.data_ok = true;
  EXPECT_EQ(results_table({r}, 4000),
            "work    operation      count         bytes      goodput       rate  of limit   p50 latency, cycles   p99 "
            "latency, "
            "cycles  data\n"
            "writes  write           1000      65536000   46.44 Gb/s   7.50 M/s    50.0 %    12345.6 ns    3087    "
            "20000.1 ns    "
            "5001  ok\n");
}

}  // namespace
}  // namespace rnic::workload
