// Each row of the rules for set-up, tags, packets out of the blue and closing (RFC 9260 sections 3.3, 5, 8.4, 8.5 and
// 9).
#include "testbench/unit/rnic/llp/sctp/setup_bench.h"

namespace rnic::sctp {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using wire::SctpCause;
using wire::SctpChunkType;

std::string to_string(const Bytes& octets) {
  std::string text;
  for (const std::uint8_t octet : octets)
    text += "0123456789abcdef"[octet >> 4], text += "0123456789abcdef"[octet & 15];
  return text;
}

constexpr char kInit[] = "0100001c 11223344 00020000 00100010 000003e8 c0060008 00000001";

struct InitAck {
  std::uint32_t tag = 0;
  InitView view;
  Bytes cookie;
};

InitAck read_init_ack(const Bytes& packet) {
  InitAck ack;
  const auto header = wire::SctpHeader::parse(packet);
  EXPECT_TRUE(header);
  if (!header) return ack;
  ack.tag = header->verification_tag;
  wire::SctpChunks chunks(ByteSpan(packet).subspan(wire::SctpHeader::kBytes));
  const auto chunk = chunks.next();
  EXPECT_TRUE(chunk && chunk->type == SctpChunkType::kInitAck);
  EXPECT_FALSE(chunks.next());
  if (!chunk) return ack;
  const auto view = InitView::parse(chunk->value);
  EXPECT_TRUE(view);
  if (view) ack.view = *view;
  ack.cookie = to_bytes(ack.view.cookie);
  return ack;
}

Bytes cookie_echo(std::uint32_t tag, const Bytes& cookie) { return from_a(tag, "0a00004c") + cookie; }

// ---- Set-up, passive

TEST_F(SetupBench, InitOfTheWorkedExampleIsAnsweredAndNothingIsKept) {
  const Bytes packet = hex("a028a029 00000000 346efc0a") + hex(kInit);
  EXPECT_EQ(with_checksum(packet), packet);
  const InitAck ack = read_init_ack(receive(packet));
  EXPECT_EQ(ack.tag, kTagA);
  EXPECT_NE(ack.view.init.initiate_tag, 0u);
  EXPECT_EQ(ack.view.init.a_rwnd, config.receive_buffer);
  EXPECT_EQ(ack.view.init.outbound_streams, 16);
  EXPECT_EQ(ack.view.init.max_inbound_streams, 16);
  EXPECT_EQ(ack.view.adaptation, 1u);
  EXPECT_EQ(ack.cookie.size(), Cookie::kBytes);
  EXPECT_EQ(z.state(), State::kClosed);
  EXPECT_EQ(out.events(), 0u);

  EXPECT_EQ(receive(cookie_echo(ack.view.init.initiate_tag, ack.cookie)), to_a("0b000004"));
  EXPECT_EQ(z.state(), State::kEstablished);
  EXPECT_THAT(told(), ElementsAre(Kind::kUp));
  EXPECT_EQ(z.terms().own_tag, ack.view.init.initiate_tag);
  EXPECT_EQ(z.terms().peer_tag, kTagA);
  EXPECT_EQ(z.terms().own_tsn, ack.view.init.initial_tsn);
  EXPECT_EQ(z.terms().peer_tsn, kTsnA);
  EXPECT_EQ(z.terms().peer_window, 131072u);
  EXPECT_EQ(z.terms().adaptation, 1u);
  EXPECT_EQ(z.terms().ddp_streams(), 16);
}

TEST_F(SetupBench, TwoAnswersHaveTwoTags) {
  const InitAck one = read_init_ack(receive(from_a(0, kInit)));
  const InitAck two = read_init_ack(receive(from_a(0, kInit)));
  EXPECT_NE(one.view.init.initiate_tag, two.view.init.initiate_tag);
  EXPECT_NE(one.view.init.initial_tsn, two.view.init.initial_tsn);
}

// Choice 25: the smaller number of both directions; INIT ACK's OS does not exceed INIT's MIS.
TEST_F(SetupBench, StreamsAreTheSmallerNumber) {
  const InitAck ack =
      read_init_ack(receive(from_a(0, "0100001c 11223344 00020000 00200004 000003e8 c0060008 00000001")));
  EXPECT_EQ(ack.view.init.outbound_streams, 4);
  receive(cookie_echo(ack.view.init.initiate_tag, ack.cookie));
  EXPECT_EQ(z.terms().outbound, 4);
  EXPECT_EQ(z.terms().inbound, 16);
  EXPECT_EQ(z.terms().ddp_streams(), 4);
}

TEST_F(SetupBench, DataMayRideWithTheCookieEcho) {
  EXPECT_EQ(
      receive(echo(cookie(), kTagZ) + hex("0007001d 000003e8 00000000 00000011 00000005 8010c020 68656c6c 6f000000")),
      to_a("0b000004"));
  EXPECT_THAT(told(), ElementsAre(Kind::kUp));
  ASSERT_EQ(out.chunks(), 1u);
  EXPECT_EQ(out.chunk(0).type, SctpChunkType::kData);
  EXPECT_EQ(wire::SctpData::parse(out.chunk(0).value)->tsn, kTsnA);
}

TEST_F(SetupBench, InitWithATagOrBundledIsDiscarded) {
  EXPECT_THAT(receive(from_a(kTagZ, kInit)), IsEmpty());
  EXPECT_THAT(receive(from_a(0, std::string(kInit) + "0b000004")), IsEmpty());
  EXPECT_THAT(receive(from_a(0, std::string("0b000004") + kInit)), IsEmpty());
  EXPECT_EQ(endpoint.counters().unexpected, 2u);
  establish();
  EXPECT_THAT(receive(from_a(kTagZ, kInit)), IsEmpty());
  EXPECT_THAT(receive(from_a(0, std::string(kInit) + "0b000004")), IsEmpty());
  EXPECT_THAT(from_a_in(std::string("0b000004") + kInit), IsEmpty());
}

TEST_F(SetupBench, InitWithOwnTagZeroIsDiscarded) {
  EXPECT_THAT(receive(from_a(0, "0100001c 00000000 00020000 00100010 000003e8 c0060008 00000001")), IsEmpty());
  EXPECT_EQ(endpoint.counters().malformed, 1u);
}

TEST_F(SetupBench, InitOfNoUseIsRefused) {
  const Bytes abort = to_a("06000008 00070004");
  for (const char* fixed : {"000005db 00100010", "00020000 00000010", "00020000 00100000"}) {
    EXPECT_EQ(receive(from_a(0, std::string("0100001c 11223344") + fixed + "000003e8 c0060008 00000001")), abort);
  }
  EXPECT_EQ(endpoint.counters().refused, 3u);
  receive(from_a(0, "0100001c 11223344 000005dc 00100010 000003e8 c0060008 00000001"));
  EXPECT_EQ(endpoint.counters().refused, 3u);
}

TEST_F(SetupBench, AHostNameIsRefused) {
  EXPECT_EQ(receive(from_a(0, "01000024 11223344 00020000 00100010 000003e8 c0060008 00000001 000b0008 61626300")),
            to_a("06000010 0005000c 000b0008 61626300"));
}

// Choices 7 and 10.
TEST_F(SetupBench, AnAssociationThatIsNotDdpsIsRefused) {
  const Bytes abort = to_a("0600000e 000c000a 6e6f2044 44500000");
  EXPECT_EQ(receive(from_a(0, "01000014 11223344 00020000 00100010 000003e8")), abort);
  EXPECT_EQ(receive(from_a(0, "0100001c 11223344 00020000 00100010 000003e8 c0060008 00000002")), abort);
  EXPECT_EQ(receive(from_a(0, "01000020 11223344 00020000 00100010 000003e8 c006000c 00000001 00000000")), abort);
}

TEST_F(SetupBench, NobodyListens) {
  listening = false;
  EXPECT_EQ(receive(from_a(0, kInit)), to_a("06000004"));
  EXPECT_EQ(receive(echo(cookie(), kTagZ)), to_a("06000004"));
  EXPECT_EQ(endpoint.counters().refused, 2u);
}

TEST_F(SetupBench, NoRoomForOneMore) {
  endpoint.refuse(cookie(), out);
  EXPECT_EQ(to_bytes(out.packet()), to_a("06000008 00040004"));
}

// The two upper bits of the type decide. A parameter that stops processing hides the next ones: here the adaptation
// indication.
TEST_F(SetupBench, UnknownParameters) {
  const auto answer = [&](const std::string& parameters, const char* length) {
    return receive(from_a(0, std::string("010000") + length + "11223344 00020000 00100010 000003e8" + parameters));
  };
  const std::string ddp = "c0060008 00000001";
  EXPECT_EQ(read_init_ack(answer(ddp + "00330004", "20")).view.reports_used, 0u);
  const Bytes reported = answer(ddp + "40330005 77000000 c0330004", "28");
  EXPECT_EQ(Bytes(reported.end() - 12, reported.end()), hex("00080009 40330005 77000000"));
  EXPECT_EQ(Bytes(answer(ddp + "80330004 c0330004", "24")).size(), 12u + 20 + 8 + 76 + 8);
  const Bytes both = answer("c0330004 c0340004" + ddp, "24");
  EXPECT_EQ(Bytes(both.end() - 16, both.end()), hex("00080008 c0330004 00080008 c0340004"));
  EXPECT_EQ(answer("00330004" + ddp, "20"), to_a("0600000e 000c000a 6e6f2044 44500000"));
  EXPECT_EQ(answer("40330004" + ddp, "20"), to_a("0600000e 000c000a 6e6f2044 44500000"));
}

// ECN, forward TSN, supported types and extensions, addresses: parameters that other stacks send.
TEST_F(SetupBench, ParametersOfOtherStacksAreNoObstacle) {
  const Bytes answer = receive(from_a(
      0,
      "01000042 11223344 00020000 00100010 000003e8 00050008 0a000001 000c0006 00050000 80000004 80080006 c0820000"
      "c0000004 c0060008 00000001 00090008 0000"));
  EXPECT_THAT(answer, IsEmpty());  // the last one is cut off
  const Bytes whole = receive(from_a(
      0,
      "01000044 11223344 00020000 00100010 000003e8 00050008 0a000001 000c0006 00050000 80000004 80080006 c0820000"
      "c0000004 c0060008 00000001 00090008 00001000"));
  const InitAck ack = read_init_ack(whole);
  EXPECT_EQ(Bytes(whole.end() - 8, whole.end()), hex("00080008 c0000004"));
  EXPECT_EQ(ack.cookie.size(), Cookie::kBytes);
}

// ---- Set-up, active

class ActiveSetup : public SetupBench {
 protected:
  // Z is the active one here, A the literal peer.
  void connect() {
    z.connect(kEndsOfZ, now, out);
    ASSERT_EQ(z.state(), State::kCookieWait);
    own = z.terms().own_tag;
  }
  static constexpr char kInitAck[] =
      "02000026 11223344 00020000 00100010 000003e8 c0060008 00000001 0007000a 41424344 45460000";
  Bytes echo_of_six() const { return from_z(kTagA, "0a00000a 41424344 45460000"); }
  void echoed() {
    connect();
    EXPECT_EQ(receive(from_a(own, kInitAck)), echo_of_six());
    ASSERT_EQ(z.state(), State::kCookieEchoed);
  }
  Bytes init(std::uint32_t a_rwnd, std::uint16_t os, std::uint16_t mis, bool cookie, bool ddp) const {
    Bytes octets(64);
    wire::SctpWriter w(octets, {41000, 41001, own});
    w.begin(SctpChunkType::kInitAck);
    w.put(wire::SctpInit{kTagA, a_rwnd, os, mis, kTsnA});
    if (ddp) w.item(0xc006, hex("00000001"));
    if (cookie) w.item(7, hex("41424344 4546"));
    octets.resize(w.finish());
    return octets;
  }

  std::uint32_t own = 0;
};

TEST_F(ActiveSetup, InitCookieUp) {
  connect();
  Bytes init = from_z(0, "0100001c 00000000 00020000 00100010 00000000 c0060008 00000001");
  store_be32(init.data() + 16, z.terms().own_tag);
  store_be32(init.data() + 28, z.terms().own_tsn);
  EXPECT_EQ(to_bytes(out.packet()), init);
  EXPECT_EQ(out.timer(SetupTimer::kT1Init), now + 1000 * kMicrosecond);
  EXPECT_EQ(receive(from_a(own, kInitAck)), echo_of_six());
  EXPECT_EQ(z.state(), State::kCookieEchoed);
  EXPECT_EQ(out.timer(SetupTimer::kT1Init), kNever);
  EXPECT_EQ(out.timer(SetupTimer::kT1Cookie), now + 1000 * kMicrosecond);
  EXPECT_EQ(out.events(), 0u);
  EXPECT_THAT(receive(from_a(own, "0b000004")), IsEmpty());
  EXPECT_EQ(z.state(), State::kEstablished);
  EXPECT_EQ(out.timer(SetupTimer::kT1Cookie), kNever);
  EXPECT_THAT(told(), ElementsAre(Kind::kUp));
  EXPECT_EQ(z.terms().peer_tag, kTagA);
  EXPECT_EQ(z.terms().peer_tsn, kTsnA);
}

TEST_F(ActiveSetup, RetransmissionsDoubleAndEnd) {
  connect();
  const Bytes init = to_bytes(out.packet());
  Cycle rto = 1000 * kMicrosecond;
  for (unsigned i = 0; i < config.max_init_retries; ++i) {
    now = *out.timer(SetupTimer::kT1Init);
    EXPECT_EQ(expire(SetupTimer::kT1Init), init) << i;
    rto = std::min(2 * rto, 100'000 * kMicrosecond);
    EXPECT_EQ(out.timer(SetupTimer::kT1Init), now + rto) << i;
  }
  EXPECT_THAT(expire(SetupTimer::kT1Init), IsEmpty());
  EXPECT_THAT(told(), ElementsAre(Kind::kFailed));
  EXPECT_EQ(z.state(), State::kClosed);
  EXPECT_EQ(out.timer(SetupTimer::kT1Init), kNever);
}

TEST_F(ActiveSetup, CookieEchoIsRepeatedAndEnds) {
  echoed();
  Cycle rto = 1000 * kMicrosecond;
  for (unsigned i = 0; i < config.max_init_retries; ++i) {
    now = *out.timer(SetupTimer::kT1Cookie);
    EXPECT_EQ(expire(SetupTimer::kT1Cookie), echo_of_six()) << i;
    rto = std::min(2 * rto, 100'000 * kMicrosecond);
    EXPECT_EQ(out.timer(SetupTimer::kT1Cookie), now + rto) << i;
  }
  EXPECT_EQ(expire(SetupTimer::kT1Cookie), from_z(kTagA, "06000004"));
  EXPECT_THAT(told(), ElementsAre(Kind::kFailed));
  EXPECT_EQ(z.state(), State::kClosed);
}

TEST_F(ActiveSetup, TheCookieHasItsOwnRetransmissions) {
  connect();
  for (unsigned i = 0; i < config.max_init_retries; ++i) expire(SetupTimer::kT1Init);
  EXPECT_EQ(receive(from_a(own, kInitAck)), echo_of_six());
  EXPECT_EQ(out.timer(SetupTimer::kT1Cookie), now + 1000 * kMicrosecond);
  EXPECT_EQ(expire(SetupTimer::kT1Cookie), echo_of_six());
}

// No tag is known to report with, and only the COOKIE ECHO may be sent.
TEST_F(ActiveSetup, UnknownChunksAreNotReportedWhileOpening) {
  connect();
  EXPECT_THAT(receive(from_a(own, "c1000004")), IsEmpty());
  receive(from_a(own, kInitAck));
  EXPECT_THAT(receive(from_a(own, "c1000004")), IsEmpty());
}

TEST_F(ActiveSetup, InitAckWithTagZeroEndsIt) {
  connect();
  EXPECT_EQ(
      receive(from_a(own, "02000026 00000000 00020000 00100010 000003e8 c0060008 00000001 0007000a 41424344 45460000")),
      from_z(own, "06010004"));
  EXPECT_EQ(z.state(), State::kClosed);
  EXPECT_THAT(told(), ElementsAre(Kind::kFailed));
}

TEST_F(ActiveSetup, InitAckWithASmallWindowIsRefusedAndTheStateKept) {
  connect();
  EXPECT_EQ(receive(init(1499, 16, 16, true, true)), from_z(kTagA, "06000008 00070004"));
  EXPECT_EQ(z.state(), State::kCookieWait);
  EXPECT_EQ(out.events(), 0u);
  EXPECT_FALSE(receive(init(1500, 16, 16, true, true)).empty());
  EXPECT_EQ(z.state(), State::kCookieEchoed);
}

TEST_F(ActiveSetup, InitAckWithoutStreamsEndsIt) {
  for (const bool out_or_in : {false, true}) {
    connect();
    EXPECT_EQ(receive(init(1500, out_or_in ? 16 : 0, out_or_in ? 0 : 16, true, true)),
              from_z(kTagA, "06000008 00070004"));
    EXPECT_EQ(z.state(), State::kClosed);
    EXPECT_THAT(told(), ElementsAre(Kind::kFailed));
  }
}

TEST_F(ActiveSetup, InitAckWithoutCookieEndsIt) {
  connect();
  EXPECT_EQ(receive(init(1500, 16, 16, false, true)), from_z(kTagA, "0600000e 0002000a 00000001 00070000"));
  EXPECT_EQ(z.state(), State::kClosed);
  EXPECT_THAT(told(), ElementsAre(Kind::kFailed));
  EXPECT_EQ(out.event(0).cause, 2);
}

TEST_F(ActiveSetup, APeerWithoutDdpIsRefused) {
  connect();
  EXPECT_EQ(receive(init(1500, 16, 16, true, false)), from_z(kTagA, "0600000e 000c000a 6e6f2044 44500000"));
  EXPECT_EQ(z.state(), State::kClosed);
  EXPECT_THAT(told(), ElementsAre(Kind::kFailed));
  EXPECT_EQ(out.event(0).cause, 12);
}

TEST_F(ActiveSetup, ACookieThatIsTooLongIsRefused) {
  connect();
  for (const std::size_t bytes : {sctp::Setup::kMaxPeerCookie + 1, sctp::Setup::kMaxPeerCookie}) {
    Bytes octets(1480);
    wire::SctpWriter w(octets, {41000, 41001, own});
    w.begin(SctpChunkType::kInitAck);
    w.put(wire::SctpInit{kTagA, 131072, 16, 16, kTsnA});
    w.item(0xc006, hex("00000001"));
    w.item(7, Bytes(bytes));
    octets.resize(w.finish());
    if (bytes > sctp::Setup::kMaxPeerCookie) {
      EXPECT_EQ(receive(octets), from_z(kTagA, "06000008 00040004"));
      EXPECT_EQ(z.state(), State::kClosed);
      connect();
    } else {
      EXPECT_EQ(receive(octets).size(), 12 + 4 + bytes);
    }
  }
}

TEST_F(ActiveSetup, UnrecognizedParametersAreReportedBehindTheCookie) {
  connect();
  EXPECT_EQ(receive(from_a(own,
                           "0200002c 11223344 00020000 00100010 000003e8 c0330004 c0060008 00000001 0007000a"
                           "41424344 45460000")),
            from_z(kTagA, "0a00000a 41424344 45460000 0900000c 00080008 c0330004"));
}

TEST_F(ActiveSetup, InitAckElsewhereOrBundledIsDiscarded) {
  connect();
  EXPECT_THAT(receive(from_a(own, std::string(kInitAck) + "0b000004")), IsEmpty());
  EXPECT_EQ(z.state(), State::kCookieWait);
  EXPECT_THAT(receive(from_a(own + 1, kInitAck)), IsEmpty());
  EXPECT_EQ(endpoint.counters().wrong_tag, 1u);
  receive(from_a(own, kInitAck));
  EXPECT_THAT(receive(from_a(own, kInitAck)), IsEmpty());
  receive(from_a(own, "0b000004"));
  EXPECT_THAT(receive(from_a(own, kInitAck)), IsEmpty());
  EXPECT_EQ(endpoint.counters().unexpected, 3u);
}

TEST_F(ActiveSetup, CookieAckElsewhereIsDiscarded) {
  connect();
  EXPECT_THAT(receive(from_a(own, "0b000004")), IsEmpty());
  EXPECT_EQ(z.state(), State::kCookieWait);
  receive(from_a(own, kInitAck));
  receive(from_a(own, "0b000004"));
  receive(from_a(own, "0b000004"));
  EXPECT_TRUE(nothing());
  EXPECT_EQ(endpoint.counters().unexpected, 2u);
}

// Tag, TSN and streams equal those of our INIT; state and timer stay.
TEST_F(ActiveSetup, BothOpen) {
  connect();
  for (const bool echoed : {false, true}) {
    if (echoed) receive(from_a(own, kInitAck));
    const State before = z.state();
    const InitAck ack =
        read_init_ack(receive(from_a(0, "0100001c 11223344 00020000 00100004 000003e8 c0060008 00000001")));
    EXPECT_EQ(ack.view.init.initiate_tag, own);
    EXPECT_EQ(ack.view.init.initial_tsn, z.terms().own_tsn);
    EXPECT_EQ(ack.view.init.outbound_streams, 16);
    EXPECT_EQ(z.state(), before);
    EXPECT_FALSE(out.timer(SetupTimer::kT1Init));
    EXPECT_FALSE(out.timer(SetupTimer::kT1Cookie));
  }
}

TEST_F(ActiveSetup, AStaleCookieIsTriedAnewAndThenGivenUp) {
  echoed();
  for (unsigned i = 0; i < config.max_init_retries; ++i) {
    const Bytes init = receive(from_a(own, "0900000c 00030008 000005dc"));
    EXPECT_EQ(Bytes(init.end() - 8, init.end()), hex("00090008 00000002")) << i;  // 1500 us: 2 ms
    EXPECT_EQ(z.state(), State::kCookieWait);
    EXPECT_EQ(out.timer(SetupTimer::kT1Cookie), kNever);
    EXPECT_EQ(receive(from_a(own, kInitAck)), echo_of_six());
  }
  EXPECT_EQ(receive(from_a(own, "0900000c 00030008 000005dc")), from_z(kTagA, "06000004"));
  EXPECT_THAT(told(), ElementsAre(Kind::kFailed));
  EXPECT_EQ(out.event(0).cause, 3);
}

TEST_F(SetupBench, AStaleCookieErrorElsewhereIsDiscarded) {
  establish();
  EXPECT_THAT(from_a_in("0900000c 00030008 000005dc"), IsEmpty());
  EXPECT_TRUE(nothing());
  EXPECT_EQ(endpoint.counters().unexpected, 1u);
}

TEST_F(ActiveSetup, ShutdownAckIsOutOfTheBlueWhileOpening) {
  connect();
  EXPECT_EQ(receive(from_a(0x01020304, "08000004")), from_z(0x01020304, "0e010004"));
  EXPECT_EQ(receive(from_a(own, "08000004")), from_z(own, "0e010004"));
  receive(from_a(own, kInitAck));
  EXPECT_EQ(receive(from_a(own, "08000004")), from_z(own, "0e010004"));
  EXPECT_EQ(z.state(), State::kCookieEchoed);
}

TEST_F(ActiveSetup, ARefusalEndsIt) {
  connect();
  EXPECT_THAT(receive(from_a(own, "06000008 00070004")), IsEmpty());
  EXPECT_EQ(z.state(), State::kClosed);
  EXPECT_THAT(told(), ElementsAre(Kind::kAborted));
  EXPECT_EQ(out.event(0).cause, 7);
  EXPECT_EQ(out.timer(SetupTimer::kT1Init), kNever);
}

TEST_F(ActiveSetup, AShutdownAskedForTooEarlyWaits) {
  connect();
  EXPECT_THAT(shutdown(0, true), IsEmpty());
  EXPECT_EQ(z.state(), State::kCookieWait);
  receive(from_a(own, kInitAck));
  receive(from_a(own, "0b000004"));
  EXPECT_THAT(told(), ElementsAre(Kind::kUp));
  EXPECT_EQ(proceed(kTsnA - 1, true), from_z(kTagA, "07000008 000003e7"));
}

TEST_F(ActiveSetup, NothingIsSentToAPeerWhoseTagIsUnknown) {
  connect();
  z.abort(SctpCause::kUserInitiatedAbort, {}, out);
  EXPECT_TRUE(out.packet().empty());
  EXPECT_EQ(z.state(), State::kClosed);
}

// ---- Tags

TEST_F(SetupBench, AWrongTagIsDiscarded) {
  establish();
  for (const std::uint32_t tag : {kTagZ + 1, kTagA, 0u}) {
    for (const char* chunk :
         {"06000004", "0e000004", "08000004", "07000008 fffffffe", "0b000004", "0900000c 00010008 00630000",
          "00070014 000003e8 00000000 00000010 00010004", "04000008 00010004"}) {
      EXPECT_THAT(receive(from_a(tag, chunk)), IsEmpty());
      EXPECT_TRUE(nothing());
    }
  }
  EXPECT_EQ(endpoint.counters().wrong_tag, 24u);
  EXPECT_EQ(z.state(), State::kEstablished);
}

TEST_F(SetupBench, AbortWithTheOwnTagOrThePeersReflected) {
  establish();
  receive(from_a(kTagZ, "06010004"));
  receive(from_a(kTagA, "06000004"));
  EXPECT_EQ(endpoint.counters().wrong_tag, 2u);
  EXPECT_EQ(z.state(), State::kEstablished);
  receive(from_a(kTagA, "06010004"));
  EXPECT_EQ(z.state(), State::kClosed);
  EXPECT_THAT(told(), ElementsAre(Kind::kAborted));
  establish();
  const Bytes worked = hex("a028a029 2b1c3d4e 18ddfa96 0600000e 000c000a 6e6f20444450 0000");
  EXPECT_EQ(with_checksum(worked), worked);
  EXPECT_THAT(receive(worked), IsEmpty());
  EXPECT_THAT(told(), ElementsAre(Kind::kAborted));
  EXPECT_EQ(out.event(0).cause, 12);
  EXPECT_EQ(to_bytes(out.event(0).information), hex("6e6f20444450"));
}

TEST_F(SetupBench, ShutdownCompleteWithTheOwnTagOrThePeersReflected) {
  for (const bool reflected : {false, true}) {
    reach(State::kShutdownAckSent);
    receive(from_a(kTagZ, "0e010004"));
    receive(from_a(kTagA, "0e000004"));
    EXPECT_EQ(z.state(), State::kShutdownAckSent);
    receive(reflected ? from_a(kTagA, "0e010004") : from_a(kTagZ, "0e000004"));
    EXPECT_EQ(z.state(), State::kClosed);
    EXPECT_THAT(told(), ElementsAre(Kind::kShutDown));
    EXPECT_EQ(out.timer(SetupTimer::kT2Shutdown), kNever);
  }
}

TEST_F(SetupBench, WhatFollowsAnAbortIsIgnored) {
  establish();
  receive(from_a(kTagZ, "00070014 000003e8 00000000 00000010 00010004 06000004 07000008 fffffffe"));
  EXPECT_EQ(out.chunks(), 0u);
  EXPECT_THAT(told(), ElementsAre(Kind::kAborted));
}

// ---- Out of the blue

TEST_F(SetupBench, OutOfTheBlue) {
  const auto answer = [&](const char* chunks) { return receive(from_a(kTagZ, chunks)); };
  const Bytes abort = hex("a029a028 2b1c3d4e 434ae071 06010004");  // worked example 10
  EXPECT_EQ(with_checksum(abort), abort);
  EXPECT_EQ(with_checksum(answer("00070014 000003e8 00000000 00000010 00010004")), abort);
  EXPECT_EQ(with_checksum(answer("03000010 000003e8 00020000 00000000")), abort);
  EXPECT_EQ(with_checksum(answer("04000008 00010004")), abort);
  EXPECT_EQ(with_checksum(answer("07000008 fffffffe")), abort);
  EXPECT_EQ(with_checksum(answer("0900000c 00010008 00630000")), abort);
  EXPECT_EQ(with_checksum(answer("c1000004")), abort);
  EXPECT_EQ(answer("08000004"), from_z(kTagZ, "0e010004"));
  EXPECT_EQ(endpoint.counters().out_of_the_blue, 7u);
  EXPECT_THAT(answer("06000004"), IsEmpty());
  EXPECT_THAT(answer("00070014 000003e8 00000000 00000010 00010004 06000004"), IsEmpty());
  EXPECT_THAT(answer("0e000004"), IsEmpty());
  EXPECT_THAT(answer("0b000004"), IsEmpty());
  EXPECT_THAT(answer("0900000c 00030008 000005dc"), IsEmpty());
  const Bytes packet = from_a(kTagZ, "00070014 000003e8 00000000 00000010 00010004");
  endpoint.receive(*Received::parse(packet, kAddress, false), true, now, out);
  EXPECT_TRUE(out.packet().empty());
  const Bytes init = from_a(0, kInit);
  endpoint.receive(*Received::parse(init, kAddress, false), true, now, out);
  EXPECT_TRUE(out.packet().empty());
}

// The first row that matches wins.
TEST_F(SetupBench, OutOfTheBlueInBundles) {
  EXPECT_THAT(receive(from_a(kTagZ, "08000004 06000004")), IsEmpty());
  EXPECT_EQ(receive(from_a(kTagZ, "0b000004 08000004")), from_z(kTagZ, "0e010004"));
  EXPECT_THAT(receive(from_a(kTagZ, "04000008 00010004 0b000004")), IsEmpty());
  EXPECT_THAT(receive(from_a(kTagZ, "04000008 00010004 04000009 00010004")), IsEmpty());
  EXPECT_THAT(receive(from_a(kTagZ, "08000004 00000003")), IsEmpty());
  EXPECT_EQ(endpoint.counters().malformed, 2u);
}

TEST_F(SetupBench, PortZeroIsNoPacket) {
  EXPECT_FALSE(Received::parse(hex("0000a029 2b1c3d4e 00000000 0b000004"), kAddress));
  EXPECT_FALSE(Received::parse(hex("a0280000 2b1c3d4e 00000000 0b000004"), kAddress));
}

// ---- An association's chunks

TEST_F(SetupBench, HeartbeatIsAnswered) {
  establish();
  const Bytes worked = hex("a028a029 2b1c3d4e f06d1662 04000018 00010014 00010203 04050607 08090a0b 0c0d0e0f");
  EXPECT_EQ(with_checksum(worked), worked);
  EXPECT_EQ(receive(worked), to_a("05000018 00010014 00010203 04050607 08090a0b 0c0d0e0f"));
  EXPECT_THAT(from_a_in("04000004"), IsEmpty());
  EXPECT_THAT(from_a_in("04000008 00010005"), IsEmpty());
  EXPECT_EQ(endpoint.counters().malformed, 2u);
}

TEST_F(SetupBench, UnknownChunks) {
  establish();
  const std::string heartbeat = "04000008 00010004";
  EXPECT_THAT(from_a_in("3f000004" + heartbeat), IsEmpty());
  EXPECT_EQ(from_a_in("7f000005 77000000" + heartbeat), to_a("0900000d 00060009 7f000005 77000000"));
  EXPECT_EQ(from_a_in("bf000004" + heartbeat), to_a("05000008 00010004"));
  EXPECT_EQ(from_a_in("c1000004" + heartbeat), to_a("0900000c 00060008 c1000004 05000008 00010004"));
  // ECNE and CWR are reserved.
  EXPECT_THAT(from_a_in("0c000008 00000000" + heartbeat), IsEmpty());
  EXPECT_THAT(from_a_in("0d000008 00000000" + heartbeat), IsEmpty());
}

TEST_F(SetupBench, ErrorsAreTold) {
  establish();
  const Bytes worked = hex("a028a029 2b1c3d4e 00000000 0900000c 00010008 00630000");
  EXPECT_THAT(receive(worked), IsEmpty());
  EXPECT_THAT(told(), ElementsAre(Kind::kPeerError));
  EXPECT_EQ(out.event(0).cause, 1);
  EXPECT_EQ(to_bytes(out.event(0).information), hex("00630000"));
  EXPECT_EQ(z.state(), State::kEstablished);
}

// Worked example 12.
TEST_F(SetupBench, OthersReport) {
  const Bytes stream_99 = hex("00630000");
  z.report(SctpCause::kInvalidStream, stream_99, out);
  EXPECT_TRUE(nothing());
  establish();
  z.report(SctpCause::kInvalidStream, stream_99, out);
  EXPECT_EQ(with_checksum(out.packet()), hex("a029a028 11223344 ae111d2e 0900000c 00010008 00630000"));
}

TEST_F(SetupBench, DataAndSacksByState) {
  const std::string both = "03000010 000003e8 00020000 00000000 00070014 000003e8 00000000 00000010 00010004";
  const auto passed = [&](State state) {
    reach(state);
    from_a_in(both);
    std::vector<SctpChunkType> types;
    for (std::size_t i = 0; i < out.chunks(); ++i) types.push_back(out.chunk(i).type);
    z.abort(SctpCause::kUserInitiatedAbort, {}, out);
    return types;
  };
  EXPECT_THAT(passed(State::kEstablished), ElementsAre(SctpChunkType::kSack, SctpChunkType::kData));
  EXPECT_THAT(passed(State::kShutdownPending), ElementsAre(SctpChunkType::kSack, SctpChunkType::kData));
  EXPECT_THAT(passed(State::kShutdownSent), ElementsAre(SctpChunkType::kData));
  EXPECT_THAT(passed(State::kShutdownReceived), ElementsAre(SctpChunkType::kSack));
  EXPECT_THAT(passed(State::kShutdownAckSent), IsEmpty());
}

// ---- Our heartbeats

class Heartbeats : public SetupBench {
 protected:
  Heartbeats() {
    config.heartbeat_us = 50;
    endpoint = Endpoint(config, kPeriodPs, kPacketBytes, 7);
  }
};

TEST_F(Heartbeats, AnAnswerIsAMeasurement) {
  establish();
  const auto at = out.timer(SetupTimer::kHeartbeat);
  ASSERT_TRUE(at);
  EXPECT_GE(*at, now + 550 * kMicrosecond);  // RTO 1 ms: half of it, plus up to the same again
  EXPECT_LE(*at, now + 1550 * kMicrosecond);
  now = *at;
  const Bytes heartbeat = expire(SetupTimer::kHeartbeat);
  ASSERT_EQ(heartbeat.size(), 28u);
  Bytes ack = from_a(kTagZ, "05000010");
  ack.insert(ack.end(), heartbeat.begin() + 16, heartbeat.end());
  Bytes other = ack;
  ++other.back();
  now += 30 * kMicrosecond;
  receive(other);
  EXPECT_FALSE(out.rtt);
  receive(ack);
  EXPECT_EQ(out.rtt, 30 * kMicrosecond);
  receive(ack);
  EXPECT_FALSE(out.rtt);
  EXPECT_EQ(endpoint.counters().unexpected, 2u);
}

TEST_F(Heartbeats, NoAnswerEndsTheAssociation) {
  establish();
  for (unsigned i = 0; i <= config.max_retries; ++i) {
    now = *out.timer(SetupTimer::kHeartbeat);
    EXPECT_EQ(expire(SetupTimer::kHeartbeat).size(), 28u) << i;
  }
  EXPECT_EQ(expire(SetupTimer::kHeartbeat), to_a("06000004"));
  EXPECT_THAT(told(), ElementsAre(Kind::kFailed));
}

// RFC 9260 section 8.3: one HEARTBEAT per interval. An RTO is added to it, and each miss doubles the RTO.
TEST_F(Heartbeats, EachMissDoublesTheRtoOfTheInterval) {
  config.max_retries = 4;
  endpoint = Endpoint(config, kPeriodPs, kPacketBytes, 7);
  establish();
  now = *out.timer(SetupTimer::kHeartbeat);
  for (unsigned miss = 0; miss <= 4; ++miss) {
    EXPECT_EQ(expire(SetupTimer::kHeartbeat).size(), 28u);
    const Cycle rto = (1000 * kMicrosecond) << miss;
    const Cycle at = *out.timer(SetupTimer::kHeartbeat);
    EXPECT_GE(at, now + 50 * kMicrosecond + rto / 2) << miss;
    EXPECT_LE(at, now + 50 * kMicrosecond + rto / 2 * 3) << miss;
    now = at;
  }
  EXPECT_EQ(expire(SetupTimer::kHeartbeat), to_a("06000004"));
}

// Only misses in a row count.
TEST_F(Heartbeats, AnAnswerForgivesTheMisses) {
  establish();
  for (unsigned i = 0; i < 3 * config.max_retries; ++i) {
    now = *out.timer(SetupTimer::kHeartbeat);
    const Bytes heartbeat = expire(SetupTimer::kHeartbeat);
    ASSERT_EQ(heartbeat.size(), 28u) << i;
    if (i % config.max_retries != 0) continue;
    const auto at = out.timer(SetupTimer::kHeartbeat);
    Bytes ack = from_a(kTagZ, "05000010");
    ack.insert(ack.end(), heartbeat.begin() + 16, heartbeat.end());
    receive(ack);
    out.set(SetupTimer::kHeartbeat, *at);
  }
}

TEST_F(Heartbeats, NoneWhileShuttingDown) {
  reach(State::kShutdownSent);
  EXPECT_EQ(out.timer(SetupTimer::kHeartbeat), kNever);
  z.abort(SctpCause::kUserInitiatedAbort, {}, out);
  reach(State::kShutdownAckSent);
  EXPECT_EQ(out.timer(SetupTimer::kHeartbeat), kNever);
}

TEST_F(Heartbeats, AcknowledgedDataIsAsGood) {
  establish();
  now = *out.timer(SetupTimer::kHeartbeat);
  z.data_acknowledged(now - 10 * kMicrosecond);
  EXPECT_THAT(expire(SetupTimer::kHeartbeat), IsEmpty());
  EXPECT_TRUE(out.timer(SetupTimer::kHeartbeat));
}

TEST_F(SetupBench, NoHeartbeatsUnlessAskedFor) {
  establish();
  EXPECT_FALSE(out.timer(SetupTimer::kHeartbeat));
}

// ---- Shutting down and aborting

TEST_F(SetupBench, ShutdownWaitsForOwnData) {
  establish();
  EXPECT_THAT(shutdown(kTsnA + 4, false), IsEmpty());
  EXPECT_EQ(z.state(), State::kShutdownPending);
  EXPECT_FALSE(z.takes_host_data());
  EXPECT_THAT(proceed(kTsnA + 4, false), IsEmpty());
  EXPECT_EQ(proceed(kTsnA + 5, true), to_a("07000008 000003ed"));
  EXPECT_EQ(z.state(), State::kShutdownSent);
  EXPECT_EQ(out.timer(SetupTimer::kT2Shutdown), now + 1000 * kMicrosecond);
  EXPECT_EQ(out.timer(SetupTimer::kT5Guard), now + 500'000 * kMicrosecond);
  EXPECT_EQ(from_a_in("08000004"), to_a("0e000004"));
  EXPECT_EQ(z.state(), State::kClosed);
  EXPECT_EQ(out.timer(SetupTimer::kT2Shutdown), kNever);
  EXPECT_EQ(out.timer(SetupTimer::kT5Guard), kNever);
  EXPECT_THAT(told(), ElementsAre(Kind::kShutDown));
}

TEST_F(SetupBench, ThePeerShutsDown) {
  establish();
  const Bytes worked = hex("a028a029 2b1c3d4e b7b94e9c 07000008 ffffffff");
  EXPECT_EQ(with_checksum(worked), worked);
  EXPECT_THAT(receive(worked), IsEmpty());
  EXPECT_EQ(z.state(), State::kShutdownReceived);
  EXPECT_FALSE(z.takes_host_data());
  EXPECT_THAT(told(), ElementsAre(Kind::kPeerShutdown));
  ASSERT_EQ(out.chunks(), 1u);
  EXPECT_EQ(out.chunk(0).type, SctpChunkType::kShutdown);
  EXPECT_THAT(proceed(kTsnA, false), IsEmpty());
  EXPECT_EQ(with_checksum(proceed(kTsnA, true)), hex("a029a028 11223344 ab80d1b5 08000004"));
  EXPECT_EQ(z.state(), State::kShutdownAckSent);
  const Bytes complete = hex("a028a029 2b1c3d4e bf7eb975 0e000004");
  EXPECT_EQ(with_checksum(complete), complete);
  EXPECT_THAT(receive(complete), IsEmpty());
  EXPECT_EQ(z.state(), State::kClosed);
}

TEST_F(SetupBench, AShutdownTakesOverOneThatWaits) {
  reach(State::kShutdownPending);
  from_a_in("07000008 ffffffff");
  EXPECT_EQ(z.state(), State::kShutdownReceived);
}

TEST_F(SetupBench, CrossingShutdowns) {
  reach(State::kShutdownSent);
  EXPECT_EQ(from_a_in("07000008 fffffffe"), to_a("08000004"));
  EXPECT_EQ(z.state(), State::kShutdownAckSent);
  EXPECT_EQ(from_a_in("08000004"), to_a("0e000004"));
  EXPECT_THAT(told(), ElementsAre(Kind::kShutDown));
}

TEST_F(SetupBench, DataAfterTheShutdownIsAnsweredByOneMore) {
  reach(State::kShutdownSent);
  now += 10;
  from_a_in("00070014 000003e8 00000000 00000010 00010004");
  EXPECT_EQ(out.chunks(), 1u);
  EXPECT_EQ(proceed(kTsnA, true), to_a("07000008 000003e8"));
  EXPECT_EQ(out.timer(SetupTimer::kT2Shutdown), now + 1000 * kMicrosecond);
  EXPECT_THAT(proceed(kTsnA, true), IsEmpty());
}

TEST_F(SetupBench, ShutdownIsRepeatedAndGivenUp) {
  reach(State::kShutdownSent);
  for (unsigned i = 0; i < config.max_retries; ++i) {
    EXPECT_EQ(expire(SetupTimer::kT2Shutdown), to_a("07000008 000003e7")) << i;
  }
  EXPECT_EQ(expire(SetupTimer::kT2Shutdown), to_a("06000004"));
  EXPECT_THAT(told(), ElementsAre(Kind::kFailed));
  EXPECT_THAT(expire(SetupTimer::kT2Shutdown), IsEmpty());  // the timer is stopped
  reach(State::kShutdownAckSent);
  EXPECT_EQ(expire(SetupTimer::kT2Shutdown), to_a("08000004"));
}

TEST_F(SetupBench, TheGuardEndsAShutdown) {
  reach(State::kShutdownSent);
  EXPECT_EQ(expire(SetupTimer::kT5Guard), to_a("06000004"));
  EXPECT_THAT(told(), ElementsAre(Kind::kFailed));
}

TEST_F(SetupBench, ShutdownAckElsewhereIsDiscarded) {
  for (const State state : {State::kEstablished, State::kShutdownPending, State::kShutdownReceived}) {
    reach(state);
    EXPECT_THAT(from_a_in("08000004"), IsEmpty());
    EXPECT_EQ(z.state(), state);
    z.abort(SctpCause::kUserInitiatedAbort, {}, out);
  }
}

TEST_F(SetupBench, ShutdownCompleteElsewhereOrBundledIsDiscarded) {
  reach(State::kShutdownSent);
  from_a_in("0e000004");
  EXPECT_EQ(z.state(), State::kShutdownSent);
  z.abort(SctpCause::kUserInitiatedAbort, {}, out);
  reach(State::kShutdownAckSent);
  from_a_in("0e000004 0b000004");
  EXPECT_EQ(z.state(), State::kShutdownAckSent);
}

TEST_F(SetupBench, TheHostAborts) {
  establish();
  const Bytes text = hex("6e6f20444450");
  z.abort(SctpCause::kUserInitiatedAbort, text, out);
  EXPECT_EQ(to_bytes(out.packet()), to_a("0600000e 000c000a 6e6f2044 44500000"));
  EXPECT_EQ(z.state(), State::kClosed);
  EXPECT_THAT(told(), ElementsAre(Kind::kAborted));
  z.abort(SctpCause::kUserInitiatedAbort, text, out);
  EXPECT_TRUE(nothing());
}

// ---- Bad input

// Every truncation of a packet of one chunk only increments a counter.
TEST_F(SetupBench, TruncatedPacketsComeToNothing) {
  const std::vector<Bytes> packets = {
      from_a(0, kInit),
      echo(cookie(), kTagZ),
      from_a(kTagZ, "02000026 11223344 00020000 00100010 000003e8 c0060008 00000001 0007000a 41424344 45460000"),
      from_a(kTagZ, "00070014 000003e8 00000000 00000010 00010004"),
      from_a(kTagZ, "03000018 0000000c 00001234 00020000 00020003 00050005"),
      from_a(kTagZ, "04000018 00010014 00010203 04050607 08090a0b 0c0d0e0f"),
      from_a(kTagZ, "0600000e 000c000a 6e6f20444450 0000"),
      from_a(kTagZ, "07000008 ffffffff"),
      from_a(kTagZ, "08000004"),
      from_a(kTagZ, "0900000c 00010008 00630000"),
      from_a(kTagZ, "0b000004"),
      from_a(kTagZ, "0e000004"),
      from_a(kTagZ, "c1000004"),
  };
  for (const bool up : {false, true}) {
    if (up) establish();
    for (const Bytes& packet : packets) {
      const std::size_t length = load_be16(packet.data() + 14);
      for (std::size_t n = 0; n < 12 + length; ++n) {
        const Bytes cut(packet.begin(), packet.begin() + static_cast<std::ptrdiff_t>(n));
        const auto received = Received::parse(cut, kAddress);
        EXPECT_EQ(received.has_value(), n >= 12);
        if (!received) continue;
        const std::uint64_t before = endpoint.counters().malformed + endpoint.counters().wrong_tag;
        receive(cut);
        EXPECT_TRUE(nothing()) << to_string(packet) << " cut to " << n;
        EXPECT_EQ(endpoint.counters().malformed + endpoint.counters().wrong_tag, before + 1) << to_string(packet) << n;
        EXPECT_EQ(z.state(), up ? State::kEstablished : State::kClosed);
      }
    }
  }
}

// The same with a length that fits the cut: in every case the state is a legal one and the association goes on.
TEST_F(SetupBench, ShortChunksComeToNothing) {
  establish();
  const std::vector<Bytes> packets = {
      from_a(0, kInit),
      echo(cookie(), kTagZ),
      from_a(kTagZ, "00070014 000003e8 00000000 00000010 00010004"),
      from_a(kTagZ, "03000018 0000000c 00001234 00020000 00020003 00050005"),
      from_a(kTagZ, "07000008 ffffffff"),
      from_a(kTagZ, "0900000c 00010008 00630000"),
  };
  for (const Bytes& packet : packets) {
    const bool data = packet[12] == 0, init = packet[12] == 1;
    const std::size_t length = load_be16(packet.data() + 14);
    for (std::size_t n = 4; n < length; ++n) {
      if (data && n >= 16) continue;  // shorter user data
      if (init && n == 20) continue;  // complete, without parameters: refused
      Bytes cut(packet.begin(), packet.begin() + static_cast<std::ptrdiff_t>(12 + n));
      store_be16(cut.data() + 14, static_cast<std::uint16_t>(n));
      receive(cut);
      EXPECT_TRUE(nothing()) << to_string(packet) << " cut to " << n;
      EXPECT_EQ(z.state(), State::kEstablished);
    }
  }
}

}  // namespace
}  // namespace rnic::sctp
