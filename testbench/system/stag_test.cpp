// Fast registration, memory windows and invalidation from a peer's point of view: what it may write, and the Terminate
// for what it may not.
#include "testbench/system/one_stream_host.h"

namespace rnic::test {
namespace {

using abi::WcOpcode;
using abi::WcStatus;
using abi::WrOpcode;

class StagEndToEnd : public OneStreamBench {
 protected:
  static constexpr const char* kReadOfWindow =
      "4141 00000000 00000001 00000001 00000000 00000700 0000000000002000 00000008 {MW1} {W0}";

  // A request that opens words [first, first + words) under the STag.
  void open(std::uint64_t id, WrOpcode opcode, const host::Mr& stag, unsigned first, unsigned words) {
    host::SendWr wr;
    wr.wr_id = id;
    wr.opcode = opcode;
    wr.send_flags = abi::kWqeSignaled;
    wr.rkey = stag.rkey();
    const std::uint32_t access = opcode == WrOpcode::kRegMr ? abi::kLocalWrite | abi::kRemoteWrite : abi::kRemoteWrite;
    wr.registration = {host.address(first), 8u * words, host.region_key(), access};
    host.post(wr);
  }
  void invalidate(std::uint64_t id, const host::Mr& stag) {
    host::SendWr wr;
    wr.wr_id = id;
    wr.opcode = WrOpcode::kLocalInv;
    wr.send_flags = abi::kWqeSignaled;
    wr.invalidate_rkey = stag.rkey();
    host.post(wr);
  }
  // Opens the window's first four words with one set of rights and then, under the same STag, with another.
  void bind_twice(std::uint32_t before, std::uint32_t rights) {
    host.work = [this, before, rights] {
      host.set_word(0, 0x1122334455667788);
      for (const std::uint32_t access : {before, rights}) {
        host::SendWr wr;
        wr.wr_id = ++bound_;
        wr.opcode = WrOpcode::kBindMw;
        wr.send_flags = abi::kWqeSignaled;
        wr.rkey = host.window1->rkey();
        wr.registration = {host.address(0), 32, host.region_key(), access};
        host.post(wr);
      }
    };
  }
  void write(const std::string& stag, const std::string& to) { send(write_of(stag, to)); }
  void write_window() {
    write("{MW1}", "{W1}");
    peer.wait_us(10);
    EXPECT_EQ(host.word(1), 0x5555555555555555u);
  }
  void expect_write_refused() {
    expect_refused("{MW1}", "{W1}", "1100");
    EXPECT_EQ(host.word(1), 0u);
  }
  void read_window() {
    send(kReadOfWindow);
    EXPECT_EQ(stream->receive(), octets("C142 00000700 0000000000002000 8877665544332211"));
  }
  void expect_read_refused() {
    send(kReadOfWindow);
    EXPECT_EQ(stream->receive(),
              octets(std::string("4147 00000000 00000002 00000001 00000000 0102E000 002E") + kReadOfWindow));
    EXPECT_TRUE(stream->receive_fin());
    stream->send_fin();
  }
  static std::string write_of(const std::string& stag, const std::string& to) {
    return "C140 " + stag + to + "5555555555555555";
  }
  // Nothing is placed, and the Terminate has this cause.
  void expect_refused(const std::string& stag, const std::string& to, const char* cause) {
    write(stag, to);
    EXPECT_EQ(stream->receive(),
              octets("4147 00000000 00000002 00000001 00000000 " + std::string(cause) + "C000 0016 C140" + stag + to));
    EXPECT_TRUE(stream->receive_fin());
    stream->send_fin();
  }
  void expect_done(std::uint64_t id) {
    EXPECT_TRUE(peer.wait_for([&] { return host.status(id).has_value(); }));
    EXPECT_EQ(host.status(id), WcStatus::kSuccess);
  }

 private:
  std::uint64_t bound_ = 0;
};

TEST_F(StagEndToEnd, AFastRegistrationOpensItsMemoryAndNoMore) {
  host.work = [&] { open(1, WrOpcode::kRegMr, *host.fast, 1, 2); };
  converse([&] {
    start_work();
    expect_done(1);
    write("{FAST}", "{W1}");
    write("{FAST}", "{W2}");
    peer.wait_us(10);
    EXPECT_EQ(host.word(1), 0x5555555555555555u);
    EXPECT_EQ(host.word(2), 0x5555555555555555u);
    expect_refused("{FAST}", "{W3}", "1101");
    EXPECT_EQ(host.word(3), 0u);
  });
  EXPECT_EQ(host.completions[1].opcode, WcOpcode::kRegMr);
}

TEST_F(StagEndToEnd, AnAllocatedStagOpensNothing) {
  converse([&] { expect_refused("{FAST}", "{W1}", "1100"); });
}

TEST_F(StagEndToEnd, LocalInvalidationClosesItAgain) {
  host.work = [&] {
    open(1, WrOpcode::kRegMr, *host.fast, 0, 4);
    invalidate(2, *host.fast);
  };
  converse([&] {
    start_work();
    expect_done(2);
    expect_refused("{FAST}", "{W1}", "1100");
    EXPECT_EQ(host.word(1), 0u);
  });
}

// RFC 5040 section 5.3: the sink's program knows which STag the Send has invalidated, as it asked for that.
TEST_F(StagEndToEnd, ASendWithInvalidateClosesIt) {
  host.work = [&] { open(1, WrOpcode::kRegMr, *host.fast, 0, 4); };
  converse([&] {
    start_work();
    expect_done(1);
    write("{FAST}", "{W1}");
    send("4144 {FAST} 00000000 00000002 00000000");
    EXPECT_TRUE(peer.wait_for([&] { return host.completed(WcOpcode::kRecv) == 2; }));
    EXPECT_EQ(host.word(1), 0x5555555555555555u);
    expect_refused("{FAST}", "{W2}", "1100");
    EXPECT_EQ(host.word(2), 0u);
  });
}

// The key is new, so peers that know the old one lose access.
TEST_F(StagEndToEnd, ARegistrationUnderANewKeyLocksTheOldOneOut) {
  std::string old;
  host.work = [&] {
    old = host.resolved("{FAST}");
    open(1, WrOpcode::kRegMr, *host.fast, 0, 4);
    invalidate(2, *host.fast);
    host.fast->inc_rkey();
    open(3, WrOpcode::kRegMr, *host.fast, 0, 4);
  };
  converse([&] {
    start_work();
    expect_done(3);
    write("{FAST}", "{W1}");
    peer.wait_us(10);
    EXPECT_EQ(host.word(1), 0x5555555555555555u);
    expect_refused(old, "{W2}", "1100");
  });
}

TEST_F(StagEndToEnd, AWindowOfTypeTwoOpensAPartOfItsRegion) {
  host.work = [&] { open(1, WrOpcode::kBindMw, *host.window2, 2, 1); };
  converse([&] {
    start_work();
    expect_done(1);
    write("{MW2}", "{W2}");
    peer.wait_us(10);
    EXPECT_EQ(host.word(2), 0x5555555555555555u);
    expect_refused("{MW2}", "{W1}", "1101");
    EXPECT_EQ(host.word(1), 0u);
  });
  EXPECT_EQ(host.completions[1].opcode, WcOpcode::kBindMw);
}

TEST_F(StagEndToEnd, AWindowOfTypeTwoIsClosedByItsPeer) {
  host.work = [&] { open(1, WrOpcode::kBindMw, *host.window2, 0, 4); };
  converse([&] {
    start_work();
    expect_done(1);
    send("4144 {MW2} 00000000 00000002 00000000");
    EXPECT_TRUE(peer.wait_for([&] { return host.completed(WcOpcode::kRecv) == 2; }));
    expect_refused("{MW2}", "{W2}", "1100");
    EXPECT_EQ(host.word(2), 0u);
  });
}

TEST_F(StagEndToEnd, AWindowOfTypeOneMovesWhenItIsBoundAnew) {
  host.work = [&] {
    open(1, WrOpcode::kBindMw, *host.window1, 1, 1);
    host.window1->inc_rkey();
    open(2, WrOpcode::kBindMw, *host.window1, 2, 1);
  };
  converse([&] {
    start_work();
    expect_done(2);
    write("{MW1}", "{W2}");
    peer.wait_us(10);
    EXPECT_EQ(host.word(2), 0x5555555555555555u);
    expect_refused("{MW1}", "{W1}", "1101");
    EXPECT_EQ(host.word(1), 0u);
  });
}

// RFC 5042 section 10.3: the program grants and revokes remote read, remote write or both.
TEST_F(StagEndToEnd, AWindowBoundAnewGivesTheRightToReadAlone) {
  bind_twice(abi::kRemoteRead | abi::kRemoteWrite, abi::kRemoteRead);
  converse([&] {
    start_work();
    expect_done(2);
    read_window();
    expect_write_refused();
  });
}
TEST_F(StagEndToEnd, AWindowBoundAnewGivesTheRightToWriteAlone) {
  bind_twice(abi::kRemoteRead | abi::kRemoteWrite, abi::kRemoteWrite);
  converse([&] {
    start_work();
    expect_done(2);
    write_window();
    expect_read_refused();
  });
}
TEST_F(StagEndToEnd, AWindowBoundAnewGivesBothRights) {
  bind_twice(0, abi::kRemoteRead | abi::kRemoteWrite);
  converse([&] {
    start_work();
    expect_done(2);
    write_window();
    read_window();
  });
}
TEST_F(StagEndToEnd, AWindowBoundAnewTakesBothRightsBack) {
  bind_twice(abi::kRemoteRead | abi::kRemoteWrite, 0);
  converse([&] {
    start_work();
    expect_done(2);
    expect_write_refused();
  });
}

}  // namespace
}  // namespace rnic::test
