// A debugger's requests and the answers it gets, with two scripted processors.
#include "model/rnic/fwcpu/gdb/gdb_session.h"

#include <functional>
#include <random>

#include <gmock/gmock.h>

#include "testbench/unit/rnic/fwcpu/gdb/fake_debugger.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;

class GdbSessionTest : public testing::Test {
 protected:
  // Answers to these packets, from a debugger that then disconnects.
  std::vector<std::string> ask(std::initializer_list<const char*> packets) {
    debugger.says(packets);
    session.begin();
    return debugger.answers();
  }
  FakeProcessor first, second;
  ScriptedDebugger debugger;
  GdbSession session{{{"a", &first}, {"b", &second}}, debugger};
};

TEST_F(GdbSessionTest, SaysWhatItCan) {
  EXPECT_THAT(
      ask({"qSupported:multiprocess+", "vMustReplyEmpty", "?", "qAttached", "vCont?"}),
      ElementsAre("PacketSize=1000;qXfer:features:read+;vContSupported+", "", "T05thread:1;", "1", "vCont;c;C;s;S"));
}

TEST_F(GdbSessionTest, TheTargetIsRv32InPieces) {
  const auto answers = ask({"qXfer:features:read:target.xml:0,10", "qXfer:features:read:target.xml:10,1000",
                            "qXfer:features:read:target.xml:1000,10", "qXfer:features:read:target.xml:x",
                            "qXfer:features:read:other.xml:0,10"});
  ASSERT_EQ(answers.size(), 5u);
  EXPECT_EQ(answers[0][0], 'm');
  EXPECT_EQ(answers[1][0], 'l');
  EXPECT_THAT(answers[0].substr(1) + answers[1].substr(1),
              testing::HasSubstr("<architecture>riscv:rv32</architecture>"));
  EXPECT_THAT(std::vector(answers.begin() + 2, answers.end()), ElementsAre("l", "E01", ""));
}

TEST_F(GdbSessionTest, RegistersOfTheChosenThread) {
  first.registers[1] = 0x12345678;
  second.registers[32] = 0x80000004;
  const auto answers = ask({"g", "p1", "Hg2", "p20", "P20=00100080", "p20", "p21", "P1", "P1=12", "Hg3", "Hg-1", "H"});
  ASSERT_EQ(answers.size(), 12u);
  EXPECT_EQ(answers[0],
            "00000000"
            "78563412" +
                std::string(31 * 8, '0'));
  EXPECT_THAT(std::vector(answers.begin() + 1, answers.end()),
              ElementsAre("78563412", "OK", "04000080", "OK", "00100080", "E01", "E01", "E01", "E01", "OK", "E01"));
  EXPECT_EQ(second.registers[32], 0x80001000u);
}

TEST_F(GdbSessionTest, AllRegistersAreWrittenOrNone) {
  const std::string all = "G" + std::string(32 * 8, '0') + "04000080";
  EXPECT_THAT(ask({all.c_str(), "G00"}), ElementsAre("OK", "E01"));
  EXPECT_EQ(first.registers[32], 0x80000004u);
}

TEST_F(GdbSessionTest, Memory) {
  EXPECT_THAT(ask({"M1002,2:a1b2", "m1000,4", "m100f,1", "m1010,1", "mfff,2", "m1000", "m,", "M1000,2:a1", "M1000,1:g0",
                   "M1000,1"}),
              ElementsAre("OK", "0000a1b2", "00", "E01", "E01", "E01", "E01", "E01", "E01", "E01"));
  first.read_only = true;
  debugger.sent.clear();
  GdbSession again({{"a", &first}}, debugger);
  debugger.says({"M1000,1:55"});
  again.begin();
  EXPECT_THAT(debugger.answers(), ElementsAre("E01"));
}

TEST_F(GdbSessionTest, ThreadsAreTheProcessors) {
  EXPECT_THAT(ask({"qfThreadInfo", "qsThreadInfo", "qThreadExtraInfo,2", "qThreadExtraInfo,3", "qC", "T2", "T3"}),
              ElementsAre("m1,2", "l", "62", "E01", "QC1", "OK", "E01"));
}

TEST_F(GdbSessionTest, ABreakpointStopsTheThreadThatComesToIt) {
  debugger.says({"Z0,80000010,2", "Z1,80000020,4", "Z2,80000010,4", "c"});
  session.begin();
  session.before_instruction(first, 0x80000000);
  EXPECT_THAT(debugger.answers(), ElementsAre("OK", "OK", ""));
  debugger.says({"z0,80000010,2", "c"});
  session.before_instruction(second, 0x80000010);
  EXPECT_THAT(debugger.answers(), ElementsAre("OK", "OK", "", "T05thread:2;", "OK"));
  session.before_instruction(second, 0x80000010);
  debugger.says({"c"});
  session.before_instruction(first, 0x80000020);
  EXPECT_EQ(debugger.answers().back(), "T05thread:1;");
}

TEST_F(GdbSessionTest, AStepStopsAtTheThreadsNextInstruction) {
  debugger.says({"vCont;s:2;c"});
  session.begin();
  session.before_instruction(first, 0x80000000);
  EXPECT_THAT(debugger.answers(), ElementsAre());
  debugger.says({"s"});
  session.before_instruction(second, 0x80000000);
  EXPECT_THAT(debugger.answers(), ElementsAre("T05thread:2;"));
  debugger.says({"vCont;s:7", "c"});
  session.before_instruction(second, 0x80000004);
  EXPECT_THAT(debugger.answers(), ElementsAre("T05thread:2;", "T05thread:2;", "E01"));
  session.before_instruction(second, 0x80000008);
  EXPECT_EQ(debugger.answers().size(), 3u);
}

TEST_F(GdbSessionTest, CtrlCStopsWithinAFewThousandInstructionsOrBetweenEvents) {
  debugger.says({"c"});
  session.begin();
  debugger.meanwhile = "\x03";
  debugger.says({"c"});
  for (unsigned i = 0; i < 5000; ++i) session.before_instruction(second, 0x80000000);
  EXPECT_THAT(debugger.answers(), ElementsAre("T02thread:2;"));
  session.poll();
  EXPECT_EQ(debugger.answers().size(), 1u);
  debugger.meanwhile = "\x03";
  debugger.says({"c"});
  session.poll();
  EXPECT_THAT(debugger.answers(), ElementsAre("T02thread:2;", "T02thread:2;"));
}

TEST_F(GdbSessionTest, AFaultIsASignal) {
  debugger.says({"c"});
  session.begin();
  const std::pair<abi::FaultCause, std::string> faults[] = {{abi::FaultCause::kIllegalInstruction, "T04thread:1;"},
                                                            {abi::FaultCause::kBusFault, "T0bthread:1;"},
                                                            {abi::FaultCause::kPanic, "T06thread:1;"},
                                                            {abi::FaultCause::kWatchdog, "T18thread:1;"}};
  for (const auto& [cause, answer] : faults) {
    debugger.says({"c"});
    session.faulted(first, cause);
    EXPECT_EQ(debugger.answers().back(), answer);
  }
}

TEST_F(GdbSessionTest, DetachedAndKilledDebuggersStopNothing) {
  debugger.says({"Z0,80000010,4", "D"});
  session.begin();
  EXPECT_THAT(debugger.answers(), ElementsAre("OK", "OK"));
  session.before_instruction(first, 0x80000010);
  EXPECT_FALSE(session.killed());
  GdbSession other({{"a", &first}}, debugger);
  debugger.says({"k"});
  other.begin();
  EXPECT_TRUE(other.killed());
  other.before_instruction(first, 0x80000010);
}

TEST_F(GdbSessionTest, TheEndOfTheRunIsTold) {
  debugger.says({"c"});
  session.begin();
  session.end(true);
  EXPECT_THAT(debugger.answers(), ElementsAre("W00"));
}

TEST_F(GdbSessionTest, WhatWasNotUnderstoodIsSentAgain) {
  debugger.script = {"$g#00", rsp_packet("qC"), "-"};
  session.begin();
  EXPECT_EQ(debugger.sent, "-+" + rsp_packet("QC1") + rsp_packet("QC1"));
}

// Every packet letter with meaningless tails: answered or not, it never hangs, and the session goes on.
TEST_F(GdbSessionTest, NonsenseIsAnsweredAndTheSessionGoesOn) {
  std::mt19937 random(3);
  std::uniform_int_distribution<int> letter(33, 126), length(0, 12);
  for (unsigned i = 0; i < 20'000; ++i) {
    std::string packet;
    for (int n = length(random); n >= 0; --n) packet += static_cast<char>(letter(random));
    if (packet[0] == 'c' || packet[0] == 's' || packet[0] == 'D' || packet[0] == 'k') continue;
    debugger.script.push_back(rsp_packet(packet));
  }
  debugger.says({"qC"});
  session.begin();
  EXPECT_EQ(debugger.answers().back(), "QC1");
}

}  // namespace
}  // namespace rnic::test
