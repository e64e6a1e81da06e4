// sctp_packet through the C interface: packets octet by octet from the figures of RFC 9260 section 3, with a checksum
// bit by bit, and against a receiver and a sender of its own.
#include <array>
#include <cstdlib>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "testbench/unit/golden/handles.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

enum : std::uint8_t { kConsumed, kSackDelay, kT3Rtx };  // sctp_command.op
enum : std::uint8_t { kNoUserData = 2, kDuplicate, kBeyond, kNoRoom, kUnknownStream, kPiece, kBroken, kMessage };
enum : std::uint8_t { kPeerShutdown = 2, kShutDown, kAborted };               // sctp_association_event.kind
enum : std::uint8_t { kNotAgain, kFast, kTimeout, kPathMtu, kWindowOpened };  // sctp_packet_octets.resend
constexpr std::uint8_t kE = 1, kB = 2, kU = 4, kI = 8, kWhole = kU | kB | kE;
constexpr std::uint8_t kData = 0, kSack = 3, kAbort = 6, kShutdown = 7, kShutdownAck = 8, kError = 9, kComplete = 14;
constexpr std::uint16_t kPort = 5001, kPeerPort = 5002;
constexpr std::uint32_t kTag = 0x0a0b0c0d, kPeerTag = 0x01020304, kTsn = 0xffff'fff0, kPeerTsn = 0xffff'fffa;

// ---- Octets

void put16(Bytes& to, std::uint32_t value) {
  to.push_back(static_cast<std::uint8_t>(value >> 8));
  to.push_back(static_cast<std::uint8_t>(value));
}
void put32(Bytes& to, std::uint32_t value) {
  put16(to, value >> 16);
  put16(to, value & 0xffff);
}
std::uint32_t get16(const Bytes& from, std::size_t at) { return from.at(at) * 256u + from.at(at + 1); }
std::uint32_t get32(const Bytes& from, std::size_t at) { return get16(from, at) * 65'536u + get16(from, at + 2); }
Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Appendix A, without a table; the checksum's field is 0.
std::uint32_t crc_of(const Bytes& octets) {
  std::uint32_t crc = 0xffff'ffff;
  for (const std::uint8_t octet : octets) {
    crc ^= octet;
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ 0x82f6'3b78 : crc >> 1;
  }
  return ~crc;
}

Bytes chunk(std::uint8_t type, std::uint8_t flags, const Bytes& value) {
  Bytes octets{type, flags};
  put16(octets, static_cast<std::uint32_t>(4 + value.size()));
  octets = octets + value;
  while (octets.size() % 4 != 0) octets.push_back(0);
  return octets;
}
Bytes data_chunk(std::uint32_t tsn, std::uint16_t stream, const Bytes& user, std::uint8_t flags = kWhole,
                 std::uint32_t ppid = 16) {
  Bytes value;
  put32(value, tsn);
  put16(value, stream);
  put16(value, 0);
  put32(value, ppid);
  return chunk(kData, flags, value + user);
}
using Blocks = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
Bytes sack_chunk(std::uint32_t cumulative, std::uint32_t window, const Blocks& gaps = {},
                 const std::vector<std::uint32_t>& duplicates = {}) {
  Bytes value;
  put32(value, cumulative);
  put32(value, window);
  put16(value, static_cast<std::uint32_t>(gaps.size()));
  put16(value, static_cast<std::uint32_t>(duplicates.size()));
  for (const auto& [first, last] : gaps) {
    put16(value, first);
    put16(value, last);
  }
  for (const std::uint32_t tsn : duplicates) put32(value, tsn);
  return chunk(kSack, 0, value);
}
Bytes sealed(std::uint16_t from, std::uint16_t to, std::uint32_t tag, const Bytes& chunks) {
  Bytes packet;
  put16(packet, from);
  put16(packet, to);
  put32(packet, tag);
  put32(packet, 0);
  packet = packet + chunks;
  const std::uint32_t crc = crc_of(packet);
  for (int i = 0; i < 4; ++i) packet[8 + i] = static_cast<std::uint8_t>(crc >> 8 * i);
  return packet;
}
Bytes from_us(const Bytes& chunks) { return sealed(kPort, kPeerPort, kPeerTag, chunks); }
Bytes from_peer(const Bytes& chunks) { return sealed(kPeerPort, kPort, kTag, chunks); }

// ---- The end under test

rnic_sctp_association_row association_row(std::uint32_t peer_window = 1 << 20) {
  auto row = sized<rnic_sctp_association_row>();
  row.port = kPort;
  row.peer_port = kPeerPort;
  row.tag = kTag;
  row.peer_tag = kPeerTag;
  row.tsn = kTsn;
  row.peer_tsn = kPeerTsn;
  row.peer_window = peer_window;
  row.outbound = 4;
  row.inbound = 3;
  return row;
}

struct End {
  const Stage stage;
  explicit End(const std::string& settings = "{}", std::uint32_t peer_window = 1 << 20)
      : stage(open("sctp_packet", settings)) {
    const auto row = association_row(peer_window);
    set_row(stage, "association", 0, &row);
  }
  void peer(Bytes packet) {
    const auto m = message<rnic_sctp_packet_octets>(packet);
    ASSERT_EQ(rnic_sctp_packet_push_peer(stage.get(), &m), RNIC_OK) << rnic_stage_text(stage.get());
  }
  void send(std::uint16_t stream, Bytes octets, std::uint32_t ppid = 16) {
    auto m = message<rnic_sctp_user_message>(octets);
    m.stream = stream;
    m.ppid = ppid;
    m.unordered = 1;
    ASSERT_EQ(rnic_sctp_packet_push_send(stage.get(), &m), RNIC_OK) << rnic_stage_text(stage.get());
  }
  std::int32_t command(std::uint8_t op, std::uint32_t consumed = 0) {
    auto m = sized<rnic_sctp_command>();
    m.op = op;
    m.consumed = consumed;
    return rnic_sctp_packet_push_command(stage.get(), &m);
  }
  std::vector<WithOctets<rnic_sctp_packet_octets>> packets() {
    return drain_octets<rnic_sctp_packet_octets>(stage, RNIC_SCTP_PACKET_TO_PEER);
  }
  std::vector<Bytes> sent() {
    std::vector<Bytes> all;
    for (auto& packet : packets()) all.push_back(std::move(packet.octets));
    return all;
  }
  std::vector<WithOctets<rnic_sctp_data_chunk>> data() {
    return drain_octets<rnic_sctp_data_chunk>(stage, RNIC_SCTP_PACKET_DATA);
  }
  std::vector<WithOctets<rnic_sctp_association_event>> events() {
    return drain_octets<rnic_sctp_association_event>(stage, RNIC_SCTP_PACKET_EVENT);
  }
  std::uint64_t counter(const char* name) {
    std::uint64_t value = 0;
    EXPECT_EQ(rnic_stage_counter(stage.get(), name, &value), RNIC_OK) << name;
    return value;
  }
};

std::vector<std::uint8_t> fates(const std::vector<WithOctets<rnic_sctp_data_chunk>>& data) {
  std::vector<std::uint8_t> all;
  for (const auto& d : data) all.push_back(d.message.fate);
  return all;
}

// ---- Receiving

// What RFC 9260 section 6.2 and sctp_association.md say of SACKs, with sets of TSNs that do not wrap.
class ReferenceReceiver {
 public:
  static constexpr std::uint32_t kBuffer = 20'000, kWindow = 64;
  std::uint32_t held = 0;  // octets

  struct Chunk {
    std::uint64_t tsn;  // that of kPeerTsn is 1
    std::uint16_t stream;
    std::uint8_t flags;
    Bytes user;
  };
  std::vector<std::uint8_t> packet(const std::vector<Chunk>& chunks) {
    std::vector<std::uint8_t> expected;
    bool at_once = cumulative() != highest() || packets_ == 1 || first_, fresh = false;
    first_ = false;
    for (const Chunk& c : chunks) {
      expected.push_back(take(c));
      fresh = fresh || expected.back() == kMessage || expected.back() == kUnknownStream;
      at_once = at_once || (c.flags & kI) != 0 || expected.back() == kBeyond;
    }
    ++packets_;
    due = due || at_once || !fresh || cumulative() != highest();
    return expected;
  }
  Bytes sack() {
    const Bytes octets = sack_chunk(wire(cumulative()), kBuffer - held, gaps(), duplicates_);
    duplicates_.clear();
    packets_ = 0;
    due = false;
    return octets;
  }
  bool due = false;
  bool delayed() const { return !due && packets_ != 0; }
  static std::uint32_t wire(std::uint64_t tsn) { return static_cast<std::uint32_t>(kPeerTsn - 1 + tsn); }
  std::uint64_t cumulative() const {
    std::uint64_t tsn = 0;
    while (seen_.count(tsn + 1) != 0) ++tsn;
    return tsn;
  }

 private:
  std::uint64_t highest() const { return seen_.empty() ? 0 : *seen_.rbegin(); }
  std::uint8_t take(const Chunk& c) {
    if (c.tsn == 0 || seen_.count(c.tsn) != 0) {
      duplicates_.push_back(wire(c.tsn));
      return kDuplicate;
    }
    if (c.tsn > cumulative() + kWindow) return kBeyond;
    seen_.insert(c.tsn);
    if (c.stream >= 3) return kUnknownStream;
    held += static_cast<std::uint32_t>(c.user.size());
    return kMessage;
  }
  Blocks gaps() const {
    Blocks all;
    const std::uint64_t from = cumulative();
    for (auto at = seen_.upper_bound(from); at != seen_.end(); ++at) {
      const auto offset = static_cast<std::uint32_t>(*at - from);
      if (!all.empty() && all.back().second + 1 == offset) all.back().second = offset;
      else all.emplace_back(offset, offset);
    }
    return all;
  }

  std::set<std::uint64_t> seen_;
  std::vector<std::uint32_t> duplicates_;
  int packets_ = 0;  // with DATA, since the last SACK
  bool first_ = true;
};

class ReceiverTraffic {
 public:
  explicit ReceiverTraffic(unsigned seed) : rng_(seed) {}
  void run() {
    for (int i = 0; i < 400 && !testing::Test::HasFatalFailure(); ++i) {
      orderly_ = i / 100 % 2 != 0;
      step();
    }
    EXPECT_GT(reference_.cumulative(), 200u);
    EXPECT_GT(delayed_, 2);
  }

 private:
  unsigned any(unsigned below) { return static_cast<unsigned>(rng_() % below); }
  ReferenceReceiver::Chunk chunk() {
    const std::uint64_t next = reference_.cumulative() + 1;
    const std::uint64_t tsn =
        orderly_ || any(3) != 0 ? next + sent_here_++ : next + any(80) - std::min<std::uint64_t>(next, any(9));
    ReferenceReceiver::Chunk c{tsn, static_cast<std::uint16_t>(any(30) == 0 ? 3 + any(9) : any(3)), kWhole,
                               Bytes(1 + any(60))};
    if (any(9) == 0) c.flags |= kI;
    for (std::uint8_t& octet : c.user) octet = static_cast<std::uint8_t>(rng_());
    return c;
  }
  void step() {
    std::vector<ReferenceReceiver::Chunk> chunks;
    Bytes octets;
    sent_here_ = 0;
    for (unsigned n = 1 + any(3) / 2; n != 0; --n) {
      chunks.push_back(chunk());
      const auto& c = chunks.back();
      octets = octets + data_chunk(ReferenceReceiver::wire(c.tsn), c.stream, c.user, c.flags);
    }
    end_.peer(from_peer(octets));
    const auto expected = reference_.packet(chunks);
    std::vector<Bytes> answers;
    for (std::size_t i = 0; i < chunks.size() && answers.empty(); ++i) {
      if (expected[i] != kUnknownStream) continue;
      Bytes cause{0, 1, 0, 8};
      put16(cause, chunks[i].stream);
      answers.push_back(from_us(chunk_of(kError, cause + Bytes{0, 0})));
    }
    if (reference_.due) answers.push_back(from_us(reference_.sack()));
    ASSERT_EQ(end_.sent(), answers);
    compare_data(chunks, expected);
    if (any(4) == 0) consume();
    if (reference_.delayed() && any(3) == 0) {
      ++delayed_;
      ASSERT_EQ(end_.command(kSackDelay), RNIC_OK);
      ASSERT_THAT(end_.sent(), ElementsAre(from_us(reference_.sack())));
    }
  }
  static Bytes chunk_of(std::uint8_t type, const Bytes& value) { return test::chunk(type, 0, value); }
  void compare_data(const std::vector<ReferenceReceiver::Chunk>& chunks, const std::vector<std::uint8_t>& expected) {
    const auto data = end_.data();
    ASSERT_EQ(fates(data), expected);
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      EXPECT_EQ(data[i].message.tsn, ReferenceReceiver::wire(chunks[i].tsn));
      EXPECT_EQ(data[i].message.stream, chunks[i].stream);
      EXPECT_EQ(data[i].message.ppid, 16u);
      EXPECT_EQ(data[i].message.flags, chunks[i].flags);
      EXPECT_EQ(data[i].octets, expected[i] == kMessage ? chunks[i].user : Bytes{});
    }
  }
  // So early that no window update is due: it would be, for a quarter of the buffer.
  void consume() {
    ASSERT_LT(reference_.held, ReferenceReceiver::kBuffer / 4);
    ASSERT_EQ(end_.command(kConsumed, reference_.held), RNIC_OK);
    reference_.held = 0;
  }

  std::mt19937 rng_;
  End end_{R"({"receive_buffer": 20000, "reorder_chunks": 64})"};
  ReferenceReceiver reference_;
  bool orderly_ = false;
  unsigned sent_here_ = 0;  // missing TSNs in the packet
  int delayed_ = 0;
};

TEST(GoldenSctpPacket, SacksAreThoseOfAReceiverWithSets) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(seed);
    ReceiverTraffic(seed).run();
  }
}

// Three quarters of the buffer held, then all of it: the window is what is left, closes, and opens by a quarter.
TEST(GoldenSctpPacket, TheWindowClosesAndOpensByAQuarter) {
  End end(R"({"receive_buffer": 4000})");
  const auto whole = [&](std::uint32_t number) { end.peer(from_peer(data_chunk(kPeerTsn + number, 0, Bytes(1000)))); };
  for (std::uint32_t i = 0; i < 4; ++i) whole(i);
  EXPECT_EQ(end.sent(),
            (std::vector<Bytes>{from_us(sack_chunk(kPeerTsn, 3000)), from_us(sack_chunk(kPeerTsn + 2, 1000))}));
  whole(4);
  EXPECT_EQ(end.sent(), (std::vector<Bytes>{from_us(sack_chunk(kPeerTsn + 3, 0))}));
  EXPECT_EQ(fates(end.data()), (std::vector<std::uint8_t>{kMessage, kMessage, kMessage, kMessage, kNoRoom}));
  EXPECT_EQ(end.command(kConsumed, 999), RNIC_OK);
  EXPECT_THAT(end.sent(), IsEmpty());
  EXPECT_EQ(end.command(kConsumed, 1), RNIC_OK);
  EXPECT_EQ(end.sent(), (std::vector<Bytes>{from_us(sack_chunk(kPeerTsn + 3, 1000))}));
}

// The pieces of some messages in any order.
TEST(GoldenSctpPacket, MessagesInPiecesAreThereOnceTheyAreComplete) {
  std::mt19937 rng(5);
  End end;
  std::vector<std::pair<std::uint32_t, Bytes>> chunks;  // by TSN
  std::multiset<Bytes> messages;
  for (std::uint32_t tsn = kPeerTsn; messages.size() != 4;) {
    Bytes all;
    const unsigned pieces = 2 + rng() % 4;
    for (unsigned i = 0; i < pieces; ++i) {
      Bytes piece(1 + rng() % 250, static_cast<std::uint8_t>(rng()));
      const std::uint8_t flags = kU | (i == 0 ? kB : 0) | (i + 1 == pieces ? kE : 0);
      chunks.emplace_back(tsn, data_chunk(tsn, 1, piece, flags));
      ++tsn;
      all = all + piece;
    }
    messages.insert(all);
  }
  const std::uint32_t last = chunks.back().first;
  std::shuffle(chunks.begin(), chunks.end(), rng);
  for (const auto& [tsn, octets] : chunks) end.peer(from_peer(octets));
  std::multiset<Bytes> received;
  for (const auto& d : end.data()) {
    EXPECT_EQ(d.octets.empty(), d.message.fate == kPiece);
    if (d.message.fate == kMessage) received.insert(d.octets);
  }
  EXPECT_EQ(received, messages);
  std::size_t held = 0;
  for (const Bytes& octets : messages) held += octets.size();
  EXPECT_EQ(end.sent().back(), from_us(sack_chunk(last, static_cast<std::uint32_t>(131'072 - held))));
}

TEST(GoldenSctpPacket, PacketsThatAreNoneAreCounted) {
  End end;
  const Bytes good = from_peer(data_chunk(kPeerTsn, 0, {1, 2, 3}));
  for (std::size_t i = 0; i < good.size(); ++i) {
    Bytes bad = good;
    bad[i] ^= 0x10;
    end.peer(bad);
  }
  EXPECT_EQ(end.counter("bad_checksum"), good.size());
  end.peer(Bytes(good.begin(), good.begin() + 11));
  end.peer(good + Bytes{0});
  end.peer(sealed(0, kPort, kTag, data_chunk(kPeerTsn, 0, {1})));
  end.peer(from_peer(data_chunk(kPeerTsn, 0, Bytes(9000))));
  EXPECT_EQ(end.counter("bad_shape"), 4u);
  end.peer(sealed(kPeerPort, kPort, kTag ^ 1, data_chunk(kPeerTsn, 0, {1})));
  EXPECT_EQ(end.counter("wrong_tag"), 1u);
  EXPECT_THAT(end.sent(), IsEmpty());
  EXPECT_THAT(end.data(), IsEmpty());
  // Of no association: ABORT with the tag as it was, and T (section 8.4).
  end.peer(sealed(kPeerPort, kPort + 1, 77, data_chunk(kPeerTsn, 0, {1})));
  EXPECT_EQ(end.sent(), (std::vector<Bytes>{sealed(kPort + 1, kPeerPort, 77, chunk(kAbort, 1, {}))}));
  EXPECT_EQ(end.counter("out_of_the_blue"), 1u);
}

// ---- Sending

// Chunks of a packet of ours, whose header and checksum are judged.
struct SentChunk {
  std::uint8_t type, flags;
  Bytes value;
  std::uint32_t tsn() const { return get32(value, 0); }
  Bytes user() const { return {value.begin() + 12, value.end()}; }
};
std::vector<SentChunk> chunks_of(const Bytes& packet) {
  EXPECT_EQ(packet, from_us(Bytes(packet.begin() + 12, packet.end())));
  std::vector<SentChunk> all;
  for (std::size_t at = 12; at < packet.size();) {
    const std::size_t length = get16(packet, at + 2);
    const auto from = packet.begin() + static_cast<std::ptrdiff_t>(at);
    all.push_back({packet[at], packet[at + 1], Bytes(from + 4, from + static_cast<std::ptrdiff_t>(length))});
    at += (length + 3) / 4 * 4;
  }
  return all;
}

constexpr std::uint32_t kWindow = 1 << 20;

// At 1500 octets a full DATA chunk has 1468; 3 of them are the window of section 7.2.1, and in slow start each SACK
// adds one (7.2.1).
TEST(GoldenSctpPacket, AsMuchLeavesAsTheCongestionWindowHolds) {
  End end(R"({"initial_window": 3})");
  std::vector<Bytes> expected;
  for (std::uint32_t i = 0; i < 8; ++i) {
    const Bytes user(1452, static_cast<std::uint8_t>(i));
    end.send(static_cast<std::uint16_t>(i % 4), user, 17);
    expected.push_back(from_us(data_chunk(kTsn + i, static_cast<std::uint16_t>(i % 4), user, kWhole, 17)));
  }
  const auto part = [&](int from, int to) {
    return std::vector<Bytes>(expected.begin() + from, expected.begin() + to);
  };
  EXPECT_EQ(end.sent(), part(0, 3));
  end.peer(from_peer(sack_chunk(kTsn, kWindow)));
  EXPECT_EQ(end.sent(), part(3, 5));
  end.peer(from_peer(sack_chunk(kTsn + 4, kWindow)));
  EXPECT_EQ(end.sent(), part(5, 8));
  const auto acknowledged = drain<rnic_sctp_acknowledged>(end.stage, RNIC_SCTP_PACKET_ACKNOWLEDGED);
  ASSERT_THAT(acknowledged, SizeIs(5));
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(acknowledged[i].stream, i % 4);
}

TEST(GoldenSctpPacket, NothingNewLeavesIntoAClosedWindowButAProbe) {
  End end("{}", 1500);
  for (std::uint8_t i = 0; i < 3; ++i) end.send(0, Bytes(1000, i));
  EXPECT_EQ(end.sent(), (std::vector<Bytes>{from_us(data_chunk(kTsn, 0, Bytes(1000, 0)))}));
  end.peer(from_peer(sack_chunk(kTsn, 999)));
  EXPECT_THAT(end.sent(), IsEmpty());
  EXPECT_EQ(end.command(kT3Rtx), RNIC_OK);
  EXPECT_EQ(end.sent(), (std::vector<Bytes>{from_us(data_chunk(kTsn + 1, 0, Bytes(1000, 1)))}));
  end.peer(from_peer(sack_chunk(kTsn + 1, 1000)));
  EXPECT_EQ(end.sent(), (std::vector<Bytes>{from_us(data_chunk(kTsn + 2, 0, Bytes(1000, 2)))}));
}

// Section 7.2.4: the third report, of chunks beyond the lost one.
TEST(GoldenSctpPacket, TheThirdReportOfALossResends) {
  End end;
  for (std::uint8_t i = 0; i < 6; ++i) end.send(1, {i});
  ASSERT_THAT(end.packets(), SizeIs(6));
  for (std::uint32_t last = 2; last < 4; ++last) end.peer(from_peer(sack_chunk(kTsn - 1, kWindow, {{2, last}})));
  EXPECT_THAT(end.packets(), IsEmpty());
  end.peer(from_peer(sack_chunk(kTsn - 1, kWindow, {{2, 4}})));
  const auto again = end.packets();
  ASSERT_THAT(again, SizeIs(1));
  EXPECT_EQ(again[0].octets, from_us(data_chunk(kTsn, 1, {0})));
  EXPECT_EQ(again[0].message.resend, kFast);
  // Section 6.3.3: all that is in flight, one packet at first.
  EXPECT_EQ(end.command(kT3Rtx), RNIC_OK);
  auto late = end.packets();
  ASSERT_THAT(late, SizeIs(1));
  EXPECT_EQ(late[0].octets, from_us(data_chunk(kTsn, 1, {0})));
  EXPECT_EQ(late[0].message.resend, kTimeout);
  end.peer(from_peer(sack_chunk(kTsn + 3, kWindow)));
  late = end.packets();
  ASSERT_THAT(late, SizeIs(2));
  EXPECT_EQ(late[1].octets, from_us(data_chunk(kTsn + 5, 1, {5})));
  EXPECT_EQ(late[1].message.resend, kTimeout);
}

TEST(GoldenSctpPacket, ADelayedSackTravelsWithData) {
  End end;
  end.peer(from_peer(data_chunk(kPeerTsn, 0, {1})));
  EXPECT_THAT(end.sent(), SizeIs(1));
  end.peer(from_peer(data_chunk(kPeerTsn + 1, 2, {2, 3})));
  EXPECT_THAT(end.sent(), IsEmpty());
  end.send(3, {4, 5, 6});
  EXPECT_EQ(end.sent(),
            (std::vector<Bytes>{from_us(sack_chunk(kPeerTsn + 1, 131'072 - 3) + data_chunk(kTsn, 3, {4, 5, 6}))}));
  EXPECT_EQ(end.command(kSackDelay), RNIC_E_VALUE);
}

// A peer behind a bad wire, which takes packets apart with its own arithmetic.
class LossyPeer {
 public:
  explicit LossyPeer(unsigned seed) : rng_(seed) {}
  void run() {
    for (unsigned i = 0; i < 5000 && !done() && !testing::Test::HasFatalFailure(); ++i) step();
    ASSERT_TRUE(done());
    compare();
    EXPECT_GT(again_, 5u);
  }

 private:
  struct Sent {
    std::uint16_t stream;
    std::uint32_t ppid;
    Bytes octets;
  };
  static constexpr std::size_t kMessages = 150, kMtu = 576;

  unsigned any(unsigned below) { return static_cast<unsigned>(rng_() % below); }
  bool done() const { return messages_.size() == kMessages && acknowledged_ == kMessages; }
  void step() {
    if (messages_.size() != kMessages && any(2) == 0) send();
    take();
    if (!wire_.empty() && any(3) != 0) {
      arrive(any(4) == 0 ? any(static_cast<unsigned>(wire_.size())) : 0);
    } else if (unanswered_ && any(2) == 0) {
      answer();
    } else if (wire_.empty() && !unanswered_ && acknowledged_ != messages_.size()) {
      ASSERT_EQ(end_.command(kT3Rtx), RNIC_OK) << rnic_stage_text(end_.stage.get());
    }
    for (const auto& a : drain<rnic_sctp_acknowledged>(end_.stage, RNIC_SCTP_PACKET_ACKNOWLEDGED)) {
      ASSERT_EQ(a.stream, messages_.at(acknowledged_++).stream);
    }
  }
  void send() {
    Bytes octets(1 + any(any(3) == 0 ? 2000 : 500));
    for (std::uint8_t& octet : octets) octet = static_cast<std::uint8_t>(rng_());
    messages_.push_back({static_cast<std::uint16_t>(any(4)), 16 + any(2), octets});
    end_.send(messages_.back().stream, octets, messages_.back().ppid);
  }
  void take() {
    for (const auto& packet : end_.packets()) {
      ASSERT_LE(packet.octets.size(), kMtu - 20);
      const auto chunks = chunks_of(packet.octets);
      ASSERT_THAT(chunks, SizeIs(1));
      ASSERT_EQ(chunks[0].type, kData);
      const std::uint32_t number = chunks[0].tsn() - kTsn;
      const bool again = number < next_;
      ASSERT_EQ(packet.message.resend != kNotAgain, again);
      again_ += again;
      ASSERT_LE(number, next_);  // TSNs ascend by 1
      next_ += !again;
      if (any(8) != 0) wire_.push_back(chunks[0]);
    }
  }
  void arrive(std::size_t which) {
    const auto at = wire_.begin() + static_cast<std::ptrdiff_t>(which);
    const auto known = chunks_.emplace(at->tsn() - kTsn, *at).first;
    ASSERT_EQ(known->second.value, at->value);  // a TSN has the same octets each time
    ASSERT_EQ(known->second.flags, at->flags);
    wire_.erase(at);
    unanswered_ = true;
  }
  void answer() {
    unanswered_ = false;
    if (any(6) == 0) return;  // lost
    std::uint32_t up_to = 0;
    while (chunks_.count(up_to) != 0) ++up_to;
    Blocks gaps;
    for (auto at = chunks_.upper_bound(up_to); at != chunks_.end(); ++at) {
      const std::uint32_t offset = at->first - up_to + 1;
      if (!gaps.empty() && gaps.back().second + 1 == offset) gaps.back().second = offset;
      else gaps.emplace_back(offset, offset);
    }
    end_.peer(from_peer(sack_chunk(kTsn - 1 + up_to, 20'000, gaps)));
  }
  void compare() {
    std::size_t number = 0;
    Bytes octets;
    for (const auto& [tsn, c] : chunks_) {
      ASSERT_LT(number, kMessages);
      const Sent& m = messages_[number];
      ASSERT_EQ((c.flags & kB) != 0, octets.empty());
      ASSERT_EQ(c.flags & ~(kB | kE), kU);
      ASSERT_EQ(get16(c.value, 4), m.stream);
      ASSERT_EQ(get16(c.value, 6), 0u);
      ASSERT_EQ(get32(c.value, 8), m.ppid);
      octets = octets + c.user();
      if ((c.flags & kE) == 0) continue;
      ASSERT_EQ(std::exchange(octets, {}), m.octets);
      ++number;
    }
    EXPECT_EQ(number, kMessages);
  }

  std::mt19937 rng_;
  End end_{R"({"mtu": 576, "initial_window": 4})", 20'000};
  std::vector<Sent> messages_;
  std::deque<SentChunk> wire_;
  std::map<std::uint32_t, SentChunk> chunks_;  // that have arrived, by TSN
  std::uint32_t next_ = 0;                     // TSNs that were used
  std::size_t acknowledged_ = 0;
  unsigned again_ = 0;
  bool unanswered_ = false;
};

TEST(GoldenSctpPacket, AllMessagesReachAPeerBehindABadWire) {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE(seed);
    LossyPeer(seed).run();
  }
}

// ---- The end of an association

TEST(GoldenSctpPacket, APeersShutdownWaitsForWhatWasSent) {
  End end;
  end.send(0, {1});
  EXPECT_THAT(end.sent(), SizeIs(1));
  Bytes tsn;
  put32(tsn, kTsn - 1);
  end.peer(from_peer(chunk(kShutdown, 0, tsn)));
  auto events = end.events();
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].message.kind, kPeerShutdown);
  EXPECT_THAT(end.sent(), IsEmpty());
  Bytes octets{2};
  auto late = message<rnic_sctp_user_message>(octets);
  late.unordered = 1;
  refused(end.stage, RNIC_SCTP_PACKET_SEND, late, "being shut down");

  end.peer(from_peer(sack_chunk(kTsn, kWindow)));
  EXPECT_EQ(end.sent(), (std::vector<Bytes>{from_us(chunk(kShutdownAck, 0, {}))}));
  end.peer(from_peer(chunk(kComplete, 0, {})));
  events = end.events();
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].message.kind, kShutDown);
  refused(end.stage, RNIC_SCTP_PACKET_SEND, late, "no association");
  end.peer(from_peer(data_chunk(kPeerTsn, 0, {1})));
  EXPECT_EQ(end.sent(), (std::vector<Bytes>{sealed(kPort, kPeerPort, kTag, chunk(kAbort, 1, {}))}));
}

// Sections 3.3.10.9 and 6.2.1: causes 9 and 13; and an ABORT after as many timeouts as may be.
TEST(GoldenSctpPacket, WhatEndsAnAssociation) {
  const auto ends = [](End& end, std::uint16_t cause, const Bytes& abort) {
    EXPECT_EQ(end.sent().back(), from_us(chunk(kAbort, 0, abort)));
    const auto events = end.events();
    ASSERT_THAT(events, SizeIs(1));
    EXPECT_EQ(events[0].message.kind, kAborted);
    EXPECT_EQ(events[0].message.cause, cause);
    EXPECT_EQ(end.command(kConsumed), RNIC_E_VALUE);
  };
  End empty;
  empty.peer(from_peer(data_chunk(0x12345678, 0, {})));
  ends(empty, 9, {0, 9, 0, 8, 0x12, 0x34, 0x56, 0x78});
  End ahead;
  ahead.send(0, {1});
  ahead.peer(from_peer(sack_chunk(kTsn + 1, kWindow)));
  ends(ahead, 13, {0, 13, 0, 4});
  End silent(R"({"max_retries": 1})");
  silent.send(0, {1});
  EXPECT_EQ(silent.command(kT3Rtx), RNIC_OK);
  EXPECT_EQ(silent.command(kT3Rtx), RNIC_OK);
  ends(silent, 12, {0, 12, 0, 4});
  End told;
  told.peer(from_peer(chunk(kAbort, 0, {0, 12, 0, 6, 'b', 'y'})));
  const auto events = told.events();
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].message.cause, 12);
  EXPECT_EQ(events[0].octets, (Bytes{'b', 'y'}));
  EXPECT_THAT(told.sent(), IsEmpty());
}

// ---- Sessions above it

// A host with both kinds, as sctp_packet.md puts them together.
struct SessionHost {
  const Stage session = open("sctp_session", R"({"streams": 3})");
  unsigned pieces = 0;  // received
  const Stage packets;

  explicit SessionHost(bool first) : packets(open("sctp_packet", first ? R"({"mtu": 576})" : "{}")) {
    auto row = association_row();
    if (!first) {
      std::swap(row.port, row.peer_port);
      std::swap(row.tag, row.peer_tag);
      std::swap(row.tsn, row.peer_tsn);
      std::swap(row.outbound, row.inbound);
    }
    set_row(packets, "association", 0, &row);
  }
  void command(std::uint8_t op, Bytes octets) {
    auto c = message<rnic_session_command>(octets);
    c.op = op;
    c.stream = 2;
    ASSERT_EQ(rnic_sctp_session_push_command(session.get(), &c), RNIC_OK) << rnic_stage_text(session.get());
  }
  // Packets to the other one, which are counted.
  unsigned pass(SessionHost& to) {
    for (auto& m : drain_octets<rnic_sctp_user_message>(session, RNIC_SCTP_SESSION_TO_PEER)) {
      auto user = m.message;
      user.octets = m.octets.data();
      EXPECT_EQ(rnic_sctp_packet_push_send(packets.get(), &user), RNIC_OK) << rnic_stage_text(packets.get());
    }
    unsigned n = 0;
    for (auto& p : drain_octets<rnic_sctp_packet_octets>(packets, RNIC_SCTP_PACKET_TO_PEER)) {
      ++n;
      to.take(p.octets);
    }
    return n;
  }
  void take(Bytes& octets) {
    const auto packet = message<rnic_sctp_packet_octets>(octets);
    EXPECT_EQ(rnic_sctp_packet_push_peer(packets.get(), &packet), RNIC_OK) << rnic_stage_text(packets.get());
    for (const auto& a : drain<rnic_sctp_acknowledged>(packets, RNIC_SCTP_PACKET_ACKNOWLEDGED)) {
      EXPECT_EQ(rnic_sctp_session_push_acknowledged(session.get(), &a), RNIC_OK) << rnic_stage_text(session.get());
    }
    for (auto& d : drain_octets<rnic_sctp_data_chunk>(packets, RNIC_SCTP_PACKET_DATA)) {
      auto user = message<rnic_sctp_user_message>(d.octets);
      user.stream = d.message.stream;
      user.ppid = d.message.ppid;
      user.unordered = (d.message.flags & kU) != 0;
      pieces += d.message.fate == kPiece;
      if (d.message.fate != kMessage) continue;
      EXPECT_EQ(rnic_sctp_session_push_peer(session.get(), &user), RNIC_OK) << rnic_stage_text(session.get());
    }
  }
  std::uint8_t event() {
    const auto events = drain_octets<rnic_session_event>(session, RNIC_SCTP_SESSION_EVENT);
    return events.size() == 1 ? events[0].message.kind : 0;
  }
};

TEST(GoldenSctpPacket, SessionsTravelInPackets) {
  constexpr std::uint8_t kListen = 0, kConnect = 1, kAccept = 2, kSegment = 6, kRequest = 7, kEstablished = 8;
  SessionHost a(true), b(false);
  const auto exchange = [&] {
    while (a.pass(b) + b.pass(a) != 0) {
    }
  };
  b.command(kListen, {});
  a.command(kConnect, {'h', 'i'});
  exchange();
  ASSERT_EQ(b.event(), kRequest);
  b.command(kAccept, {});
  exchange();
  ASSERT_EQ(a.event(), kEstablished);
  std::vector<Bytes> sent;
  for (std::uint8_t i = 0; i < 5; ++i) {
    sent.emplace_back(1 + 350 * i, i);  // the last ones in pieces
    a.command(kSegment, sent.back());
  }
  exchange();
  std::vector<Bytes> delivered;
  for (auto& segment : drain_octets<rnic_session_segment>(b.session, RNIC_SCTP_SESSION_DELIVERED)) {
    delivered.push_back(std::move(segment.octets));
  }
  EXPECT_EQ(delivered, sent);
  EXPECT_EQ(b.pieces, 1u + 1u + 2u);  // of 701, 1051 and 1401 octets, at 528 in a chunk
}

TEST(GoldenSctpPacket, WhatCannotBeIsRefused) {
  const Stage none = open("sctp_packet");
  Bytes octets(1);
  auto user = message<rnic_sctp_user_message>(octets);
  user.unordered = 1;
  refused(none, RNIC_SCTP_PACKET_SEND, user, "no association: the row");
  const End end(R"({"send_chunks": 2})", 1500);
  user.stream = 4;
  refused(end.stage, RNIC_SCTP_PACKET_SEND, user, "streams 0 to 3, and no 4");
  user.stream = 3;
  user.unordered = 0;
  refused(end.stage, RNIC_SCTP_PACKET_SEND, user, "unordered");
  user.unordered = 1;
  user.octets_n = 0;
  refused(end.stage, RNIC_SCTP_PACKET_SEND, user, "no octets");
  Bytes long_one(65'520);
  auto longer = message<rnic_sctp_user_message>(long_one);
  longer.unordered = 1;
  refused(end.stage, RNIC_SCTP_PACKET_SEND, longer, "more than 65519 octets");
  user.octets_n = 1;
  for (int i = 0; i < 4; ++i) ASSERT_EQ(rnic_sctp_packet_push_send(end.stage.get(), &user), RNIC_OK);
  refused(end.stage, RNIC_SCTP_PACKET_SEND, user, "2 messages wait already");

  auto command = sized<rnic_sctp_command>();
  command.consumed = 1;
  refused(end.stage, RNIC_SCTP_PACKET_COMMAND, command, "consumed is 1, but 0 octets wait");
  command.op = kSackDelay;
  refused(end.stage, RNIC_SCTP_PACKET_COMMAND, command, "no acknowledgement is delayed");
  command.op = 3;
  refused(end.stage, RNIC_SCTP_PACKET_COMMAND, command, "none of its values");
  for (const std::uint8_t type : {1, 10}) {
    Bytes packet = from_peer(chunk(type, 0, Bytes(16)));
    refused(end.stage, RNIC_SCTP_PACKET_PEER, message<rnic_sctp_packet_octets>(packet), "predicts no set-up");
  }
}

TEST(GoldenSctpPacket, RowsThatNoAssociationHasAreRefused) {
  const Stage stage = open("sctp_packet");
  auto row = association_row(1499);
  refused(stage, "association", 0, row, "1500 octets at least");
  row.peer_window = 1500;
  refused(stage, "association", 1, row, "rows 0 to 0, and no 1");
  row.inbound = 0;
  refused(stage, "association", 0, row, "a stream in each direction");
  row.peer_tag = 0;
  refused(stage, "association", 0, row, "no tag is 0");
  row.port = 0;
  refused(stage, "association", 0, row, "no port is 0");
  rnic_stage* small = nullptr;
  EXPECT_EQ(rnic_stage_open(RNIC_GOLDEN_ABI, "sctp_packet", R"({"receive_buffer": 1500})", &small), RNIC_E_SETTINGS);
  EXPECT_THAT(rnic_stage_text(small), testing::HasSubstr("receive_buffer: three quarters of 1500 octets"));
  rnic_stage_close(small);
}

}  // namespace
}  // namespace rnic::test
