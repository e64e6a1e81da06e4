// What the loader accepts, and what it refuses, naming the setting and the file.
#include "model/rnic/fwcpu/rv32/elf_image.h"

#include <gmock/gmock.h>

#include "model/common/check.h"
#include "model/rnic/fwcpu/rv32/memory_map.h"
#include "testbench/unit/rnic/fwcpu/rv32/elf_builder.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ElfImage image_of(const ElfBuilder& elf) { return ElfImage(TemporaryFile(elf.build()).path); }
ElfBuilder program() {
  ElfBuilder elf;
  elf.entry = 0x80000002;
  elf.segments = {{0x80000000, {1, 2, 3, 4}, 4}, {0x80100000, {5, 6}, 8}};
  return elf;
}
template <class F>
std::string refusal(F f) {
  try {
    f();
  } catch (const ConfigError& e) {
    EXPECT_THAT(e.what(), testing::StartsWith("rnic.fwcpu.image: "));
    return e.what();
  }
  ADD_FAILURE() << "was not refused";
  return {};
}
std::string refusal_of(const ElfBuilder::Octets& octets) {
  const TemporaryFile file(octets);
  return refusal([&] { ElfImage image(file.path); });
}

TEST(ElfImageTest, SegmentsGoWhereTheyBelongAndTheRestIsZeros) {
  const ElfImage image = image_of(program());
  EXPECT_EQ(image.entry(), 0x80000002u);
  PageMemory sram(fw::rv32::kSram.bytes);
  MemoryMap memory(sram);
  memory.load(image);
  const MutableByteSpan text = memory.at(0x80000000, 5), data = memory.at(0x80100000, 3);
  EXPECT_THAT(std::vector(text.data(), text.data() + 5), ElementsAre(1, 2, 3, 4, 0));
  EXPECT_THAT(std::vector(data.data(), data.data() + 3), ElementsAre(5, 6, 0));
}

TEST(ElfImageTest, NoFile) {
  EXPECT_THAT(refusal([] { ElfImage image("/none/fw.elf"); }), HasSubstr("/none/fw.elf: cannot be read"));
  EXPECT_THAT(refusal([] { ElfImage image(testing::TempDir()); }), HasSubstr("cannot be read"));
}

TEST(ElfImageTest, AFileCutOffAnywhereIsRefused) {
  const ElfBuilder::Octets whole = program().build();
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    const std::string why = refusal_of({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes)});
    EXPECT_THAT(why, HasSubstr(bytes < sizeof(Elf32_Ehdr) ? "is no ELF file" : "is cut off")) << bytes;
  }
}

TEST(ElfImageTest, OtherMachinesAndKindsAreRefused) {
  ElfBuilder elf = program();
  elf.machine = EM_X86_64;
  EXPECT_THAT(refusal_of(elf.build()), HasSubstr("is no RV32 program"));
  elf = program();
  elf.width = ELFCLASS64;
  EXPECT_THAT(refusal_of(elf.build()), HasSubstr("is no RV32 program"));
  elf = program();
  elf.type = ET_REL;
  EXPECT_THAT(refusal_of(elf.build()), HasSubstr("is no RV32 program"));
  ElfBuilder::Octets octets = program().build();
  octets[0] = 0;
  EXPECT_THAT(refusal_of(octets), HasSubstr("is no RV32 program"));
}

TEST(ElfImageTest, SegmentsThatOverlapAreRefused) {
  ElfBuilder elf = program();
  elf.segments.push_back({0x80100007, {7}, 1});
  EXPECT_THAT(refusal_of(elf.build()), HasSubstr("has segments that overlap"));
  elf.segments.back().address = 0x80100008;
  EXPECT_NO_THROW(image_of(elf));
}

TEST(ElfImageTest, ASegmentLargerThanItsMemoryIsRefused) {
  ElfBuilder elf = program();
  elf.segments[1].memory_bytes = 1;
  EXPECT_THAT(refusal_of(elf.build()), HasSubstr("has a segment larger than its memory"));
}

TEST(ElfImageTest, ASegmentOutsideTextAndDataIsRefused) {
  PageMemory sram(fw::rv32::kSram.bytes);
  MemoryMap memory(sram);
  for (const std::uint32_t address :
       {0x0u, 0x40000000u, 0x50000000u, 0x8000fffdu, 0x80010000u, 0x80160000u, 0x80170000u, 0xfffffffeu}) {
    ElfBuilder elf = program();
    elf.segments = {{address, {1, 2, 3, 4}, 4}};
    const ElfImage image = image_of(elf);
    EXPECT_THAT(refusal([&] { memory.load(image); }), HasSubstr("where no program can be")) << address;
  }
}

TEST(ElfImageTest, AProgramWithoutSymbolsNamesNoObject) {
  EXPECT_TRUE(image_of(program()).object("rnic_layout", 4).empty());
  EXPECT_EQ(image_of(program()).place(0x80000000), "");
}

ElfBuilder program_with_symbols() {
  ElfBuilder elf = program();
  elf.symbols = {{"rnic_layout", 0x80100000, 2}, {"_ZN2fw4mainEv", 0x80000000, 4, STT_FUNC}};
  return elf;
}

TEST(ElfImageTest, SymbolsNameObjectsAndPlaces) {
  const ElfImage image = image_of(program_with_symbols());
  const ByteSpan object = image.object("rnic_layout", 2);
  EXPECT_THAT(std::vector(object.begin(), object.end()), ElementsAre(5, 6));
  EXPECT_TRUE(image.object("rnic_layout", 1).empty()) << "another size";
  EXPECT_TRUE(image.object("rnic", 2).empty()) << "another name";
  EXPECT_EQ(image.place(0x80000003), "fw::main()+0x3");
  EXPECT_EQ(image.place(0x80000004), "");
  EXPECT_EQ(image.place(0x80100000), "") << "data";
}

// place() is for a dump in the middle of a run, so all errors that it could meet must be found here.
TEST(ElfImageTest, DamagedSectionsAndSymbolsAreRefusedWhenTheImageIsRead) {
  const ElfBuilder::Octets whole = program_with_symbols().build();
  Elf32_Ehdr head;
  std::memcpy(&head, whole.data(), sizeof head);
  const std::size_t table = head.e_shoff + sizeof(Elf32_Shdr), names = table + sizeof(Elf32_Shdr);
  Elf32_Shdr symtab;
  std::memcpy(&symtab, whole.data() + table, sizeof symtab);
  const struct {
    const char* what;
    std::size_t at;
    std::uint32_t value;
  } kDamages[] = {
      {"the section headers lie behind the file", offsetof(Elf32_Ehdr, e_shoff), 0x10000},
      {"the symbols lie behind the file", table + offsetof(Elf32_Shdr, sh_offset), 0x10000},
      {"the symbols end behind the file", table + offsetof(Elf32_Shdr, sh_size), 0x1000},
      {"the names are in no section", table + offsetof(Elf32_Shdr, sh_link), 7},
      {"the names are in a section of something else", names + offsetof(Elf32_Shdr, sh_type), SHT_PROGBITS},
      {"the names lie behind the file", names + offsetof(Elf32_Shdr, sh_offset), 0x10000},
      {"a name lies behind the names", symtab.sh_offset + offsetof(Elf32_Sym, st_name), 0x1000},
  };
  for (const auto& damage : kDamages) {
    ElfBuilder::Octets octets = whole;
    store_le32(octets.data() + damage.at, damage.value);
    EXPECT_THAT(refusal_of(octets), HasSubstr("is cut off")) << damage.what;
  }
  EXPECT_THAT(refusal_of({whole.begin(), whole.end() - 1}), HasSubstr("is cut off"));
}

}  // namespace
}  // namespace rnic::test
