// mpa_negotiation through the C interface: start-up frames octet by octet from the figures of RFC 5044 section 7.1 and
// RFC 6581 section 4.
#include <string>
#include <vector>

#include "testbench/unit/golden/handles.h"

namespace rnic::test {
namespace {

using testing::IsEmpty;

constexpr std::uint8_t kListen = RNIC_COMMAND_OP_LISTEN, kConnect = RNIC_COMMAND_OP_CONNECT,
                       kAccept = RNIC_COMMAND_OP_ACCEPT, kReject = RNIC_COMMAND_OP_REJECT;
constexpr std::uint8_t kWithCrc = RNIC_CM_FLAG_CRC, kEnhanced = RNIC_CM_FLAG_ENHANCED;
constexpr std::uint8_t kConnectRequest = RNIC_EVENT_TYPE_CONNECT_REQUEST, kEstablished = RNIC_EVENT_TYPE_ESTABLISHED,
                       kRejected = RNIC_EVENT_TYPE_REJECTED, kConnectError = RNIC_EVENT_TYPE_CONNECT_ERROR;
constexpr std::uint8_t kOpen = RNIC_STREAM_SIGNAL_KIND_OPEN, kOpened = RNIC_STREAM_SIGNAL_KIND_OPENED,
                       kRefused = RNIC_STREAM_SIGNAL_KIND_REFUSED, kOctets = RNIC_STREAM_SIGNAL_KIND_OCTETS,
                       kFin = RNIC_STREAM_SIGNAL_KIND_FIN, kReset = RNIC_STREAM_SIGNAL_KIND_RESET,
                       kReadyToReceive = RNIC_STREAM_SIGNAL_KIND_READY_TO_RECEIVE,
                       kTerminate = RNIC_STREAM_SIGNAL_KIND_TERMINATE;

Bytes frame(const char* key, std::uint8_t flags, std::uint8_t revision, const Bytes& private_data) {
  Bytes octets(key, key + 16);
  octets.push_back(flags);
  octets.push_back(revision);
  octets.push_back(static_cast<std::uint8_t>(private_data.size() >> 8));
  octets.push_back(static_cast<std::uint8_t>(private_data.size()));
  octets.insert(octets.end(), private_data.begin(), private_data.end());
  return octets;
}
constexpr const char *kRequest = "MPA ID Req Frame", *kReply = "MPA ID Rep Frame";

struct End {
  const Stage stage;
  explicit End(const char* settings = "{}") : stage(open("mpa_negotiation", settings)) {}

  void command(std::uint8_t op, std::uint8_t flags, Bytes private_data = {}, std::uint32_t id = 0,
               std::uint16_t ird = 1, std::uint16_t ord = 1) {
    rnic_cm_command c = message<rnic_cm_command>(private_data);
    c.op = op;
    c.flags = flags;
    c.id = id;
    c.ird = ird;
    c.ord = ord;
    ASSERT_EQ(rnic_mpa_negotiation_push_command(stage.get(), &c), RNIC_OK) << rnic_stage_text(stage.get());
    rnic_cm_done done = sized<rnic_cm_done>();
    ASSERT_EQ(rnic_mpa_negotiation_take_done(stage.get(), &done), RNIC_OK);
    EXPECT_EQ(done.status, 0);
  }
  void peer(std::uint8_t kind, Bytes octets = {}) {
    rnic_stream_signal s = message<rnic_stream_signal>(octets);
    s.kind = kind;
    ASSERT_EQ(rnic_mpa_negotiation_push_peer(stage.get(), &s), RNIC_OK) << rnic_stage_text(stage.get());
  }
  std::vector<WithOctets<rnic_stream_signal>> to_peer() {
    return drain_octets<rnic_stream_signal>(stage, RNIC_MPA_NEGOTIATION_TO_PEER);
  }
  std::vector<WithOctets<rnic_cm_event>> events() {
    return drain_octets<rnic_cm_event>(stage, RNIC_MPA_NEGOTIATION_EVENT);
  }
};

void expect_sent(End& end, std::uint8_t kind, const Bytes& octets) {
  const auto sent = end.to_peer();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].message.kind, kind);
  EXPECT_EQ(sent[0].octets, octets);
}

TEST(GoldenNegotiation, AnInitiatorOfRevision1) {
  End end;
  end.command(kConnect, kWithCrc, {'a', 'b', 'c'});
  expect_sent(end, kOpen, {});
  end.peer(kOpened);
  expect_sent(end, kOctets, frame(kRequest, 0x40, 1, {'a', 'b', 'c'}));
  EXPECT_THAT(end.events(), IsEmpty());
  for (const std::uint8_t octet : frame(kReply, 0x40, 1, {'x', 'y'})) end.peer(kOctets, {octet});
  const auto events = end.events();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].message.type, kEstablished);
  EXPECT_EQ(events[0].octets, (Bytes{'x', 'y'}));
  const auto qps = drain<rnic_qp_row>(end.stage, RNIC_MPA_NEGOTIATION_QP);
  ASSERT_EQ(qps.size(), 1u);
  EXPECT_EQ(qps[0].state, 1);
  EXPECT_EQ(qps[0].responder, 0);
  const auto flows = drain<rnic_flow_context>(end.stage, RNIC_MPA_NEGOTIATION_FLOW);
  ASSERT_EQ(flows.size(), 1u);
  EXPECT_EQ(flows[0].crc, 1);
  EXPECT_EQ(flows[0].rx_markers, 0);
}

// The IRD that one asks for limits the other's ORD, and both hear of each other's depths (RFC 6581 section 9.1).
TEST(GoldenNegotiation, TwoEndsNegotiateDepths) {
  End initiator, responder;
  responder.command(kListen, kWithCrc | kEnhanced);
  initiator.command(kConnect, kWithCrc | kEnhanced, {}, 0, 8, 16);
  const auto carry = [](End& from, End& to) {
    for (const auto& s : from.to_peer()) to.peer(s.message.kind, s.octets);
  };
  carry(initiator, responder);
  carry(responder, initiator);
  const auto sent = initiator.to_peer();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].octets, frame(kRequest, 0x50, 2, {0x00, 8, 0x00, 16}));
  responder.peer(kOctets, sent[0].octets);
  const auto request = responder.events();
  ASSERT_EQ(request.size(), 1u);
  EXPECT_EQ(request[0].message.type, kConnectRequest);
  EXPECT_EQ(request[0].message.peer_ird, 8);
  EXPECT_EQ(request[0].message.peer_ord, 16);
  responder.command(kAccept, 0, {}, request[0].message.id, 4, 12);
  const auto replied = responder.to_peer();
  ASSERT_EQ(replied.size(), 1u);
  const Bytes& reply = replied[0].octets;
  ASSERT_EQ(reply.size(), 24u);
  EXPECT_EQ(reply[16], 0x50);
  initiator.peer(kOctets, reply);
  const auto up = initiator.events();
  ASSERT_EQ(up.size(), 1u);
  EXPECT_EQ(up[0].message.type, kEstablished);
  // What one may have outstanding, the other holds.
  const unsigned told_ird = reply[20] << 8 | reply[21], told_ord = reply[22] << 8 | reply[23];
  EXPECT_LE(told_ord & 0x3fff, 8u);
  EXPECT_LE(up[0].message.ord, told_ird & 0x3fff);
  const auto qp = drain<rnic_qp_row>(responder.stage, RNIC_MPA_NEGOTIATION_QP);
  ASSERT_EQ(qp.size(), 1u);
  EXPECT_LE(qp[0].ord, up[0].message.ird);
  EXPECT_GE(qp[0].ird, up[0].message.ord);
  EXPECT_EQ(qp[0].responder, 1);
}

TEST(GoldenNegotiation, ARejectionHasItsBit) {
  End end;
  end.command(kListen, 0);
  end.peer(kOpen);
  expect_sent(end, kOpened, {});
  end.peer(kOctets, frame(kRequest, 0x40, 1, {}));
  const auto request = end.events();
  ASSERT_EQ(request.size(), 1u);
  end.command(kReject, 0, {'n', 'o'}, request[0].message.id);
  const auto sent = end.to_peer();
  ASSERT_GE(sent.size(), 1u);
  EXPECT_EQ(sent[0].octets[16] & 0x20, 0x20);
  EXPECT_EQ(Bytes(sent[0].octets.end() - 2, sent[0].octets.end()), (Bytes{'n', 'o'}));

  End initiator;
  initiator.command(kConnect, kWithCrc);
  initiator.peer(kOpened);
  initiator.peer(kOctets, sent[0].octets);
  const auto rejected = initiator.events();
  ASSERT_EQ(rejected.size(), 1u);
  EXPECT_EQ(rejected[0].message.type, kRejected);
  EXPECT_EQ(rejected[0].octets, (Bytes{'n', 'o'}));
}

// RFC 5044 section 8: error 4 of layer 2, type 0, told to the host alone.
TEST(GoldenNegotiation, AFrameWithAnotherKeyEndsTheConnection) {
  End end;
  end.command(kListen, 0);
  end.peer(kOpen);
  end.to_peer();
  Bytes octets = frame(kRequest, 0x40, 1, {});
  octets[4] ^= 1;
  end.peer(kOctets, octets);
  const auto sent = end.to_peer();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_TRUE(sent[0].message.kind == kFin || sent[0].message.kind == kReset);

  End initiator;
  initiator.command(kConnect, 0);
  initiator.peer(kOpened);
  initiator.peer(kOctets, frame(kRequest, 0x40, 1, {}));  // no reply
  const auto events = initiator.events();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].message.type, kConnectError);
  EXPECT_EQ(events[0].message.terminate, 0x20040000u);
}

TEST(GoldenNegotiation, WhatCannotComeIsRefused) {
  End end;
  Bytes octets(513);
  rnic_cm_command c = message<rnic_cm_command>(octets);
  c.op = 3;
  refused(end.stage, RNIC_MPA_NEGOTIATION_COMMAND, c, "cm_command.op");
  c.op = 99;
  refused(end.stage, RNIC_MPA_NEGOTIATION_COMMAND, c, "none of its values");
  c.op = kConnect;
  refused(end.stage, RNIC_MPA_NEGOTIATION_COMMAND, c, "512 octets");
  rnic_stream_signal s = message<rnic_stream_signal>(octets);
  for (const std::uint8_t kind : {kOpened, kRefused, kOctets, kFin, kReset, kReadyToReceive, kTerminate}) {
    s.kind = kind;
    refused(end.stage, RNIC_MPA_NEGOTIATION_PEER, s, "stream_signal.kind");
  }
  end.command(kConnect, 0);
  s.kind = kOpen;
  refused(end.stage, RNIC_MPA_NEGOTIATION_PEER, s, "there already");
  end.peer(kOpened);
  end.peer(kFin);
  s.kind = kOctets;
  refused(end.stage, RNIC_MPA_NEGOTIATION_PEER, s, "not open");
}

}  // namespace
}  // namespace rnic::test
