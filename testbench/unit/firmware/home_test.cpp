// Commands about the contexts' home: a chip with a cache of page lists whose home has three pages.
#include "testbench/unit/firmware/firmware_test.h"

namespace rnic::fw::test {
namespace {

using abi::CommandOp;
using abi::CommandStatus;

class HomeCommands : public FirmwareTest {
 protected:
  HomeCommands() : FirmwareTest(with_home()) {}
  static Settings with_home() {
    Settings s = settings_of(abi::Personality::kIetf);
    s.home_pages = 3;
    s.homed_kinds = 1u << static_cast<unsigned>(abi::ContextKind::kPages);
    return s;
  }
  void expect(CommandStatus status, const abi::Command& c, const std::string& list = "") {
    run(c, list);
    bus.take();
    EXPECT_EQ(bus.events().back().type, abi::EventType::kCommandDone);
    EXPECT_EQ(static_cast<CommandStatus>(bus.events().back().status), status);
  }
  static abi::Command over_pages(CommandOp op, std::uint32_t stag) {
    abi::Command c = command(op, stag);
    c.u.mr_pages = {0x7000, 0x1000, 7, 0, 2, 0, 12};
    return c;
  }
  const std::string one = "0000200000000000", two = "0000400000000000", page = "0000050000000000";
  const abi::Command write = command(CommandOp::kWritePages, 0), release = command(CommandOp::kReleaseHome, 0);
  abi::Command set(std::uint32_t first) const { return command(CommandOp::kSetHome, first); }
};

TEST_F(HomeCommands, TheHomeIsGivenInOrder) {
  run(set(0), one + two);
  EXPECT_THAT(bus.take(), ElementsAre("home page 0 at 200000", "home page 1 at 400000", "event done status 0 id 0"));
  expect(CommandStatus::kBadIndex, set(1), one);  // it has that one
  expect(CommandStatus::kBadIndex, set(3), one);
  expect(CommandStatus::kBadIndex, set(2), one + two);
  expect(CommandStatus::kBadLength, set(2), "");
  expect(CommandStatus::kBadLength, set(2), "00002000000000");
  expect(CommandStatus::kBadLength, set(2), "0000100000000000");  // not aligned
  expect(CommandStatus::kOk, set(2), one);
  expect(CommandStatus::kBadIndex, set(3), one);
}

TEST_F(HomeCommands, WithoutAllOfItThereAreNoPageLists) {
  for (const bool some : {false, true}) {
    if (some) expect(CommandStatus::kOk, set(0), one + two);
    expect(CommandStatus::kNoHome, write, page);
    expect(CommandStatus::kNoHome, over_pages(CommandOp::kRegisterMrPages, 0x1fa5));
    expect(CommandStatus::kNoHome, over_pages(CommandOp::kAllocMr, 0x1fa5));
  }
  abi::Command linear = over_pages(CommandOp::kAllocMr, 0x1f00);
  linear.u.mr_pages.pages = 0;
  expect(CommandStatus::kOk, linear);
  expect(CommandStatus::kOk, set(2), one);
  expect(CommandStatus::kOk, write, page);
  expect(CommandStatus::kOk, over_pages(CommandOp::kRegisterMrPages, 0x1ea5));
}

TEST_F(HomeCommands, ItIsReleasedWhenNoRegionNeedsItAndWhenTheHardwareHasAnswered) {
  expect(CommandStatus::kOk, set(0), one + two + one);
  expect(CommandStatus::kOk, over_pages(CommandOp::kRegisterMrPages, 0x1fa5));
  expect(CommandStatus::kOk, over_pages(CommandOp::kAllocMr, 0x1e00));
  expect(CommandStatus::kBusy, release);
  expect(CommandStatus::kOk, command(CommandOp::kDeregisterMr, 0x1fa5));
  expect(CommandStatus::kBusy, release);
  expect(CommandStatus::kOk, command(CommandOp::kDeregisterMr, 0x1e00));
  abi::Command c = release;
  c.cookie = 77;
  run(c);
  EXPECT_THAT(bus.take(), ElementsAre("release home"));
  expect(CommandStatus::kBusy, release);
  expect(CommandStatus::kBusy, set(0), one);
  expect(CommandStatus::kNoHome, write, page);
  fw.on(HomeReleased{});
  EXPECT_THAT(bus.take(), ElementsAre("event done status 0 id 0 cookie 77"));
  expect(CommandStatus::kOk, set(0), one);
}

TEST_F(HomeCommands, ALostContextIsToldTheHost) {
  fw.on(ContextLost{abi::ContextKind::kPages, 0x1234});
  EXPECT_THAT(bus.take(), ElementsAre("event context_lost status 0 id 1234"));
}

// A chip whose completion queues have their home in one page, and whose page lists have none.
class CqHomeCommands : public FirmwareTest {
 protected:
  CqHomeCommands() : FirmwareTest(with_home()) {}
  static Settings with_home() {
    Settings s = settings_of(abi::Personality::kIetf);
    s.home_pages = 1;
    s.homed_kinds = 1u << static_cast<unsigned>(abi::ContextKind::kCq);
    return s;
  }
  CommandStatus answer(const abi::Command& c, const std::string& list = "") {
    run(c, list);
    bus.take();
    return static_cast<CommandStatus>(bus.events().back().status);
  }
  static abi::Command create(std::uint32_t cqn) {
    abi::Command c = command(CommandOp::kCreateCq, cqn);
    c.u.cq = {0x1000, 4};
    return c;
  }
};
TEST_F(CqHomeCommands, QueuesNeedTheHomeAndPageListsDoNot) {
  EXPECT_EQ(answer(create(7)), CommandStatus::kNoHome);
  EXPECT_EQ(answer(command(CommandOp::kWritePages, 0), "0000050000000000"), CommandStatus::kOk);
  abi::Command paged = command(CommandOp::kRegisterMrPages, 0x1fa5);
  paged.u.mr_pages = {0x7000, 0x1000, 7, 0, 2, 0, 12};
  EXPECT_EQ(answer(paged), CommandStatus::kOk);
  EXPECT_EQ(answer(command(CommandOp::kSetHome, 0), "0000200000000000"), CommandStatus::kOk);
  EXPECT_EQ(answer(create(7)), CommandStatus::kOk);
  EXPECT_EQ(answer(command(CommandOp::kReleaseHome, 0)), CommandStatus::kBusy);
  EXPECT_EQ(answer(command(CommandOp::kDestroyCq, 7)), CommandStatus::kOk);
  run(command(CommandOp::kReleaseHome, 0));
  EXPECT_THAT(bus.take(), ElementsAre("release home")) << "the region over pages does not hold it";
}
TEST_F(CqHomeCommands, AQueueThatLostAnEntryIsInErrorOnce) {
  answer(command(CommandOp::kSetHome, 0), "0000200000000000");
  answer(create(7));
  fw.on(CqOverflow{Cqn{7}});
  EXPECT_THAT(bus.take(), ElementsAre("event cq_error status 0 id 7"));
  fw.on(CqOverflow{Cqn{7}});
  EXPECT_THAT(bus.take(), IsEmpty());
}

// A chip whose shared receive queues alone have their home.
class SrqHomeCommands : public FirmwareTest {
 protected:
  SrqHomeCommands() : FirmwareTest(with_home()) {}
  static Settings with_home() {
    Settings s = settings_of(abi::Personality::kIetf);
    s.home_pages = 1;
    s.homed_kinds = 1u << static_cast<unsigned>(abi::ContextKind::kSrq);
    return s;
  }
  CommandStatus answer(const abi::Command& c, const std::string& list = "") {
    run(c, list);
    bus.take();
    return static_cast<CommandStatus>(bus.events().back().status);
  }
  static abi::Command create(std::uint32_t srqn) {
    abi::Command c = command(CommandOp::kCreateSrq, srqn);
    c.u.srq.base = 0x1000;
    c.u.srq.log_entries = 4;
    return c;
  }
  CommandStatus create_qp(std::uint32_t qpn, std::uint32_t srqn) {
    abi::Command c = command(CommandOp::kCreateQp, qpn);
    c.flags = abi::kQpSharesRq;
    c.u.qp.srqn = srqn;
    return answer(c);
  }
  const abi::Command set = command(CommandOp::kSetHome, 0), release = command(CommandOp::kReleaseHome, 0);
  const std::string page = "0000200000000000";
};
TEST_F(SrqHomeCommands, QueuesNeedTheHomeAndHoldIt) {
  EXPECT_EQ(answer(create(7)), CommandStatus::kNoHome);
  EXPECT_EQ(answer(command(CommandOp::kDestroySrq, 7)), CommandStatus::kBadIndex) << "a refusal has no effect";
  EXPECT_EQ(answer(set, page), CommandStatus::kOk);
  EXPECT_EQ(answer(create(7)), CommandStatus::kOk);
  EXPECT_EQ(answer(create(6)), CommandStatus::kOk);
  EXPECT_EQ(answer(release), CommandStatus::kBusy);
  EXPECT_EQ(answer(command(CommandOp::kDestroySrq, 7)), CommandStatus::kOk);
  EXPECT_EQ(answer(release), CommandStatus::kBusy);
  EXPECT_EQ(answer(command(CommandOp::kDestroySrq, 6)), CommandStatus::kOk);
  run(release);
  EXPECT_THAT(bus.take(), ElementsAre("release home"));
}
TEST_F(SrqHomeCommands, ALostQueueIsInErrorOnceAndSoAreItsQueuePairs) {
  answer(set, page);
  answer(create(7));
  answer(create(6));
  abi::Command cq = command(CommandOp::kCreateCq, 0);
  cq.u.cq = {0x9000, 4};
  answer(cq);
  ASSERT_EQ(create_qp(1, 7), CommandStatus::kOk);
  ASSERT_EQ(create_qp(2, 6), CommandStatus::kOk);
  ASSERT_EQ(create_qp(3, 7), CommandStatus::kOk);
  fw.on(ContextLost{abi::ContextKind::kSrq, 7});
  EXPECT_THAT(bus.take(), ElementsAre("event context_lost status 5 id 7", "event srq_error status 0 id 7",
                                      testing::StartsWith("qp 1 error"), "work qp 1 flush",
                                      testing::StartsWith("qp 3 error"), "work qp 3 flush"));
  fw.on(SrqOverrun{Srqn{7}});
  EXPECT_THAT(bus.take(), IsEmpty()) << "told already";
  EXPECT_EQ(create_qp(4, 7), CommandStatus::kBadState);
  EXPECT_EQ(answer(command(CommandOp::kDestroySrq, 7)), CommandStatus::kBusy);
  for (const std::uint32_t n : {1u, 3u}) EXPECT_EQ(answer(command(CommandOp::kDestroyQp, n)), CommandStatus::kOk);
  EXPECT_EQ(answer(command(CommandOp::kDestroySrq, 7)), CommandStatus::kOk);
  fw.on(ContextLost{abi::ContextKind::kSrq, 7});
  EXPECT_THAT(bus.take(), ElementsAre("event context_lost status 5 id 7")) << "it was destroyed meanwhile";
  EXPECT_EQ(answer(create(7)), CommandStatus::kOk);
  EXPECT_EQ(create_qp(1, 7), CommandStatus::kOk);
}

class NoHome : public FirmwareTest {};
TEST_F(NoHome, AChipThatNeedsNoneTakesNone) {
  abi::Command c = command(CommandOp::kSetHome, 0);
  run(c, "0000200000000000");
  bus.take();
  EXPECT_EQ(static_cast<CommandStatus>(bus.events().back().status), CommandStatus::kBadIndex);
}

}  // namespace
}  // namespace rnic::fw::test
