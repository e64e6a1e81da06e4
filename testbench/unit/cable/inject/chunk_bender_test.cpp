// A bent packet equals one whose sender has put the changed segment into its chunk.
#include "model/cable/inject/chunk_bender.h"

#include <gmock/gmock.h>

#include "model/wire/ddp.h"
#include "model/wire/ddp_session.h"
#include "model/wire/sctp.h"

namespace rnic::test {
namespace {

using inject::ChunkBender;
using inject::Injection;
using inject::MessageKind;
using inject::Order;
using wire::Opcode;
using Bytes = std::vector<std::uint8_t>;

constexpr std::uint8_t kWhole = wire::SctpData::kUnordered | wire::SctpData::kBegin | wire::SctpData::kEnd;
constexpr std::uint16_t kStream = 4;

struct Chunk {
  std::uint32_t tsn = 0;
  Bytes segment;
  std::uint16_t stream = kStream;
  std::uint32_t ppid = wire::kPpidDdpSegment;
  std::uint8_t flags = kWhole;
};

Bytes packet(const std::vector<Chunk>& chunks) {
  Bytes octets(2000);
  wire::SctpWriter w(octets, {41000, 41001, 0x11223344});
  w.begin(wire::SctpChunkType::kSack);
  w.put(wire::SctpSack{7, 4660, 0, 0});
  for (const Chunk& c : chunks) {
    w.begin(wire::SctpChunkType::kData, c.flags);
    w.put(wire::SctpData{c.tsn, c.stream, 0, c.ppid});
    w.put(ByteSpan(Bytes{0, static_cast<std::uint8_t>(c.tsn)}));  // DDP-SSN
    w.put(ByteSpan(c.segment));
  }
  octets.resize(w.finish());
  return octets;
}

Bytes send(std::uint32_t msn, bool last = true, std::uint32_t mo = 0) {
  wire::DdpUntaggedHeader h;
  h.control = wire::DdpControl::pack(false, last, wire::kDdpVersion);
  h.rdmap = wire::RdmapControl::pack(Opcode::kSend);
  h.msn = msn;
  h.mo = mo;
  Bytes octets(18 + 5, 0xaa);
  EXPECT_EQ(h.emit(octets), 18u);
  return octets;
}

Injection injection(const std::string& field, std::uint64_t value, std::uint64_t number = 0,
                    std::uint64_t segment = 0) {
  Injection i;
  i.message = Opcode::kSend;
  i.number = number;
  i.segment = segment;
  i.change.value = value;
  for (const inject::Field& f : inject::fields_of(i.message)) {
    if (f.name == field) i.change.field = f;
  }
  EXPECT_TRUE(i.change.field) << field;
  return i;
}

class ChunkBenderTest : public testing::Test {
 protected:
  ChunkBender& bender(const Injection& i) {
    injection_ = i;
    order_ = {&injection_};
    bender_.emplace(std::vector<Order*>{&order_});
    return *bender_;
  }
  Bytes pass(const std::vector<Chunk>& chunks) {
    Bytes octets = packet(chunks);
    bent = bender_->pass(kStream, octets);
    return octets;
  }

  bool bent = false;
  Injection injection_;
  Order order_{nullptr};
  std::optional<ChunkBender> bender_;
};

TEST_F(ChunkBenderTest, OnlyTheMessageThatIsNamedIsChanged) {
  bender(injection("msn", 9, 1));
  EXPECT_EQ(pass({{1000, send(1)}}), packet({{1000, send(1)}}));
  EXPECT_FALSE(bent);
  EXPECT_EQ(pass({{1001, send(2)}, {1002, send(3)}}), packet({{1001, send(9)}, {1002, send(3)}}));
  EXPECT_TRUE(bent);
  EXPECT_TRUE(order_.done);
}

TEST_F(ChunkBenderTest, AChunkThatIsSentAgainIsChangedAgain) {
  bender(injection("msn", 9, 1));
  pass({{0xffffffff, send(1)}});
  pass({{0, send(2)}});  // TSNs wrap
  EXPECT_TRUE(bent);
  EXPECT_EQ(pass({{0xffffffff, send(1)}, {0, send(2)}}), packet({{0xffffffff, send(1)}, {0, send(9)}}));
  EXPECT_TRUE(bent);
}

TEST_F(ChunkBenderTest, SegmentsAreCountedWithinTheirMessage) {
  bender(injection("mo", 77, 1, 1));
  pass({{5, send(1, false)}, {6, send(1, true, 5)}, {7, send(2, false)}});
  EXPECT_FALSE(bent);
  EXPECT_EQ(pass({{8, send(2, true, 5)}}), packet({{8, send(2, true, 77)}}));
}

TEST_F(ChunkBenderTest, OtherStreamsMessagesAndPiecesPass) {
  bender(injection("msn", 9));
  const std::vector<Chunk> others{{1, send(1), kStream + 1},
                                  {2, send(1), kStream, wire::kPpidDdpSession},
                                  {3, send(1), kStream, wire::kPpidDdpSegment, kWhole & ~wire::SctpData::kEnd},
                                  {4, Bytes{0x41}}};
  EXPECT_EQ(pass(others), packet(others));
  EXPECT_FALSE(bent);
  EXPECT_FALSE(order_.done);
}

TEST_F(ChunkBenderTest, AnOctetBeyondTheMessageIsAFailure) {
  Injection i = injection("msn", 9);
  i.change.field.reset();
  i.change.octet = 23;
  bender(i);
  pass({{1, send(1)}});
  EXPECT_FALSE(order_.done);
  EXPECT_EQ(order_.failure, "the message has fewer octets");
}

TEST_F(ChunkBenderTest, ASessionIsKnownByItsFirstMessage) {
  EXPECT_EQ(ChunkBender::session_of(packet({{1, send(1)}})), std::nullopt);
  EXPECT_EQ(ChunkBender::session_of(packet({{1, Bytes{0, 5}, 6, wire::kPpidDdpSession}})), 6);
}

}  // namespace
}  // namespace rnic::test
