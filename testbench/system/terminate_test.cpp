// Every Terminate end to end: a peer built by hand breaks one rule, and the octets that come back are compared with
// those that RFC 5040 section 4.8 requires.
#include "testbench/system/terminate_bench.h"

namespace rnic::test {
namespace {

using abi::TerminateOrigin;
using abi::WcStatus;

const char* const kTerminateDdpHeader = "4147 00000000 00000002 00000001 00000000";

enum class Spoil { kNothing, kCrc, kMarker };
// The stage that finds the error: placement, in order and before any later segment, or the responder, which processes
// Read Requests after delivery, while placement goes on (RFC 5040 section 5.5).
enum class Finder { kPlacement, kResponder };

// Segments of the victim's stream after a good Send with MSN 1, and the Terminate header that answers the last one.
struct Violation {
  const char* name;
  std::vector<std::string> ulpdus;
  std::string terminate;
  Finder finder = Finder::kPlacement;
  Spoil spoil = Spoil::kNothing;
  WcStatus second_receive = WcStatus::kWrFlushErr;
  std::uint16_t ird = 16;
  bool bad_receive = false;
};

const char* const kReadRequestToAll =
    "4141 00000000 00000001 00000001 00000000 00000100 0000000000002000 00001000 {ALL} {TO}";

// A CmpSwap that would replace any value, or another AOpCode.
std::string atomic(const std::string& stag, const std::string& to, char opcode = '2') {
  return std::string("414A 00000000 00000001 00000001 00000000 0000000") + opcode + " 0000BEEF " + stag + " " + to +
         " 5555555555555555 FFFFFFFFFFFFFFFF 0000000000000000 0000000000000000";
}
// For an atomic, a Terminate returns the DDP header only (RFC 7306 section 8.1).
std::string of_atomic(const std::string& cause) { return cause + "C000 0046 414A 00000000 00000001 00000001 00000000"; }

const std::vector<Violation> kViolations = {
    // RFC 5041 section 7.2, tagged.
    {"WriteInvalidStag", {"C140 {BAD} {TO} DEADBEEF"}, "1100C000 0012 C140 {BAD} {TO}"},
    {"WriteWithoutTheRight", {"C140 {READ} {TO} DEADBEEF"}, "1100C000 0012 C140 {READ} {TO}"},
    {"WriteBounds", {"C140 {ALL} {END} DEADBEEF"}, "1101C000 0012 C140 {ALL} {END}"},
    {"WriteForeignStag", {"C140 {FOREIGN} {TO} DEADBEEF"}, "1102C000 0012 C140 {FOREIGN} {TO}"},
    {"WriteWraps", {"8140 {ALL} FFFFFFFFFFFFFFFE DEADBEEF"}, "1103C000 0012 8140 {ALL} FFFFFFFFFFFFFFFE"},
    {"TaggedVersion", {"FE40 {ALL} {TO} DEADBEEF"}, "1104C000 0012 FE40 {ALL} {TO}"},
    {"ReadResponseWithoutLocalWrite", {"C142 {READ} {TO} DEADBEEF"}, "1100C000 0012 C142 {READ} {TO}"},
    {"ReadResponseBounds", {"C142 {ALL} {END} DEADBEEF"}, "1101C000 0012 C142 {ALL} {END}"},
    {"ReadResponseElsewhere", {"C142 {ALL} {TO+100} {8}"}, "1101C000 0016 C142 {ALL} {TO+100}"},
    {"ReadResponseIntoAnotherStag", {"C142 {WRITE} {TO+8} {8}"}, "1100C000 0016 C142 {WRITE} {TO+8}"},
    {"ReadResponseTooLong", {"C142 {ALL} {TO+8} {8} 55"}, "1101C000 0017 C142 {ALL} {TO+8}"},
    {"ReadResponseTooShort", {"C142 {ALL} {TO+8} 55555555"}, "1101C000 0012 C142 {ALL} {TO+8}"},
    {"ReadResponseThatDoesNotEnd", {"8142 {ALL} {TO+8} {8}"}, "1101C000 0016 8142 {ALL} {TO+8}"},
    {"EmptyReadResponse", {"C142 {ALL} {TO+8}"}, "1101C000 000E C142 {ALL} {TO+8}"},
    // Untagged.
    {"UnknownQn",
     {"4143 00000000 00000007 00000001 00000000 {P}"},
     "1201C000 0032 4143 00000000 00000007 00000001 00000000"},
    {"SendOnTheQueueOfReads",
     {"4143 00000000 00000001 00000001 00000000 {P}"},
     "1201C000 0032 4143 00000000 00000001 00000001 00000000"},
    {"SendOnTheQueueOfTerminates",
     {"4143 00000000 00000002 00000001 00000000 {P}"},
     "1201C000 0032 4143 00000000 00000002 00000001 00000000"},
    {"NoReceive",
     {"4143 00000000 00000000 00000002 00000000 {P}", "4143 00000000 00000000 00000003 00000000 {P}"},
     "1202C000 0032 4143 00000000 00000000 00000003 00000000",
     Finder::kPlacement,
     Spoil::kNothing,
     WcStatus::kSuccess},
    {"MoreReadsThanIrd",
     {kReadRequestToAll, "4141 00000000 00000001 00000002 00000000 00000100 0000000000002000 00001000 {ALL} {TO}"},
     "1202C000 002E 4141 00000000 00000001 00000002 00000000",
     Finder::kPlacement,
     Spoil::kNothing,
     WcStatus::kWrFlushErr,
     1},
    {"MsnOutOfRange",
     {"4143 00000000 00000000 00000009 00000000 {P}"},
     "1203C000 0032 4143 00000000 00000000 00000009 00000000"},
    {"MoDoesNotContinue",
     {"4143 00000000 00000000 00000002 00000004 {P}"},
     "1204C000 0032 4143 00000000 00000000 00000002 00000004"},
    {"SendTooLong",
     {"0143 00000000 00000000 00000002 00000000 "
      "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
      "0000000000000000000000000000000000"},
     "1205C000 0053 0143 00000000 00000000 00000002 00000000"},
    {"UntaggedVersion",
     {"4043 00000000 00000000 00000002 00000000 {P}"},
     "1206C000 0032 4043 00000000 00000000 00000002 00000000"},
    {"ReceiveBufferWithABadKey",
     {"4143 00000000 00000000 00000002 00000000 {P}"},
     "1000C000 0032 4143 00000000 00000000 00000002 00000000",
     Finder::kPlacement,
     Spoil::kNothing,
     WcStatus::kWrFlushErr,
     16,
     true},
    // RFC 5040 section 4.8, remote operation.
    {"RdmapVersionTagged", {"C180 {ALL} {TO} DEADBEEF"}, "0205C000 0012 C180 {ALL} {TO}"},
    {"RdmapVersionUntagged",
     {"41C3 00000000 00000000 00000002 00000000 {P}"},
     "0205C000 0032 41C3 00000000 00000000 00000002 00000000"},
    {"UnassignedOpcode",
     {"414E 00000000 00000000 00000002 00000000 {P}"},
     "0206C000 0032 414E 00000000 00000000 00000002 00000000"},
    {"SendAsATaggedMessage", {"C143 {ALL} {TO} DEADBEEF"}, "0206C000 0012 C143 {ALL} {TO}"},
    {"WriteAsAnUntaggedMessage",
     {"4140 00000000 00000000 00000002 00000000 {P}"},
     "0206C000 0032 4140 00000000 00000000 00000002 00000000"},
    {"SegmentShorterThanItsHeader", {"C140 {ALL}"}, "02060000"},
    {"EmptySegment", {""}, "02060000"},
    {"InvalidateUnknownStag",
     {"4144 {BAD} 00000000 00000002 00000000 {P}"},
     "0209C000 0032 4144 {BAD} 00000000 00000002 00000000"},
    {"ShortReadRequest",
     {"4141 00000000 00000001 00000001 00000000 00000100 0000000000002000 00001000 {ALL} 00000000"},
     "02FFC000 002A 4141 00000000 00000001 00000001 00000000"},
    // Remote protection.
    {"InvalidateForeignStag",
     {"4146 {FOREIGN} 00000000 00000002 00000000 {P}"},
     "0109C000 0032 4146 {FOREIGN} 00000000 00000002 00000000"},
    {"ReadInvalidStag",
     {"4141 00000000 00000001 00000001 00000000 00000100 0000000000002000 00000010 {BAD} {TO}"},
     "0100E000 002E 4141 00000000 00000001 00000001 00000000 00000100 0000000000002000 00000010 {BAD} {TO}",
     Finder::kResponder},
    {"ReadBounds",
     {"4141 00000000 00000001 00000001 00000000 00000100 0000000000002000 00000003 {ALL} {END}"},
     "0101E000 002E 4141 00000000 00000001 00000001 00000000 00000100 0000000000002000 00000003 {ALL} {END}",
     Finder::kResponder},
    {"ReadWithoutTheRight",
     {"4141 00000000 00000001 00000001 00000000 00000100 0000000000002000 00000010 {WRITE} {TO}"},
     "0102E000 002E 4141 00000000 00000001 00000001 00000000 00000100 0000000000002000 00000010 {WRITE} {TO}",
     Finder::kResponder},
    {"ReadForeignStag",
     {"7D71 ABCDEF01 00000001 00000001 00000000 00000100 0000000000002000 00000010 {FOREIGN} {TO}"},
     "0103E000 002E 7D71 ABCDEF01 00000001 00000001 00000000 00000100 0000000000002000 00000010 {FOREIGN} {TO}",
     Finder::kResponder},
    {"ReadWraps",
     {"4141 00000000 00000001 00000001 00000000 00000100 0000000000002000 00000010 {ALL} FFFFFFFFFFFFFFFE"},
     "0104E000 002E 4141 00000000 00000001 00000001 00000000 00000100 0000000000002000 00000010 {ALL} "
     "FFFFFFFFFFFFFFFE",
     Finder::kResponder},
    // RFC 7306 section 8.2.
    {"AtomicInvalidStag", {atomic("{BAD}", "{TO}")}, of_atomic("0100"), Finder::kResponder},
    {"AtomicBounds", {atomic("{ALL}", "{END}")}, of_atomic("0101"), Finder::kResponder},
    {"AtomicWithoutTheRights", {atomic("{READ}", "{TO}")}, of_atomic("0102"), Finder::kResponder},
    {"AtomicWithoutTheRightToRead", {atomic("{WRITE}", "{TO}")}, of_atomic("0102"), Finder::kResponder},
    {"AtomicForeignStag", {atomic("{FOREIGN}", "{TO}")}, of_atomic("0103"), Finder::kResponder},
    {"AtomicWraps", {atomic("{ALL}", "FFFFFFFFFFFFFFFC")}, of_atomic("0104"), Finder::kResponder},
    {"AtomicMisaligned", {atomic("{ALL}", "{TO+100}")}, of_atomic("0207"), Finder::kResponder},
    {"FetchAddMisaligned", {atomic("{ALL}", "{TO+100}", '0')}, of_atomic("0207"), Finder::kResponder},
    {"AtomicOpcodeOne", {atomic("{ALL}", "{TO}", '1')}, of_atomic("0206"), Finder::kResponder},
    {"AtomicOpcodeThree", {atomic("{ALL}", "{TO}", '3')}, of_atomic("0206"), Finder::kResponder},
    {"AtomicOpcodeFifteen", {atomic("{ALL}", "{TO}", 'F')}, of_atomic("0206"), Finder::kResponder},
    {"AtomicBeyondIrd",
     {kReadRequestToAll,
      "414A 00000000 00000001 00000002 00000000 00000002 0000BEEF {ALL} {TO} 5555555555555555 FFFFFFFFFFFFFFFF "
      "0000000000000000 0000000000000000"},
     "1202C000 0046 414A 00000000 00000001 00000002 00000000",
     Finder::kResponder,
     Spoil::kNothing,
     WcStatus::kWrFlushErr,
     1},
    {"ShortAtomic",
     {"414A 00000000 00000001 00000001 00000000 00000002 0000BEEF {ALL} {TO} 5555555555555555"},
     "02FFC000 002E 414A 00000000 00000001 00000001 00000000"},
    {"LongAtomic", {atomic("{ALL}", "{TO}") + "00"}, "1205C000 0047 414A 00000000 00000001 00000001 00000000"},
    {"AtomicOnTheQueueOfSends",
     {"414A 00000000 00000000 00000002 00000000 {P}"},
     "1201C000 0032 414A 00000000 00000000 00000002 00000000"},
    {"AtomicMsnOutOfRange",
     {"414A 00000000 00000001 00000002 00000000 {P}"},
     "1203C000 0032 414A 00000000 00000001 00000002 00000000"},
    {"AtomicRdmapVersion",
     {"41CA 00000000 00000001 00000001 00000000 {P}"},
     "0205C000 0032 41CA 00000000 00000001 00000001 00000000"},
    {"AtomicResponseThatNobodyAskedFor",
     {"414B 00000000 00000003 00000001 00000000 00000001 0000000000000000"},
     "1202C000 001E 414B 00000000 00000003 00000001 00000000",
     Finder::kResponder},
    {"ImmediateOfSevenOctets",
     {"4148 00000000 00000000 00000002 00000000 01020304050607"},
     "02FFC000 0019 4148 00000000 00000000 00000002 00000000"},
    {"ImmediateOfNineOctets",
     {"4149 00000000 00000000 00000002 00000000 010203040506070809"},
     "02FFC000 001B 4149 00000000 00000000 00000002 00000000"},
    {"ImmediateThatGoesOn",
     {"0148 00000000 00000000 00000002 00000000 0102030405060708"},
     "02FFC000 001A 0148 00000000 00000000 00000002 00000000"},
    {"ImmediateOnTheQueueOfReads",
     {"4148 00000000 00000001 00000001 00000000 0102030405060708"},
     "1201C000 001A 4148 00000000 00000001 00000001 00000000"},
    // RFC 5044 section 8.
    {"BadCrc", {"C140 {ALL} {TO} DEADBEEF"}, "20020000", Finder::kPlacement, Spoil::kCrc},
    {"BadMarker", {"C140 {ALL} {TO}"}, "20030000", Finder::kPlacement, Spoil::kMarker},
};

class EndToEnd : public TerminateBench, public testing::WithParamInterface<Violation> {
 protected:
  EndToEnd() : TerminateBench(GetParam().name) {
    host.ird = GetParam().ird;
    host.second_receive_is_bad = GetParam().bad_receive;
  }
  Bytes spoilt(Bytes ulpdu) {
    if (GetParam().spoil == Spoil::kMarker) ulpdu.resize(ulpdu.size() + 800, 0xee);  // with at least one marker
    Bytes wire = victim->fpdu(ulpdu);
    if (GetParam().spoil == Spoil::kCrc) wire[wire.size() - 5] ^= 1;
    if (GetParam().spoil == Spoil::kMarker) {
      const std::size_t crc_at = wire.size() - 4;
      wire[victim->octets_to_marker() + 3] ^= 4;
      const std::uint32_t crc = crc32c_by_bits({wire.begin(), wire.begin() + static_cast<std::ptrdiff_t>(crc_at)});
      for (unsigned i = 0; i < 4; ++i) wire[crc_at + i] = static_cast<std::uint8_t>(crc >> 8 * i);
    }
    return wire;
  }
};
INSTANTIATE_TEST_SUITE_P(Terminate, EndToEnd, testing::ValuesIn(kViolations),
                         [](const auto& row) { return std::string(row.param.name); });

TEST_P(EndToEnd, ComesBackExactlyAndNothingElseHappens) {
  const Violation& v = GetParam();
  run([&] {
    establish();
    for (const std::string& ulpdu : v.ulpdus) victim->send(spoilt(octets(ulpdu)));
    const Bytes too_late = octets("C140 {ALL} {TO+100} 55555555");  // RFC 5041 section 7.1
    if (v.finder == Finder::kPlacement) victim->send_ulpdu(too_late);
    Bytes ulpdu = victim->receive();
    while (ulpdu.size() > 1 && ulpdu[1] == 0x42) ulpdu = victim->receive();  // answers to the valid Reads
    EXPECT_EQ(ulpdu, octets(std::string(kTerminateDdpHeader) + v.terminate));
    victim->send_ulpdu(too_late);
    EXPECT_TRUE(victim->receive_fin());
    EXPECT_EQ(victim->unread(), 0u);
    victim->send_fin();
    peer.wait_us(20);
    if (v.second_receive == WcStatus::kSuccess) {
      const Bytes placed = octets("{P}");
      std::copy(placed.begin(), placed.end(), before.begin() + kRegion + kReceiveBytes);
    }
    expect_bystander_is_well();
  });
  expect_victim_ended(TerminateOrigin::kLocal, octets(v.terminate));
  EXPECT_EQ(host.victim.status(TwoStreamHost::kSecondReceive), v.second_receive);
}

class Terminates : public TerminateBench {
 protected:
  Terminates() : TerminateBench(testing::UnitTest::GetInstance()->current_test_info()->name()) {}
  // The peer ends the victim's stream with this message; no FPDU answers it (choices.md 18).
  void receive_terminate(const std::string& ulpdu, TerminateOrigin origin, const std::string& header) {
    run([=] {
      establish();
      victim->send_ulpdu(octets(ulpdu));
      EXPECT_TRUE(victim->receive_fin());
      EXPECT_EQ(victim->unread(), 0u);
      victim->send_fin();
      peer.wait_us(20);
      expect_bystander_is_well();
    });
    expect_victim_ended(origin, octets(header));
    EXPECT_EQ(host.victim.status(TwoStreamHost::kSecondReceive), WcStatus::kWrFlushErr);
  }
};

// RDMAP-9.1-02: nothing of the message is sent, the Terminate has no headers.
TEST_F(Terminates, ABadLocalKeyIsLocalCatastrophic) {
  host.sends_with_a_bad_lkey = true;
  run([&] {
    establish();
    EXPECT_EQ(victim->receive(), octets(std::string(kTerminateDdpHeader) + "00000000"));
    EXPECT_TRUE(victim->receive_fin());
    EXPECT_EQ(victim->unread(), 0u);
    victim->send_fin();
    peer.wait_us(20);
    expect_bystander_is_well();
  });
  expect_victim_ended(TerminateOrigin::kLocal, octets("00000000"));
  EXPECT_EQ(host.victim.status(TwoStreamHost::kBadSend), WcStatus::kLocProtErr);
}

TEST_F(Terminates, PayloadThatCannotBeReadIsLocalCatastrophic) {
  host.sends_from_nowhere = true;
  run([&] {
    establish();
    EXPECT_EQ(victim->receive(), octets(std::string(kTerminateDdpHeader) + "00000000"));
    EXPECT_TRUE(victim->receive_fin());
    EXPECT_EQ(victim->unread(), 0u);
    victim->send_fin();
    peer.wait_us(20);
    expect_bystander_is_well();
  });
  expect_victim_ended(TerminateOrigin::kLocal, octets("00000000"));
  EXPECT_EQ(host.victim.status(TwoStreamHost::kBadSend), WcStatus::kWrFlushErr);
}

// RDMAP-9.1-05.
TEST_F(Terminates, OfTwoErrorsTheFirstIsReported) {
  run([&] {
    establish();
    victim->send_ulpdu(octets("C140 {BAD} {TO} DEADBEEF"));
    victim->send_ulpdu(octets("4143 00000000 00000000 00000009 00000000 {P}"));
    EXPECT_EQ(victim->receive(), octets(std::string(kTerminateDdpHeader) + "1100C000 0012 C140 {BAD} {TO}"));
    EXPECT_TRUE(victim->receive_fin());
    EXPECT_EQ(victim->unread(), 0u);
    victim->send_fin();
    peer.wait_us(20);
    expect_bystander_is_well();
  });
  expect_victim_ended(TerminateOrigin::kLocal, octets("1100C000 0012 C140 {BAD} {TO}"));
}

// RFC 5040 section 5.2.2: one response to each Read.
TEST_F(Terminates, AReadResponseThatNobodyAskedForIsUnexpected) {
  run([&] {
    establish();
    victim->send_ulpdu(octets("C142 {ALL} {TO+8} 1122334455667788"));
    victim->send_ulpdu(octets("C142 {ALL} {TO+8} {8}"));
    EXPECT_EQ(victim->receive(), octets(std::string(kTerminateDdpHeader) + "0206C000 0016 C142 {ALL} {TO+8}"));
    EXPECT_TRUE(victim->receive_fin());
    victim->send_fin();
    peer.wait_us(20);
    const Bytes response = from_hex("1122334455667788");
    std::copy(response.begin(), response.end(), before.begin() + 8);
    expect_bystander_is_well();
  });
  expect_victim_ended(TerminateOrigin::kLocal, octets("0206C000 0016 C142 {ALL} {TO+8}"), WcStatus::kSuccess);
}

TEST_F(Terminates, ReceivedWithATaggedHeader) {
  const std::string header = "1100C000 0012 C140 00001234 0000000000000010";
  receive_terminate(kTerminateDdpHeader + header, TerminateOrigin::kPeer, header);
}
// Codes that this chip never or rarely sends.
TEST_F(Terminates, ReceivedUnspecifiedProtectionError) {
  const std::string header = "01FFC000 0012 C140 00001234 0000000000000010";
  receive_terminate(kTerminateDdpHeader + header, TerminateOrigin::kPeer, header);
}
TEST_F(Terminates, ReceivedCatastrophicErrorOfTheStream) {
  const std::string header = "0207C000 0046 414A 00000000 00000001 00000001 00000000";
  receive_terminate(kTerminateDdpHeader + header, TerminateOrigin::kPeer, header);
}
TEST_F(Terminates, ReceivedGlobalCatastrophicError) {
  receive_terminate(std::string(kTerminateDdpHeader) + "02080000", TerminateOrigin::kPeer, "02080000");
}
TEST_F(Terminates, ReceivedWithAReadRequest) {
  const std::string header =
      "0101E000 002E 4141 00000000 00000001 00000001 00000000 00000100 0000000000002000 00000008 00001234 "
      "0000000000000000";
  receive_terminate(kTerminateDdpHeader + header, TerminateOrigin::kPeer, header);
}
TEST_F(Terminates, ReceivedWithoutHeaders) {
  receive_terminate(std::string(kTerminateDdpHeader) + "20020000", TerminateOrigin::kPeer, "20020000");
}
// R is set but the header is missing, as in siw's Terminates.
TEST_F(Terminates, ReceivedWithAMissingReadRequest) {
  receive_terminate(std::string(kTerminateDdpHeader) + "0101E000 002E 4141 00000000 00000001 00000001 00000000",
                    TerminateOrigin::kPeer, "0101C000 002E 4141 00000000 00000001 00000001 00000000");
}
TEST_F(Terminates, ReceivedWithHalfAHeader) {
  receive_terminate(std::string(kTerminateDdpHeader) + "1100C000 0012 C140 0000", TerminateOrigin::kPeer, "11000000");
}
TEST_F(Terminates, ReceivedWithoutAControlWord) {
  receive_terminate(kTerminateDdpHeader, TerminateOrigin::kMalformed, "02FF0000");
}
TEST_F(Terminates, ReceivedWithHalfAControlWord) {
  receive_terminate(std::string(kTerminateDdpHeader) + "1100", TerminateOrigin::kMalformed, "02FF0000");
}
TEST_F(Terminates, ReceivedWithAnotherMsn) {
  receive_terminate("4147 00000000 00000002 00000002 00000000 20020000", TerminateOrigin::kMalformed, "20020000");
}
TEST_F(Terminates, ReceivedInPieces) {
  receive_terminate("0147 00000000 00000002 00000001 00000000 20020000", TerminateOrigin::kMalformed, "20020000");
}

// Segments after the peer's own Terminate change nothing.
TEST_F(Terminates, NothingIsTakenBehindAReceivedTerminate) {
  run([&] {
    establish();
    victim->send_ulpdu(octets(std::string(kTerminateDdpHeader) + "20020000"));
    victim->send_ulpdu(octets("C140 {ALL} {TO} 55555555"));
    victim->send_ulpdu(octets("C140 {BAD} {TO} 55555555"));
    EXPECT_TRUE(victim->receive_fin());
    EXPECT_EQ(victim->unread(), 0u);
    victim->send_fin();
    peer.wait_us(20);
    expect_bystander_is_well();
  });
  expect_victim_ended(TerminateOrigin::kPeer, octets("20020000"));
}

}  // namespace
}  // namespace rnic::test
