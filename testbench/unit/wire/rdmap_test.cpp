#include "model/wire/rdmap.h"

#include <gmock/gmock.h>

#include "testbench/unit/wire/hex.h"

namespace rnic::wire {
namespace {

// Checks literal octets, the fields they decode to, and that shorter windows and a small buffer are refused.
template <class Header, class Check>
void both_ways(const Bytes& wire, const Check& check) {
  const auto header = Header::parse(wire);
  ASSERT_TRUE(header);
  check(*header);
  EXPECT_EQ(emitted(*header, wire.size()), wire);
  EXPECT_TRUE(emitted(*header, wire.size() - 1).empty());
  for (std::size_t n = 0; n < wire.size(); ++n) EXPECT_FALSE(Header::parse(ByteSpan(wire).subspan(0, n))) << n;
}

TEST(Rdmap, ReadRequest) {
  both_ways<ReadRequest>(hex("00000100 0000000000002000 00001000 00000300 0000000000004000"), [](const ReadRequest& r) {
    EXPECT_EQ(r.sink_stag, 0x100u);
    EXPECT_EQ(r.sink_to, 0x2000u);
    EXPECT_EQ(r.size, 0x1000u);
    EXPECT_EQ(r.src_stag, 0x300u);
    EXPECT_EQ(r.src_to, 0x4000u);
  });
}

TEST(Rdmap, ImmediateData) {
  both_ways<ImmediateData>(hex("0102030405060708"),
                           [](const ImmediateData& i) { EXPECT_EQ(i.data, 0x0102030405060708u); });
}

TEST(Rdmap, AtomicResponse) {
  both_ways<AtomicResponse>(hex("0000ABCD 1122334455667788"), [](const AtomicResponse& r) {
    EXPECT_EQ(r.request_id, 0xabcdu);
    EXPECT_EQ(r.original, 0x1122334455667788u);
  });
}

TEST(Rdmap, AtomicRequest) {
  both_ways<AtomicRequest>(hex("00000002 0000ABCE 00000300 0000000000004010 0000000000000005 FFFFFFFFFFFFFFFE"
                               "0000000000000004 FFFFFFFFFFFFFFFD"),
                           [](const AtomicRequest& r) {
                             EXPECT_EQ(r.opcode(), AtomicOpcode::kCmpSwap);
                             EXPECT_EQ(r.request_id, 0xabceu);
                             EXPECT_EQ(r.stag, 0x300u);
                             EXPECT_EQ(r.to, 0x4010u);
                             EXPECT_EQ(r.data, 5u);
                             EXPECT_EQ(r.data_mask, ~std::uint64_t{1});
                             EXPECT_EQ(r.compare, 4u);
                             EXPECT_EQ(r.compare_mask, ~std::uint64_t{2});
                           });
}

TEST(Rdmap, AtomicReservedBitsAreIgnored) {
  AtomicRequest request;
  request.operation = 0xfffffff2;
  EXPECT_EQ(request.opcode(), AtomicOpcode::kCmpSwap);
}

TEST(Rdmap, FetchAddSendsCompareZeroAndMaskOfOnes) {
  AtomicRequest request = AtomicRequest::fetch_add(1, 0);
  request.request_id = 0xabcd;
  request.stag = 0x300;
  request.to = 0x4008;
  EXPECT_EQ(emitted(request, 52), hex("00000000 0000ABCD 00000300 0000000000004008 0000000000000001 0000000000000000"
                                      "0000000000000000 FFFFFFFFFFFFFFFF"));
}

TEST(Rdmap, OpcodeTable) {
  struct Row {
    unsigned op;
    bool tagged, send, immediate, invalidates, se;
    std::uint32_t qn;
  };
  for (const Row& row : std::initializer_list<Row>{{0, true, false, false, false, false, 0},
                                                   {1, false, false, false, false, false, 1},
                                                   {2, true, false, false, false, false, 0},
                                                   {3, false, true, false, false, false, 0},
                                                   {4, false, true, false, true, false, 0},
                                                   {5, false, true, false, false, true, 0},
                                                   {6, false, true, false, true, true, 0},
                                                   {7, false, false, false, false, false, 2},
                                                   {8, false, false, true, false, false, 0},
                                                   {9, false, false, true, false, true, 0},
                                                   {10, false, false, false, false, false, 1},
                                                   {11, false, false, false, false, false, 3}}) {
    const auto op = static_cast<Opcode>(row.op);
    EXPECT_TRUE(is_assigned(op));
    EXPECT_EQ(is_tagged(op), row.tagged) << row.op;
    EXPECT_EQ(is_send(op), row.send) << row.op;
    EXPECT_EQ(is_immediate(op), row.immediate) << row.op;
    EXPECT_EQ(invalidates(op), row.invalidates) << row.op;
    EXPECT_EQ(solicits_event(op), row.se) << row.op;
    EXPECT_EQ(row.tagged ? 0 : queue_number(op), row.qn) << row.op;
  }
  for (unsigned op = 12; op < 16; ++op) EXPECT_FALSE(is_assigned(static_cast<Opcode>(op)));
}

}  // namespace
}  // namespace rnic::wire
