// Every command's checks: an invalid command has no effect but its status.
#include "testbench/unit/firmware/firmware_test.h"

namespace rnic::fw::test {
namespace {

using abi::CommandOp;
using abi::CommandStatus;

class Commands : public FirmwareTest {
 protected:
  void expect_refused(const abi::Command& c, CommandStatus status) {
    run(c);
    const auto lines = bus.take();
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(bus.events().back().type, abi::EventType::kCommandDone);
    EXPECT_EQ(static_cast<CommandStatus>(bus.events().back().status), status);
  }
  static abi::Command cq(std::uint32_t cqn, std::uint32_t log_entries) {
    abi::Command c = command(CommandOp::kCreateCq, cqn);
    c.u.cq = {0x3000, log_entries};
    return c;
  }
  static abi::Command qp(std::uint32_t qpn, std::uint8_t log_sq, std::uint8_t log_rq, std::uint32_t send_cqn,
                         std::uint32_t recv_cqn) {
    abi::Command c = command(CommandOp::kCreateQp, qpn);
    c.u.qp = {0x10000, 0x20000, log_sq, log_rq, 7, send_cqn, recv_cqn, 0, {}};
    return c;
  }
  static abi::Command srq(std::uint32_t srqn, std::uint32_t log_entries, std::uint32_t pd) {
    abi::Command c = command(CommandOp::kCreateSrq, srqn);
    c.u.srq = {0x5000, log_entries, pd, 0};
    return c;
  }
  static abi::Command limit(std::uint32_t entries) {
    abi::Command c = command(CommandOp::kModifySrq, 3);
    c.u.srq.limit = entries;
    return c;
  }
  static abi::Command mr(std::uint32_t stag, std::uint64_t address, std::uint64_t length) {
    abi::Command c = command(CommandOp::kRegisterMr, stag);
    c.flags = abi::kLocalWrite | abi::kRemoteWrite;
    c.u.mr = {address, length, 7};
    return c;
  }
};

TEST_F(Commands, Nop) {
  abi::Command c = command(CommandOp::kNop, 0);
  c.cookie = 123;
  run(c);
  EXPECT_THAT(bus.take(), ElementsAre("event done status 0 id 0 cookie 123"));
}

TEST_F(Commands, UnknownOp) { expect_refused(command(static_cast<CommandOp>(200), 0), CommandStatus::kBadOp); }

TEST_F(Commands, CompletionQueues) {
  run(cq(7, 10));
  EXPECT_THAT(bus.take(), ElementsAre("cq 7 at 3000 log 10", "event done status 0 id 7"));
  expect_refused(cq(7, 4), CommandStatus::kBusy);
  expect_refused(cq(8, 4), CommandStatus::kBadIndex);
  expect_refused(cq(1, 11), CommandStatus::kBadLength);
  expect_refused(command(CommandOp::kDestroyCq, 1), CommandStatus::kBadIndex);
  expect_refused(command(CommandOp::kDestroyCq, 0), CommandStatus::kBusy);
  run(command(CommandOp::kDestroyCq, 7));
  EXPECT_THAT(bus.take(), ElementsAre("cq 7 invalid", "event done status 0 id 7"));
}

TEST_F(Commands, CompletionModeration) {
  const auto modify = [](std::uint32_t cqn, std::uint32_t count, std::uint32_t period_ns) {
    abi::Command c = command(CommandOp::kModifyCq, cqn);
    c.u.moderation = {count, period_ns};
    return c;
  };
  run(modify(0, 16, 5000));
  EXPECT_THAT(bus.take(), ElementsAre("cq 0 at 1000 log 4 moderation 16 in 5000ns", "event done status 0 id 0"));
  run(modify(0, 0, 7000));
  EXPECT_THAT(bus.take(), ElementsAre("cq 0 at 1000 log 4 moderation 0 in 7000ns", "event done status 0 id 0"));
  expect_refused(modify(3, 16, 5000), CommandStatus::kBadIndex);
  expect_refused(modify(8, 16, 5000), CommandStatus::kBadIndex);
  expect_refused(modify(0, 0x10000, 5000), CommandStatus::kBadLength);
  expect_refused(modify(0, 2, 0), CommandStatus::kBadLength);
  run(modify(0, 1, 0));
  EXPECT_THAT(bus.take(), ElementsAre("cq 0 at 1000 log 4", "event done status 0 id 0"));
}

TEST_F(Commands, QueuePairs) {
  run(qp(15, 11, 0, 0, 0));
  EXPECT_THAT(bus.take(), ElementsAre("qp 15 idle sq 10000/11 rq 20000/0 pd 7 cq 0/0", "event done status 0 id f"));
  expect_refused(qp(15, 4, 4, 0, 0), CommandStatus::kBusy);
  expect_refused(qp(16, 4, 4, 0, 0), CommandStatus::kBadIndex);
  expect_refused(qp(1, 4, 4, 0, 3), CommandStatus::kBadIndex);
  expect_refused(qp(1, 4, 4, 9, 0), CommandStatus::kBadIndex);
  expect_refused(qp(1, 12, 4, 0, 0), CommandStatus::kBadLength);
  expect_refused(qp(1, 4, 12, 0, 0), CommandStatus::kBadLength);
  expect_refused(command(CommandOp::kDestroyQp, 1), CommandStatus::kBadIndex);
  run(command(CommandOp::kDestroyQp, 15));
  run(command(CommandOp::kDestroyQp, kQp));
  bus.take();
  run(command(CommandOp::kDestroyCq, 0));
  EXPECT_THAT(bus.take(), ElementsAre("cq 0 invalid", "event done status 0 id 0")) << "its last user is gone";
}

TEST_F(Commands, SharedReceiveQueues) {
  run(srq(3, 11, 7));
  EXPECT_THAT(bus.take(), ElementsAre("srq 3 at 5000 log 11 pd 7", "event done status 0 id 3"));
  expect_refused(srq(3, 4, 7), CommandStatus::kBusy);
  expect_refused(srq(4, 4, 7), CommandStatus::kBadIndex);
  expect_refused(srq(1, 12, 7), CommandStatus::kBadLength);
  for (const CommandOp op : {CommandOp::kModifySrq, CommandOp::kQuerySrq, CommandOp::kDestroySrq}) {
    expect_refused(command(op, 1), CommandStatus::kBadIndex);
    expect_refused(command(op, 4), CommandStatus::kBadIndex);
  }
  run(command(CommandOp::kDestroySrq, 3));
  EXPECT_THAT(bus.take(), ElementsAre("srq 3 invalid", "event done status 0 id 3"));
}

TEST_F(Commands, QueuePairsThatShareAReceiveQueue) {
  run(srq(3, 4, 7));
  run(srq(2, 4, 8));
  bus.take();
  abi::Command c = qp(1, 4, 0, 0, 0);
  c.flags = abi::kQpSharesRq;
  for (const auto& [srqn, status] : {std::pair(1u, CommandStatus::kBadIndex), std::pair(4u, CommandStatus::kBadIndex),
                                     std::pair(2u, CommandStatus::kBadState)}) {
    c.u.qp.srqn = srqn;
    expect_refused(c, status);
  }
  c.u.qp.srqn = 3;
  run(c);
  EXPECT_THAT(bus.take(), ElementsAre("qp 1 idle sq 10000/4 srq 3 pd 7 cq 0/0", "event done status 0 id 1"));
  expect_refused(command(CommandOp::kDestroySrq, 3), CommandStatus::kBusy);
  run(command(CommandOp::kDestroyQp, 1));
  run(command(CommandOp::kDestroySrq, 3));
  EXPECT_EQ(static_cast<CommandStatus>(bus.events().back().status), CommandStatus::kOk);
}

// ibv_modify_srq(IBV_SRQ_LIMIT): armed, reported once, then 0. A command and an event may cross.
TEST_F(Commands, TheLimitOfASharedReceiveQueue) {
  run(srq(3, 4, 7));
  bus.take();
  expect_refused(limit(17), CommandStatus::kBadLength);
  run(limit(16));
  run(command(CommandOp::kQuerySrq, 3));
  EXPECT_THAT(bus.take(), ElementsAre("arm srq 3 limit 16 serial 1", "event done status 0 id 3",
                                      "event done status 0 id 3 limit 16"));
  fw.on(SrqLimitReached{Srqn{3}, 1});
  run(command(CommandOp::kQuerySrq, 3));
  EXPECT_THAT(bus.take(), ElementsAre("event srq_limit status 0 id 3", "event done status 0 id 3"));
  run(limit(4));
  run(limit(5));
  fw.on(SrqLimitReached{Srqn{3}, 2});
  bus.take();
  run(command(CommandOp::kQuerySrq, 3));
  EXPECT_THAT(bus.take(), ElementsAre("event done status 0 id 3 limit 5"));
  run(command(CommandOp::kDestroySrq, 3));
  bus.take();
  fw.on(SrqLimitReached{Srqn{3}, 3});
  EXPECT_THAT(bus.take(), IsEmpty());
}

// The queue's ring overran: nothing new may use it, and it can still be destroyed.
TEST_F(Commands, ASharedReceiveQueueInError) {
  run(srq(3, 4, 7));
  abi::Command c = qp(1, 4, 0, 0, 0);
  c.flags = abi::kQpSharesRq;
  c.u.qp.srqn = 3;
  run(c);
  bus.take();
  fw.on(SrqOverrun{Srqn{3}});
  EXPECT_EQ(bus.take()[0], "event srq_error status 0 id 3");
  c.id = 2;
  expect_refused(c, CommandStatus::kBadState);
  expect_refused(limit(1), CommandStatus::kBadState);
  run(command(CommandOp::kDestroyQp, 1));
  run(command(CommandOp::kDestroySrq, 3));
  bus.take();
  fw.on(SrqOverrun{Srqn{3}});
  EXPECT_THAT(bus.take(), IsEmpty()) << "destroyed meanwhile";
  run(srq(3, 4, 7));
  run(c);
  EXPECT_EQ(static_cast<CommandStatus>(bus.events().back().status), CommandStatus::kOk) << "a new queue of the number";
}

TEST_F(Commands, MemoryRegions) {
  run(mr(0x1fa5, 0x7000, 0x1000));
  EXPECT_THAT(bus.take(),
              ElementsAre("stag 1fa5 key a5 access 3 pd 7 at 7000 length 1000", "event done status 0 id 1fa5"));
  expect_refused(mr(0x1f00, 0x7000, 1), CommandStatus::kBusy);
  expect_refused(mr(0x2000, 0x7000, 1), CommandStatus::kBadIndex);
  expect_refused(mr(0x0100, ~std::uint64_t{0}, 2), CommandStatus::kBadLength);
  expect_refused(command(CommandOp::kDeregisterMr, 0x1fa6), CommandStatus::kBadIndex);
  expect_refused(command(CommandOp::kDeregisterMr, 0x0100), CommandStatus::kBadIndex);
  expect_refused(command(CommandOp::kDeregisterMr, 0x2000), CommandStatus::kBadIndex);
  run(command(CommandOp::kDeregisterMr, 0x1fa5));
  EXPECT_THAT(bus.take(), ElementsAre("stag 1fa5 invalid", "event done status 0 id 1fa5"));
}

TEST_F(Commands, ARegionGetsTheRightsOfItsCommandAndNoOthers) {
  for (const unsigned rights :
       {0u, 1u * abi::kRemoteRead, 1u * abi::kRemoteWrite, 1u * abi::kRemoteRead | abi::kRemoteWrite}) {
    abi::Command c = mr(0x1fa5, 0x7000, 0x1000);
    c.flags = static_cast<std::uint8_t>(rights);
    run(c);
    EXPECT_THAT(bus.take(),
                ElementsAre(fmt::format("stag 1fa5 key a5 access {:x} pd 7 at 7000 length 1000", rights), testing::_))
        << rights;
    run(command(CommandOp::kDeregisterMr, 0x1fa5));
    EXPECT_THAT(bus.take(), ElementsAre("stag 1fa5 invalid", testing::_)) << rights;
  }
}

TEST_F(Commands, PageLists) {
  run(command(CommandOp::kWritePages, 97),
      "0000050000000000"
      "0010020000000000"
      "0000000080000000");
  EXPECT_THAT(bus.take(), ElementsAre("page 97 at 50000", "page 98 at 21000", "page 99 at 8000000000",
                                      "event done status 0 id 61"));
  const auto refused = [&](std::uint32_t first, const std::string& list, CommandStatus status) {
    run(command(CommandOp::kWritePages, first), list);
    EXPECT_EQ(bus.take().size(), 1u);
    EXPECT_EQ(static_cast<CommandStatus>(bus.events().back().status), status);
  };
  refused(0, "", CommandStatus::kBadLength);
  refused(0, "00000500000000", CommandStatus::kBadLength);
  refused(100, "0000050000000000", CommandStatus::kNoResources);
  refused(99,
          "0000050000000000"
          "0000050000000000",
          CommandStatus::kNoResources);
  refused(0xffffffff, "0000050000000000", CommandStatus::kNoResources);
  refused(0,
          "0000050000000000"
          "0008050000000000",
          CommandStatus::kBadLength);
}

TEST_F(Commands, MemoryRegionsOverPages) {
  const auto mr = [](std::uint32_t stag, std::uint32_t first, std::uint32_t pages, std::uint64_t length,
                     std::uint32_t offset = 0x80, std::uint32_t log_page = 12) {
    abi::Command c = command(CommandOp::kRegisterMrPages, stag);
    c.flags = abi::kLocalWrite;
    c.u.mr_pages = {0x7000, length, 7, first, pages, offset, log_page};
    return c;
  };
  run(mr(0x1fa5, 90, 10, 0x9f80));
  EXPECT_THAT(bus.take(), ElementsAre("stag 1fa5 key a5 access 1 pd 7 at 7000 length 9f80 pages 90+10 of 2^12 from 80",
                                      "event done status 0 id 1fa5"));
  expect_refused(mr(0x1f00, 0, 2, 1), CommandStatus::kBusy);
  expect_refused(mr(0x2000, 0, 2, 1), CommandStatus::kBadIndex);
  expect_refused(mr(0, 0, 2, 1), CommandStatus::kBadIndex);
  expect_refused(mr(0x0100, 91, 10, 1), CommandStatus::kNoResources);
  expect_refused(mr(0x0100, 0xffffffff, 2, 1), CommandStatus::kNoResources);
  expect_refused(mr(0x0100, 0, 2, 0x1f81), CommandStatus::kBadLength);
  expect_refused(mr(0x0100, 0, 2, 1, 0x1000), CommandStatus::kBadLength);
  expect_refused(mr(0x0100, 0, 2, 1, 0, 11), CommandStatus::kBadLength);
  expect_refused(mr(0x0100, 0, 2, ~std::uint64_t{0}), CommandStatus::kBadLength);
  abi::Command allocated = command(CommandOp::kAllocMr, 0x0100);
  allocated.u.mr_pages.first_page = 91;
  allocated.u.mr_pages.pages = 10;
  expect_refused(allocated, CommandStatus::kNoResources);
}

TEST_F(Commands, Listeners) {
  abi::Command c = command(CommandOp::kListen, 0);
  expect_refused(c, CommandStatus::kBadIndex);
  c.u.cm.local_port = 7000;
  c.flags = abi::kCmRtrRead;  // without kCmEnhanced
  expect_refused(c, CommandStatus::kBadOp);
  c.flags = abi::kCmCrc;
  run(c);
  bus.take();
  expect_refused(c, CommandStatus::kBusy);
  c.u.cm.local_port = 7001;
  run(c);
  bus.take();
  c.u.cm.local_port = 7002;
  expect_refused(c, CommandStatus::kNoResources);
  c.op = CommandOp::kUnlisten;
  expect_refused(c, CommandStatus::kBadIndex);
  c.u.cm.local_port = 7001;
  run(c);
  EXPECT_THAT(bus.take(), ElementsAre("unlisten 7001", "event done status 0 id 0"));
  fw.on(TcpAccepted{FlowId{3}, 0x0a000002, 40000, 7001, 1460});
  EXPECT_THAT(bus.take(), ElementsAre("log no_listener", "abort flow 3"));
}

TEST_F(Commands, Connect) {
  abi::Command c = connect(abi::kCmCrc);
  c.qpn = 9;
  expect_refused(c, CommandStatus::kBadIndex);
  c.qpn = 16;
  expect_refused(c, CommandStatus::kBadIndex);
  expect_refused(connect(abi::kCmPeerToPeer), CommandStatus::kBadOp);
  abi::Command unknown_keep_alive = connect(abi::kCmCrc);
  unknown_keep_alive.u.cm.tcp.keep_alive = static_cast<abi::KeepAlive>(255);
  expect_refused(unknown_keep_alive, CommandStatus::kBadOp);
  expect_refused(connect(abi::kCmCrc, 33, 1), CommandStatus::kNoResources);
  expect_refused(connect(abi::kCmCrc, 1, 33), CommandStatus::kNoResources);
  c = connect(abi::kCmEnhanced);
  c.u.cm.max_ird = 33;
  expect_refused(c, CommandStatus::kNoResources);
  c = connect(abi::kCmCrc);
  c.private_bytes = 513;
  expect_refused(c, CommandStatus::kBadLength);
  c = connect(abi::kCmEnhanced);
  c.private_bytes = 509;
  expect_refused(c, CommandStatus::kBadLength);
  EXPECT_EQ(fw.connections(), 0u);
}

// RFC 6581 section 9.1: 0x3fff leaves the values to each end.
TEST_F(Commands, ConnectWithoutNegotiatingDepths) {
  abi::Command c = connect(abi::kCmEnhanced, 7, 9);
  c.u.cm.options = abi::kCmKeepIrd | abi::kCmKeepOrd;
  run(c);
  fw.on(TcpConnected{FlowId{3}, 0x80000000, 41000, 1460});
  EXPECT_EQ(bus.take()[2], "send flow 3 " + kReqKey + "100200043fff3fff");
  stream(3, kRepKey + "100200043fff3fff");
  EXPECT_EQ(bus.take()[1], "qp 5 rts flow 3 mulpdu 1454 ird 7 ord 9");
}

TEST_F(Commands, AcceptAndReject) {
  listen(abi::kCmCrc | abi::kCmEnhanced);
  bus.take();
  expect_refused(accept(0x80000000), CommandStatus::kBadIndex);
  expect_refused(command(CommandOp::kReject, kQp), CommandStatus::kBadIndex);
  const std::uint32_t id = request(kReqKey + "1002000400100010");
  bus.take();
  abi::Command c = accept(id);
  c.qpn = 9;
  expect_refused(c, CommandStatus::kBadIndex);
  expect_refused(accept(id, 33, 1), CommandStatus::kNoResources);
  c = accept(id);
  c.u.cm.tcp.keep_alive = static_cast<abi::KeepAlive>(3);
  expect_refused(c, CommandStatus::kBadOp);
  c = accept(id);
  c.u.cm.need_ord = 33;
  expect_refused(c, CommandStatus::kNoResources);
  c = accept(id);
  c.private_bytes = 509;
  expect_refused(c, CommandStatus::kBadLength);
  c = command(CommandOp::kReject, id);
  c.private_bytes = 509;
  expect_refused(c, CommandStatus::kBadLength);
  run(accept(id));
  EXPECT_EQ(bus.take()[0], "event done status 0 id 80000000") << "none of that cost the connection";
  expect_refused(accept(id), CommandStatus::kBadState);
}

TEST_F(Commands, DisconnectNeedsAConnection) {
  expect_refused(command(CommandOp::kDisconnect, 9), CommandStatus::kBadIndex);
  expect_refused(command(CommandOp::kDisconnect, kQp), CommandStatus::kBadState);
}

}  // namespace
}  // namespace rnic::fw::test
