// Figures 2, 3 and 4 of draft-carrier-rddp-rnic-interop-00, cell by cell, between two chips: the octets on the cable
// and the programs' events.
#include "testbench/support/captured_stream.h"
#include "testbench/system/two_node_bench.h"

namespace rnic::test {
namespace {

using abi::Personality;
using host::CmEventType;
using testing::Each;
using testing::ElementsAre;

struct Cell {
  const char* id;
  Personality initiator;
  bool initiator_m;
  Personality responder;
  bool responder_m;
  int version;  // -1: the two sides close
  bool toward_initiator, toward_responder;
};
std::ostream& operator<<(std::ostream& out, const Cell& cell) { return out << cell.id; }

constexpr Personality kRdmac = Personality::kRdmac, kIetf = Personality::kIetf, kPerm = Personality::kPermissive;
constexpr bool M0 = false, M1 = true;
constexpr int kClose = -1;
const Cell kCells[] = {
    {"F2_01", kRdmac, M1, kRdmac, M1, 0, true, true},
    {"F2_02", kRdmac, M1, kIetf, M0, kClose, false, false},
    {"F2_03", kRdmac, M1, kIetf, M1, kClose, false, false},
    {"F2_04", kIetf, M0, kRdmac, M1, kClose, false, false},
    {"F2_05", kIetf, M0, kIetf, M0, 1, false, false},
    {"F2_06", kIetf, M0, kIetf, M1, 1, false, true},
    {"F2_07", kIetf, M1, kRdmac, M1, kClose, false, false},
    {"F2_08", kIetf, M1, kIetf, M0, 1, true, false},
    {"F2_09", kIetf, M1, kIetf, M1, 1, true, true},
    {"F3_01", kRdmac, M1, kRdmac, M1, 0, true, true},
    // Not applicable: a permissive responder that prefers no markers still answers with M=1.
    {"F3_02", kRdmac, M1, kPerm, M0, 0, true, true},
    {"F3_03", kRdmac, M1, kPerm, M1, 0, true, true},
    {"F3_04", kPerm, M0, kRdmac, M1, 0, true, true},
    {"F3_05", kPerm, M0, kPerm, M0, 1, false, false},
    {"F3_06", kPerm, M0, kPerm, M1, 1, false, true},
    {"F3_07", kPerm, M1, kRdmac, M1, 0, true, true},
    {"F3_08", kPerm, M1, kPerm, M0, 1, true, false},
    {"F3_09", kPerm, M1, kPerm, M1, 1, true, true},
    {"F4_01", kIetf, M0, kIetf, M0, 1, false, false},
    {"F4_02", kIetf, M0, kIetf, M1, 1, false, true},
    {"F4_03", kIetf, M0, kPerm, M0, 1, false, false},
    {"F4_04", kIetf, M0, kPerm, M1, 1, false, true},
    {"F4_05", kIetf, M1, kIetf, M0, 1, true, false},
    {"F4_06", kIetf, M1, kIetf, M1, 1, true, true},
    {"F4_07", kIetf, M1, kPerm, M0, 1, true, false},
    {"F4_08", kIetf, M1, kPerm, M1, 1, true, true},
    {"F4_09", kPerm, M0, kIetf, M0, 1, false, false},
    {"F4_10", kPerm, M0, kIetf, M1, 1, false, true},
    {"F4_11", kPerm, M0, kPerm, M0, 1, false, false},
    {"F4_12", kPerm, M0, kPerm, M1, 1, false, true},
    {"F4_13", kPerm, M1, kIetf, M0, 1, true, false},
    {"F4_14", kPerm, M1, kIetf, M1, 1, true, true},
    {"F4_15", kPerm, M1, kPerm, M0, 1, true, false},
    {"F4_16", kPerm, M1, kPerm, M1, 1, true, true},
};

NodeConfig device(Personality personality) {
  NodeConfig config;
  config.rnic.fwcpu.personality = personality;
  config.rnic.fwcpu.crc = false;  // as in the figures
  return config;
}

// The responder is at the cable's port 0, the initiator at port 1. No IETF side asks for CRC.
class InteropTest : public TwoNodeBench, public testing::WithParamInterface<Cell> {
 protected:
  InteropTest() : TwoNodeBench(device(GetParam().responder), device(GetParam().initiator)) {
    cable.tap(captured);
    server.flags = GetParam().responder_m ? abi::kCmMarkers + 0u : 0u;
    client.flags = GetParam().initiator_m ? abi::kCmMarkers + 0u : 0u;
    server.create(64);
    client.create(64);
  }
  const CapturedStreams::Side& by_responder() const { return captured.sent_by(0); }
  const CapturedStreams::Side& by_initiator() const { return captured.sent_by(1); }
  static Bytes frame(const char* kind, bool rdmac, bool markers) {
    return from_hex(std::string("4D504120494420526") + (kind == std::string("request") ? "571" : "570") +
                    "204672616D65" +
                    (rdmac     ? "C0 00"
                     : markers ? "80 01"
                               : "00 01") +
                    "0000");
  }

  CapturedStreams captured;
};

class Connects : public InteropTest {
 protected:
  // One direction has only FPDUs of the agreed kind, and every segment has the agreed version.
  void expect_segments(const CapturedStreams::Side& side, bool markers) {
    const bool crc = GetParam().version == 0;
    const auto ulpdus = ulpdus_of(side.behind_startup(), markers, crc);
    ASSERT_TRUE(ulpdus.has_value());
    EXPECT_FALSE(ulpdus_of(side.behind_startup(), !markers, crc).has_value());
    EXPECT_FALSE(ulpdus_of(side.behind_startup(), markers, !crc).has_value());
    EXPECT_GE(ulpdus->size(), 4u);
    for (const Bytes& ulpdu : *ulpdus) {
      EXPECT_EQ(ulpdu[0] & 3, GetParam().version) << "DV";
      EXPECT_EQ(ulpdu[1] >> 6, GetParam().version) << "RV";
    }
    EXPECT_FALSE(side.fin || side.reset);
  }
  void expect_established(const End& end, bool rx, bool tx) {
    ASSERT_EQ(end.streams[0].events.size(), 1u);
    const host::CmEvent& event = end.streams[0].events[0];
    EXPECT_EQ(event.type, CmEventType::kEstablished);
    EXPECT_EQ(event.ddp_version, GetParam().version);
    const host::QpAttr& told = end.streams[0].qp->queried();
    EXPECT_EQ(told.state, abi::QpState::kRts);
    EXPECT_EQ(told.ddp_version, GetParam().version);
    EXPECT_EQ(told.stream.rx_markers, rx ? abi::Markers::kOn : abi::Markers::kOff);
    EXPECT_EQ(told.stream.tx_markers, tx ? abi::Markers::kOn : abi::Markers::kOff);
  }
  static void query(End& end) {
    end.run([&end] { end.node.context.query_qp(*end.streams[0].qp); });
    end.then([&end] { return end.streams[0].qp->answered(); });
  }
};

TEST_P(Connects, BothWaysWithTheVersionAndTheMarkersOfTheFigure) {
  const Cell& cell = GetParam();
  connect(1);
  move_octets(0);
  client.run([this] { client.post_receives(0, 300, 1); });
  server.wait_us(200);  // the client has its buffer by then
  server.run(
      [this] { EXPECT_EQ(server.streams[0].qp->post_send(server.request(200, abi::WrOpcode::kSend, 0, 600)), 0); });
  client.then([this] { return client.streams[0].completions.size() == 3; });
  query(client);
  query(server);
  run();

  const bool rdmac = cell.version == 0;
  EXPECT_EQ(by_initiator().startup(), frame("request", cell.initiator == kRdmac, cell.initiator_m));
  EXPECT_EQ(by_responder().startup(), frame("reply", rdmac, cell.responder_m));
  expect_segments(by_responder(), cell.toward_initiator);
  expect_segments(by_initiator(), cell.toward_responder);
  expect_established(client, cell.toward_initiator, cell.toward_responder);
  expect_established(server, cell.toward_responder, cell.toward_initiator);
  EXPECT_THAT(client.streams[0].statuses(), Each(abi::WcStatus::kSuccess));
  const MutableByteSpan back = client.memory(2 * kMoved, kMoved);
  EXPECT_EQ(Bytes(back.data(), back.data() + kMoved), counting(kMoved, 1)) << "written, and read back";
}

class Closes : public InteropTest {};

TEST_P(Closes, InOrderAndWithoutAnFpdu) {
  const Cell& cell = GetParam();
  server.run([this] { server.node.context.listen(End::kPort, server.flags, server.channel); });
  client.wait_us(20);
  client.run([this] {
    host::ConnParam param;
    param.flags = client.flags;
    client.node.context.connect(*client.streams[0].qp, kServerIp, End::kPort, param, client.channel);
  });
  client.then([this] { return !client.streams[0].events.empty(); });
  server.then([this] { return !server.never_accepted.empty() || server.streams[0].ended(); });
  run();

  EXPECT_EQ(by_initiator().octets, frame("request", cell.initiator == kRdmac, cell.initiator_m));
  EXPECT_EQ(by_responder().octets.size(), 20u);
  EXPECT_EQ(by_responder().octets[17], cell.responder == kRdmac ? 0 : 1);
  for (const auto* side : {&by_initiator(), &by_responder()}) EXPECT_TRUE(side->fin && !side->reset);
  ASSERT_EQ(client.streams[0].events.size(), 1u);
  EXPECT_EQ(client.streams[0].events[0].type, CmEventType::kConnectError);
  EXPECT_EQ(client.streams[0].events[0].status, abi::ConnectStatus::kBadRevision);
  if (cell.responder == kRdmac) {  // it supports the request's version; the initiator does not support the reply's
    EXPECT_THAT(server.streams[0].event_types(), ElementsAre(CmEventType::kEstablished, CmEventType::kDisconnected));
  } else {
    ASSERT_EQ(server.never_accepted.size(), 1u);
    EXPECT_EQ(server.never_accepted[0].type, CmEventType::kConnectError);
    EXPECT_EQ(server.never_accepted[0].status, abi::ConnectStatus::kBadRevision);
    EXPECT_EQ(server.never_accepted[0].mpa_revision, 0);
  }
}

std::vector<Cell> cells_that(bool close) {
  std::vector<Cell> some;
  for (const Cell& c : kCells) {
    if ((c.version == kClose) == close) some.push_back(c);
  }
  return some;
}
std::string id_of(const testing::TestParamInfo<Cell>& info) { return info.param.id; }
INSTANTIATE_TEST_SUITE_P(Figures, Connects, testing::ValuesIn(cells_that(false)), id_of);
INSTANTIATE_TEST_SUITE_P(Figures, Closes, testing::ValuesIn(cells_that(true)), id_of);

}  // namespace
}  // namespace rnic::test
