// The stages of librnic_golden through its C interface, against references that share no arithmetic with the model.
// SystemC is linked here, too: the library has nothing of it.
#include <array>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include "model/abi/context_types.h"
#include "model/abi/srq_events.h"
#include "model/abi/tx_internal_work.h"
#include "model/rnic/messages/datapath.h"
#include "model/wire/rdmap.h"
#include "testbench/support/mpa_reference.h"
#include "testbench/unit/golden/handles.h"

namespace rnic::test {
namespace {

struct Stream {
  bool markers, crc;
};

// ULPDUs of all kinds of sizes, from a place in the stream on, there and back.
void there_and_back(const Stream& stream, const std::string& of_transmit, const std::string& of_receive,
                    std::uint64_t position) {
  const Stage transmit = open("mpa_transmit", of_transmit), receive = open("mpa_receive", of_receive);
  const rnic_stream_place place{sizeof place, {}, position};
  ASSERT_EQ(rnic_stage_row(receive.get(), "stream", 3, &place), RNIC_OK) << rnic_stage_text(receive.get());
  MpaReference reference{stream.markers, stream.crc, position};
  Prng rng(position + stream.markers);
  Taken taken;
  for (const std::size_t size : {1u, 2u, 3u, 18u, 61u, 62u, 63u, 500u, 508u, 1442u, 8934u, 65535u}) {
    Bytes ulpdu = random_bytes(rng, size);
    const std::uint64_t at = reference.pos;
    rnic_ulpdu in = message<rnic_ulpdu>(ulpdu);
    in.flow = 3;
    in.markers = stream.markers;
    in.crc = stream.crc;
    in.position = static_cast<std::uint16_t>(at % 512);
    ASSERT_EQ(rnic_mpa_transmit_push_in(transmit.get(), &in), RNIC_OK) << rnic_stage_text(transmit.get());
    ASSERT_EQ(rnic_mpa_transmit_take_out(transmit.get(), &taken.fpdu), RNIC_OK) << rnic_stage_text(transmit.get());
    const Bytes wire = reference.fpdu(ulpdu);
    ASSERT_EQ(taken.bytes(), wire) << size << " octets at " << at;
    EXPECT_EQ(taken.fpdu.flow, 3u);

    // In segments that do not end where the FPDU does.
    std::uint64_t offset = at;
    for (std::size_t from = 0; from < wire.size(); from += 1'448) {
      Bytes octets(wire.begin() + static_cast<std::ptrdiff_t>(from),
                   wire.begin() + static_cast<std::ptrdiff_t>(std::min(wire.size(), from + 1'448)));
      rnic_segment segment = message<rnic_segment>(octets);
      segment.offset = offset;
      segment.flow = 3;
      segment.qpn = 9;
      segment.markers = stream.markers;
      segment.crc = stream.crc;
      ASSERT_EQ(rnic_mpa_receive_push_in(receive.get(), &segment), RNIC_OK) << rnic_stage_text(receive.get());
      offset += octets.size();
    }
    ASSERT_EQ(rnic_mpa_receive_take_out(receive.get(), &taken.fpdu), RNIC_OK) << rnic_stage_text(receive.get());
    const Bytes words = taken.bytes();
    EXPECT_EQ(words.size() + std::size_t{4} * taken.fpdu.marks_n, wire.size());
    EXPECT_TRUE(std::equal(ulpdu.begin(), ulpdu.end(), words.begin() + 2)) << size << " octets at " << at;
    EXPECT_EQ(taken.fpdu.qpn, 9u);
    EXPECT_EQ(taken.fpdu.marker_ok, 1);
    EXPECT_EQ(taken.fpdu.crc_ok, 1);
    // Each marker where the reference has it.
    for (std::uint32_t i = 0; i < taken.fpdu.marks_n; ++i) {
      const std::size_t on_wire = std::size_t{4} * (taken.marks[i].word + i);
      EXPECT_TRUE(std::equal(taken.marks[i].octets, taken.marks[i].octets + 4,
                             wire.begin() + static_cast<std::ptrdiff_t>(on_wire)));
      EXPECT_EQ((at + on_wire) % 512, 0u);
    }
    rnic_rx_consumed consumed{sizeof consumed, 0, 0, {}};
    ASSERT_EQ(rnic_mpa_receive_take_consumed(receive.get(), &consumed), RNIC_OK);
    EXPECT_EQ(consumed.bytes, wire.size());
    ASSERT_EQ(rnic_mpa_receive_take_out(receive.get(), &taken.fpdu), RNIC_NONE);
  }
}

TEST(GoldenStages, FpdusAsTheReferenceHasThemThereAndBack) {
  const char *const narrow = R"({"beat_bytes": 16})",
                    *const wide = R"({"beat_bytes": 128, "mpa_deframer": {"pipeline_cycles": 7}})";
  for (const std::uint64_t position : {0u, 4u, 252u, 508u}) {
    there_and_back({true, true}, "{}", "{}", position);
    there_and_back({false, true}, "{}", "{}", position);
    there_and_back({true, false}, narrow, narrow, position);
    there_and_back({true, true}, R"({"beat_bytes": 128})", wide, position);
  }
}

Bytes sealed(const Bytes& ulpdu) {
  MpaReference reference;
  return reference.fpdu(ulpdu);
}

TEST(GoldenStages, AFlippedBitAnywhereIsFound) {
  const Stage check = open("crc_check");
  const Bytes good = sealed(counting(62));
  Taken taken;
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    Bytes bad = good;
    bad[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    rnic_fpdu in = message<rnic_fpdu>(bad);
    in.crc_on = 1;
    ASSERT_EQ(rnic_crc_check_push_in(check.get(), &in), RNIC_OK);
    ASSERT_EQ(rnic_crc_check_take_out(check.get(), &taken.fpdu), RNIC_OK);
    EXPECT_EQ(taken.fpdu.crc_ok, 0) << bit;
  }
  std::uint64_t bad = 0;
  ASSERT_EQ(rnic_stage_counter(check.get(), "bad", &bad), RNIC_OK);
  EXPECT_EQ(bad, 8 * good.size());
}

// Of one handle, what is pushed first is taken first, however much is under way.
TEST(GoldenStages, ManyMayBeUnderWay) {
  const Stage transmit = open("mpa_transmit");
  Taken taken;
  for (std::size_t n = 1; n <= 200; ++n) {
    Bytes ulpdu = counting(n);
    rnic_ulpdu in = message<rnic_ulpdu>(ulpdu);
    in.flow = static_cast<std::uint32_t>(n);
    in.crc = 1;
    ASSERT_EQ(rnic_mpa_transmit_push_in(transmit.get(), &in), RNIC_OK);
  }
  for (std::size_t n = 1; n <= 200; ++n) {
    ASSERT_EQ(rnic_mpa_transmit_take_out(transmit.get(), &taken.fpdu), RNIC_OK);
    EXPECT_EQ(taken.fpdu.flow, n);
    EXPECT_EQ(taken.bytes(), sealed(counting(n)));
  }
  EXPECT_EQ(rnic_mpa_transmit_take_out(transmit.get(), &taken.fpdu), RNIC_NONE);
}

// A process may have a hundred handles, in several threads.
TEST(GoldenStages, HandlesDoNotKnowOfEachOther) {
  const auto work = [](bool& good) {
    std::vector<Stage> stages;
    for (int i = 0; i < 25; ++i) stages.push_back(open("mpa_transmit"));
    Taken taken;
    good = true;
    for (std::size_t size = 1; size <= 40; ++size) {
      const Bytes expected = sealed(counting(size));
      for (const Stage& stage : stages) {
        Bytes ulpdu = counting(size);
        rnic_ulpdu in = message<rnic_ulpdu>(ulpdu);
        in.crc = 1;
        good = good && rnic_mpa_transmit_push_in(stage.get(), &in) == RNIC_OK;
      }
      for (const Stage& stage : stages) {
        good = good && rnic_mpa_transmit_take_out(stage.get(), &taken.fpdu) == RNIC_OK && taken.bytes() == expected;
      }
    }
  };
  std::array<std::thread, 4> threads;
  std::array<bool, 4> good{};
  for (std::size_t i = 0; i < threads.size(); ++i) threads[i] = std::thread(work, std::ref(good[i]));
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(good, testing::Each(true));
}

// RFC 9260 section 6.8, of a packet with its checksum field at the end.
TEST(GoldenStages, SctpPacketsAreSealedAndChecked) {
  Prng rng(4);
  for (const char* settings : {R"({"beat_bytes": 16})", "{}"}) {
    const Stage insert = open("sctp_crc_insert", settings), check = open("sctp_crc_check", settings);
    for (const std::size_t size : {12u, 16u, 60u, 64u, 1460u}) {
      Bytes packet = random_bytes(rng, size);
      const std::uint32_t checksum = crc32c_by_bits(packet);
      packet.resize(size + 4);
      rnic_fpdu in = message<rnic_fpdu>(packet);
      in.crc_on = 1;
      ASSERT_EQ(rnic_sctp_crc_insert_push_in(insert.get(), &in), RNIC_OK) << rnic_stage_text(insert.get());
      Taken taken;
      ASSERT_EQ(rnic_sctp_crc_insert_take_out(insert.get(), &taken.fpdu), RNIC_OK);
      for (unsigned i = 0; i < 4; ++i) packet[size + i] = static_cast<std::uint8_t>(checksum >> 8 * i);
      EXPECT_EQ(taken.bytes(), packet) << size;
      for (const bool good : {true, false}) {
        packet[rng.below(size)] ^= good ? 0 : 0x10;
        ASSERT_EQ(rnic_sctp_crc_check_push_in(check.get(), &in), RNIC_OK);
        ASSERT_EQ(rnic_sctp_crc_check_take_out(check.get(), &taken.fpdu), RNIC_OK);
        EXPECT_EQ(taken.fpdu.crc_ok, good);
      }
    }
  }
}

// The end of the peer's stream passes, and says whether it was in the middle of an FPDU.
TEST(GoldenStages, TheEndOfAStreamPasses) {
  for (const bool broken : {false, true}) {
    const Stage receive = open("mpa_receive");
    Bytes wire = sealed(counting(62));
    if (broken) wire.resize(40);
    rnic_segment segment = message<rnic_segment>(wire);
    segment.crc = 1;
    ASSERT_EQ(rnic_mpa_receive_push_in(receive.get(), &segment), RNIC_OK);
    Bytes word(4);
    rnic_segment end = message<rnic_segment>(word);
    end.offset = wire.size();
    end.ends = 1;
    ASSERT_EQ(rnic_mpa_receive_push_in(receive.get(), &end), RNIC_OK) << rnic_stage_text(receive.get());
    Taken taken;
    if (!broken) {
      ASSERT_EQ(rnic_mpa_receive_take_out(receive.get(), &taken.fpdu), RNIC_OK);
      EXPECT_EQ(taken.fpdu.ends, 0);
    }
    ASSERT_EQ(rnic_mpa_receive_take_out(receive.get(), &taken.fpdu), RNIC_OK);
    EXPECT_EQ(taken.fpdu.ends, 1);
    EXPECT_EQ(taken.fpdu.marker_ok, !broken);
  }
}

// What the description says, without a library for JSON.
long number_of(const std::string& enumeration, const std::string& word) {
  const std::string text = rnic_description();
  const std::size_t at = text.find("\"name\": \"" + enumeration + "\"", text.find("\"enumerations\""));
  const std::string key = '"' + word + "\": ";
  const std::size_t value = at == std::string::npos ? at : text.find(key, at);
  if (value >= text.find('}', at)) return -1;
  return std::strtol(text.c_str() + value + key.size(), nullptr, 10);
}

TEST(GoldenNumbers, AreTheModels) {
  const auto expect = [](const char* enumeration, const char* word, auto value) {
    EXPECT_EQ(number_of(enumeration, word), static_cast<long>(value)) << enumeration << '.' << word;
  };
  expect("stag_kind", "window_2", StagKind::kWindow2);
  expect("srq_event_kind", "overrun", SrqEvent::Kind::kOverrun);
  expect("tx_internal_work_kind", "flush", TxInternalWork::Kind::kFlush);
  expect("llp", "sctp", LlpId::kSctp);
  expect("terminate_layer", "llp", wire::Layer::kLlp);
  expect("wr_opcode", "bind_mw", abi::WrOpcode::kBindMw);
  expect("command_status", "no_home", abi::CommandStatus::kNoHome);
  expect("event_type", "context_lost", abi::EventType::kContextLost);
  expect("personality", "permissive", abi::Personality::kPermissive);
  expect("markers", "on", abi::Markers::kOn);
  expect("rtr_kind", "read", abi::RtrKind::kRead);
  expect("terminate_origin", "unsent", abi::TerminateOrigin::kUnsent);
  expect("stream_end", "reset", StreamEnd::kReset);
  expect("atomic_opcode", "cmp_swap", wire::AtomicOpcode::kCmpSwap);
  expect("access_flag", "remote_invalidate", abi::kRemoteInvalidate);
  expect("cm_option", "sctp", abi::kCmSctp);
  EXPECT_EQ(number_of("stag_kind", "window_3"), -1);
}

}  // namespace
}  // namespace rnic::test
