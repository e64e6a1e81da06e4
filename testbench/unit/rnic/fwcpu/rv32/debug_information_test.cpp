// Lines and callers, from debug information written here octet by octet.
#include <map>

#include <gmock/gmock.h>

#include "model/rnic/fwcpu/crash/call_frames.h"
#include "model/rnic/fwcpu/crash/source_lines.h"
#include "testbench/unit/wire/hex.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
Bytes text(const std::string& s) { return {s.c_str(), s.c_str() + s.size() + 1}; }
Bytes with_length(const Bytes& octets) {
  Bytes length(4);
  store_le32(length.data(), static_cast<std::uint32_t>(octets.size()));
  return length + octets;
}

// Lines 10 to 12 at 1000, 1004 and 1008, up to 100c; then line 7 of the second file at 2000. It includes the other
// standard opcodes. A special opcode: each address step takes 14 of them, from 5 lines back to 8 on.
const Bytes kProgram =
    hex("00 05 02 00100000  03 09 01"  // address 1000, line + 9, a row
        "4b"                           // special: 13 + 4 x 14 + 5 + 1: address + 4, line + 1
        "02 04 03 01 01"               // pc + 4, line + 1, a row
        "09 0400 00 01 01"             // address + 4, end
        "00 05 02 00200000  04 02  03 06  05 03 06 07 0a 0b 0c 00  01  08  00 01 01"
        "00 05 02 00000000  01 02 90 4e 00 01 01");  // dropped by the linker: 0 to 2710

Bytes version_5() {
  const Bytes tables = hex("01 01 1f  02 00000000 04000000"  // folders, by .debug_line_str
                           "02 01 08 02 0b  03") +           // files: text, data1
                       text("a.cpp") +
                       hex("00") + text("a.cpp") + hex("00") + text("b.h") + hex("01");
  const Bytes head = hex("01 01 01 fb 0e 0d  00 01 01 01 01 00 00 00 01 00 00 01") + tables;
  return with_length(hex("0500 04 00") + with_length(head) + kProgram);
}
Bytes version_3() {
  const Bytes head = hex("01 01 fb 0e 0d  00 01 01 01 01 00 00 00 01 00 00 01") + text("sub") + hex("00") +
                     text("a.cpp") + hex("00 00 00") + text("b.h") + hex("01 00 00") + hex("00");
  return with_length(hex("0300") + with_length(head) + kProgram);
}
const Bytes kNames = text("src") + text("sub");

TEST(SourceLines, OfAnAddress) {
  const std::vector<std::uint64_t> addresses{0xfff, 0x1000, 0x1003, 0x1004, 0x100b, 0x100c, 0x2000, 0x2010, 0x2011, 4};
  const Bytes five = version_5();
  EXPECT_THAT(source_lines({five, kNames, {}}, addresses),
              ElementsAre("", "src/a.cpp:10", "src/a.cpp:10", "src/a.cpp:11", "src/a.cpp:12", "", "sub/b.h:7",
                          "sub/b.h:7", "", ""));
}

TEST(SourceLines, OfOlderVersionsAndOfSeveralUnits) {
  const Bytes both = with_length(hex("0600 000000")) + version_3() + with_length(hex("")) + version_5();
  EXPECT_THAT(source_lines({both, {}, {}}, {0x1004, 0x2000}), ElementsAre("a.cpp:11", "b.h:7")) << "the last one";
  const Bytes three = version_3();
  EXPECT_THAT(source_lines({three, {}, {}}, {0x1004, 0x2000}), ElementsAre("a.cpp:11", "sub/b.h:7"));
}

TEST(SourceLines, DamagedOnesDoNoHarm) {
  for (const Bytes& whole : {version_5(), version_3()}) {
    for (std::size_t n = 0; n < whole.size(); ++n) {
      source_lines({ByteSpan(whole).subspan(0, n), kNames, {}}, {0x1004});
      for (const std::uint8_t damage : {0x00, 0x7f, 0x80, 0xff}) {
        Bytes damaged = whole;
        damaged[n] = damage;
        EXPECT_EQ(source_lines({damaged, kNames, {}}, {0x1004}).size(), 1u);
      }
    }
  }
}

// Two functions. leaf() at 1000 has 16 octets of stack from 1002 on, and ra at its end from 1004 on. main() at 2000 has
// 32 octets, which hold ra and s0.
Bytes frames() {
  const Bytes common = hex("ffffffff 03 00 01 7c 01  0d 02 00 00");
  const Bytes leaf = hex("00000000 00100000 10000000  42 0e 10 42 81 01 44 0a 02 04 c1 0e 00 0b 00");
  const Bytes main = hex("00000000 00200000 00010000  02 02 0e 20 03 0200 81 01 88 02 04 00010000 06 01");
  return with_length(common) + with_length(leaf) + with_length(main);
}

class CallFramesTest : public testing::Test {
 protected:
  CallFramesTest() {
    registers[CallFrames::kStackPointer] = 0x8000;
    registers[CallFrames::kReturn] = 0x2010;
  }
  std::vector<std::uint32_t> callers(std::uint32_t pc, std::size_t most = 16) {
    registers[CallFrames::kPc] = pc;
    const Bytes section = frames();
    return CallFrames(section).callers(
        registers,
        [this](std::uint32_t at) {
          const auto found = memory.find(at);
          return found == memory.end() ? std::nullopt : std::optional(found->second);
        },
        most);
  }
  CallFrames::Registers registers{};
  std::map<std::uint32_t, std::uint32_t> memory;
};

TEST_F(CallFramesTest, BeforeInAndBehindAPrologue) {
  memory = {{0x801c, 0x2044}, {0x8018, 5}, {0x802c, 0x2044}, {0x8028, 5}, {0x800c, 0x2010}};
  registers[CallFrames::kReturn] = 0x2010;
  EXPECT_THAT(callers(0x1000), ElementsAre(0x2010u, 0x2044u)) << "its caller's frame begins at sp";
  memory[0x803c] = 0x9999;
  memory[0x8038] = 5;
  memory[0x804c] = 0x9999;
  memory[0x8048] = 5;
  EXPECT_THAT(callers(0x1002), ElementsAre(0x2010u, 0x2044u));
  registers[CallFrames::kReturn] = 0xdead;
  EXPECT_THAT(callers(0x1004), ElementsAre(0x2010u, 0x2044u)) << "ra is in memory by now";
  EXPECT_THAT(callers(0x1004, 1), ElementsAre(0x2010u));
  EXPECT_THAT(callers(0x1009), ElementsAre(0x2010u, 0x2044u)) << "the state is remembered behind an early return";
}

TEST_F(CallFramesTest, WhereNothingIsKnownTheReturnRegisterIs) {
  memory = {{0x801c, 0x9999}, {0x8018, 5}};
  EXPECT_THAT(callers(0), ElementsAre(0x2010u));
  registers[CallFrames::kReturn] = 0x5000;
  EXPECT_THAT(callers(0), IsEmpty());
}

TEST_F(CallFramesTest, AStackThatIsNoneEndsIt) {
  EXPECT_THAT(callers(0x1004), IsEmpty());
  registers[CallFrames::kReturn] = 0x2010;
  EXPECT_THAT(callers(0x1000), ElementsAre(0x2010u));
}

TEST_F(CallFramesTest, DamagedInformationDoesNoHarm) {
  const Bytes whole = frames();
  registers[CallFrames::kPc] = 0x1004;
  const auto zeros = [](std::uint32_t) { return std::optional(0x2010u); };
  for (std::size_t n = 0; n < whole.size(); ++n) {
    CallFrames(ByteSpan(whole).subspan(0, n)).callers(registers, zeros, 16);
    for (const std::uint8_t damage : {0x00, 0x0b, 0x7f, 0x80, 0xff}) {
      Bytes damaged = whole;
      damaged[n] = damage;
      EXPECT_LE(CallFrames(damaged).callers(registers, zeros, 16).size(), 16u);
    }
  }
}

}  // namespace
}  // namespace rnic::test
