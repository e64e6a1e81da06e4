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
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using wire::TcpHeader;

const Bytes kWrite = hex("000E C140 0000ABCD 0000000012345678 6DAA3B9F");  // its CRC is wrong
const Bytes kSend = hex("0016 4143 00000000 00000000 00000001 00000000 DEADBEEF CE1959F1");
const Bytes kInvalidate = hex("0012 4144 0000BEEF 00000000 00000002 00000000 00000000");

class DecodeListTest : public testing::Test {
 protected:
  DecodeListTest()
      : path((std::filesystem::temp_directory_path() / ("rnic_decode_list_" + std::to_string(getpid()))).string()) {}
  ~DecodeListTest() override { std::filesystem::remove(path); }

  int list(const CaptureBuilder& capture, std::vector<std::string> options = {}) {
    return list(capture.bytes(), options);
  }
  int list(const Bytes& file, std::vector<std::string> options = {}) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
    options.insert(options.begin(), {path, "--list"});
    std::ostringstream o, e;
    const int status = decode_command(options, o, e);
    out = o.str();
    err = e.str();
    return status;
  }
  // The objects of JSON, and of the frames that the list has with these filters.
  std::vector<json> objects(const CaptureBuilder& capture, std::vector<std::string> options = {}) {
    options.push_back("--json");
    list(capture, options);
    std::vector<json> lines;
    std::istringstream text(out);
    for (std::string line; std::getline(text, line);) lines.push_back(json::parse(line));
    return lines;
  }
  std::vector<unsigned> frames(const CaptureBuilder& capture, const std::vector<std::string>& filters) {
    std::vector<std::string> options;
    for (const std::string& filter : filters) options.insert(options.end(), {"--filter", filter});
    std::vector<unsigned> found;
    for (const json& line : objects(capture, options)) {
      if (!line.contains("undecoded")) found.push_back(line["frame"]);
    }
    return found;
  }

  const std::string path;
  std::string out, err;
};

// Frames 5 to 7 without a CRC.
CaptureBuilder three_segments() {
  CaptureBuilder capture;
  capture.connect(1000, 5000);
  capture.from_client(TcpHeader::kAck, 1021, kWrite);
  capture.from_server(TcpHeader::kAck, 5021, kSend);
  capture.from_client(TcpHeader::kAck, 1041, kInvalidate);
  return capture;
}

TEST_F(DecodeListTest, TheWholeTable) {
  EXPECT_EQ(list(three_segments()), 0);
  EXPECT_EQ(
      out,
      "connection 1: 10.0.0.2:40000 > 10.0.0.1:7471\n"
      "   frame            time connection side      stream opcode                      last qn        msn         mo "
      "      stag                 to length crc     markers\n"
      "       5     0.000000000          1 initiator      - RDMA Write                     1  -          -          - "
      "    0xabcd         0x12345678      0 off           -\n"
      "       6     0.000000000          1 responder      - Send                           1  0          1          0 "
      "         -                  -      4 off           -\n"
      "       7     0.000000000          1 initiator      - Send with Invalidate           1  0          2          0 "
      "    0xbeef                  -      0 off           -\n"
      "3 of 3 segments are listed\n"
      "7 frames, 1 connections, 0 dropped for a wrong checksum, 0 not decoded\n");
  EXPECT_EQ(err, "");
}

TEST_F(DecodeListTest, AnObjectInALine) {
  const auto lines = objects(three_segments());
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0], json::parse(R"({"frame": 5, "time": 0.0, "epoch_ns": 0, "connection": 1,
    "src": "10.0.0.2:40000", "dst": "10.0.0.1:7471", "side": "initiator", "stream": null, "opcode": "RDMA Write",
    "last": 1, "qn": null, "msn": null, "mo": null, "stag": 43981, "to": 305419896, "length": 0, "crc": "off",
    "markers": null, "first_frame": 5})"));
  EXPECT_EQ(lines[1]["src"], "10.0.0.1:7471");
  EXPECT_EQ(lines[1]["msn"], 1);
  EXPECT_EQ(lines[1]["stag"], nullptr);
}

TEST_F(DecodeListTest, ProblemsStandAtTheirFrames) {
  CaptureBuilder capture;
  capture.connect(1000, 5000, 0x40);
  capture.from_client(TcpHeader::kAck, 1021, kWrite);
  capture.from_client(TcpHeader::kAck, 1041, kSend);
  EXPECT_EQ(list(capture), 1);
  EXPECT_THAT(out, testing::ContainsRegex(
                       "0x12345678      0 wrong         -\n"
                       "       5 not decoded, offset [0-9]+: 10.0.0.2:40000 > 10.0.0.1:7471: FPDU with a wrong CRC\n"
                       "       6 .* 4 right         -\n"));
  const auto lines = objects(capture);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1]["frame"], 5);
  EXPECT_THAT(lines[1]["undecoded"].get<std::string>(), HasSubstr("wrong CRC"));
}

TEST_F(DecodeListTest, AnUlpduThatIsNoSegmentHasALineToo) {
  CaptureBuilder capture;
  capture.connect(1000, 5000);
  capture.from_client(TcpHeader::kAck, 1021, hex("0004 C1400000 0000 00000000"));
  const auto lines = objects(capture);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0]["opcode"], nullptr);
  EXPECT_EQ(lines[0]["length"], 4);
}

// The place is that of the last octet; several FPDUs of a frame keep their order.
TEST_F(DecodeListTest, AnFpduInSeveralFramesAndSeveralInOne) {
  CaptureBuilder capture;
  capture.connect(1000, 5000);
  capture.from_client(TcpHeader::kAck, 1021, Bytes(kWrite.begin(), kWrite.begin() + 3));
  capture.from_client(TcpHeader::kAck, 1024, Bytes(kWrite.begin() + 3, kWrite.end()) + kSend + kInvalidate);
  const auto lines = objects(capture);
  ASSERT_EQ(lines.size(), 3u);
  for (const json& line : lines) EXPECT_EQ(line["frame"], 6);
  EXPECT_EQ(lines[0]["first_frame"], 5);
  EXPECT_EQ(lines[1]["first_frame"], 6);
  EXPECT_EQ(lines[2]["opcode"], "Send with Invalidate");
}

TEST_F(DecodeListTest, SegmentsAreInTheOrderOfTheirFrames) {
  CaptureBuilder capture;
  capture.connect(1000, 5000);
  capture.from_client(TcpHeader::kAck, 1041, kSend);
  capture.from_server(TcpHeader::kAck, 5021, kSend);
  capture.from_client(TcpHeader::kAck, 1021, kWrite);
  EXPECT_THAT(frames(capture, {}), ElementsAre(5, 6, 7));
}

TEST_F(DecodeListTest, FramesThatTheCableLostCountAsPackets) {
  CaptureBuilder capture;
  capture.connect(1000, 5000);
  Bytes lost = CaptureBuilder::tcp_frame(CaptureBuilder::kClient, CaptureBuilder::kServer, 40000, 7471, TcpHeader::kAck,
                                         1021, 0, kWrite, Sum::kGood);
  const Bytes type = hex("88B5");
  lost.insert(lost.begin() + 12, type.begin(), type.end());
  capture.frame(lost);
  capture.from_client(TcpHeader::kAck, 1021, kWrite);
  EXPECT_EQ(list(capture), 0);
  EXPECT_THAT(out, HasSubstr("1 frames that the cable lost were skipped\n6 frames, 1 connections"));
  EXPECT_THAT(frames(capture, {}), ElementsAre(6));
}

TEST_F(DecodeListTest, EveryKeyFilters) {
  const CaptureBuilder capture = three_segments();
  for (const char* const filter : {"frame=5", "stag=0xabcd", "stag=43981", "to=305419896", "opcode=RDMA Write",
                                   "opcode=rdma write", "opcode=0", "qn=-"}) {
    EXPECT_THAT(frames(capture, {filter}), ElementsAre(5)) << filter;
  }
  for (const char* const filter : {"msn=1", "length=4", "side=responder", "src=10.0.0.1:7471", "dst=10.0.0.2:40000"}) {
    EXPECT_THAT(frames(capture, {filter}), ElementsAre(6)) << filter;
  }
  for (const char* const filter : {"time=0", "time=0.000", "epoch_ns=0", "connection=1", "stream=-", "last=1",
                                   "crc=off", "crc=OFF", "markers=-"}) {
    EXPECT_THAT(frames(capture, {filter}), ElementsAre(5, 6, 7)) << filter;
  }
  EXPECT_THAT(frames(capture, {"qn=0"}), ElementsAre(6, 7));
  EXPECT_THAT(frames(capture, {"mo=0"}), ElementsAre(6, 7));
  EXPECT_THAT(frames(capture, {"first_frame=7"}), ElementsAre(7));
}

TEST_F(DecodeListTest, ValuesOfAKeyAreAlternativesAndAllKeysMustHold) {
  const CaptureBuilder capture = three_segments();
  EXPECT_THAT(frames(capture, {"frame=5", "frame=7"}), ElementsAre(5, 7));
  EXPECT_THAT(frames(capture, {"frame=5", "frame=6", "side=responder"}), ElementsAre(6));
}

TEST_F(DecodeListTest, AFilterThatLetsNothingPassIsSaid) {
  EXPECT_EQ(list(three_segments(), {"--filter", "msn=3"}), 0);
  EXPECT_EQ(err, "decode: no segment of 3 passes the filter\n");
  EXPECT_EQ(out,
            "0 of 3 segments are listed\n7 frames, 1 connections, 0 dropped for a wrong checksum, 0 not decoded\n");
}

TEST_F(DecodeListTest, MistakesInAFilterAreOneLine) {
  const std::pair<const char*, const char*> kMistakes[] = {
      {"mssn=1", "decode: --filter: unknown key 'mssn'; the nearest is 'msn'\n"},
      {"=1", "decode: --filter: unknown key ''; the nearest is 'qn'\n"},
      {"msn", "decode: --filter: 'msn' is not key=value\n"},
      {"msn=", "decode: --filter: '' of 'msn' is not a number\n"},
      {"msn=-1", "decode: --filter: '-1' of 'msn' is not a number\n"},
      {"to=0x10000000000000000", "decode: --filter: '0x10000000000000000' of 'to' is not a number\n"},
      {"time=0.0000000001", "decode: --filter: '0.0000000001' of 'time' is not a number\n"},
      {"opcode=Sned", "decode: --filter: 'opcode=Sned' is no value of this key; the nearest is 'Send'\n"},
      {"opcode=opcode 16",
       "decode: --filter: 'opcode=opcode 16' is no value of this key; the nearest is 'opcode 12'\n"},
      {"crc=bad", "decode: --filter: 'crc=bad' is no value of this key; the nearest is 'off'\n"}};
  for (const auto& [filter, message] : kMistakes) {
    EXPECT_EQ(list(three_segments(), {"--filter", filter}), 2);
    EXPECT_EQ(err, message);
    EXPECT_EQ(out, "");
  }
  std::ostringstream o, e;
  EXPECT_EQ(decode_command({path, "--filter", "msn=1"}, o, e), 2);
  EXPECT_EQ(e.str(), "decode: --filter is for --list\n");
}

TEST_F(DecodeListTest, ACaptureWithoutSegmentsIsSaid) {
  CaptureBuilder capture;
  capture.from_client(TcpHeader::kSyn, 1000);
  EXPECT_EQ(list(capture), 0);
  EXPECT_EQ(err, "decode: " + path + ": no DDP segment in 1 packets\n");
  EXPECT_THAT(objects(capture), IsEmpty());
}

// A snapshot length of 80 leaves 26 octets of each segment: the headers.
TEST_F(DecodeListTest, OfCutFramesTheHeadersAreListed) {
  CaptureBuilder capture;
  capture.connect(1000, 5000, 0x40);
  const Bytes write = hex("0032 C140 0000ABCD 0000000012345678") + Bytes(36, 0x55) + hex("00000000");
  const auto frame = [](std::uint32_t seq, const Bytes& payload) {
    return CaptureBuilder::tcp_frame(CaptureBuilder::kClient, CaptureBuilder::kServer, 40000, 7471, TcpHeader::kAck,
                                     seq, 0, payload, Sum::kGood);
  };
  const auto size = static_cast<std::uint32_t>(write.size());
  capture.frame(frame(1021, write), 80);
  capture.frame(frame(1021 + size, write + kSend), 80);  // the header of the second one is missing
  capture.frame(frame(1021 + 2 * size + static_cast<std::uint32_t>(kSend.size()), write), 80);
  capture.from_client(TcpHeader::kAck, 1021 + 3 * size + static_cast<std::uint32_t>(kSend.size()), kSend);
  const auto lines = objects(capture);
  ASSERT_EQ(lines.size(), 6u) << out;
  EXPECT_THAT(lines[1]["undecoded"].get<std::string>(),
              AllOf(HasSubstr("from here on payload is missing"), HasSubstr("kept 80 of the frame's 110 octets")));
  EXPECT_EQ(lines[3]["frame"], 6);
  EXPECT_THAT(lines[3]["undecoded"].get<std::string>(), HasSubstr("from here on FPDUs are left out"));
  for (const std::size_t i : {0, 2, 4}) {
    EXPECT_EQ(lines[i]["length"], 36);
    EXPECT_EQ(lines[i]["crc"], "missing");
  }
  EXPECT_EQ(lines[5]["crc"], "right");
}

// The list answers any bits, and with a known status; a sanitizer build also detects every stray access.
TEST_F(DecodeListTest, MutatedCapturesAreSurvived) {
  const Bytes original = three_segments().bytes();
  Prng random(21);
  for (int round = 0; round < 500; ++round) {
    Bytes mutated = original;
    for (std::uint64_t n = 1 + random.below(8); n != 0; --n) {
      mutated[random.below(mutated.size())] = static_cast<std::uint8_t>(random.below(256));
    }
    const int status = list(mutated, round % 2 != 0 ? std::vector<std::string>{"--json", "--ignore-checksums"}
                                                    : std::vector<std::string>{"--ignore-checksums"});
    ASSERT_THAT(status, testing::AnyOf(0, 1, 2)) << round;
    std::istringstream text(round % 2 != 0 ? out : "");
    for (std::string line; std::getline(text, line);) ASSERT_TRUE(json::accept(line)) << line;
  }
}

}  // namespace
}  // namespace rnic::cli
