#include "model/rnic/terminate/terminate_generator.h"

#include "model/rnic/messages/datapath.h"
#include "testbench/support/contexts.h"
#include "testbench/support/fpdu_beats.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr Cycle kThrough = kToEnd + kToEnd;  // a message leaves in the cycle in which its error comes

class TerminateGeneratorTest : public StageTest {
 protected:
  ContextStore contexts{clk, {4, 4, 4, 4}};
  BufferPool pool{1024};
  At at{"at", clk};
  TerminateGenerator dut;
  Source<QpEvent> stages = drive(dut.in);
  Sink<TerminateMessage> segmenter = collect(dut.out);
  Sink<QpEvent> firmware = collect(dut.event);

  explicit TerminateGeneratorTest(const TerminateConfig& cfg = {}) : dut("dut", clk, contexts, pool, cfg) {
    for (std::uint32_t n = 1; n < 4; ++n) open_qp(contexts, n, rts_qp(n));
  }
  static QpEvent error(wire::TerminateCause cause, const Bytes& ulpdu = {}, std::uint32_t qpn = 1) {
    return {QpEvent::Kind::kStreamError, Qpn{qpn}, cause, FailedSegment::of(ulpdu)};
  }
  Bytes terminate(unsigned i) const {
    const TerminateMessage& m = segmenter[i];
    const std::uint8_t* octets = m.buf->bytes() + Ulpdu::kOffset + 18;
    return {octets, octets + m.bytes};
  }
};

// The failed segments, and what a Terminate reports of each: M, D (and R), length, headers.
const char* const kWrite = "C140 00000099 0000000000000010 AABBCCDD";
const char* const kToldOfWrite = "C000 0012 C140 00000099 0000000000000010";
const char* const kSend = "4143 00000000 00000000 00000001 00000000 AABBCCDDEEFF";
const char* const kToldOfSend = "C000 0018 4143 00000000 00000000 00000001 00000000";
const char* const kInvalidate = "4144 00000777 00000000 00000001 00000000 AA";
const char* const kToldOfInvalidate = "C000 0013 4144 00000777 00000000 00000001 00000000";
const char* const kLongInvalidate =
    "4144 00000777 00000000 00000001 00000000 00010203040506070809 0A0B0C0D0E0F10111213 1415161718191A1B1C1D";
const char* const kToldOfLongInvalidate = "C000 0030 4144 00000777 00000000 00000001 00000000";
const char* const kRead =
    "4141 00000000 00000001 00000001 00000000 00000100 0000000000002000 00001000 00000300 0000000000004000";
const char* const kToldOfRead = "C000 002E 4141 00000000 00000001 00000001 00000000";
const char* const kToldOfReadWhole =
    "E000 002E 4141 00000000 00000001 00000001 00000000"
    "00000100 0000000000002000 00001000 00000300 0000000000004000";
const char* const kNothing = "0000";

struct Row {
  const char* name;
  const char* cause;  // the control word's first half
  const char* ulpdu;
  const char* told;
};
class EveryCode : public TerminateGeneratorTest, public testing::WithParamInterface<Row> {};

// RFC 5040 section 4.8, figure 10, with RFC 5041 section 7.2, RFC 5044 section 8 and RFC 6581 section 8.
INSTANTIATE_TEST_SUITE_P(
    Terminate, EveryCode,
    testing::Values(
        Row{"rdma_local_catastrophic", "0000", "", kNothing}, Row{"read_invalid_stag", "0100", kRead, kToldOfReadWhole},
        Row{"read_base_or_bounds", "0101", kRead, kToldOfReadWhole},
        Row{"read_access_rights", "0102", kRead, kToldOfReadWhole},
        Row{"read_not_associated", "0103", kRead, kToldOfReadWhole},
        Row{"read_to_wrap", "0104", kRead, kToldOfReadWhole},
        Row{"send_protection_has_no_rdma_header", "0109", kInvalidate, kToldOfInvalidate},
        Row{"send_as_long_as_a_read_request_has_no_rdma_header", "0109", kLongInvalidate, kToldOfLongInvalidate},
        Row{"protection_unspecified", "01FF", kRead, kToldOfReadWhole},
        Row{"rdmap_version", "0205", kSend, kToldOfSend}, Row{"unexpected_opcode", "0206", kSend, kToldOfSend},
        Row{"catastrophic_stream", "0207", kSend, kToldOfSend}, Row{"catastrophic_global", "0208", kSend, kToldOfSend},
        Row{"operation_invalidate", "0209", kInvalidate, kToldOfInvalidate},
        Row{"operation_unspecified_on_a_read", "02FF", kRead, kToldOfRead},
        Row{"ddp_local_catastrophic", "1000", kSend, kToldOfSend},
        Row{"tagged_invalid_stag", "1100", kWrite, kToldOfWrite},
        Row{"tagged_base_or_bounds", "1101", kWrite, kToldOfWrite},
        Row{"tagged_not_associated", "1102", kWrite, kToldOfWrite}, Row{"tagged_wrap", "1103", kWrite, kToldOfWrite},
        Row{"tagged_version", "1104", kWrite, kToldOfWrite}, Row{"untagged_qn", "1201", kSend, kToldOfSend},
        Row{"untagged_no_buffer_for_a_read", "1202", kRead, kToldOfRead},
        Row{"untagged_msn_range", "1203", kSend, kToldOfSend}, Row{"untagged_mo", "1204", kSend, kToldOfSend},
        Row{"untagged_too_long", "1205", kSend, kToldOfSend}, Row{"untagged_version", "1206", kSend, kToldOfSend},
        Row{"mpa_connection_lost", "2001", "", kNothing}, Row{"mpa_crc", "2002", kSend, kNothing},
        Row{"mpa_marker", "2003", kSend, kNothing}, Row{"mpa_startup_frame", "2004", "", kNothing},
        Row{"mpa_local_catastrophic", "2005", "", kNothing}, Row{"mpa_insufficient_ird", "2006", "", kNothing},
        Row{"mpa_no_matching_rtr", "2007", "", kNothing},
        Row{"segment_without_a_whole_header", "0206", "C140 0000", kNothing}),
    [](const auto& row) { return std::string(row.param.name); });

TEST_P(EveryCode, ReturnsTheHeadersThatTheTablesAskFor) {
  const Bytes octets = from_hex(GetParam().cause);
  const wire::TerminateCause cause{static_cast<wire::Layer>(octets[0] >> 4), static_cast<std::uint8_t>(octets[0] & 0xf),
                                   octets[1]};
  stages.send(error(cause, from_hex(GetParam().ulpdu)));
  run_until_idle();
  ASSERT_EQ(segmenter.size(), 1u);
  const Bytes expected = from_hex(std::string(GetParam().cause) + GetParam().told);
  EXPECT_EQ(terminate(0), expected);
  // The firmware gets the same.
  ASSERT_EQ(firmware.size(), 1u);
  EXPECT_EQ(firmware[0].cause, cause);
  Bytes again(wire::TerminateHeader::kMaxBytes);
  again.resize(firmware[0].failed.header(cause).emit({again.data(), again.size()}));
  EXPECT_EQ(again, expected);
}

TEST_F(TerminateGeneratorTest, BothLeaveTheCycleAfterTheErrorCameOneErrorACycle) {
  stages.send({error(wire::ddp::kInvalidQn, {}, 1), error(wire::ddp::kInvalidMo, {}, 2)});
  run_until_idle();
  EXPECT_THAT(segmenter.cycles(), ElementsAre(kThrough, kThrough + 1));
  EXPECT_THAT(firmware.cycles(), ElementsAre(kThrough, kThrough + 1));
}

// RDMAP-9.1-05.
TEST_F(TerminateGeneratorTest, TheFirstErrorOfAStreamIsItsOnlyTerminate) {
  stages.send({error(wire::ddp::kInvalidQn, from_hex(kSend)), error(wire::ddp::kInvalidMo, from_hex(kSend)),
               error(wire::rdma::kInvalidStag, from_hex(kRead)), error(wire::ddp::kInvalidMo, from_hex(kSend), 2)});
  run_until_idle();
  ASSERT_EQ(segmenter.size(), 2u);
  EXPECT_EQ(terminate(0)[1], 0x01);
  EXPECT_EQ(segmenter[1].qpn, Qpn{2});
  EXPECT_EQ(firmware.size(), 2u);
}

TEST_F(TerminateGeneratorTest, AReusedQpHasAFirstErrorAgainAndADestroyedOneHasNone) {
  stages.send(error(wire::ddp::kInvalidQn));
  at.at(45, [this] { contexts.write(Qpn{1}, rts_qp(1, 2)); });
  stages.send(error(wire::ddp::kInvalidMo));
  at.at(75, [this] {
    QpContext gone = rts_qp(1, 3);
    gone.valid = false;
    contexts.write(Qpn{1}, gone);
  });
  stages.send(error(wire::ddp::kInvalidMo));
  stages.pause(every(30, 29));
  run_until_idle();
  EXPECT_EQ(segmenter.size(), 2u);
  EXPECT_EQ(firmware.size(), 2u);
}

TEST_F(TerminateGeneratorTest, EitherOutputHoldsItBackAndNothingIsLost) {
  segmenter.pause(every(7, 5));
  firmware.pause(every(9, 8));
  for (std::uint32_t n = 1; n < 4; ++n) stages.send(error(wire::ddp::kInvalidQn, from_hex(kSend), n));
  run_until_idle();
  EXPECT_EQ(segmenter.size(), 3u);
  EXPECT_EQ(firmware.size(), 3u);
}

TEST_F(TerminateGeneratorTest, TheOrderOfCallsChangesNothing) {
  clk.shuffle(7);
  stages.send({error(wire::ddp::kInvalidQn, {}, 1), error(wire::ddp::kInvalidMo, {}, 2)});
  run_until_idle();
  EXPECT_THAT(segmenter.cycles(), ElementsAre(kThrough, kThrough + 1));
}

// choices.md 10: the first draft's code for a foreign STag.
class DraftCodesTest : public TerminateGeneratorTest {
 protected:
  DraftCodesTest() : TerminateGeneratorTest(TerminateConfig{true}) {}
};
TEST_F(DraftCodesTest, AForeignStagIsAnInvalidOne) {
  stages.send({error(wire::ddp::kStagNotAssociated, from_hex(kWrite)),
               error(wire::rdma::kStagNotAssociated, from_hex(kRead), 2),
               error(wire::rdma::kAccessRights, from_hex(kRead), 3)});
  run_until_idle();
  ASSERT_EQ(segmenter.size(), 3u);
  EXPECT_EQ(terminate(0), from_hex(std::string("1100") + kToldOfWrite));
  EXPECT_EQ(terminate(1), from_hex(std::string("0100") + kToldOfReadWhole));
  EXPECT_EQ(terminate(2), from_hex(std::string("0102") + kToldOfReadWhole));
  EXPECT_EQ(firmware[0].cause, wire::ddp::kInvalidStag);
}

}  // namespace
}  // namespace rnic::test
