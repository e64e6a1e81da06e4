// The ordering rules of RFC 5040 section 5.5, one by one, between a chip and a peer built by hand.
#include "testbench/system/guard_bench.h"

namespace rnic::test {
namespace {

using abi::WrOpcode;
using testing::ElementsAre;

constexpr std::uint32_t kSink = 0x5678;

NodeConfig narrow() {
  NodeConfig c;
  c.rnic.pcie.link.generation = 1;  // slows down a long Read Response
  c.rnic.pcie.link.width = 1;
  c.rnic.tx.payload_fetch.jobs = 4;
  return c;
}

class Ordering : public GuardBench {
 protected:
  static constexpr std::uint32_t kBytes = 64 * 1024;
  explicit Ordering(const NodeConfig& config = {}) : GuardBench(config) {}

  void set_up() {
    peer.wait_us(20);
    open();
    pd = domain();
    address = memory(kBytes);
    mr = &region(pd, address, kBytes, abi::kLocalWrite | abi::kRemoteWrite | abi::kRemoteRead);
    qp = &queue_pair(pd);
    for (unsigned i = 0; i < 4; ++i) post_receive(*qp, i + 1, address + 1024 + 64 * i, 64, mr->lkey());
    stream = &connect(*qp);
  }
  Bytes write(std::uint64_t at, const Bytes& payload) const {
    return tagged("C140", mr->rkey(), address + at, payload);
  }
  static Bytes send(std::uint32_t msn, const Bytes& payload) { return untagged("4143", 0, 0, msn, payload); }
  Bytes read(std::uint32_t msn, std::uint64_t at, std::uint32_t bytes) const {
    return read_request(msn, kSink, 0, bytes, mr->rkey(), address + at);
  }
  host::SendWr work(WrOpcode op, std::uint64_t id, unsigned flags = abi::kWqeSignaled) const {
    host::SendWr wr;
    wr.wr_id = id;
    wr.opcode = op;
    wr.send_flags = static_cast<std::uint8_t>(flags);
    wr.num_sge = 1;
    wr.sg_list[0] = {address + 512, 8, mr->lkey()};
    wr.rkey = 0x1234;
    return wr;
  }
  Bytes response(std::uint32_t stag, std::uint64_t to, const Bytes& payload) {
    return tagged("C142", stag, to, payload);
  }
  std::vector<std::uint64_t> completed() const {
    std::vector<std::uint64_t> ids;
    for (const host::Wc& wc : host.completions) {
      EXPECT_EQ(wc.status, abi::WcStatus::kSuccess);
      ids.push_back(wc.wr_id);
    }
    return ids;
  }

  host::Pd pd;
  host::Mr* mr = nullptr;
  host::Qp* qp = nullptr;
  RawStream* stream = nullptr;
  std::uint64_t address = 0;
};

// Rules 12 and 17: the source is read after the Write and the Send before it are in memory.
TEST_F(Ordering, AReadSeesEarlierWritesAndSends) {
  run([&] {
    set_up();
    const Bytes a = from_hex("0123456789ABCDEF"), b = from_hex("FEDCBA9876543210");
    // Three FPDUs in one segment.
    stream->send(stream->fpdu(write(1088, a)) + stream->fpdu(send(1, b)) + stream->fpdu(read(1, 1024, 72)));
    const Bytes between = octets_at(address + 1032, 56);
    EXPECT_EQ(stream->receive(), response(kSink, 0, b + between + a));
  });
}

// Rules 3, 10, 12 and 16: nothing after a gap is delivered, and the final state is as if there had been no gap.
TEST_F(Ordering, NothingIsDeliveredBehindAGap) {
  run([&] {
    set_up();
    const Bytes before = octets_at(address, kBytes), payload = from_hex("0123456789ABCDEF");
    const Bytes first = stream->fpdu(write(0, payload)) + stream->fpdu(send(1, payload));
    const Bytes second = stream->fpdu(send(2, payload)) + stream->fpdu(read(1, 0, 8));
    stream->send_ahead(first, second);
    peer.wait_us(50);
    EXPECT_THAT(completed(), ElementsAre());
    EXPECT_EQ(octets_at(address, kBytes), before);
    EXPECT_EQ(stream->unread(), 0u);
    stream->send(first);
    stream->send(second);
    EXPECT_EQ(stream->receive(), response(kSink, 0, payload));
    EXPECT_TRUE(await([&] { return completion(2) != nullptr; }));
    EXPECT_THAT(completed(), ElementsAre(1, 2));
  });
}

class SlowResponder : public Ordering {
 protected:
  SlowResponder() : Ordering(narrow()) {}
};
// Rule 18, and rule 20: the responses come in the order of their requests, whatever their length.
TEST_F(SlowResponder, SendsCompleteBeforeEarlierReadsAreAnswered) {
  constexpr std::uint32_t kLong = 40'000;
  run([&] {
    set_up();
    stream->send_ulpdu(read(1, 2048, kLong));
    stream->send_ulpdu(read(2, 0, 8));
    stream->send_ulpdu(send(1, from_hex("55")));
    std::uint32_t got = 0, got_at_completion = kLong;
    while (got < kLong) {
      const Bytes segment = stream->receive();
      ASSERT_GT(segment.size(), 14u);
      got += static_cast<std::uint32_t>(segment.size()) - 14;
      EXPECT_EQ(segment[0], got == kLong ? 0xc1 : 0x81);
      if (completion(1) != nullptr) got_at_completion = std::min(got_at_completion, got);
    }
    EXPECT_LT(got_at_completion, kLong);
    EXPECT_EQ(stream->receive(), response(kSink, 0, octets_at(address, 8)));
  });
}

// Rules 13, 14, 15 and 19.
TEST_F(Ordering, WireAndCompletionsKeepThePostingOrder) {
  run([&] {
    set_up();
    for (const auto& [op, id] : {std::pair{WrOpcode::kSend, 10},
                                 {WrOpcode::kRdmaWrite, 11},
                                 {WrOpcode::kRdmaRead, 12},
                                 {WrOpcode::kSend, 13},
                                 {WrOpcode::kRdmaRead, 14},
                                 {WrOpcode::kRdmaWrite, 15}}) {
      post(*qp, work(op, static_cast<std::uint64_t>(id)));
    }
    std::vector<unsigned> opcodes;
    for (unsigned i = 0; i < 6; ++i) opcodes.push_back(stream->receive().at(1) & 0xf);
    EXPECT_THAT(opcodes, ElementsAre(3, 0, 1, 3, 1, 0));
    peer.wait_us(50);  // everything is acknowledged
    EXPECT_THAT(completed(), ElementsAre(10, 11));
    const std::uint64_t to = address + 512;
    stream->send_ulpdu(tagged("8142", mr->rkey(), to, from_hex("01020304")));
    peer.wait_us(20);
    EXPECT_THAT(completed(), ElementsAre(10, 11));  // half of it
    stream->send_ulpdu(response(mr->rkey(), to + 4, from_hex("05060708")));
    EXPECT_TRUE(await([&] { return completion(13) != nullptr; }));
    EXPECT_EQ(octets_at(to, 8), from_hex("0102030405060708"));
    peer.wait_us(20);
    EXPECT_THAT(completed(), ElementsAre(10, 11, 12, 13));
    stream->send_ulpdu(response(mr->rkey(), to, from_hex("1112131415161718")));
    EXPECT_TRUE(await([&] { return completion(15) != nullptr; }));
    EXPECT_THAT(completed(), ElementsAre(10, 11, 12, 13, 14, 15));
  });
}

// Rule 12: a program that needs the old value fences the requests after the Read.
TEST_F(Ordering, AFenceHoldsWhatFollowsUntilTheReadIsAnswered) {
  run([&] {
    set_up();
    post(*qp, work(WrOpcode::kRdmaRead, 10));
    post(*qp, work(WrOpcode::kRdmaWrite, 11, abi::kWqeSignaled | abi::kWqeFence));
    EXPECT_EQ(stream->receive().at(1), 0x41);
    peer.wait_us(50);
    EXPECT_EQ(stream->unread(), 0u);
    stream->send_ulpdu(response(mr->rkey(), address + 512, from_hex("0102030405060708")));
    EXPECT_EQ(stream->receive(), tagged("C140", 0x1234, 0, from_hex("0102030405060708")));
  });
}

// RFC 5041 section 5.3: delivery at most once, whether TCP repeats octets out of order or after their delivery, or a
// peer repeats its message.
TEST_F(Ordering, AMessageIsDeliveredOnceHoweverOftenItComes) {
  run([&] {
    set_up();
    const Bytes ones = from_hex("1111111111111111"), twos = from_hex("2222222222222222");
    const Bytes first = stream->fpdu(send(1, ones)), second = stream->fpdu(send(2, twos));
    stream->send_ahead(first, second);
    stream->send_ahead(first, second);
    stream->send(first);
    stream->send(second);
    peer.wait_us(20);
    EXPECT_THAT(completed(), ElementsAre(1, 2));
    stream->send_ulpdu(send(2, ones));
    EXPECT_EQ(stream->receive(), from_hex("4147 00000000 00000002 00000001 00000000"
                                          "1203C000 001A 4143 00000000 00000000 00000002 00000000"));
    EXPECT_TRUE(stream->receive_fin());
    stream->send_fin();
    EXPECT_TRUE(await([&] { return host.completions.size() == 4; }));
  });
  for (const host::Wc& wc : host.completions) {
    EXPECT_EQ(wc.status, wc.wr_id <= 2 ? abi::WcStatus::kSuccess : abi::WcStatus::kWrFlushErr) << wc.wr_id;
  }
}

}  // namespace
}  // namespace rnic::test
