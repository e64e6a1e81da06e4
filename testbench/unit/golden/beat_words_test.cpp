// Messages as on the pins, through C, against the pin adapters of the twins, which pack bits with code of their own.
#include <array>
#include <cstring>

#include "model/rnic/messages/dma.h"
#include "model/rnic/messages/llp.h"
#include "model/rnic/messages/qp_events.h"
#include "model/rnic/messages/requests.h"
#include "model/rnic/messages/terminate.h"
#include "model/wire/fpdu.h"
#include "rtl-stubs/verilated/beat_bits.h"
#include "testbench/unit/golden/handles.h"

namespace rnic::test {
namespace {

struct OnPins {
  std::array<std::uint32_t, 64> bits{};
  std::array<std::uint32_t, 32> octets{};
  std::uint8_t octet(std::size_t i) const { return static_cast<std::uint8_t>(octets[i / 4] >> 8 * (i % 4)); }
};
template <class M>
OnPins on_pins(const M& message) {
  OnPins pins;
  rtl::pack(message, pins.bits);
  return pins;
}
template <class M>
M from_pins(const OnPins& pins) {
  M message{};
  rtl::unpack(pins.bits, message);
  return message;
}
std::int32_t push(const Stage& stage, std::uint32_t port, const OnPins& pins) {
  return rnic_stage_push_beat(stage.get(), port, pins.bits.data(), pins.octets.data());
}
std::vector<OnPins> take_all(const Stage& stage, std::uint32_t port) {
  std::vector<OnPins> all;
  for (OnPins pins; rnic_stage_take_beat(stage.get(), port, pins.bits.data(), pins.octets.data()) == RNIC_OK;)
    all.push_back(pins);
  EXPECT_STREQ(rnic_stage_text(stage.get()), "");
  return all;
}
void put_octets(OnPins& pins, const std::uint8_t* octets, std::size_t n) { std::memcpy(pins.octets.data(), octets, n); }

Bytes counted(std::size_t n) {
  Bytes octets(n);
  for (std::size_t i = 0; i < n; ++i) octets[i] = static_cast<std::uint8_t>(i * 7 + 1);
  return octets;
}

TEST(GoldenBeats, UlpdusBecomeFpdusAndSegmentsFpdusAgain) {
  const Stage transmit = open("mpa_transmit", R"({"beat_bytes": 32})");
  const Bytes octets = counted(100);
  Ulpdu ulpdu;
  ulpdu.flow = FlowId{3};
  ulpdu.bytes = 100;
  ulpdu.markers = true;
  ulpdu.position = 500;
  for (std::size_t at = 0; at < octets.size(); at += 32) {  // as they are read from the ULPDU's memory
    OnPins pins = on_pins(ulpdu);
    put_octets(pins, &octets[at], std::min<std::size_t>(32, octets.size() - at));
    ASSERT_EQ(push(transmit, RNIC_MPA_TRANSMIT_IN, pins), RNIC_OK) << rnic_stage_text(transmit.get());
  }
  Bytes wire;
  for (const OnPins& pins : take_all(transmit, RNIC_MPA_TRANSMIT_OUT)) {
    const auto beat = from_pins<FpduBeat>(pins);
    EXPECT_EQ(beat.flow.v, 3u);
    EXPECT_EQ(beat.first, wire.empty());
    EXPECT_EQ(beat.marked(), false);
    for (unsigned i = 0; i < 4u * beat.words; ++i) wire.push_back(pins.octet(i));
    EXPECT_EQ(beat.last, wire.size() == wire::marked_fpdu_bytes(500, 100));
  }
  ASSERT_EQ(wire.size(), 112u);
  EXPECT_TRUE(std::equal(octets.begin(), octets.begin() + 10, wire.begin() + 2));  // then a marker

  const Stage receive = open("mpa_receive", R"({"beat_bytes": 32})");
  rnic_stream_place place{sizeof place, {}, 500};
  set_row(receive, "stream", 3, &place);
  StreamBeat beat;
  beat.flow = FlowId{3};
  beat.markers = true;
  beat.qpn = Qpn{9};
  for (std::size_t at = 0; at < wire.size(); at += 32) {
    beat.offset = 500 + at;
    beat.bytes = static_cast<std::uint8_t>(std::min<std::size_t>(32, wire.size() - at));
    beat.first = at == 0;
    beat.last = at + 32 >= wire.size();
    OnPins pins = on_pins(beat);
    put_octets(pins, &wire[at], beat.bytes);
    ASSERT_EQ(push(receive, RNIC_MPA_RECEIVE_IN, pins), RNIC_OK) << rnic_stage_text(receive.get());
  }
  const auto fpdu = take_all(receive, RNIC_MPA_RECEIVE_OUT);
  ASSERT_EQ(fpdu.size(), 4u);
  const auto first = from_pins<FpduBeat>(fpdu.front()), last = from_pins<FpduBeat>(fpdu.back());
  EXPECT_TRUE(first.first && first.marked() && first.marker_lane == 3);
  EXPECT_EQ(load_be16(first.marker + 2), 12u);  // FPDUPTR, RFC 5044 section 4.3
  EXPECT_TRUE(last.last && last.crc_ok && last.marker_ok);
  EXPECT_EQ(last.qpn.v, 9u);
  const auto consumed = take_all(receive, RNIC_MPA_RECEIVE_CONSUMED);
  ASSERT_EQ(consumed.size(), 1u);
  EXPECT_EQ(from_pins<RxConsumed>(consumed[0]).bytes, 112u);
}

TEST(GoldenBeats, RequestsEventsAndRows) {
  const Stage irrq = open("irrq", R"({"qps": 8, "max_ird": 1})");
  // qp_row, of 343 bits from `state` to `recv_cq`: as in rnic_golden_pkg.sv.
  std::array<std::uint32_t, 64> row{};
  const auto set = [&row](unsigned at, std::uint32_t value) {
    for (unsigned i = 0; i < 32; ++i) row[(at + i) / 32] |= (value >> i & 1) << (at + i) % 32;
  };
  const unsigned recv_cq = 0, epoch = recv_cq + 32 + 32 + 4 + 4 + 32, ird = epoch + 32 + 32 + 4 + 32 + 32 + 16,
                 valid = ird + 16 + 16 + 1 + 2 + 1 + 1;
  set(epoch, 5);
  set(ird, 1);
  set(valid, 1);
  set(valid + 1, 1);  // in RDMA mode
  ASSERT_EQ(rnic_stage_row_bits(irrq.get(), "qp", 6, row.data()), RNIC_OK) << rnic_stage_text(irrq.get());

  QueuedRead read;
  read.qpn = Qpn{6};
  read.epoch = 5;
  read.request.src_to = 0x123456789abcdef0;
  read.segment.length = 46;
  read.segment.ddp_bytes = 18;
  read.segment.request_bytes = 28;
  for (std::size_t i = 0; i < read.segment.octets.size(); ++i)
    read.segment.octets[i] = static_cast<std::uint8_t>(0xc0 + i);
  const OnPins request = on_pins(QueuedRequest(read));
  ASSERT_EQ(rnic_stage_push_beat(irrq.get(), RNIC_IRRQ_IN, request.bits.data(), nullptr), RNIC_OK)
      << rnic_stage_text(irrq.get());
  ASSERT_EQ(push(irrq, RNIC_IRRQ_IN, request), RNIC_OK);
  OnPins out;
  ASSERT_EQ(rnic_stage_take_beat(irrq.get(), RNIC_IRRQ_OUT, out.bits.data(), nullptr), RNIC_OK);
  EXPECT_EQ(out.bits, on_pins(read).bits);
  EXPECT_EQ(rnic_stage_take_beat(irrq.get(), RNIC_IRRQ_OUT, out.bits.data(), nullptr), RNIC_NONE);
  const auto events = take_all(irrq, RNIC_IRRQ_EVENT);  // IRD is 1
  ASSERT_EQ(events.size(), 1u);
  const auto event = from_pins<QpEvent>(events[0]);
  EXPECT_EQ(event.kind, QpEvent::Kind::kStreamError);
  EXPECT_EQ(event.failed.octets, read.segment.octets);
  EXPECT_TRUE(take_all(irrq, RNIC_IRRQ_ATOMIC).empty());

  const Stage terminates = open("terminate_generator", R"({"qps": 8})");
  ASSERT_EQ(rnic_stage_row_bits(terminates.get(), "qp", 6, row.data()), RNIC_OK);
  ASSERT_EQ(push(terminates, RNIC_TERMINATE_GENERATOR_IN, events[0]), RNIC_OK) << rnic_stage_text(terminates.get());
  const auto message = take_all(terminates, RNIC_TERMINATE_GENERATOR_OUT);
  ASSERT_EQ(message.size(), 1u);
  EXPECT_EQ(message[0].bits[0], 5u);                      // epoch,
  EXPECT_EQ(message[0].bits[1] & 63, 24u);                // bytes: control word, length, untagged header
  EXPECT_EQ(message[0].octets[0] & 0xffffff, 0xc00212u);  // DDP 1/2/02, M and D (RFC 5040 section 4.8)
  EXPECT_EQ(message[0].octet(6), 0xc0);
}

TEST(GoldenBeats, AtomicsReadAndWriteTheirWord) {
  const Stage alu = open("atomic_alu");
  const rnic_qp_row qp = qp_row();
  set_row(alu, "qp", 2, &qp);
  const rnic_stag_context region = region_row(0x8000, 4096, kRemoteReads | kRemoteWrites | kRemoteAtomics);
  set_row(alu, "stag", 4, &region);
  QueuedAtomic atomic;
  atomic.qpn = Qpn{2};
  atomic.epoch = 1;
  atomic.pd = Pdn{1};
  atomic.request.stag = stag_numbered(4);
  atomic.request.to = 0x8010;
  atomic.request.data = 5;
  atomic.request.data_mask = 0;  // no field of its own: one addition of 64 bits
  ASSERT_EQ(push(alu, RNIC_ATOMIC_ALU_IN, on_pins(atomic)), RNIC_OK) << rnic_stage_text(alu.get());
  const auto reads = take_all(alu, RNIC_ATOMIC_ALU_READ);
  ASSERT_EQ(reads.size(), 1u);
  const auto read = from_pins<DmaReadRequest>(reads[0]);
  EXPECT_EQ(read.address, 0x8010u);
  OnPins done = on_pins(DmaReadDone{read.tag, true});
  done.octets = {0xfffffffe, 1};
  ASSERT_EQ(push(alu, RNIC_ATOMIC_ALU_READ_DONE, done), RNIC_OK) << rnic_stage_text(alu.get());
  const auto writes = take_all(alu, RNIC_ATOMIC_ALU_WRITE);
  ASSERT_EQ(writes.size(), 1u);
  EXPECT_EQ(from_pins<DmaWriteRequest>(writes[0]).bytes, 8u);
  EXPECT_EQ(from_pins<DmaWriteRequest>(writes[0]).address, 0x8010u);
  EXPECT_EQ(writes[0].octets[0], 3u);
  EXPECT_EQ(writes[0].octets[1], 2u);
}

TEST(GoldenBeats, WhatIsNoBeatIsRefused) {
  const Stage crc = open("crc_check", R"({"beat_bytes": 16})");
  const auto refused = [&crc](FpduBeat beat, const char* text) {
    EXPECT_EQ(push(crc, RNIC_CRC_CHECK_IN, on_pins(beat)), RNIC_E_VALUE);
    EXPECT_STREQ(rnic_stage_text(crc.get()), text);
  };
  FpduBeat beat;
  beat.first = true;
  refused(beat, "fpdu_beat: it has 0 octets, of a datapath of 16");
  beat.words = 5;
  refused(beat, "fpdu_beat: it has 20 octets, of a datapath of 16");
  beat.words = 3;
  refused(beat, "fpdu_beat: it is not the last one, and not full");
  beat.words = 4;
  EXPECT_EQ(push(crc, RNIC_CRC_CHECK_IN, on_pins(beat)), RNIC_OK);
  refused(beat, "fpdu_beat: it is a first one, but the one before was no last one");
  beat.first = false;
  refused(beat, "fpdu_beat: it is not a first one");
  OnPins pins;
  EXPECT_EQ(rnic_stage_push_beat(crc.get(), RNIC_CRC_CHECK_IN, nullptr, pins.octets.data()), RNIC_E_NULL);
  EXPECT_EQ(rnic_stage_push_beat(crc.get(), RNIC_CRC_CHECK_IN, pins.bits.data(), nullptr), RNIC_E_NULL);
  EXPECT_STREQ(rnic_stage_text(crc.get()), "the octets of the fpdu are null");
  EXPECT_EQ(rnic_stage_take_beat(crc.get(), RNIC_CRC_CHECK_IN, pins.bits.data(), pins.octets.data()), RNIC_E_NAME);
  EXPECT_EQ(rnic_stage_take_beat(crc.get(), RNIC_CRC_CHECK_OUT, pins.bits.data(), pins.octets.data()), RNIC_NONE);
  EXPECT_EQ(rnic_stage_row_bits(crc.get(), "qp", 0, pins.bits.data()), RNIC_E_NAME);
  EXPECT_EQ(rnic_stage_push_beat(nullptr, 0, pins.bits.data(), pins.octets.data()), RNIC_E_NULL);
}

TEST(GoldenBeats, ABoardHearsOfABeatAtATime) {
  rnic_board* board = nullptr;
  ASSERT_EQ(rnic_board_open(RNIC_GOLDEN_ABI, "crc_check", R"({"beat_bytes": 16})", &board), RNIC_OK);
  BufferPool pool(1000);
  auto beats = cut_fpdu(pool, counted(40), 16, false, 0);
  std::uint64_t cycle = 10;
  for (const FpduBeat& beat : beats) {
    OnPins pins;
    rtl::pack(beat, pins.bits, pins.octets);
    EXPECT_EQ(rnic_board_accepted_beat(board, RNIC_CRC_CHECK_IN, pins.bits.data(), pins.octets.data(), cycle++),
              RNIC_OK);
  }
  for (FpduBeat& beat : beats) {
    beat.crc_ok = true;  // counts in the last one, and is wrong
    OnPins pins;
    rtl::pack(beat, pins.bits, pins.octets);
    EXPECT_EQ(rnic_board_given_beat(board, RNIC_CRC_CHECK_OUT, pins.bits.data(), pins.octets.data(), cycle++),
              beat.last ? RNIC_E_MISMATCH : RNIC_OK);
  }
  EXPECT_THAT(rnic_board_text(board), testing::HasSubstr("crc_ok: expected 0, seen 1"));
  rnic_board_close(board);
  BufferRef::adopt(beats[0].buf);
}

}  // namespace
}  // namespace rnic::test
