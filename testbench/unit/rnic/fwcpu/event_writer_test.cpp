#include "model/rnic/fwcpu/event_writer.h"

#include <cstring>

#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Posts writes: records them, and reports when they are on their way.
class PostedWrites final : public Answerer<DmaWriteRequest, DmaWriteDone> {
 public:
  using Answerer::Answerer;
  Wake tick() override {
    if (!in->can_pop()) return Wake::on_traffic();
    DmaWriteRequest r = in->pop();
    if (r.notify) out->push({r.tag});
    cycles.push_back(now());
    log.push_back(std::move(r));
    return Wake::next_cycle();
  }
  std::vector<DmaWriteRequest> log;
  std::vector<Cycle> cycles;
};

class EventWriterTest : public StageTest {
 protected:
  static constexpr std::uint64_t kRing = 0x1000, kData = 0x8000;
  HostEvent event(std::uint32_t id, const std::string& private_data = "") {
    HostEvent e;
    e.event.type = abi::EventType::kEstablished;
    e.event.id = id;
    e.event.private_bytes = static_cast<std::uint16_t>(private_data.size());
    if (!private_data.empty()) {
      e.private_data = pool.take();
      std::memcpy(e.private_data->bytes(), private_data.data(), private_data.size());
    }
    return e;
  }
  abi::Event written(std::size_t i) const {
    abi::Event e;
    std::memcpy(&e, posted.log.at(i).src->bytes() + posted.log[i].src_offset, sizeof e);
    return e;
  }
  std::vector<std::uint64_t> addresses() const {
    std::vector<std::uint64_t> out;
    for (const auto& w : posted.log) out.push_back(w.address);
    return out;
  }

  QueueRegs regs{true, 0, 2, 0, 0, kRing, kData};
  BufferPool pool{1024};
  EventWriter dut{"dut", clk, [this] { return regs; }, pool};
  Source<HostEvent> source = drive(dut.events);
  Source<CqNotify> notifier = drive(dut.cq_notifies);
  Source<EventsTaken> host = drive(dut.taken);
  Sink<MsixRequest> interrupts = collect(dut.msix);
  static constexpr unsigned kAnswer = 9;  // cycles
  PostedWrites posted{dut.write, dut.write_done, {16, kAnswer, 1}};
};

TEST_F(EventWriterTest, PrivateDataThenEventThenInterrupt) {
  source.send(event(5, "hello"));
  run_until_idle();
  ASSERT_THAT(addresses(), ElementsAre(kData, kRing));
  EXPECT_EQ(posted.log[0].bytes, 5u);
  EXPECT_FALSE(posted.log[0].notify);
  EXPECT_EQ(std::memcmp(posted.log[0].src->bytes(), "hello", 5), 0);
  EXPECT_EQ(posted.log[1].bytes, 64u);
  EXPECT_EQ(written(1).id, 5u);
  EXPECT_EQ(written(1).type, abi::EventType::kEstablished);
  EXPECT_THAT(posted.cycles, ElementsAre(2, 3));
  EXPECT_THAT(interrupts.cycles(), ElementsAre(3 + kAnswer + 1)) << "after the last TLP of the event is on the link";
}

TEST_F(EventWriterTest, PhaseFlipsWithEachLapOfTheRing) {
  for (std::uint32_t i = 0; i < 9; ++i) source.send(event(i));
  run_until_idle();
  for (const std::uint32_t seen : {4u, 8u}) {
    host.send({seen});
    run_until_idle();
  }
  ASSERT_EQ(posted.log.size(), 9u);
  std::vector<unsigned> phases;
  for (std::size_t i = 0; i < 9; ++i) phases.push_back(written(i).phase);
  EXPECT_THAT(phases, ElementsAre(1, 1, 1, 1, 0, 0, 0, 0, 1));
  EXPECT_THAT(addresses(), ElementsAre(kRing, kRing + 64, kRing + 128, kRing + 192, kRing, kRing + 64, kRing + 128,
                                       kRing + 192, kRing));
}

TEST_F(EventWriterTest, NeverOverrunsTheHost) {
  for (std::uint32_t i = 0; i < 6; ++i) source.send(event(i));
  run_until_idle();
  EXPECT_EQ(posted.log.size(), 4u) << "a ring of four";
  EXPECT_EQ(dut.counters().waited_for_room, 1u);
  EXPECT_EQ(dut.waiting_for(), "the host to take events");
  const Cycle later = clk.now() + 100;
  host.send_at(later, {1});
  run_until_idle();
  ASSERT_EQ(posted.log.size(), 5u);
  EXPECT_EQ(written(4).id, 4u);
  EXPECT_EQ(posted.cycles[4], later + 2);
  host.send({5});
  run_until_idle();
  EXPECT_EQ(posted.log.size(), 6u);
  EXPECT_EQ(interrupts.size(), 6u);
}

TEST_F(EventWriterTest, CompletionQueueNotification) {
  notifier.send({Cqn{9}});
  run_until_idle();
  ASSERT_EQ(posted.log.size(), 1u);
  EXPECT_EQ(written(0).type, abi::EventType::kCqNotify);
  EXPECT_EQ(written(0).id, 9u);
}

TEST_F(EventWriterTest, TheFirmwaresEventsGoFirst) {
  source.send({event(1), event(2)});
  notifier.send({Cqn{9}});
  run_until_idle();
  EXPECT_EQ(written(0).id, 1u);
  EXPECT_EQ(written(1).id, 2u);
  EXPECT_EQ(written(2).id, 9u);
  EXPECT_THAT(posted.cycles, ElementsAre(2, 3, 4)) << "one a cycle";
}

TEST_F(EventWriterTest, StalledInterruptsAreAllDelivered) {
  interrupts.pause(window(0, 60));
  source.send({event(1), event(2), event(3), event(4)});
  run_until_idle();
  EXPECT_EQ(interrupts.size(), 4u);
}

TEST_F(EventWriterTest, DisabledDeviceDropsAndCounts) {
  regs.enabled = false;
  source.send({event(1, "x"), event(2)});
  notifier.send({Cqn{9}});
  run_until_idle();
  EXPECT_THAT(posted.log, IsEmpty());
  EXPECT_EQ(dut.counters().dropped, 3u);
  EXPECT_EQ(pool.in_use(), 0u);
}

}  // namespace
}  // namespace rnic::test
