// An STag ends while octets are on their way to or from its memory. A narrow PCIe link keeps many of them on the chip.
#include "testbench/system/guard_bench.h"

namespace rnic::test {
namespace {

NodeConfig narrow() {
  NodeConfig c;
  c.rnic.pcie.link.generation = 1;  // 4 µs for a segment's payload
  c.rnic.pcie.link.width = 1;
  c.rnic.tx.payload_fetch.jobs = 4;
  return c;
}

// A peer fills the region again and again, each time with a different octet.
class Revocation : public GuardBench {
 protected:
  static constexpr std::uint32_t kBytes = 1024, kWrites = 24;
  Revocation() : GuardBench(narrow()) {}

  void set_up() {
    peer.wait_us(20);
    open();
    pd = domain();
    address = memory(kBytes);
    before = octets_at(address, kBytes);
    qp = &queue_pair(pd);
    stream = &connect(*qp);
  }
  // Fast registration: a send queue request or a peer may invalidate it.
  std::uint32_t fast_region() {
    host::SendWr wr;
    wr.opcode = abi::WrOpcode::kRegMr;
    wr.rkey = entry(pd).inc_rkey();
    wr.registration = {address, kBytes, 0, abi::kLocalWrite | abi::kRemoteWrite};
    carry_out(*qp, wr, 100);
    return wr.rkey;
  }
  // Memory at the time when the host knows that the STag is gone.
  void snapshot_when(std::function<bool()> gone) {
    host.watch = [this, gone] {
      if (at_the_end.empty() && gone()) at_the_end = octets_at(address, kBytes);
    };
  }
  void write(std::uint32_t stag) {
    for (std::uint8_t i = 1; i <= kWrites; ++i) stream->send_ulpdu(tagged("C140", stag, address, Bytes(kBytes, i)));
  }
  void expect_nothing_changes_any_more() {
    EXPECT_TRUE(await([this] { return !at_the_end.empty(); }));
    peer.wait_us(500);
    EXPECT_EQ(octets_at(address, kBytes), at_the_end);
    EXPECT_NE(at_the_end, before);                        // some Writes were in time
    EXPECT_EQ(at_the_end, Bytes(kBytes, at_the_end[0]));  // each of them whole
    EXPECT_LT(at_the_end[0], kWrites);                    // and some were not
  }
  void expect_refused(std::uint32_t stag) {
    const Bytes first_refused = tagged("C140", stag, address, Bytes(kBytes, 0));
    EXPECT_EQ(stream->receive(), terminate("1100", first_refused));
  }

  host::Pd pd;
  std::uint64_t address = 0;
  host::Qp* qp = nullptr;
  RawStream* stream = nullptr;
  Bytes before, at_the_end;
};

TEST_F(Revocation, ADeregisteredRegionDoesNotChangeAnyMore) {
  run([&] {
    set_up();
    host::Mr& mr = region(pd, address, kBytes, abi::kLocalWrite | abi::kRemoteWrite);
    snapshot_when([&] { return mr.destroyed(); });
    write(mr.rkey());
    peer.wait_us(5);
    in_host([&] { node.context.dereg_mr(mr); });
    expect_nothing_changes_any_more();
    expect_refused(mr.rkey());
  });
}

TEST_F(Revocation, ALocallyInvalidatedRegionDoesNotChangeAnyMore) {
  run([&] {
    set_up();
    const std::uint32_t stag = fast_region();
    host::Qp& other = queue_pair(pd);
    connect(other);
    host::SendWr wr;
    wr.wr_id = 7;
    wr.opcode = abi::WrOpcode::kLocalInv;
    wr.send_flags = abi::kWqeSignaled;
    wr.invalidate_rkey = stag;
    snapshot_when([&] { return completion(7) != nullptr; });
    write(stag);
    peer.wait_us(5);
    post(other, wr);
    expect_nothing_changes_any_more();
    expect_refused(stag);
    ASSERT_NE(completion(7), nullptr);
    EXPECT_EQ(completion(7)->status, abi::WcStatus::kSuccess);
  });
}

TEST_F(Revocation, ARegionThatAPeerInvalidatesDoesNotChangeAnyMore) {
  run([&] {
    set_up();
    const std::uint32_t stag = fast_region();
    const std::uint32_t lkey = region(pd, memory(64), 64, abi::kLocalWrite).lkey();
    host::Qp& other = queue_pair(pd);
    post_receive(other, 8, 0, 0, lkey);
    RawStream& second = connect(other);
    snapshot_when([&] { return completion(8) != nullptr; });
    for (std::uint8_t i = 1; i <= kWrites; ++i) {
      stream->send_ulpdu(tagged("C140", stag, address, Bytes(kBytes, i)));
      if (i == kWrites / 2) second.send_ulpdu(untagged("4144", stag, 0, 1));
    }
    expect_nothing_changes_any_more();
    expect_refused(stag);
    ASSERT_NE(completion(8), nullptr);
    EXPECT_EQ(completion(8)->status, abi::WcStatus::kSuccess);
  });
}

// RFC 5040 section 4.8: the request that the Terminate returns excludes the part already sent.
TEST_F(Revocation, AReadResponseEndsWhereItsSourceIsRevoked) {
  constexpr std::uint32_t kRead = 40'000, kSink = 0x5678;
  constexpr std::uint64_t kSinkTo = 0xfffff000;
  run([&] {
    set_up();
    const std::uint64_t source = memory(kRead);
    host::Mr& mr = region(pd, source, kRead, abi::kRemoteRead);
    stream->send_ulpdu(read_request(1, kSink, kSinkTo, kRead, mr.rkey(), source));
    peer.wait_us(5);
    in_host([&] { node.context.dereg_mr(mr); });
    std::uint32_t sent = 0;
    Bytes ulpdu = stream->receive();
    for (; ulpdu.size() > 14 && ulpdu[1] == 0x42; ulpdu = stream->receive()) {
      const Bytes payload(ulpdu.begin() + 14, ulpdu.end());
      EXPECT_EQ(ulpdu, tagged("8142", kSink, kSinkTo + sent, octets_at(source + sent, payload.size())));
      sent += static_cast<std::uint32_t>(payload.size());
    }
    EXPECT_GT(sent, 0u);
    EXPECT_LT(sent, kRead);
    EXPECT_EQ(ulpdu, terminate("0100", read_request(1, kSink, kSinkTo + sent, kRead - sent, mr.rkey(), source + sent)));
    EXPECT_TRUE(stream->receive_fin());
    EXPECT_EQ(stream->unread(), 0u);
  });
}

}  // namespace
}  // namespace rnic::test
