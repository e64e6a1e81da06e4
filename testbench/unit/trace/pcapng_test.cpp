// The file's bytes literally (draft-ietf-opsawg-pcapng sections 4.1 to 4.3), and tshark's reading of them.
#include "model/trace/pcapng.h"

#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>

#include "model/common/check.h"

namespace rnic {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

std::string temp_file(const char* name) { return ::testing::TempDir() + "rnic_pcapng_" + name; }

std::vector<std::uint8_t> contents(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The standard output of a command, which must succeed.
std::string output_of(const std::string& command) {
  std::string text;
  std::FILE* pipe = popen((command + " 2>/dev/null").c_str(), "r");
  std::array<char, 256> piece;
  while (std::fgets(piece.data(), piece.size(), pipe) != nullptr) text += piece.data();
  EXPECT_EQ(pclose(pipe), 0) << command << ": tshark is needed; scripts/setup.sh installs it";
  return text;
}

TEST(Pcapng, FileIsSectionInterfacesAndPackets) {
  const std::string file = temp_file("bytes.pcapng");
  const std::uint8_t frame[] = {0xde, 0xad, 0xbe, 0xef, 0x55};
  PcapngWriter writer(file);
  EXPECT_EQ(writer.add_interface("wire"), 0u);
  writer.write(0, 0x123456789a * 1000 + 999, frame, Direction::kOutbound, "wr 7");
  writer.write(0, 1000, frame, Direction::kInbound, {}, std::uint64_t{1} << 32 | 100);
  writer.close();
  const std::uint8_t expected[] = {
      // Section Header Block: magic, version 1.0, unknown length, shb_userappl, end of options.
      0x0a, 0x0d, 0x0d, 0x0a, 44, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0,    //
      0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,                             //
      4, 0, 7, 0, 'r', 'n', 'i', 'c', 's', 'i', 'm', 0, 0, 0, 0, 0, 44, 0, 0, 0,  //
      // Interface Description Block: Ethernet, no snap length, if_name, if_tsresol 10^-9.
      1, 0, 0, 0, 40, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0,                                  //
      2, 0, 4, 0, 'w', 'i', 'r', 'e', 9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0, 40, 0, 0, 0,  //
      // Enhanced Packet Block: interface, time high and low, lengths, frame, epb_flags outbound, comment.
      6, 0, 0, 0, 60, 0, 0, 0, 0, 0, 0, 0, 0x12, 0, 0, 0, 0x9a, 0x78, 0x56, 0x34, 5, 0, 0, 0,  //
      5, 0, 0, 0, 0xde, 0xad, 0xbe, 0xef, 0x55, 0, 0, 0,                                       //
      2, 0, 4, 0, 2, 0, 0, 0, 1, 0, 4, 0, 'w', 'r', ' ', '7', 0, 0, 0, 0, 60, 0, 0, 0,         //
      // Enhanced Packet Block: inbound, without comment, epb_packetid.
      6, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0,  //
      5, 0, 0, 0, 0xde, 0xad, 0xbe, 0xef, 0x55, 0, 0, 0,                        //
      2, 0, 4, 0, 1, 0, 0, 0, 5, 0, 8, 0, 100, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0};
  EXPECT_THAT(contents(file), ElementsAreArray(expected));
  std::remove(file.c_str());
}

TEST(Pcapng, FileHasItsNameWhenItIsWhole) {
  const std::string file = temp_file("whole.pcapng"), part = file + ".part";
  std::ofstream(file) << "of an earlier run";
  {
    const PcapngWriter abandoned(file);
    EXPECT_TRUE(std::ifstream(part).good());
  }
  EXPECT_THAT(contents(file), ElementsAreArray("of an earlier run", 17));
  PcapngWriter writer(file);
  writer.close();
  EXPECT_EQ(contents(file).size(), 44u);
  EXPECT_FALSE(std::ifstream(part).good());
  std::remove(file.c_str());
}

TEST(Pcapng, TsharkReadsTimesInterfacesDirectionsAndComments) {
  const std::string file = temp_file("tshark.pcapng");
  std::array<std::uint8_t, 61> frame{};
  frame[12] = 0x88;  // an EtherType without a dissector
  frame[13] = 0xb5;
  PcapngWriter writer(file);
  const unsigned a = writer.add_interface("node0.link");
  const unsigned b = writer.add_interface("node1");
  writer.write(a, 1'234'567'891'999, frame, Direction::kOutbound, "request 1");
  writer.write(b, 1'234'568'000'000, ByteSpan(frame).subspan(0, 60), Direction::kInbound);
  writer.close();
  EXPECT_EQ(
      output_of("tshark -r " + file +
                " -T fields -e frame.time_epoch -e frame.interface_name -e frame.len -e frame.packet_flags_direction"
                " -e frame.comment"),
      "1.234567891\tnode0.link\t61\t0x00000002\trequest 1\n"
      "1.234568000\tnode1\t60\t0x00000001\t\n");
  std::remove(file.c_str());
}

template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const ConfigError& e) {
    return e.what();
  } catch (const OutputError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Pcapng, FullDiskIsReported) {
  PcapngWriter writer("/dev/full");
  const unsigned wire = writer.add_interface("wire");
  const std::array<std::uint8_t, 1500> frame{};
  for (int i = 0; i < 2000; ++i) writer.write(wire, 0, frame, Direction::kInbound);
  EXPECT_EQ(error_of([&] { writer.close(); }), "/dev/full: cannot be written: No space left on device");
}

TEST(Pcapng, FullDiskIsReportedForWhatIsStillBuffered) {
  PcapngWriter writer("/dev/full");
  EXPECT_EQ(error_of([&] { writer.close(); }), "/dev/full: cannot be written: No space left on device");
}

TEST(Pcapng, FileThatCannotBeCreatedIsReported) {
  EXPECT_EQ(error_of([] { PcapngWriter("/no/such/folder/x.pcapng"); }),
            "/no/such/folder/x.pcapng: cannot be created: No such file or directory");
}

TEST(Pcapng, FrameOfAnUnknownInterfaceIsOurBug) {
  const std::string file = temp_file("unknown.pcapng");
  PcapngWriter writer(file);
  EXPECT_THROW(writer.write(0, 0, {}, Direction::kInbound), InternalError);
  std::remove(file.c_str());
}

}  // namespace
}  // namespace rnic
