#include "model/cli/decode_command.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "model/common/prng.h"
#include "testbench/unit/capture/capture_builder.h"

namespace rnic::cli {
namespace {

using namespace capture;  // the builder

using nlohmann::json;
using testing::HasSubstr;
using wire::TcpHeader;

const Bytes kWrite = hex("000E C140 00000000 0000000000000000 A30572AB");
const Bytes kSend = hex("0016 4143 00000000 00000000 00000001 00000000 DEADBEEF CE1959F1");

class DecodeCommandTest : public testing::Test {
 protected:
  DecodeCommandTest()
      : path((std::filesystem::temp_directory_path() / ("rnic_decode_" + std::to_string(getpid()))).string()) {}
  ~DecodeCommandTest() override { std::filesystem::remove(path); }

  int decode(const Bytes& file, std::vector<std::string> options = {"--json"}) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
    options.insert(options.begin(), path);
    return run(options);
  }
  int run(const std::vector<std::string>& args) {
    std::ostringstream o, e;
    const int status = decode_command(args, o, e);
    out = o.str();
    err = e.str();
    return status;
  }
  json found() const { return json::parse(out); }
  json fpdus(std::size_t connection, std::size_t direction) const {
    return found()["connections"][connection]["directions"][direction]["fpdus"];
  }

  const std::string path;
  std::string out, err;
};

CaptureBuilder small_capture() {
  CaptureBuilder capture;
  capture.connect(1000, 5000, 0x40);
  capture.from_client(TcpHeader::kAck, 1021, kWrite);
  capture.from_server(TcpHeader::kAck, 5021, kSend);
  return capture;
}

TEST_F(DecodeCommandTest, TheWholeReportOfASmallCapture) {
  ASSERT_EQ(decode(small_capture().bytes()), 0) << out << err;
  EXPECT_EQ(found(), json::parse(R"({
    "connections": [{
      "initiator": "10.0.0.2:40000", "responder": "10.0.0.1:7471",
      "mpa": {"req": {"rev": 1, "m": 0, "c": 1, "r": 0, "s": 0, "ird": null, "ord": null, "pd_length": 0},
              "rep": {"rev": 1, "m": 0, "c": 1, "r": 0, "s": 0, "ird": null, "ord": null, "pd_length": 0}},
      "directions": [
        {"from": "initiator", "fpdus": {"0": 1}, "payload_bytes": 0, "crc": {"good": 1, "bad": 0, "absent": 0}, "cut": 0,
         "terminates": []},
        {"from": "responder", "fpdus": {"3": 1}, "payload_bytes": 4, "crc": {"good": 1, "bad": 0, "absent": 0}, "cut": 0,
         "terminates": []}]}],
    "associations": [], "undecoded": [], "skipped_packets": 0, "lost_packets": 0})"));
}

TEST_F(DecodeCommandTest, ATableWithoutJson) {
  ASSERT_EQ(decode(small_capture().bytes(), {}), 0);
  EXPECT_THAT(out, HasSubstr("10.0.0.2:40000 > 10.0.0.1:7471"));
  EXPECT_THAT(out, HasSubstr("1  RDMA Write"));
  EXPECT_THAT(out, HasSubstr("6 frames, 1 connections, 0 dropped for a wrong checksum, 0 not decoded"));
}

TEST_F(DecodeCommandTest, UsageErrors) {
  EXPECT_EQ(run({}), 2);
  EXPECT_EQ(run({"a", "b"}), 2);
  EXPECT_EQ(run({"--nonsense", "a"}), 2);
  EXPECT_THAT(err, HasSubstr("nonsense"));
  EXPECT_EQ(run({"--help"}), 0);
}

TEST_F(DecodeCommandTest, WhatIsNoCapture) {
  EXPECT_EQ(run({"/nonexistent/file.pcap"}), 2);
  EXPECT_THAT(err, HasSubstr("/nonexistent/file.pcap"));
  EXPECT_EQ(run({std::filesystem::temp_directory_path().string()}), 2) << "a directory";
  EXPECT_EQ(decode({}), 2);
  EXPECT_EQ(decode(Bytes(5000, 0x5a)), 2);
  EXPECT_EQ(decode(hex("D4C3B2A1 0200 0400 00000000 00000000 00000400 65000000")), 2) << "raw IP";
  EXPECT_THAT(err, HasSubstr("Ethernet"));
}

TEST_F(DecodeCommandTest, ACaptureWithoutFramesIsEmpty) {
  EXPECT_EQ(decode(CaptureBuilder().bytes()), 0);
  EXPECT_EQ(
      found(),
      json::parse(
          R"({"connections": [], "associations": [], "undecoded": [], "skipped_packets": 0, "lost_packets": 0})"));
}

TEST_F(DecodeCommandTest, AFileCutAtAnyOctetGivesWhatCameBeforeAndNamesTheCut) {
  const CaptureBuilder capture = small_capture();
  std::vector<std::size_t> ends = {24};
  while (ends.back() < capture.bytes().size())
    ends.push_back(ends.back() + 16 + load_le32(&capture.bytes()[ends.back() + 8]));
  for (std::size_t size = 0; size < capture.bytes().size(); ++size) {
    const Bytes cut(capture.bytes().begin(), capture.bytes().begin() + static_cast<std::ptrdiff_t>(size));
    const int status = decode(cut);
    const bool at_a_frame = std::find(ends.begin(), ends.end(), size) != ends.end();
    ASSERT_EQ(status, size < 24 ? 2 : at_a_frame ? 0 : 1) << size << out << err;
    if (status != 1) continue;
    const std::size_t begun = *std::prev(std::upper_bound(ends.begin(), ends.end(), size));
    EXPECT_EQ(found()["undecoded"][0]["offset"], begun) << size;
    EXPECT_EQ(fpdus(0, 0).size(), size >= ends[5] ? 1u : 0u) << size;
  }
}

TEST_F(DecodeCommandTest, AHugeRecordLengthEndsTheReading) {
  CaptureBuilder capture = small_capture();
  const std::size_t end = capture.bytes().size();
  ASSERT_EQ(decode(capture.bytes() + hex("00000000 00000000 FFFFFF7F FFFFFF7F") + Bytes(100, 0)), 1);
  EXPECT_EQ(found()["undecoded"][0]["offset"], end);
  EXPECT_EQ(fpdus(0, 1), (json{{"3", 1}}));
}

TEST_F(DecodeCommandTest, FramesCutByTheSnapshotLengthAreNamed) {
  CaptureBuilder capture;
  capture.connect(1000, 5000);
  const Bytes frame = CaptureBuilder::tcp_frame(CaptureBuilder::kClient, CaptureBuilder::kServer, 40000, 7471,
                                                TcpHeader::kAck, 1021, 0, kSend, Sum::kGood);
  constexpr std::size_t kHeaders = 14 + 20 + 20;
  for (std::size_t kept = 0; kept < frame.size(); ++kept) {
    CaptureBuilder cut = capture;
    cut.frame(frame, kept);
    ASSERT_EQ(decode(cut.bytes()), 1) << kept;
    const bool has_headers = kept >= kHeaders, has_length = kept >= kHeaders + 2;
    EXPECT_EQ(found()["undecoded"].size(), has_headers && !has_length ? 2u : 1u) << out;
    EXPECT_EQ(found()["undecoded"][0]["offset"], cut.last_record());
    EXPECT_EQ(found()["undecoded"][0]["frame"], 5);
    EXPECT_THAT(found()["undecoded"][0]["reason"].get<std::string>(), HasSubstr("of the frame's 82 octets"));
    EXPECT_EQ(found()["connections"][0]["directions"][0]["cut"], has_length ? 1 : 0) << kept;
  }
}

TEST_F(DecodeCommandTest, AnIpv4HeaderWhoseOptionsAreCutIsNamedNotDropped) {
  CaptureBuilder capture;
  Bytes frame = CaptureBuilder::tcp_frame(CaptureBuilder::kClient, CaptureBuilder::kServer, 40000, 7471,
                                          TcpHeader::kAck, 1021, 0, kWrite, Sum::kGood);
  frame[14] = 0x4f;  // a header of 60 octets
  capture.frame(frame, 40);
  EXPECT_EQ(decode(capture.bytes()), 1);
  EXPECT_EQ(found()["undecoded"].size(), 1u);
}

TEST_F(DecodeCommandTest, WrongChecksumsAreDroppedUnlessTheyAreIgnored) {
  CaptureBuilder capture;
  capture.connect(1000, 5000);
  capture.from_client(TcpHeader::kAck, 1021, kWrite, Sum::kWrong);
  EXPECT_EQ(decode(capture.bytes()), 0);
  EXPECT_EQ(fpdus(0, 0), json::object());
  EXPECT_EQ(decode(capture.bytes(), {"--json", "--ignore-checksums"}), 0);
  EXPECT_EQ(fpdus(0, 0), (json{{"0", 1}}));
  capture.from_client(TcpHeader::kAck, 1021, kSend);
  EXPECT_EQ(decode(capture.bytes()), 0);
  EXPECT_EQ(fpdus(0, 0), (json{{"3", 1}})) << "the retransmission counts";
}

TEST_F(DecodeCommandTest, AWrongIpv4ChecksumIsDropped) {
  CaptureBuilder capture;
  capture.connect(1000, 5000);
  for (std::size_t octet = 14; octet < 34; ++octet) {
    Bytes frame = CaptureBuilder::tcp_frame(CaptureBuilder::kClient, CaptureBuilder::kServer, 40000, 7471,
                                            TcpHeader::kAck, 1021, 0, kWrite, Sum::kGood);
    frame[octet] ^= 0x10;
    capture.frame(frame);
  }
  EXPECT_EQ(decode(capture.bytes()), 0) << out;
  EXPECT_EQ(fpdus(0, 0), json::object());
}

TEST_F(DecodeCommandTest, OffloadIsRecognisedByTheSyn) {
  CaptureBuilder offloaded;
  offloaded.connect(1000, 5000, 0, Sum::kPseudoHeaderOnly);
  offloaded.from_client(TcpHeader::kAck, 1021, kWrite, Sum::kPseudoHeaderOnly);
  offloaded.from_client(TcpHeader::kAck, 1041, kSend, Sum::kGood);
  EXPECT_EQ(decode(offloaded.bytes()), 0);
  EXPECT_EQ(fpdus(0, 0), (json{{"0", 1}, {"3", 1}})) << "a host may fill in some itself";
  EXPECT_EQ(decode(offloaded.from_client(TcpHeader::kAck, 1069, kWrite, Sum::kWrong).bytes()), 0);
  EXPECT_EQ(fpdus(0, 0), (json{{"0", 1}, {"3", 1}})) << "any other value is still wrong";
}

TEST_F(DecodeCommandTest, APseudoHeaderSumElsewhereIsAWrongChecksum) {
  CaptureBuilder capture;
  capture.connect(1000, 5000);
  capture.from_client(TcpHeader::kAck, 1021, kWrite, Sum::kPseudoHeaderOnly);
  EXPECT_EQ(decode(capture.bytes()), 0);
  EXPECT_EQ(fpdus(0, 0), json::object());
}

TEST_F(DecodeCommandTest, AHoleIsNamedAndWhatCameBeforeIsCounted) {
  CaptureBuilder capture;
  capture.connect(1000, 5000);
  capture.from_client(TcpHeader::kAck, 1021, kWrite);
  capture.from_client(TcpHeader::kAck, 1021 + 2 * 20, kWrite);
  EXPECT_EQ(decode(capture.bytes()), 1);
  EXPECT_EQ(fpdus(0, 0), (json{{"0", 1}}));
  ASSERT_EQ(found()["undecoded"].size(), 1u);
  EXPECT_EQ(found()["undecoded"][0]["offset"], capture.last_record());
  EXPECT_THAT(found()["undecoded"][0]["reason"].get<std::string>(), HasSubstr("20 octets before it"));
}

TEST_F(DecodeCommandTest, TheSamePortsCanBeUsedAgain) {
  CaptureBuilder capture = small_capture();
  capture.from_client(TcpHeader::kSyn, 1000);  // an old duplicate
  capture.connect(900000, 800000);
  capture.from_client(TcpHeader::kAck, 900021, kSend);
  EXPECT_EQ(decode(capture.bytes()), 0) << out;
  ASSERT_EQ(found()["connections"].size(), 2u);
  EXPECT_EQ(fpdus(0, 0), (json{{"0", 1}}));
  EXPECT_EQ(fpdus(1, 0), (json{{"3", 1}}));
}

TEST_F(DecodeCommandTest, SequenceNumbersWrapInTheMiddleOfAnFpdu) {
  CaptureBuilder capture;
  capture.connect(0xffffffe0u, 5000);
  capture.from_client(TcpHeader::kAck, 0xfffffff5u, kWrite + kSend);
  EXPECT_EQ(decode(capture.bytes()), 0);
  EXPECT_EQ(fpdus(0, 0), (json{{"0", 1}, {"3", 1}}));
}

TEST_F(DecodeCommandTest, AConnectionKnownByItsSynAckAlone) {
  CaptureBuilder capture;
  capture.from_server(TcpHeader::kSyn | TcpHeader::kAck, 5000, {}, Sum::kGood, 1001);
  capture.from_client(TcpHeader::kAck, 1001, hex("4D504120494420526571204672616D65 00 01 0000"));
  capture.from_server(TcpHeader::kAck, 5001, hex("4D504120494420526570204672616D65 00 01 0000"));
  capture.from_client(TcpHeader::kAck, 1021, kWrite);
  EXPECT_EQ(decode(capture.bytes()), 0);
  EXPECT_EQ(found()["connections"][0]["initiator"], "10.0.0.2:40000");
  EXPECT_EQ(fpdus(0, 0), (json{{"0", 1}}));
}

TEST_F(DecodeCommandTest, DataWithoutASynIsNamedOnce) {
  CaptureBuilder capture;
  for (std::uint32_t i = 0; i < 5; ++i) capture.from_client(TcpHeader::kAck, 1000 + i, {0x55});
  EXPECT_EQ(decode(capture.bytes()), 1);
  EXPECT_EQ(found()["undecoded"].size(), 1u);
  EXPECT_EQ(found()["undecoded"][0]["offset"], 24);
}

TEST_F(DecodeCommandTest, WhatFollowsARejectIsNotMpa) {
  CaptureBuilder capture;
  capture.from_client(TcpHeader::kSyn, 1000);
  capture.from_server(TcpHeader::kSyn | TcpHeader::kAck, 5000, {}, Sum::kGood, 1001);
  capture.from_client(TcpHeader::kAck, 1001, hex("4D504120494420526571204672616D65 00 01 0000"));
  capture.from_server(TcpHeader::kAck, 5001, hex("4D504120494420526570204672616D65 20 01 0000"));
  capture.from_client(TcpHeader::kAck, 1021, {1, 2, 3});
  EXPECT_EQ(decode(capture.bytes()), 0);
  EXPECT_EQ(found()["connections"][0]["mpa"]["rep"]["r"], 1);
}

// draft-carrier-rddp-rnic-interop-00, Figure 3: the request asked for neither markers nor CRC.
TEST_F(DecodeCommandTest, BehindAReplyOfRevisionZeroThereAreMarkersAndCrcBothWays) {
  const Bytes send = hex("00000000 0012 4003 00000000 00000000 00000001 00000000 A4FBCA4D");
  CaptureBuilder capture;
  capture.from_client(TcpHeader::kSyn, 1000);
  capture.from_server(TcpHeader::kSyn | TcpHeader::kAck, 5000, {}, Sum::kGood, 1001);
  capture.from_client(TcpHeader::kAck, 1001, hex("4D504120494420526571204672616D65 00 01 0000"));
  capture.from_server(TcpHeader::kAck, 5001, hex("4D504120494420526570204672616D65 C0 00 0000"));
  capture.from_client(TcpHeader::kAck, 1021, send);
  capture.from_server(TcpHeader::kAck, 5021, send);
  EXPECT_EQ(decode(capture.bytes()), 0) << out;
  for (const int side : {0, 1}) {
    EXPECT_EQ(fpdus(0, side), (json{{"3", 1}}));
    EXPECT_EQ(found()["connections"][0]["directions"][side]["crc"]["good"], 1);
  }
}

// Decode answers any bits, and with a known status; a sanitizer build also detects every stray access.
TEST_F(DecodeCommandTest, MutatedCapturesAreSurvived) {
  const Bytes original = small_capture().bytes();
  Prng random(20);
  for (int round = 0; round < 500; ++round) {
    Bytes mutated = original;
    for (std::uint64_t n = 1 + random.below(8); n != 0; --n) {
      mutated[random.below(mutated.size())] = static_cast<std::uint8_t>(random.below(256));
    }
    const bool ignore = round % 2 != 0;
    const int status = decode(mutated, ignore ? std::vector<std::string>{"--json", "--ignore-checksums"}
                                              : std::vector<std::string>{"--json"});
    ASSERT_THAT(status, testing::AnyOf(0, 1, 2)) << round;
    ASSERT_TRUE(status == 2 || json::accept(out)) << round;
  }
}

}  // namespace
}  // namespace rnic::cli
