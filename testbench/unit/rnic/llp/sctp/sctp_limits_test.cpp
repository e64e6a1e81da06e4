// How much of a chip a peer may occupy, and what happens to its data when its association ends.
#include "testbench/unit/rnic/llp/sctp/sctp_chip.h"

namespace rnic::test {
namespace {

using abi::EventType;

class SctpPeers : public SctpChipTest {
 protected:
  // Opens a session on stream 0 of a new association; the host accepts it.
  Peer open_session(std::uint16_t port, std::uint32_t tag) {
    chip->host.answer = AnsweringHost::Answer::kAccept;
    Peer p = associate(port, tag);
    send_data(p, 0, 0, kSession, {0, 1});
    advance(4000);
    EXPECT_EQ(take_data(p)[0], (std::vector<Bytes>{Bytes{0, 0, 0, 2}}));
    advance(1000);
    chip->host.heard.clear();
    return p;
  }
  // Checks that the association works: its Initiate reaches the host, whose answer comes back.
  void expect_service(Peer& p) {
    chip->host.heard.clear();
    send_data(p, 0, 0, kSession, {0, 1});
    advance(4000);
    EXPECT_EQ(chip->host.count(EventType::kConnectRequest), 1u);
    EXPECT_EQ(take_data(p)[0], (std::vector<Bytes>{Bytes{0, 0, 0, 3}}));
  }
};

// ---- Who opened it

// If the peer restarts an association of ours, it owns it: the chip does not shut it down for lack of a session of
// ours.
TEST_F(SctpPeers, AnAssociationThatThePeerBeganAnewIsThePeers) {
  build();
  chip->host.connect(kPeerIp, 6000);
  advance(600);
  const Peer first = answer(6000, 0x1000);
  advance(3000);
  Peer again = ask(6000, 0x2000, first.chip_port);
  echo(again);
  advance(20000);
  EXPECT_EQ(chip->association.counters().restarted, 1u);
  const auto chunks = sent();
  EXPECT_EQ(count(chunks, again.tag, 11), 1u);
  EXPECT_EQ(count(chunks, again.tag, 7), 0u) << "SHUTDOWN";
  send_data(again, 0, 0, kSession, {0, 1});
  advance(4000);
  EXPECT_EQ(take_data(again)[0], (std::vector<Bytes>{Bytes{0, 0, 0, 4}}));  // no one listens, but it is answered
}

// ---- Limits

TEST_F(SctpPeers, IdleAssociationsMakeRoomForOthers) {
  build();
  listen();
  std::vector<Peer> idle;
  for (std::uint16_t i = 0; i < 16; ++i) {
    idle.push_back(associate(static_cast<std::uint16_t>(6000 + i), 0x1000u + i));
    advance(100);
  }
  Peer other = associate(6100, 0x2000);
  EXPECT_EQ(chip->association.counters().evicted, 1u);
  expect_service(other);
  send_data(idle[1], 0, 0, kSession, {0, 1});  // the others still exist
  advance(4000);
  EXPECT_EQ(take_data(idle[1])[0], (std::vector<Bytes>{Bytes{0, 0, 0, 3}}));
  send_data(idle[0], 0, 0, kSession, {0, 1});  // the oldest no longer exists
  advance(4000);
  EXPECT_TRUE(take_data(idle[0]).empty());
}

// An association with a session is not idle.
TEST_F(SctpPeers, AssociationsWithSessionsStay) {
  config.max_associations = 2;
  build();
  listen();
  open_session(6000, 0x1000);
  open_session(6001, 0x1001);
  const Peer third = ask(6002, 0x1002);
  echo(third);
  advance(2000);
  EXPECT_EQ(count(sent(), third.tag, 6), 1u) << "no ABORT";
  EXPECT_EQ(chip->association.counters().no_association, 1u);
  EXPECT_EQ(chip->association.counters().evicted, 0u);
}

TEST_F(SctpPeers, AnIdleAssociationIsShutDownInTime) {
  config.idle_us = 100;
  build();
  listen();
  const Peer p = associate(6000, 0x1000);
  advance(24000);
  EXPECT_EQ(count(sent(), p.tag, 7), 0u);
  advance(1500);  // 100 us are 25000 cycles
  EXPECT_EQ(count(sent(), p.tag, 7), 1u);
  EXPECT_EQ(chip->association.counters().idle_ended, 1u);
  send(p.port, p.chip_tag, chunk(8, {}));
  advance(500);
  EXPECT_EQ(count(sent(), p.tag, 14), 1u);
}

// A session that the host has ended, but the peer never ends. After a while it is abandoned, and its association is
// free.
TEST_F(SctpPeers, APeerThatDoesNotEndItsSessionLosesTheAssociation) {
  firmware.close_timeout_us = 100;
  config.max_associations = 1;
  build();
  listen();
  Peer p = open_session(6000, 0x1000);
  const std::uint32_t qpn = 0;
  chip->host.ask(AnsweringHost::command(abi::CommandOp::kDisconnect, qpn));
  advance(2000);
  EXPECT_EQ(take_data(p)[0], (std::vector<Bytes>{Bytes{0, 1, 0, 4}}));
  advance(20000);
  EXPECT_EQ(chip->host.count(EventType::kDisconnected), 0u);
  advance(10000);
  EXPECT_EQ(chip->host.count(EventType::kDisconnected), 1u);
  EXPECT_EQ(chip->association.counters().sessions_abandoned, 0u);
  advance(25000);
  EXPECT_EQ(chip->association.counters().sessions_abandoned, 1u);
  EXPECT_EQ(count(sent(), p.tag, 6), 1u) << "no ABORT";
  chip->host.answer = AnsweringHost::Answer::kReject;
  Peer next = associate(6001, 0x2000);
  expect_service(next);
}

// The association's other sessions go on; only the stream stays in use.
TEST_F(SctpPeers, APeerThatDoesNotEndASessionKeepsTheOthers) {
  firmware.close_timeout_us = 100;
  build();
  listen();
  Peer p = open_session(6000, 0x1000);
  send_data(p, 1, 0, kSession, {0, 1});
  advance(4000);
  EXPECT_EQ(take_data(p)[1], (std::vector<Bytes>{Bytes{0, 0, 0, 2}}));
  chip->host.ask(AnsweringHost::command(abi::CommandOp::kDisconnect, 0));
  advance(2000);
  take_data(p);
  advance(60000);
  EXPECT_EQ(chip->association.counters().sessions_abandoned, 1u);
  EXPECT_EQ(count(sent(), p.tag, 6), 0u) << "ABORT";
  send_data(p, 0, 1, kSession, {0, 4});  // too late
  send_data(p, 1, 1, kSegment, {0x40, 0x47});
  advance(4000);
  EXPECT_TRUE(take_data(p).empty());
  EXPECT_EQ(chip->pipeline.got.back(), (std::pair<std::uint32_t, Bytes>{kFirstFlow + 1, {0x40, 0x47}}));
  send_data(p, 1, 2, kSession, {0, 4});
  advance(8000);
  EXPECT_EQ(take_data(p)[1], (std::vector<Bytes>{Bytes{0, 1, 0, 4}}));
  advance(4000);  // the last session is over
  EXPECT_EQ(count(sent(), p.tag, 6), 1u) << "no ABORT";
}

// RFC 9260 section 3.3.1.
TEST_F(SctpPeers, DataWithoutUserDataEndsTheAssociation) {
  build();
  listen();
  Peer p = associate(6000, 0x1000);
  Bytes value;
  put(value, p.tsn, 4), put(value, 0, 4), put(value, kSegment, 4);
  send(p.port, p.chip_tag, chunk(0, value, 7));
  advance(500);
  const auto chunks = sent();
  ASSERT_EQ(chunks.size(), 1u);
  EXPECT_EQ(chunks[0].type, 6);
  EXPECT_EQ(chunks[0].tag, p.tag);
  EXPECT_EQ(chunks[0].value, (Bytes{0, 9, 0, 8, 0, 0, 0, 1}));  // cause 9, with the TSN
}

// ---- What was acknowledged

class SctpEnds : public SctpPeers, public testing::WithParamInterface<bool> {
 protected:
  static constexpr unsigned kSegments = 8;
  // Segments are acknowledged while the pipeline is slow; then their association ends.
  void end_behind_segments(Peer& p) {
    chip->pipeline.pause = 3000;
    for (unsigned i = 1; i <= kSegments; ++i) {
      send_data(p, 0, static_cast<std::uint16_t>(i), kSegment, {0x40, static_cast<std::uint8_t>(i)});
    }
    advance(1000);
    std::uint32_t acked = 0;
    for (const Chunk& c : sent()) {
      if (c.type == 3) acked = load_be32(&c.value[0]);
    }
    EXPECT_EQ(acked, p.tsn - 1);
    if (GetParam()) return send_abort(p);
    Bytes tsn;
    put(tsn, p.chips_tsn, 4);
    send(p.port, p.chip_tag, chunk(7, tsn));
    advance(500);
    EXPECT_EQ(count(sent(), p.tag, 8), 1u) << "no SHUTDOWN ACK";
    send(p.port, p.chip_tag, chunk(14, {}));
  }
};
INSTANTIATE_TEST_SUITE_P(ShutdownOrAbort, SctpEnds, testing::Bool());

TEST_P(SctpEnds, WhatWasAcknowledgedIsDelivered) {
  build();
  listen();
  Peer p = open_session(6000, 0x1000);
  end_behind_segments(p);
  advance(5000);
  EXPECT_EQ(chip->host.count(EventType::kDisconnected), 0u) << "told before what came before it";
  advance(40000);
  ASSERT_EQ(chip->pipeline.got.size(), kSegments + 1);  // including the beat that stands for the end
  for (unsigned i = 0; i < kSegments; ++i) {
    const Bytes segment = {0x40, static_cast<std::uint8_t>(i + 1)};
    EXPECT_EQ(chip->pipeline.got[i], (std::pair{kFirstFlow, segment}));
  }
  ASSERT_EQ(chip->host.count(EventType::kDisconnected), 1u);
  const auto error = std::find_if(chip->host.heard.begin(), chip->host.heard.end(),
                                  [](const abi::Event& e) { return e.type == EventType::kQpError; });
  ASSERT_NE(error, chip->host.heard.end());
  EXPECT_EQ(error->terminate_origin, abi::TerminateOrigin::kUnsent);
}

}  // namespace
}  // namespace rnic::test
