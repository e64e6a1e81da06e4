#include "model/capture/replay/tcp_endpoint.h"

#include <gmock/gmock.h>

#include "testbench/unit/wire/hex.h"

namespace rnic::replay {
namespace {

using testing::ElementsAre;
using wire::TcpHeader;

constexpr std::uint32_t kOurs = 0x1000, kTheirs = 0xfffffff0;  // initial sequence numbers; theirs wraps

struct Sent {
  TcpHeader header;
  Bytes payload;
};

class TcpEndpointTest : public testing::Test {
 protected:
  TcpEndpoint tcp{{7471, 41000, kOurs, 1448},
                  [this](const TcpHeader& h, ByteSpan p) {
                    sent.push_back({h, to_bytes(p)});
                  },
                  [this](ByteSpan p) { got = got + to_bytes(p); }};
  std::vector<Sent> sent;
  Bytes got;

  void arrives(std::uint8_t flags, std::uint32_t seq, std::uint32_t ack, const Bytes& payload = {},
               std::uint64_t now_ps = 0, std::uint16_t mss = 100) {
    TcpHeader h;
    h.src_port = 41000;
    h.dst_port = 7471;
    h.flags = flags;
    h.seq = seq;
    h.ack = ack;
    h.window = 250;
    if (flags & TcpHeader::kSyn) h.options.mss = mss;
    tcp.segment({h, payload}, now_ps);
  }
  void connect() {
    tcp.listen();
    arrives(TcpHeader::kSyn, kTheirs, 0);
    arrives(TcpHeader::kAck, kTheirs + 1, kOurs + 1);
    sent.clear();
  }
  std::vector<std::size_t> sizes() const {
    std::vector<std::size_t> list;
    for (const Sent& s : sent) list.push_back(s.payload.size());
    return list;
  }
};

TEST_F(TcpEndpointTest, AnswersASynWithItsOwnMss) {
  tcp.listen();
  arrives(TcpHeader::kSyn, kTheirs, 0);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].header.flags, TcpHeader::kSyn | TcpHeader::kAck);
  EXPECT_EQ(sent[0].header.seq, kOurs);
  EXPECT_EQ(sent[0].header.ack, kTheirs + 1);
  EXPECT_EQ(sent[0].header.options.mss, 1448);
  EXPECT_FALSE(tcp.established());
  arrives(TcpHeader::kAck, kTheirs + 1, kOurs + 1);
  EXPECT_TRUE(tcp.established());
}

TEST_F(TcpEndpointTest, OpensAndAcknowledgesTheAnswer) {
  tcp.open();
  EXPECT_EQ(sent.at(0).header.flags, TcpHeader::kSyn);
  arrives(TcpHeader::kSyn | TcpHeader::kAck, kTheirs, kOurs + 1);
  EXPECT_TRUE(tcp.established());
  EXPECT_EQ(sent.at(1).header.flags, TcpHeader::kAck);
  EXPECT_EQ(sent.at(1).header.seq, kOurs + 1);
}

TEST_F(TcpEndpointTest, RefusesWithARst) {
  tcp.refuse();
  arrives(TcpHeader::kSyn, kTheirs, 0);
  EXPECT_EQ(sent.at(0).header.flags, TcpHeader::kRst | TcpHeader::kAck);
  EXPECT_EQ(sent.at(0).header.ack, kTheirs + 1);
  EXPECT_TRUE(tcp.over());
}

TEST_F(TcpEndpointTest, CutsWhereItIsToldAndAtTheMss) {
  connect();
  tcp.send(Bytes(30, 1));
  tcp.send(Bytes(150, 2));
  tcp.advance(0);
  EXPECT_THAT(sizes(), ElementsAre(30, 100, 50));
  EXPECT_EQ(sent[1].header.seq, kOurs + 31);
}

TEST_F(TcpEndpointTest, KeepsToTheWindow) {
  connect();
  tcp.send(Bytes(300, 1));
  tcp.advance(0);
  EXPECT_THAT(sizes(), ElementsAre(100, 100));  // a third would exceed the window of 250 by 50 octets
  arrives(TcpHeader::kAck, kTheirs + 1, kOurs + 101);
  tcp.advance(0);
  EXPECT_THAT(sizes(), ElementsAre(100, 100, 100));
  EXPECT_EQ(tcp.acked(), 100u);
}

TEST_F(TcpEndpointTest, SendsAgainWhatIsNotAcknowledged) {
  connect();
  tcp.send(Bytes(150, 1));
  tcp.close();
  tcp.advance(0);
  arrives(TcpHeader::kAck, kTheirs + 1, kOurs + 101, {}, 5);
  sent.clear();
  tcp.advance(4 + TcpEndpoint::kRetransmitPs);
  EXPECT_TRUE(sent.empty());
  tcp.advance(5 + TcpEndpoint::kRetransmitPs);
  EXPECT_THAT(sizes(), ElementsAre(50, 0));
  EXPECT_EQ(sent[0].header.seq, kOurs + 101);
  EXPECT_TRUE(sent[1].header.has(TcpHeader::kFin));
  arrives(TcpHeader::kAck, kTheirs + 1, kOurs + 152, {}, 6);
  EXPECT_EQ(tcp.acked(), 150u);
}

TEST_F(TcpEndpointTest, DeliversOnceAndInOrder) {
  connect();
  arrives(TcpHeader::kAck, kTheirs + 1, kOurs + 1, hex("0102 0304"));
  arrives(TcpHeader::kAck, kTheirs + 9, kOurs + 1, hex("090a"));  // after a hole
  arrives(TcpHeader::kAck, kTheirs + 3, kOurs + 1, hex("0304 0506 0708"));
  EXPECT_EQ(got, hex("0102 0304 0506 0708"));
  std::vector<std::uint32_t> acks;
  for (const Sent& s : sent) acks.push_back(s.header.ack - kTheirs);
  EXPECT_THAT(acks, ElementsAre(5, 5, 9));
}

TEST_F(TcpEndpointTest, IsOverWhenBothFinsAreThere) {
  connect();
  tcp.close();
  tcp.advance(0);
  arrives(TcpHeader::kAck, kTheirs + 1, kOurs + 2);
  EXPECT_FALSE(tcp.over());
  arrives(TcpHeader::kFin | TcpHeader::kAck, kTheirs + 1, kOurs + 2);
  EXPECT_TRUE(tcp.over());
  EXPECT_EQ(sent.back().header.ack, kTheirs + 2);
}

TEST_F(TcpEndpointTest, EndsWithARst) {
  connect();
  arrives(TcpHeader::kRst, kTheirs + 1, 0);
  EXPECT_TRUE(tcp.over());
  EXPECT_TRUE(tcp.peer_closed());
}

}  // namespace
}  // namespace rnic::replay
