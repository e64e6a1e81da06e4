#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "model/cli/decode_command.h"
#include "model/common/prng.h"
#include "testbench/unit/capture/capture_builder.h"

namespace rnic::cli {
namespace {

using namespace capture;  // the builder

using nlohmann::json;
using testing::HasSubstr;

constexpr std::uint32_t kClientTag = 0x11223344, kServerTag = 0x2b1c3d4e;
constexpr std::uint32_t kClientTsn = 1000, kServerTsn = 0xffffffff;
constexpr std::uint8_t kWhole = 7, kFirst = 6, kMiddle = 4, kLast = 5, kOrdered = 3;
constexpr std::uint32_t kSegment = 16, kControl = 17;

const Bytes kSend = hex("4143 00000000 00000000 00000001 00000000 DEADBEEF");
const Bytes kWrite = hex("C140 12345678 0000000000001000 55");
const Bytes kCookie = hex("0A000008 40414243"), kCookieAck = hex("0B000004");

Bytes be16(std::size_t v) { return {static_cast<std::uint8_t>(v >> 8), static_cast<std::uint8_t>(v)}; }
Bytes be32(std::uint32_t v) { return be16(v >> 16) + be16(v & 0xffff); }

Bytes data(std::uint32_t tsn, std::uint32_t ppid, const Bytes& user_data, std::uint8_t flags = kWhole,
           std::uint16_t stream = 0) {
  Bytes chunk =
      Bytes{0, flags} + be16(16 + user_data.size()) + be32(tsn) + be16(stream) + be16(0) + be32(ppid) + user_data;
  chunk.resize((chunk.size() + 3) / 4 * 4);
  return chunk;
}
Bytes message(std::uint16_t ddp_ssn, const Bytes& rest) { return be16(ddp_ssn) + rest; }
Bytes init(std::uint8_t type, std::uint32_t tag, std::uint32_t tsn, const Bytes& parameters) {
  return Bytes{type, 0} + be16(20 + parameters.size()) + be32(tag) + hex("00020000 00100010") + be32(tsn) + parameters;
}

const Bytes kAdaptation = hex("C0060008 00000001");

class DecodeSctpTest : public testing::Test {
 protected:
  DecodeSctpTest()
      : path((std::filesystem::temp_directory_path() / ("rnic_decode_sctp_" + std::to_string(getpid()))).string()) {}
  ~DecodeSctpTest() override { std::filesystem::remove(path); }

  int decode(const CaptureBuilder& capture, bool as_json = true, bool ignore_checksums = false) {
    return decode(capture.bytes(), as_json, ignore_checksums);
  }
  int decode(const Bytes& file, bool as_json = true, bool ignore_checksums = false) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
    std::vector<std::string> args = {path};
    if (as_json) args.push_back("--json");
    if (ignore_checksums) args.push_back("--ignore-checksums");
    std::ostringstream o, e;
    const int status = decode_command(args, o, e);
    out = o.str();
    return status;
  }
  json found() const { return json::parse(out); }
  json association(std::size_t i = 0) const { return found()["associations"][i]; }
  json session(std::size_t i = 0) const { return association()["sessions"][i]; }
  std::string reason(std::size_t i = 0) const { return found()["undecoded"][i]["reason"]; }

  // INIT to COOKIE ACK.
  static CaptureBuilder connected(const Bytes& client = kAdaptation, const Bytes& server = kAdaptation) {
    CaptureBuilder capture;
    capture.sctp_from_client(0, init(1, kClientTag, kClientTsn, client));
    capture.sctp_from_server(kClientTag, init(2, kServerTag, kServerTsn, server + hex("00070008 40414243")));
    capture.sctp_from_client(kServerTag, kCookie);
    capture.sctp_from_server(kClientTag, kCookieAck);
    return capture;
  }
  // With a session on stream 0; the next TSNs are kClientTsn + 1 and 0, and the next DDP-SSNs 1.
  static CaptureBuilder in_session() {
    CaptureBuilder capture = connected();
    capture.sctp_from_client(kServerTag, data(kClientTsn, kControl, hex("0000 0001 68656C6C6F")));
    capture.sctp_from_server(kClientTag, data(kServerTsn, kControl, hex("0000 0002")));
    return capture;
  }

  const std::string path;
  std::string out;
};

// Worked packets; their checksums were computed elsewhere.
TEST_F(DecodeSctpTest, TheWholeReportOfWorkedPackets) {
  CaptureBuilder capture;
  capture.packet(true,
                 hex("A028A029 00000000 346EFC0A 0100001C 11223344 00020000 00100010 000003E8 C0060008 00000001"));
  capture.packet(
      false, hex("A029A028 11223344 9D61D05A 02000046 2B1C3D4E 00020000 00100010 FFFFFFFF C0060008 00000001"
                 "0007002A 40414243 44454647 48494A4B 4C4D4E4F 50515253 54555657 58595A5B 5C5D5E5F 60616263 64650000"));
  capture.packet(
      true, hex("A028A029 2B1C3D4E 940F44AB 0A00002A 40414243 44454647 48494A4B 4C4D4E4F 50515253 54555657 58595A5B"
                "5C5D5E5F 60616263 64650000 0007001D 000003E8 00000000 00000011 00000005 8010C020 68656C6C 6F000000"));
  capture.packet(false, hex("A029A028 11223344 EA7DD8A2 0B000004 03000010 000003E8 00020000 00000000 00070018 FFFFFFFF"
                            "00000000 00000011 00000006 80208010"));
  capture.packet(
      true, hex("A028A029 2B1C3D4E C4FE4D6E 00070028 000003E9 00000000 00000010 00014143 00000000 00000000 00000001"
                "00000000 DEADBEEF"));
  capture.packet(
      true, hex("A028A029 2B1C3D4E 3A1151A2 00070028 000003F2 00000000 00000010 000A4147 00000000 00000002 00000001"
                "00000000 20060000 00070014 000003F3 00000000 00000011 000B0004"));
  capture.packet(true, hex("A028A029 2B1C3D4E 18DDFA96 0600000E 000C000A 6E6F2044 44500000"));
  ASSERT_EQ(decode(capture), 0) << out;
  EXPECT_EQ(found(), json::parse(R"({
    "connections": [],
    "associations": [{
      "initiator": "10.0.0.2:41000", "responder": "10.0.0.1:41001", "ddp": true, "end": "abort",
      "directions": [
        {"from": "initiator",
         "init": {"tag": 287454020, "tsn": 1000, "a_rwnd": 131072, "os": 16, "mis": 16, "adaptation": 1}, "packets": 5,
         "chunks": {"DATA": 4, "INIT": 1, "ABORT": 1, "COOKIE ECHO": 1}, "causes": {"12": 1},
         "tsns": {"duplicates": 0, "missing": 8}, "fragmented": 0},
        {"from": "responder",
         "init": {"tag": 723270990, "tsn": 4294967295, "a_rwnd": 131072, "os": 16, "mis": 16, "adaptation": 1}, "packets": 2,
         "chunks": {"DATA": 1, "INIT ACK": 1, "SACK": 1, "COOKIE ACK": 1}, "causes": {},
         "tsns": {"duplicates": 0, "missing": 0}, "fragmented": 0}],
      "sessions": [{"stream": 0, "active": "initiator", "directions": [
        {"from": "initiator", "set_up": {"message": "enhanced_initiate", "ird": 16, "ord": 32, "pd_length": 9},
         "segments": {"3": 1, "7": 1}, "payload_bytes": 4, "terminates": [{"layer": 2, "etype": 0, "code": 6}],
         "ddp_ssns": {"duplicates": 0, "missing": 8}, "ordered": 0, "terminated": true},
        {"from": "responder", "set_up": {"message": "enhanced_accept", "ird": 32, "ord": 16, "pd_length": 4},
         "segments": {}, "payload_bytes": 0, "terminates": [],
         "ddp_ssns": {"duplicates": 0, "missing": 0}, "ordered": 0, "terminated": false}]}]}],
    "undecoded": [], "skipped_packets": 0, "lost_packets": 0})"));
}

TEST_F(DecodeSctpTest, ATableWithoutJson) {
  CaptureBuilder capture = in_session();
  capture.sctp_from_client(kServerTag,
                           data(1001, kSegment, message(1, kSend)) + data(1001, kSegment, message(1, kSend)));
  ASSERT_EQ(decode(capture, false), 0);
  EXPECT_THAT(out, HasSubstr("10.0.0.2:40000 > 10.0.0.1:7471, SCTP\n"));
  EXPECT_THAT(
      out,
      HasSubstr(
          "  from initiator: 4 packets; chunks: DATA 3, INIT 1, COOKIE ECHO 1\n    TSNs: 1 duplicates, 0 missing"));
  EXPECT_THAT(out, HasSubstr("  stream 0: session, opened by the initiator\n"
                             "  from initiator: initiate, PD_Length 5; 4 octets of payload\n           1  Send\n"
                             "  from responder: accept, PD_Length 0; 0 octets of payload\n"));
  EXPECT_THAT(out, HasSubstr("7 frames, 0 connections, 1 associations, 0 dropped for a wrong checksum, 0 not decoded"));
}

TEST_F(DecodeSctpTest, AnyWrongBitIsDroppedUnlessChecksumsAreIgnored) {
  const Bytes packet = CaptureBuilder::sctp_packet(true, kServerTag, data(1001, kSegment, message(1, kWrite)));
  for (std::size_t at = 12; at < packet.size(); ++at) {
    CaptureBuilder capture = in_session();
    Bytes changed = packet;
    changed[at] ^= 0x10;
    capture.packet(true, changed);
    ASSERT_EQ(decode(capture), 0) << at << out;
    EXPECT_EQ(session()["directions"][0]["segments"], json::object()) << at;
  }
  CaptureBuilder capture = in_session();
  Bytes changed = packet;
  changed[8] ^= 1;
  capture.packet(true, changed);
  EXPECT_EQ(decode(capture, true, true), 0);
  EXPECT_EQ(session()["directions"][0]["segments"], (json{{"0", 1}}));
}

TEST_F(DecodeSctpTest, FragmentsInAnyOrderAreOneMessage) {
  const Bytes whole = message(1, kSend);
  std::vector<Bytes> chunks;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const std::uint8_t flags = i == 0 ? kFirst : i + 1 == whole.size() ? kLast : kMiddle;
    chunks.push_back(data(kClientTsn + 1 + static_cast<std::uint32_t>(i), kSegment, {whole[i]}, flags));
  }
  const Bytes after = data(kClientTsn + 1 + static_cast<std::uint32_t>(whole.size()), kSegment, message(2, kWrite));
  Prng random(3);
  for (int round = 0; round < 50; ++round) {
    std::vector<Bytes> order = chunks;
    for (std::size_t i = order.size() - 1; i != 0; --i) std::swap(order[i], order[random.below(i + 1)]);
    CaptureBuilder capture = in_session();
    capture.sctp_from_client(kServerTag, after);
    for (const Bytes& chunk : order) capture.sctp_from_client(kServerTag, chunk);
    ASSERT_EQ(decode(capture), 0) << out;
    EXPECT_EQ(session()["directions"][0]["segments"], (json{{"0", 1}, {"3", 1}}));
    EXPECT_EQ(association()["directions"][0]["fragmented"], 1);
    EXPECT_EQ(association()["directions"][0]["tsns"], (json{{"duplicates", 0}, {"missing", 0}}));
  }
}

TEST_F(DecodeSctpTest, FragmentsThatMakeNoWholeAreTold) {
  CaptureBuilder capture = in_session();
  capture.sctp_from_client(kServerTag, data(1001, kSegment, message(1, {0x41}), kFirst));
  const std::size_t first = capture.last_record();
  capture.sctp_from_client(kServerTag, data(1002, kSegment, {0x43}, kMiddle) + data(1004, kSegment, kSend, kLast));
  EXPECT_EQ(decode(capture), 1);
  ASSERT_EQ(found()["undecoded"].size(), 2u);
  EXPECT_EQ(found()["undecoded"][0]["offset"], first);
  EXPECT_EQ(reason(), "10.0.0.2:40000 > 10.0.0.1:7471: TSN 1001: 2 fragments are no whole message");
  EXPECT_EQ(reason(1), "10.0.0.2:40000 > 10.0.0.1:7471: TSN 1004: 1 fragments are no whole message");
}

TEST_F(DecodeSctpTest, FragmentsOfTwoMessagesAreNotJoined) {
  CaptureBuilder capture = in_session();
  capture.sctp_from_client(kServerTag, data(1001, kSegment, message(1, {0x41}), kFirst));
  capture.sctp_from_client(kServerTag,
                           data(1002, kSegment, message(1, kSend), kFirst) + data(1003, kSegment, {}, kLast));
  EXPECT_EQ(decode(capture), 1);
  EXPECT_THAT(out, HasSubstr("DATA without user data"));
  capture = in_session();
  capture.sctp_from_client(kServerTag, data(1001, kSegment, message(1, {0x41}), kFirst));
  capture.sctp_from_client(kServerTag, data(1002, kSegment, {0x43}, kLast, 5));
  EXPECT_EQ(decode(capture), 1);
  EXPECT_THAT(reason(), HasSubstr("TSN 1001: the fragments of a message differ in stream, PPID or U"));
}

TEST_F(DecodeSctpTest, DuplicatesCountOnceAndGapsAreNoted) {
  CaptureBuilder capture = in_session();
  for (const std::uint32_t tsn : {1001u, 1003u, 1003u, 1001u, 1000u}) {
    capture.sctp_from_client(kServerTag, data(tsn, kSegment, message(static_cast<std::uint16_t>(tsn - 1000), kSend)));
  }
  EXPECT_EQ(decode(capture), 0) << out;
  EXPECT_EQ(session()["directions"][0]["segments"], (json{{"3", 2}}));
  EXPECT_EQ(association()["directions"][0]["tsns"], (json{{"duplicates", 3}, {"missing", 1}}));
  EXPECT_EQ(session()["directions"][0]["ddp_ssns"], (json{{"duplicates", 0}, {"missing", 1}}));
  capture.sctp_from_client(kServerTag, data(1002, kSegment, message(2, kSend)));
  EXPECT_EQ(decode(capture), 0);
  EXPECT_EQ(association()["directions"][0]["tsns"]["missing"], 0) << "the retransmission fills it";
}

TEST_F(DecodeSctpTest, TsnAndDdpSsnWrap) {
  CaptureBuilder capture = in_session();
  for (std::uint32_t i = 1; i <= 70000; ++i) {
    capture.sctp_from_server(kClientTag, data(kServerTsn + i, kSegment, message(static_cast<std::uint16_t>(i), kSend)));
  }
  EXPECT_EQ(decode(capture), 0);
  EXPECT_EQ(session()["directions"][1]["segments"], (json{{"3", 70000}}));
  EXPECT_EQ(association()["directions"][1]["tsns"], (json{{"duplicates", 0}, {"missing", 0}}));
  EXPECT_EQ(session()["directions"][1]["ddp_ssns"], (json{{"duplicates", 0}, {"missing", 0}}));
}

TEST_F(DecodeSctpTest, SegmentsMayOvertakeTheAccept) {
  CaptureBuilder capture = connected();
  capture.sctp_from_client(kServerTag, data(1000, kControl, hex("0000 0001")));
  capture.sctp_from_server(kClientTag, data(0, kSegment, message(1, kWrite)));
  capture.sctp_from_server(kClientTag, data(kServerTsn, kControl, hex("0000 0002")));
  EXPECT_EQ(decode(capture), 0);
  ASSERT_EQ(association()["sessions"].size(), 1u);
  EXPECT_EQ(session()["directions"][1]["set_up"]["message"], "accept");
  EXPECT_EQ(session()["directions"][1]["segments"], (json{{"0", 1}}));
}

TEST_F(DecodeSctpTest, SessionsOnOneStreamAfterEachOtherAndOnOthersAtOnce) {
  CaptureBuilder capture = in_session();
  capture.sctp_from_client(kServerTag, data(1001, kControl, hex("0000 0001"), kWhole, 7));
  capture.sctp_from_client(kServerTag, data(1002, kSegment, message(1, kSend)));
  capture.sctp_from_server(kClientTag, data(0, kControl, hex("0000 0003 62757379"), kWhole, 7));
  capture.sctp_from_client(kServerTag, data(1003, kControl, hex("0002 0004")));
  capture.sctp_from_server(kClientTag, data(1, kControl, hex("0001 0004")));
  capture.sctp_from_server(kClientTag, data(2, kControl, hex("0000 0001")));
  capture.sctp_from_client(kServerTag, data(1004, kControl, hex("0000 0004")));
  EXPECT_EQ(decode(capture), 0) << out;
  ASSERT_EQ(association()["sessions"].size(), 3u);
  EXPECT_EQ(session(0)["directions"][0]["segments"], (json{{"3", 1}}));
  EXPECT_EQ(session(0)["directions"][0]["terminated"], true);
  EXPECT_EQ(session(1)["stream"], 7);
  EXPECT_EQ(session(1)["directions"][1]["set_up"],
            (json{{"message", "reject"}, {"ird", nullptr}, {"ord", nullptr}, {"pd_length", 4}}));
  EXPECT_EQ(session(2)["stream"], 0);
  EXPECT_EQ(session(2)["active"], "responder");
  EXPECT_EQ(session(2)["directions"][0]["terminated"], true);
  EXPECT_EQ(session(2)["directions"][0]["ddp_ssns"], (json{{"duplicates", 0}, {"missing", 0}}))
      << "each session begins at 0";
}

TEST_F(DecodeSctpTest, InitiatesThatCrossAreOneSession) {
  CaptureBuilder capture = connected();
  capture.sctp_from_client(kServerTag, data(1000, kControl, hex("0000 0001")));
  capture.sctp_from_server(kClientTag, data(kServerTsn, kControl, hex("0000 0001")));
  capture.sctp_from_client(kServerTag, data(1001, kControl, hex("0001 0004")));
  capture.sctp_from_server(kClientTag, data(0, kControl, hex("0001 0004")));
  EXPECT_EQ(decode(capture), 0);
  EXPECT_EQ(association()["sessions"].size(), 1u);
}

TEST_F(DecodeSctpTest, AnotherAssociationThanDdpsIsListedAndNoError) {
  const Bytes foreign = data(1000, 46, Bytes(100, 7), kOrdered) + data(1001, 0, {1}, kFirst);
  for (const Bytes& parameters : {Bytes{}, hex("C0060008 00000002")}) {
    CaptureBuilder capture = connected(kAdaptation, parameters);
    capture.sctp_from_client(kServerTag, foreign);
    ASSERT_EQ(decode(capture), 0) << out;
    EXPECT_EQ(association()["ddp"], false);
    EXPECT_EQ(association()["sessions"], json::array());
    EXPECT_EQ(association()["directions"][0]["chunks"]["DATA"], 2);
    ASSERT_EQ(decode(capture, false), 0);
    EXPECT_THAT(out, HasSubstr("  no DDP\n"));
  }
}

TEST_F(DecodeSctpTest, WhatDdpDoesNotAllowIsTold) {
  const std::pair<Bytes, const char*> cases[] = {
      {data(1001, 46, {1, 2}), "stream 0: 2 octets with PPID 46, which is not DDP's"},
      {data(1001, kControl, hex("0001 0009")), "stream 0: session control message refused: bad_code"},
      {data(1001, kControl, hex("0001")), "stream 0: session control message refused: truncated"},
      {data(1001, kSegment, {9}), "stream 0: DDP segment chunk without a DDP-SSN"},
      {data(1001, kSegment, hex("0001 4143 0000")), "stream 0: ULPDU of 4 octets is no DDP segment"},
      {hex("00070014 000003E9"), "a chunk's length is below 4 or passes the end of the packet"},
      {hex("0B000003"), "a chunk's length is below 4 or passes the end of the packet"},
      {hex("03000010 000003E8 00020000 00010000"), "a SACK is shorter than its counts say"},
      {hex("06000008 000C0002"), "an error cause's length is below 4 or passes the end of its chunk"},
  };
  for (const auto& [chunks, what] : cases) {
    CaptureBuilder capture = in_session();
    capture.sctp_from_client(kServerTag, chunks);
    EXPECT_EQ(decode(capture), 1) << what;
    ASSERT_EQ(found()["undecoded"].size(), 1u) << out;
    EXPECT_EQ(reason(), std::string("10.0.0.2:40000 > 10.0.0.1:7471: ") + what);
    EXPECT_EQ(found()["undecoded"][0]["offset"], capture.last_record());
  }
  CaptureBuilder capture = in_session();
  capture.sctp_from_client(kServerTag, data(1001, kSegment, message(1, kSend), kOrdered));
  EXPECT_EQ(decode(capture), 0);
  EXPECT_EQ(session()["directions"][0]["ordered"], 1);
}

TEST_F(DecodeSctpTest, EveryChunkHasAName) {
  CaptureBuilder capture = in_session();
  for (const int type : {4, 5, 7, 8, 9, 14, 0xc1}) {
    capture.sctp_from_client(kServerTag, Bytes{static_cast<std::uint8_t>(type), 0, 0, 4});
  }
  EXPECT_EQ(decode(capture), 0);
  EXPECT_EQ(association()["directions"][0]["chunks"], (json{{"DATA", 1},
                                                            {"INIT", 1},
                                                            {"HEARTBEAT", 1},
                                                            {"HEARTBEAT ACK", 1},
                                                            {"SHUTDOWN", 1},
                                                            {"SHUTDOWN ACK", 1},
                                                            {"ERROR", 1},
                                                            {"COOKIE ECHO", 1},
                                                            {"SHUTDOWN COMPLETE", 1},
                                                            {"unknown 0xc1", 1}}));
  EXPECT_EQ(association()["end"], "shutdown");
}

TEST_F(DecodeSctpTest, TheInitAckWhoseTagIsUsedCounts) {
  CaptureBuilder capture;
  capture.sctp_from_client(0, init(1, kClientTag, kClientTsn, kAdaptation));
  capture.sctp_from_server(kClientTag, init(2, 5, 500, kAdaptation));
  capture.sctp_from_client(0, init(1, kClientTag, kClientTsn, kAdaptation));
  capture.sctp_from_server(kClientTag, init(2, 3, 300, kAdaptation));
  capture.sctp_from_client(5, kCookie);
  capture.sctp_from_server(kClientTag, data(500, kControl, hex("0000 0001")));
  EXPECT_EQ(decode(capture), 0);
  ASSERT_EQ(found()["associations"].size(), 1u);
  EXPECT_EQ(association()["directions"][1]["init"]["tag"], 5);
  EXPECT_EQ(association()["directions"][1]["tsns"], (json{{"duplicates", 0}, {"missing", 0}}));
}

TEST_F(DecodeSctpTest, ARestartIsAnotherAssociationAndCrossingInitsAreOne) {
  CaptureBuilder restart = in_session();
  restart.sctp_from_client(0, init(1, 77, 7000, kAdaptation));
  restart.sctp_from_server(77, init(2, 88, 8000, kAdaptation));
  restart.sctp_from_server(kClientTag, data(0, kSegment, message(1, kSend)));  // still in the first association
  restart.sctp_from_client(88, kCookie + data(7000, kControl, hex("0000 0001")));
  EXPECT_EQ(decode(restart), 0) << out;
  ASSERT_EQ(found()["associations"].size(), 2u);
  EXPECT_EQ(session()["directions"][1]["segments"], (json{{"3", 1}}));
  EXPECT_EQ(association(1)["sessions"].size(), 1u);

  CaptureBuilder crossing;
  crossing.sctp_from_client(0, init(1, kClientTag, kClientTsn, kAdaptation));
  crossing.sctp_from_server(0, init(1, kServerTag, kServerTsn, kAdaptation));
  crossing.sctp_from_client(kServerTag, init(2, kClientTag, kClientTsn, kAdaptation));
  crossing.sctp_from_server(kClientTag, init(2, kServerTag, kServerTsn, kAdaptation));
  crossing.sctp_from_client(kServerTag, kCookie + data(1000, kControl, hex("0000 0001")));
  EXPECT_EQ(decode(crossing), 0);
  ASSERT_EQ(found()["associations"].size(), 1u);
  EXPECT_EQ(association()["sessions"].size(), 1u);
}

TEST_F(DecodeSctpTest, AnAbortWithAReflectedTagIsOfTheAssociation) {
  CaptureBuilder capture = in_session();
  capture.sctp_from_server(kServerTag, hex("06010004"));
  EXPECT_EQ(decode(capture), 0);
  EXPECT_EQ(association()["end"], "abort");

  CaptureBuilder late = in_session();
  late.sctp_from_client(kServerTag, hex("0E000004"));
  late.sctp_from_server(kServerTag, hex("06010004"));
  EXPECT_EQ(decode(late), 0);
  EXPECT_EQ(association()["end"], "shutdown") << "the answer to what came late";
}

TEST_F(DecodeSctpTest, DataWithoutAnInitIsToldOnce) {
  CaptureBuilder capture;
  for (std::uint32_t i = 0; i < 5; ++i)
    capture.sctp_from_client(kServerTag, data(1000 + i, kSegment, message(1, kSend)));
  EXPECT_EQ(decode(capture), 1);
  ASSERT_EQ(found()["undecoded"].size(), 1u);
  EXPECT_THAT(reason(), HasSubstr("DATA, but no INIT of this association is in the capture"));

  CaptureBuilder half;
  half.sctp_from_server(kClientTag, init(2, kServerTag, kServerTsn, kAdaptation));
  for (std::uint32_t i = 0; i < 5; ++i) half.sctp_from_client(kServerTag, data(1000 + i, kSegment, message(1, kSend)));
  EXPECT_EQ(decode(half), 1);
  ASSERT_EQ(found()["undecoded"].size(), 1u);
  EXPECT_THAT(reason(), HasSubstr("DATA, but its INIT or INIT ACK is not in the capture"));
}

TEST_F(DecodeSctpTest, CutFramesAndIpFragmentsAreNamed) {
  const Bytes packet = CaptureBuilder::sctp_packet(true, kServerTag, data(1001, kSegment, message(1, kSend)));
  const Bytes frame =
      CaptureBuilder::ip_frame(CaptureBuilder::kClient, CaptureBuilder::kServer, wire::kIpProtocolSctp, packet);
  for (std::size_t kept = 0; kept < frame.size(); ++kept) {
    CaptureBuilder capture = in_session();
    capture.frame(frame, kept);
    ASSERT_EQ(decode(capture), 1) << kept;
    EXPECT_THAT(reason(), HasSubstr("of the frame's 86 octets"));
  }
  CaptureBuilder capture = in_session();
  capture.frame(CaptureBuilder::ip_frame(CaptureBuilder::kClient, CaptureBuilder::kServer, wire::kIpProtocolSctp,
                                         packet, wire::Ipv4Header::kMoreFragments));
  EXPECT_EQ(decode(capture), 1);
  EXPECT_EQ(reason(), "IPv4 fragment");
  capture = in_session();
  capture.frame(
      CaptureBuilder::ip_frame(CaptureBuilder::kClient, CaptureBuilder::kServer, wire::kIpProtocolSctp, Bytes(11, 0)));
  EXPECT_EQ(decode(capture), 1);
  EXPECT_EQ(reason(), "malformed SCTP header");
}

TEST_F(DecodeSctpTest, MutatedCapturesAreSurvived) {
  CaptureBuilder capture = in_session();
  capture.sctp_from_client(kServerTag,
                           data(1001, kSegment, message(1, {0x41}), kFirst) + data(1002, kSegment, {0x43}, kLast));
  capture.sctp_from_server(kClientTag, hex("03000018 0000000C 00001234 00020000 00020003 00050005 06000008 000C0004"));
  const Bytes original = capture.bytes();
  Prng random(20);
  for (int round = 0; round < 1000; ++round) {
    Bytes mutated = original;
    for (std::uint64_t n = 1 + random.below(8); n != 0; --n) {
      mutated[random.below(mutated.size())] = static_cast<std::uint8_t>(random.below(256));
    }
    const int status = decode(mutated, true, true);
    ASSERT_THAT(status, testing::AnyOf(0, 1, 2)) << round;
    ASSERT_TRUE(status == 2 || json::accept(out)) << round;
  }
}

}  // namespace
}  // namespace rnic::cli
