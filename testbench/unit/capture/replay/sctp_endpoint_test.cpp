#include "model/capture/replay/sctp_endpoint.h"

#include <gmock/gmock.h>

#include "model/capture/replay/session_octets.h"
#include "model/common/sctp_checksum.h"
#include "testbench/unit/wire/hex.h"

namespace rnic::replay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using wire::MpaFrameKind;
using wire::SessionCode;

constexpr std::uint16_t kPort = 5000, kTheirPort = 41000;
constexpr std::uint32_t kTag = 0x11111111, kTsn = 0xfffffffe, kTheirTag = 0x22222222, kTheirTsn = 0xffffffff;

// Chunks, built by hand.
Bytes chunk(std::uint8_t type, std::uint8_t flags, const Bytes& value) {
  Bytes c = {type, flags, 0, 0};
  store_be16(&c[2], static_cast<std::uint16_t>(4 + value.size()));
  c.insert(c.end(), value.begin(), value.end());
  c.resize((c.size() + 3) / 4 * 4);
  return c;
}
Bytes word(std::uint32_t value) {
  Bytes b(4);
  store_be32(b.data(), value);
  return b;
}
const Bytes kAdaptation = hex("C0060008 00000001");
Bytes init(std::uint8_t type, const Bytes& parameters) {
  return chunk(type, 0, word(kTheirTag) + hex("00001000 0010 0010") + word(kTheirTsn) + parameters);
}
Bytes data(std::uint32_t n, std::uint32_t ppid, const Bytes& user_data, std::uint8_t flags = 7,
           std::uint16_t stream = 0) {
  Bytes value = word(kTheirTsn + n) + Bytes(4) + word(ppid) + Bytes(2) + user_data;
  store_be16(&value[4], stream);
  store_be16(&value[12], static_cast<std::uint16_t>(n));
  return chunk(0, flags, value);
}
Bytes sack(std::uint32_t messages, std::uint32_t window = 0x1000) {
  return chunk(3, 0, word(kTsn + messages - 1) + word(window) + Bytes(4));
}

Bytes startup(SessionCode code, const Bytes& private_data = {}) {
  wire::SessionMessage m;
  m.code = code;
  if (is_enhanced(code)) m.enhanced = wire::MpaEnhanced{};
  m.private_data = private_data;
  Bytes octets;
  append_startup(m, octets);
  return octets;
}
Bytes fpdu(const Bytes& segment) {
  Bytes octets;
  append_fpdu(segment, octets);
  return octets;
}

class SctpEndpointTest : public testing::Test {
 protected:
  void make(MpaFrameKind own) {
    sctp = std::make_unique<SctpEndpoint>(
        SctpEndpoint::Config{kPort, kTheirPort, kTag, kTsn, own}, [this](ByteSpan p) { take(p); },
        [this](ByteSpan p) { got = got + to_bytes(p); });
  }
  // Keeps the chunks of a packet.
  void take(ByteSpan p) {
    EXPECT_EQ(load_crc32c(p.data() + 8), sctp_checksum(p));
    EXPECT_EQ(load_be16(p.data()), kPort);
    EXPECT_EQ(load_be16(p.data() + 2), kTheirPort);
    tags.push_back(load_be32(p.data() + 4));
    sent.emplace_back(p.begin() + 12, p.end());
  }
  bool arrives(const Bytes& chunks, std::uint64_t now_ps = 0, std::uint32_t tag = kTag) {
    Bytes p(12);
    store_be16(&p[0], kTheirPort);
    store_be16(&p[2], kPort);
    store_be32(&p[4], tag);
    p = p + chunks;
    store_crc32c(&p[8], sctp_checksum(p));
    return sctp->packet(132, p, now_ps);
  }
  void listen() {
    make(MpaFrameKind::kReply);
    sctp->listen();
    arrives(init(1, kAdaptation), 0, 0);
    ASSERT_THAT(sent, SizeIs(1));
    cookie = Bytes(sent[0].begin() + 24, sent[0].begin() + 32);
    arrives(chunk(10, 0, cookie));
    EXPECT_TRUE(sctp->established());
    sent.clear();
  }
  void open() {
    make(MpaFrameKind::kRequest);
    sctp->open();
    arrives(init(2, hex("00070009 AABBCCDDEE 000000") + kAdaptation));
    arrives(chunk(11, 0, {}));
    EXPECT_TRUE(sctp->established());
    sent.clear();
  }
  std::vector<int> types() const {
    std::vector<int> list;
    for (const Bytes& s : sent) list.push_back(s[0]);
    return list;
  }

  std::unique_ptr<SctpEndpoint> sctp;
  std::vector<Bytes> sent;
  std::vector<std::uint32_t> tags;
  Bytes got, cookie;
};

TEST_F(SctpEndpointTest, OpensWithTheCookieThatItGets) {
  make(MpaFrameKind::kRequest);
  sctp->open();
  ASSERT_THAT(types(), ElementsAre(1));
  EXPECT_EQ(tags[0], 0u);
  EXPECT_EQ(Bytes(sent[0].begin() + 4, sent[0].begin() + 8), word(kTag));
  EXPECT_EQ(Bytes(sent[0].begin() + 16, sent[0].end()), word(kTsn) + kAdaptation);
  arrives(init(2, hex("00070009 AABBCCDDEE 000000") + kAdaptation));
  ASSERT_THAT(types(), ElementsAre(1, 10));
  EXPECT_EQ(tags[1], kTheirTag);
  EXPECT_EQ(sent[1], hex("0A000009 AABBCCDDEE 000000"));
  EXPECT_FALSE(sctp->established());
  arrives(chunk(11, 0, {}));
  EXPECT_TRUE(sctp->established());
}

TEST_F(SctpEndpointTest, AnswersAnInitAndKnowsItsCookie) {
  make(MpaFrameKind::kReply);
  sctp->listen();
  arrives(init(1, kAdaptation), 0, 0);
  ASSERT_THAT(types(), ElementsAre(2));
  EXPECT_EQ(tags[0], kTheirTag);
  arrives(chunk(10, 0, Bytes(8)));
  EXPECT_FALSE(sctp->established());
  cookie = Bytes(sent[0].begin() + 24, sent[0].begin() + 32);
  arrives(chunk(10, 0, cookie));
  EXPECT_TRUE(sctp->established());
  EXPECT_THAT(types(), ElementsAre(2, 11));
  arrives(chunk(10, 0, cookie));  // the COOKIE ACK was lost
  EXPECT_THAT(types(), ElementsAre(2, 11, 11));
  EXPECT_EQ(sctp->error(), "");
}

TEST_F(SctpEndpointTest, RefusesAndIsRefused) {
  make(MpaFrameKind::kReply);
  sctp->refuse();
  arrives(init(1, kAdaptation), 0, 0);
  EXPECT_THAT(types(), ElementsAre(6));
  EXPECT_EQ(tags[0], kTheirTag);
  EXPECT_TRUE(sctp->over());
  EXPECT_FALSE(sctp->refused());
  make(MpaFrameKind::kRequest);
  sctp->open();
  arrives(chunk(6, 0, {}));
  EXPECT_TRUE(sctp->over() && sctp->refused());
}

TEST_F(SctpEndpointTest, SendsMessagesWithNumbersUnderTheWindow) {
  open();
  const Bytes segment(2000, 5);
  sctp->send(startup(SessionCode::kInitiate, {1, 2}));
  sctp->send(fpdu(segment) + fpdu(segment));
  sctp->send(fpdu(segment));
  sctp->advance(0);
  ASSERT_THAT(types(), ElementsAre(0, 0, 0));  // a fourth would exceed 4096
  EXPECT_EQ(sent[0], hex("00070016 FFFFFFFE 0000 0000 00000011 0000 0001 0102 0000"));
  EXPECT_EQ(Bytes(sent[1].begin(), sent[1].begin() + 18), hex("000707E2 FFFFFFFF 0000 0000 00000010 0001"));
  EXPECT_EQ(Bytes(sent[1].begin() + 18, sent[1].begin() + 2018), segment);
  EXPECT_EQ(Bytes(sent[2].begin() + 4, sent[2].begin() + 8), hex("00000000"));
  EXPECT_EQ(sctp->acked(), 0u);
  arrives(sack(2));
  EXPECT_EQ(sctp->acked(), 22u + fpdu(segment).size());
  sctp->advance(0);
  EXPECT_THAT(types(), ElementsAre(0, 0, 0, 0));
  arrives(sack(9));  // never sent
  EXPECT_EQ(sctp->acked(), 22u + fpdu(segment).size());
}

TEST_F(SctpEndpointTest, SendsAgainWhatIsNotAcknowledged) {
  open();
  sctp->send(startup(SessionCode::kInitiate));
  sctp->send(fpdu({1, 2, 3}));
  sctp->advance(1);
  sent.clear();
  arrives(sack(1), 5);
  sctp->advance(4 + PeerTransport::kRetransmitPs);
  EXPECT_THAT(sent, IsEmpty());
  sctp->advance(5 + PeerTransport::kRetransmitPs);
  ASSERT_THAT(types(), ElementsAre(0));
  EXPECT_EQ(sent[0][7], 0xff);
}

TEST_F(SctpEndpointTest, DeliversInTheFormOfMpa) {
  listen();
  arrives(data(0, 17, hex("0001 BEEF")));
  EXPECT_EQ(got, startup(SessionCode::kInitiate, {0xbe, 0xef}));
  arrives(data(1, 16, {1, 2, 3, 4, 5}) + data(2, 16, {6}));
  EXPECT_EQ(got, startup(SessionCode::kInitiate, {0xbe, 0xef}) + fpdu({1, 2, 3, 4, 5}) + fpdu({6}));
  ASSERT_THAT(types(), ElementsAre(3, 3));
  EXPECT_EQ(Bytes(sent[1].begin() + 4, sent[1].begin() + 8), word(kTheirTsn + 2));
  arrives(data(1, 16, {1, 2, 3, 4, 5}));  // again
  arrives(data(4, 16, {7}));              // not the next one
  EXPECT_EQ(Bytes(sent[3].begin() + 4, sent[3].begin() + 8), word(kTheirTsn + 2));
  EXPECT_EQ(sctp->error(), "");
}

// The side that opened the association shuts it down, after both Terminates.
TEST_F(SctpEndpointTest, ShutsDownBehindBothTerminates) {
  open();
  sctp->send(startup(SessionCode::kInitiate));
  sctp->close();
  sctp->advance(0);
  ASSERT_THAT(types(), ElementsAre(0, 0));
  EXPECT_EQ(Bytes(sent[1].begin() + 12, sent[1].end()), hex("00000011 0001 0004"));
  arrives(sack(2));
  sctp->advance(0);
  EXPECT_FALSE(sctp->peer_closed());
  arrives(data(0, 17, hex("0004")));
  EXPECT_TRUE(sctp->peer_closed());
  sctp->advance(0);
  EXPECT_THAT(types(), ElementsAre(0, 0, 3, 7));
  EXPECT_FALSE(sctp->over());
  arrives(chunk(8, 0, {}));
  EXPECT_THAT(types(), ElementsAre(0, 0, 3, 7, 14));
  EXPECT_TRUE(sctp->over());
}

TEST_F(SctpEndpointTest, WaitsForTheShutdownOfTheSideThatOpened) {
  listen();
  arrives(data(0, 17, hex("0001")));
  sctp->send(startup(SessionCode::kReject));
  sctp->close();  // nothing follows a Reject
  sctp->advance(0);
  ASSERT_THAT(types(), ElementsAre(3, 0));
  EXPECT_TRUE(sctp->peer_closed());
  arrives(sack(1));
  sctp->advance(0);
  EXPECT_THAT(types(), ElementsAre(3, 0));
  arrives(chunk(7, 0, word(kTsn)));
  EXPECT_THAT(types(), ElementsAre(3, 0, 8));
  arrives(chunk(14, 0, {}));
  EXPECT_TRUE(sctp->over());
}

TEST_F(SctpEndpointTest, NamesWhatDoesNotBelongThere) {
  for (const auto& [chunks, what] : std::vector<std::pair<Bytes, std::string>>{
           {data(0, 17, hex("0001"), 3), "ordered"},
           {data(0, 17, hex("0001"), 7, 2), "another stream"},
           {data(0, 18, hex("0001")), "payload protocol"},
           {data(0, 17, hex("0009")), "cannot be read"},
           {data(0, 17, hex("0004")) + data(1, 16, {1}), "behind the session Terminate"},
           {chunk(9, 0, hex("00010008 00000000")), "ERROR"},
           {hex("00070003"), "length"}}) {
    sent.clear();
    listen();
    arrives(chunks);
    EXPECT_THAT(sctp->error(), testing::HasSubstr(what));
  }
}

TEST_F(SctpEndpointTest, DropsWhatIsBentOrOfAnotherTag) {
  listen();
  const Bytes initiate = data(0, 17, hex("0001"));
  arrives(initiate, 0, kTag + 1);
  EXPECT_THAT(got, IsEmpty());
  Bytes bent(12);
  store_be16(&bent[0], kTheirPort);
  store_be16(&bent[2], kPort);
  store_be32(&bent[4], kTag);
  EXPECT_TRUE(sctp->packet(132, bent + initiate, 0));
  EXPECT_THAT(got, IsEmpty());
  EXPECT_FALSE(sctp->packet(6, bent, 0));
  arrives(initiate);
  EXPECT_FALSE(got.empty());
}

}  // namespace
}  // namespace rnic::replay
