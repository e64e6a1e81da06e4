// What is always on the chip of queue pairs, shared receive queues and completion queues.
#include "testbench/support/contexts.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

constexpr std::uint32_t kQps = 4, kCqs = 3, kSrqs = 2;

class AliveTest : public StageTest {
 protected:
  ContextStore contexts{clk, {kQps, kQps, kCqs, 16, kSrqs, 16}};
  At firmware{"firmware", clk};
  // In each cycle of a run, what a stage sees of QP 1, SRQ 1 and CQ 1.
  struct Watch final : Stage {
    Watch(ClockDomain& domain, const ContextTables& tables)
        : Stage(sc_core::sc_gen_unique_name("watch"), domain), seen(tables) {}
    Wake tick() override {
      qps.push_back(seen.is_alive(Qpn{1}, 5));
      rings.push_back(seen.receive_ring(Srqn{1}).valid);
      cqs.push_back(seen.exists(Cqn{1}));
      return qps.size() < 8 ? Wake::next_cycle() : Wake::on_traffic();
    }
    const ContextTables& seen;
    std::vector<bool> qps, rings, cqs;
  };
  static SrqContext srq(std::uint32_t epoch) {
    SrqContext c;
    c.valid = true;
    c.log_entries = 7;
    c.epoch = epoch;
    return c;
  }
  static CqContext cq(std::uint32_t epoch) {
    CqContext c;
    c.valid = true;
    c.epoch = epoch;
    return c;
  }
};

TEST_F(AliveTest, WhatIsWrittenInACycleIsSeenFromTheNextOneOn) {
  Watch before(clk, contexts), after(clk, contexts);
  firmware.at(2, [this] {
    contexts.write(Qpn{1}, rts_qp(1, 5));
    contexts.write(Srqn{1}, srq(3));
    contexts.write(Cqn{1}, cq(2));
  });
  firmware.at(5, [this] {
    contexts.write(Qpn{1}, QpContext{});
    contexts.write(Srqn{1}, SrqContext{});
    contexts.write(Cqn{1}, CqContext{});
  });
  before.wake(0);
  after.wake(0);
  run_until_idle();
  const std::vector<bool> seen{false, false, false, true, true, true, false, false};
  for (const Watch* watch : {&before, &after}) {
    EXPECT_EQ(watch->qps, seen);
    EXPECT_EQ(watch->rings, seen);
    EXPECT_EQ(watch->cqs, seen);
  }
}

TEST_F(AliveTest, OfTwoWritesInACycleTheLastOneCounts) {
  contexts.write(Qpn{1}, rts_qp(1, 5));
  contexts.write(Qpn{1}, rts_qp(1, 6));
  contexts.commit();
  EXPECT_FALSE(contexts.is_alive(Qpn{1}, 5));
  EXPECT_TRUE(contexts.is_alive(Qpn{1}, 6));
}

TEST_F(AliveTest, ADestroyedQueuePairIsInNoUse) {
  open_qp(contexts, 1, rts_qp(1, 5));
  QpContext gone = rts_qp(1, 5);
  gone.valid = false;
  open_qp(contexts, 1, gone);
  EXPECT_FALSE(contexts.is_alive(Qpn{1}, 5));
  EXPECT_EQ(contexts.epoch(Qpn{1}), 5u) << "what waits for it is still about this use";
  EXPECT_FALSE(contexts.send_ring(Qpn{1}).valid);
  EXPECT_FALSE(contexts.receive_ring(Qpn{1}).valid);
}

TEST_F(AliveTest, AQueuePairOnASharedQueueHasNoReceiveRing) {
  QpContext own = rts_qp(2, 3), sharing = rts_qp(1, 4);
  own.log_sq = 2;
  own.log_rq = 11;
  sharing.shares_rq = true;
  sharing.srq = Srqn{1};
  open_qp(contexts, 2, own);
  open_qp(contexts, 1, sharing);
  contexts.write(Srqn{1}, srq(9));
  contexts.commit();
  EXPECT_EQ(contexts.receives_from(Qpn{2}), Rqn(Qpn{2}));
  EXPECT_EQ(contexts.receives_from(Qpn{1}), Rqn(Srqn{1}));
  EXPECT_EQ(contexts.send_ring(Qpn{2}).log_entries, 2);
  EXPECT_TRUE(contexts.receive_ring(Qpn{2}).valid);
  EXPECT_EQ(contexts.receive_ring(Qpn{2}).log_entries, 11);
  EXPECT_EQ(contexts.receive_ring(Qpn{2}).epoch, 3u);
  EXPECT_FALSE(contexts.receive_ring(Qpn{1}).valid);
  EXPECT_TRUE(contexts.receive_ring(Srqn{1}).valid);
  EXPECT_EQ(contexts.receive_ring(Srqn{1}).log_entries, 7);
  EXPECT_EQ(contexts.receive_ring(Srqn{1}).epoch, 9u);
}

// The largest of each field beside the others.
TEST_F(AliveTest, NoFieldRunsIntoItsNeighbour) {
  QpContext full = rts_qp(1, ~0u);
  full.state = QpState::kError;
  full.log_sq = full.log_rq = kMaxLogWq;
  full.shares_rq = true;
  full.srq = Srqn{(1u << 18) - 1};
  const ResidentQp all(full);
  EXPECT_EQ(all.srqn, (1u << 18) - 1);
  EXPECT_EQ(all.log_sq, kMaxLogWq);
  EXPECT_EQ(all.log_rq, kMaxLogWq);
  EXPECT_EQ(all.state, QpState::kError);
  EXPECT_TRUE(all.valid && all.shares_rq);
  EXPECT_EQ(all.epoch, ~0u);
}

TEST_F(AliveTest, NumbersOutside) {
  EXPECT_TRUE(contexts.has(Qpn{kQps - 1}) && contexts.has(Cqn{kCqs - 1}) && contexts.has(Rqn(Srqn{kSrqs - 1})));
  EXPECT_FALSE(contexts.has(Qpn{kQps}) || contexts.has(Cqn{kCqs}) || contexts.has(Rqn(Srqn{kSrqs})));
  EXPECT_TRUE(contexts.has(Rqn(Qpn{kQps - 1})));
  EXPECT_FALSE(contexts.has(Rqn(Qpn{kQps})));
  EXPECT_EQ(contexts.receive_queues(), kQps + kSrqs);
  EXPECT_EQ(contexts.index(Qpn{kQps - 1}), kQps - 1);
  EXPECT_EQ(contexts.index(Srqn{1}), kQps + 1);
}

// Nothing that was written in its cycle is left either.
TEST_F(AliveTest, AResetEndsAllUses) {
  contexts.write(Srqn{1}, srq(9));
  contexts.write(Cqn{1}, cq(2));
  open_qp(contexts, 1, rts_qp(1, 5));
  contexts.write(Qpn{2}, rts_qp(2, 5));
  contexts.reset();
  contexts.commit();
  for (const std::uint32_t n : {1u, 2u}) EXPECT_FALSE(contexts.life(Qpn{n}).valid) << n;
  EXPECT_EQ(contexts.epoch(Qpn{1}), 0u);
  EXPECT_FALSE(contexts.receive_ring(Srqn{1}).valid);
  EXPECT_FALSE(contexts.exists(Cqn{1}));
}

}  // namespace
}  // namespace rnic::test
