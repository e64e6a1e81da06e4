// The octets of a TLP in a capture, by the layouts of the PCI Express Base Specification, section 2.2.
#include "model/system/tlp_capture.h"

#include <gmock/gmock.h>

namespace rnic::test {
namespace {

using pcie::Tlp;
using testing::ElementsAreArray;

std::vector<std::uint8_t> behind_pseudo_header(const Tlp& tlp, bool to_device = false) {
  TlpPlace place;
  place.to_device = to_device;
  const std::vector<std::uint8_t> octets = tlp_octets(tlp, place);
  return {octets.begin() + 16, octets.end()};
}

using Octets = std::initializer_list<std::uint8_t>;

TEST(TlpOctetsTest, PseudoHeader) {
  TlpPlace place;
  place.to_device = true;
  place.space = TlpPlace::Space::kBar0;
  place.offset = 0x40;
  place.request = RequestId(0x0102030405060708);
  const std::vector<std::uint8_t> octets = tlp_octets(Tlp::write32(0xe0000040, 1), place);
  EXPECT_THAT(std::vector(octets.begin(), octets.begin() + 16),
              ElementsAreArray(Octets{1, 1, 1, 0, 0, 0, 0, 0x40, 1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(TlpOctetsTest, PseudoHeaderOfAHighNode) {
  TlpPlace place;
  place.request = RequestId(1000, RequestId::Kind::kReceive, 0, 0, 5);
  const std::vector<std::uint8_t> octets = tlp_octets(Tlp::write32(0xe0000040, 1), place);
  EXPECT_THAT(std::vector(octets.begin(), octets.begin() + 24),
              ElementsAreArray(Octets{2, 2, 0, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 5, 0, 0, 3, 0xe8, 0, 0, 0, 0}));
  EXPECT_EQ(octets[24], 0x40);  // the TLP
}

TEST(TlpOctetsTest, AWriteOfAWord) {
  EXPECT_THAT(behind_pseudo_header(Tlp::write32(0xe0000040, 0x11223344), true),
              ElementsAreArray(Octets{0x40, 0, 0, 1, 0, 0, 0, 0x0f, 0xe0, 0, 0, 0x40, 0x44, 0x33, 0x22, 0x11}));
}

TEST(TlpOctetsTest, AnUnalignedWriteHasByteEnablesAndWholeDoubleWords) {
  const std::uint8_t data[] = {1, 2, 3, 4, 5, 6};
  EXPECT_THAT(behind_pseudo_header(Tlp::write(0x1'0000'0003, data, 6, {})),
              ElementsAreArray(
                  Octets{0x60, 0, 0, 3, 1, 0, 0, 0x18, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 0, 0, 0}));
}

TEST(TlpOctetsTest, AnAccessWithinADoubleWordHasItsFirstEnablesOnly) {
  EXPECT_THAT(behind_pseudo_header(Tlp::read(0x2001, 2, 0)),
              ElementsAreArray(Octets{0, 0, 0, 1, 1, 0, 0, 0x06, 0, 0, 0x20, 0}));
}

TEST(TlpOctetsTest, AReadOf4096OctetsAndATagOf10Bits) {
  EXPECT_THAT(behind_pseudo_header(Tlp::read(0x2000, 4096, 0x3a5)),
              ElementsAreArray(Octets{0, 0x88, 0, 0, 1, 0, 0xa5, 0xff, 0, 0, 0x20, 0}));
}

TEST(TlpOctetsTest, ACompletion) {
  Tlp completion = Tlp::completion(Tlp::read(0x2002, 4, 0x17), 0x2002, 4);
  completion.set_word(0x44332211);
  EXPECT_THAT(behind_pseudo_header(completion, true),
              ElementsAreArray(Octets{0x4a, 0, 0, 2, 0, 0, 0, 4, 1, 0, 0x17, 2, 0, 0, 0x11, 0x22, 0x33, 0x44, 0, 0}));
}

// Type 0, to function 01:00.0: a register number of ten bits takes the place of the address.
TEST(TlpOctetsTest, ConfigurationSpace) {
  Tlp read = Tlp::config_read(0x104);
  read.tag = 5;
  EXPECT_THAT(behind_pseudo_header(read, true), ElementsAreArray(Octets{0x04, 0, 0, 1, 0, 0, 5, 0x0f, 1, 0, 1, 0x04}));
  EXPECT_THAT(behind_pseudo_header(Tlp::config_write(0x82, 2, 0xc123), true),
              ElementsAreArray(Octets{0x44, 0, 0, 1, 0, 0, 0, 0x0c, 1, 0, 0, 0x80, 0, 0, 0x23, 0xc1}));
  EXPECT_THAT(behind_pseudo_header(Tlp::answer(Tlp::config_write(0x82, 2, 0), pcie::CplStatus::kSc)),
              ElementsAreArray(Octets{0x0a, 0, 0, 0, 1, 0, 0, 4, 0, 0, 0, 0}));
}

TEST(TlpOctetsTest, ARefusalAndAPoisonedWrite) {
  EXPECT_THAT(behind_pseudo_header(Tlp::answer(Tlp::read(0x2000, 8, 1), pcie::CplStatus::kUr), true),
              ElementsAreArray(Octets{0x0a, 0, 0, 0, 0, 0, 0x20, 8, 1, 0, 1, 0}));
  Tlp write = Tlp::write32(0x1000, 0);
  write.poisoned = true;
  EXPECT_EQ(behind_pseudo_header(write)[2], 0x40);
}

}  // namespace
}  // namespace rnic::test
