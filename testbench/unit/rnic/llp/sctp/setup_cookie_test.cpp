// Cookies: forged, stale, replayed, and COOKIE ECHO for an association that exists (RFC 9260 sections 5.1.5 and 5.2).
#include "testbench/unit/rnic/llp/sctp/setup_bench.h"

namespace rnic::sctp {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint32_t kOtherTag = 0x0badcafe;
constexpr char kInit[] = "0100001c 0badcafe 00020000 00100010 00000007 c0060008 00000001";

TEST(Cookies, BothWays) {
  const SipKey key = SipKey::of_seed(3);
  Cookie c;
  c.made_at = 0x0102030405060708;
  c.life = 0x1112131415161718;
  c.ends = {0x21222324, 0x2526, 0x2728};
  c.terms = {0x31323334, 0x35363738, 0x41424344, 0x45464748, 0x51525354, 0x61626364, 0x71727374, 0x8182, 0x8384};
  c.own_tie_tag = 0x91929394;
  c.peer_tie_tag = 0xa1a2a3a4;
  const CookieOctets octets = seal(key, c);
  Cookie back;
  ASSERT_TRUE(unseal(key, octets, back));
  EXPECT_EQ(to_bytes(seal(key, back)), to_bytes(octets));
  EXPECT_EQ(back.peer_tie_tag, c.peer_tie_tag);
  EXPECT_EQ(back.life, c.life);
  EXPECT_TRUE(back.ends == c.ends);
  EXPECT_FALSE(unseal(SipKey::of_seed(4), octets, back));
}

class CookieEcho : public SetupBench {
 protected:
  // A cookie with other values than those of the established association.
  Cookie with(std::uint32_t own, std::uint32_t peer, std::uint32_t own_tie, std::uint32_t peer_tie) const {
    Cookie c = cookie();
    c.terms.own_tag = own;
    c.terms.peer_tag = peer;
    c.terms.own_tsn = 5;
    c.terms.peer_tsn = 6;
    c.own_tie_tag = own_tie;
    c.peer_tie_tag = peer_tie;
    return c;
  }
  Bytes echoed(const Cookie& c) { return receive(echo(c, c.terms.own_tag)); }
};

// A change in each octet of the packet's cookie, its tag and its ports: no answer, in CLOSED and in ESTABLISHED.
TEST_F(CookieEcho, AForgedOneIsDiscardedWithItsWholePacket) {
  const Bytes good = echo(cookie(), kTagZ) + hex("00070014 000003e8 00000000 00000010 00010004");
  for (const bool up : {false, true}) {
    if (up) establish();
    const std::uint64_t before = endpoint.counters().forged_cookies;
    std::uint64_t expected = 0;
    for (std::size_t at = 0; at < 16 + Cookie::kBytes; ++at) {
      if (at >= 8 && at < 16) continue;  // checksum and the chunk's header
      for (unsigned bit = 0; bit < 8; ++bit) {
        Bytes forged = good;
        forged[at] = static_cast<std::uint8_t>(forged[at] ^ 1u << bit);
        receive(forged);
        EXPECT_TRUE(nothing()) << at;
        ++expected;
      }
    }
    EXPECT_EQ(endpoint.counters().forged_cookies, before + expected);
    EXPECT_EQ(z.state(), up ? State::kEstablished : State::kClosed);
  }
}

TEST_F(CookieEcho, FromAnotherAddress) {
  const Bytes packet = echo(cookie(), kTagZ);
  EXPECT_FALSE(endpoint.receive(*Received::parse(packet, kAddress + 1), true, now, out));
  EXPECT_TRUE(out.packet().empty());
}

TEST_F(CookieEcho, OfAnotherLength) {
  const Bytes good = to_bytes(seal(SipKey::of_seed(7), cookie()));
  EXPECT_THAT(receive(from_a(kTagZ, "0a00004b") + Bytes(good.begin(), good.end() - 1) + Bytes(1)), IsEmpty());
  EXPECT_THAT(receive(from_a(kTagZ, "0a00004d") + good + Bytes(4)), IsEmpty());
  EXPECT_THAT(receive(from_a(kTagZ, "0a000004")), IsEmpty());
  EXPECT_EQ(endpoint.counters().forged_cookies, 3u);
}

TEST_F(CookieEcho, AnAgedOneIsAnsweredByItsAge) {
  const Cookie c = cookie();
  now = c.ends_at();
  EXPECT_EQ(receive(echo(c, kTagZ)), to_a("0b000004"));
  z.abort(wire::SctpCause::kUserInitiatedAbort, {}, out);
  now += 1500 * kMicrosecond + 1;
  EXPECT_EQ(receive(echo(c, kTagZ)), to_a("0900000c 00030008 000005dc"));
  EXPECT_EQ(z.state(), State::kClosed);
  EXPECT_EQ(endpoint.counters().stale_cookies, 1u);
  now += (Cycle{1} << 32) * kMicrosecond;
  EXPECT_EQ(receive(echo(c, kTagZ)), to_a("0900000c 00030008 ffffffff"));
}

TEST_F(CookieEcho, AnAgedOneOfTheAssociationIsStillGood) {
  const Cookie c = cookie();
  establish();
  now = c.ends_at() + 1;
  EXPECT_EQ(receive(echo(c, kTagZ)), to_a("0b000004"));
  Cookie restart = with(kOtherTag, kOtherTag, kTagZ, kTagA);
  restart.made_at = c.made_at;
  EXPECT_EQ(echoed(restart), from_z(kOtherTag, "0900000c 00030008 00000000"));
  EXPECT_EQ(z.state(), State::kEstablished);
  EXPECT_EQ(z.terms().own_tag, kTagZ);
}

// At most twice the usual life.
TEST_F(CookieEcho, ACookieLivesLongerIfAsked) {
  const auto life = [&](const char* ms) {
    const Bytes packet =
        receive(from_a(0, std::string("01000024 0badcafe 00020000 00100010 00000007 c0060008 00000001 00090008") + ms));
    const auto view = InitView::parse(ByteSpan(packet).subspan(16));
    Cookie c;
    EXPECT_TRUE(view && unseal(SipKey::of_seed(7), view->cookie, c));
    return c.life;
  };
  EXPECT_EQ(life("00000000"), 60'000'000 * kMicrosecond);
  EXPECT_EQ(life("00000002"), 60'002'000 * kMicrosecond);
  EXPECT_EQ(life("ffffffff"), 120'000'000 * kMicrosecond);
}

// X X M M.
TEST_F(CookieEcho, CaseARestarts) {
  for (const State state :
       {State::kEstablished, State::kShutdownPending, State::kShutdownSent, State::kShutdownReceived}) {
    reach(state);
    EXPECT_EQ(echoed(with(0x77, kOtherTag, kTagZ, kTagA)), from_z(kOtherTag, "0b000004"));
    EXPECT_EQ(z.state(), State::kEstablished);
    EXPECT_THAT(told(), ElementsAre(Kind::kRestarted));
    EXPECT_EQ(z.terms().own_tag, 0x77u);
    EXPECT_EQ(z.terms().peer_tag, kOtherTag);
    EXPECT_EQ(z.terms().own_tsn, 5u);
    EXPECT_EQ(z.terms().peer_tsn, 6u);
    EXPECT_EQ(out.timer(SetupTimer::kT2Shutdown).has_value(), state == State::kShutdownSent);
    z.abort(wire::SctpCause::kUserInitiatedAbort, {}, out);
  }
}

TEST_F(CookieEcho, CaseAWhileShuttingDown) {
  reach(State::kShutdownAckSent);
  EXPECT_EQ(echoed(with(0x77, kOtherTag, kTagZ, kTagA)), to_a("08000004 09000008 000a0004"));
  EXPECT_EQ(z.state(), State::kShutdownAckSent);
  EXPECT_EQ(out.events(), 0u);
}

// M X, and M 0 for a peer whose tag is still unknown.
TEST_F(CookieEcho, CaseBWhileOpening) {
  for (const bool known : {false, true}) {
    z.connect(kEndsOfZ, now, out);
    const std::uint32_t own = z.terms().own_tag;
    if (known) {
      receive(from_a(own, "02000026 11223344 00020000 00100010 000003e8 c0060008 00000001 0007000a 41424344 45460000"));
      ASSERT_EQ(z.state(), State::kCookieEchoed);
    }
    EXPECT_EQ(echoed(with(own, kOtherTag, 1, 2)), from_z(kOtherTag, "0b000004"));
    EXPECT_EQ(z.state(), State::kEstablished);
    EXPECT_THAT(told(), ElementsAre(Kind::kUp));
    EXPECT_EQ(z.terms().peer_tag, kOtherTag);
    EXPECT_EQ(z.terms().peer_tsn, 6u);
    EXPECT_EQ(out.timer(known ? SetupTimer::kT1Cookie : SetupTimer::kT1Init), kNever);
    z.abort(wire::SctpCause::kUserInitiatedAbort, {}, out);
  }
}

// The peer restarted. A cookie older than the association belongs to one that the peer had given up before.
TEST_F(CookieEcho, CaseBOfOneThatIsUp) {
  establish();
  Cookie c = with(kTagZ, kOtherTag, 0, 0);
  EXPECT_THAT(echoed(c), IsEmpty());
  EXPECT_EQ(endpoint.counters().unmatched_cookies, 1u);
  EXPECT_EQ(z.terms().peer_tag, kTagA);
  ++c.made_at;
  EXPECT_EQ(echoed(c), from_z(kOtherTag, "0b000004"));
  EXPECT_THAT(told(), ElementsAre(Kind::kRestarted));
  EXPECT_EQ(z.terms().peer_tag, kOtherTag);
}

// The same for the active end, which knows the peer since the INIT ACK.
TEST_F(CookieEcho, CaseBOfOneThatItOpened) {
  z.connect(kEndsOfZ, now, out);
  const std::uint32_t own = z.terms().own_tag;
  Cookie c = with(own, kOtherTag, 0, 0);
  now += 10;
  receive(from_a(own, "02000026 11223344 00020000 00100010 000003e8 c0060008 00000001 0007000a 41424344 45460000"));
  receive(from_a(own, "0b000004"));
  ASSERT_EQ(z.state(), State::kEstablished);
  c.made_at = now;
  EXPECT_THAT(echoed(c), IsEmpty());
  EXPECT_EQ(z.terms().peer_tag, kTagA);
  c.made_at = now + 1;
  EXPECT_EQ(echoed(c), from_z(kOtherTag, "0b000004"));
}

// A stale cookie makes it forget the peer's tag.
TEST_F(CookieEcho, CaseBAfterAStaleCookie) {
  z.connect(kEndsOfZ, now, out);
  const std::uint32_t own = z.terms().own_tag;
  receive(from_a(own, "02000026 11223344 00020000 00100010 000003e8 c0060008 00000001 0007000a 41424344 45460000"));
  receive(from_a(own, "0900000c 00030008 000005dc"));
  ASSERT_EQ(z.state(), State::kCookieWait);
  EXPECT_EQ(echoed(with(own, kTagA, 0, 0)), to_a("0b000004"));
  EXPECT_EQ(z.state(), State::kEstablished);
}

// X M 0 0.
TEST_F(CookieEcho, CaseCIsDiscarded) {
  establish();
  EXPECT_THAT(echoed(with(0x77, kTagA, 0, 0)), IsEmpty());
  EXPECT_TRUE(nothing());
  EXPECT_EQ(endpoint.counters().unmatched_cookies, 1u);
}

// M M: the COOKIE ACK was lost, or both opened.
TEST_F(CookieEcho, CaseD) {
  establish();
  EXPECT_EQ(receive(echo(cookie(), kTagZ)), to_a("0b000004"));
  EXPECT_EQ(out.events(), 0u);
  z.abort(wire::SctpCause::kUserInitiatedAbort, {}, out);

  z.connect(kEndsOfZ, now, out);
  const std::uint32_t own = z.terms().own_tag;
  receive(from_a(own, "02000026 11223344 00020000 00100010 000003e8 c0060008 00000001 0007000a 41424344 45460000"));
  EXPECT_EQ(echoed(with(own, kTagA, 1, 2)), to_a("0b000004"));
  EXPECT_EQ(z.state(), State::kEstablished);
  EXPECT_THAT(told(), ElementsAre(Kind::kUp));
  EXPECT_EQ(out.timer(SetupTimer::kT1Cookie), kNever);
}

TEST_F(CookieEcho, OtherTagsAreDiscarded) {
  establish();
  for (const auto& [own, peer, own_tie, peer_tie] : {std::array<std::uint32_t, 4>{0x77, kOtherTag, 0, 0},
                                                     {0x77, kOtherTag, kTagZ, 0x78},
                                                     {0x77, kOtherTag, 0x78, kTagA},
                                                     {0x77, kTagA, kTagZ, kTagA},
                                                     {0x77, kTagA, 1, 2}}) {
    EXPECT_THAT(echoed(with(own, peer, own_tie, peer_tie)), IsEmpty());
    EXPECT_TRUE(nothing());
    EXPECT_EQ(z.state(), State::kEstablished);
  }
  EXPECT_EQ(endpoint.counters().unmatched_cookies, 5u);
}

TEST_F(CookieEcho, NotTheFirstOfItsPacket) {
  establish();
  Bytes packet = from_a(kTagZ, "0b000004 0a00004c");
  packet = packet + to_bytes(seal(SipKey::of_seed(7), cookie()));
  EXPECT_THAT(receive(packet), IsEmpty());
}

// A new tag, the current ones as tie-tags, the association as it is; then case A.
TEST_F(CookieEcho, InitOfAPeerThatHasRestarted) {
  for (const State state :
       {State::kEstablished, State::kShutdownPending, State::kShutdownSent, State::kShutdownReceived}) {
    reach(state);
    const Bytes packet = receive(from_a(0, kInit));
    EXPECT_EQ(load_be32(packet.data() + 4), kOtherTag);
    const auto view = InitView::parse(ByteSpan(packet).subspan(16));
    ASSERT_TRUE(view);
    EXPECT_NE(view->init.initiate_tag, kTagZ);
    Cookie c;
    ASSERT_TRUE(unseal(SipKey::of_seed(7), view->cookie, c));
    EXPECT_EQ(c.own_tie_tag, kTagZ);
    EXPECT_EQ(c.peer_tie_tag, kTagA);
    EXPECT_EQ(z.state(), state);
    EXPECT_EQ(z.terms().own_tag, kTagZ);
    EXPECT_EQ(out.events(), 0u);
    EXPECT_EQ(receive(echo(c, view->init.initiate_tag)), from_z(kOtherTag, "0b000004"));
    EXPECT_THAT(told(), ElementsAre(Kind::kRestarted));
    z.abort(wire::SctpCause::kUserInitiatedAbort, {}, out);
  }
}

TEST_F(CookieEcho, InitWhileTheShutdownIsAcknowledged) {
  reach(State::kShutdownAckSent);
  EXPECT_EQ(receive(from_a(0, kInit)), to_a("08000004"));
  EXPECT_EQ(z.state(), State::kShutdownAckSent);
}

// Choice 32: listed addresses are not used. A restart may not add addresses that the set-up did not have.
TEST_F(CookieEcho, ARestartWithNewAddressesIsRefused) {
  const auto init = [&](const char* addresses, const char* length) {
    return receive(from_a(
        0, std::string("010000") + length + "0badcafe 00020000 00100010 00000007 c0060008 00000001" + addresses));
  };
  establish();
  EXPECT_EQ(init("00050008 0a000002", "24"), from_z(kOtherTag, "06000010 000b000c 00050008 0a000002"));
  EXPECT_EQ(z.state(), State::kEstablished);
  EXPECT_GT(init("00050008 0a000001", "24").size(), 100u);  // the one it has
  z.abort(wire::SctpCause::kUserInitiatedAbort, {}, out);
  const Bytes packet = init("00050008 0a000002 00050008 0a000003", "2c");
  const auto view = InitView::parse(ByteSpan(packet).subspan(16));
  ASSERT_TRUE(view);
  receive(from_a(view->init.initiate_tag, "0a00004c") + to_bytes(view->cookie));
  ASSERT_EQ(z.state(), State::kEstablished);
  EXPECT_GT(init("00050008 0a000003 00050008 0a000002", "2c").size(), 100u);
  EXPECT_GT(init("", "1c").size(), 100u);
  EXPECT_EQ(init("00050008 0a000003 00050008 0a000004", "2c"),
            from_z(kOtherTag, "06000018 000b0014 00050008 0a000003 00050008 0a000004"));
}

TEST_F(CookieEcho, ARestartWithoutDdpIsRefused) {
  establish();
  EXPECT_EQ(receive(from_a(0, "01000014 0badcafe 00020000 00100010 00000007")),
            from_z(kOtherTag, "0600000e 000c000a 6e6f2044 44500000"));
  EXPECT_EQ(z.state(), State::kEstablished);
}

}  // namespace
}  // namespace rnic::sctp
