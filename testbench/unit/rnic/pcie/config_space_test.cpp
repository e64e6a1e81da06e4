// Configuration space against the numbers of the PCI specifications, written independently.
#include "model/rnic/pcie/config_space.h"

#include "testbench/support/stage_test.h"

namespace rnic::pcie {
namespace {

using R = ConfigRegisters;

class ConfigSpaceTest : public test::StageTest {
 protected:
  PcieLinkConfig link;
  R registers{link};

  bool write(std::uint32_t offset, std::uint32_t bytes, std::uint32_t value) {
    return registers.write(offset, bytes, Tlp::config_write(offset, bytes, value).data());
  }
};

TEST_F(ConfigSpaceTest, ABusDriverFindsAnEthernetFunctionWithABarAndTwoCapabilities) {
  EXPECT_EQ(registers.read(0x00), 0x50401234u);
  EXPECT_EQ(registers.read(0x08) >> 8, 0x020000u);      // network controller, Ethernet
  EXPECT_EQ(registers.read(0x0c) >> 16 & 0xff, 0u);     // type 0, one function
  EXPECT_EQ(registers.read(0x04) >> 16 & 0x10, 0x10u);  // capability list
  std::vector<std::uint32_t> found;
  for (std::uint32_t at = registers.read(0x34) & 0xfc; at != 0; at = registers.read(at) >> 8 & 0xfc) {
    found.push_back(registers.read(at) & 0xff);
    ASSERT_LT(found.size(), 48u) << "the list has no end";
  }
  EXPECT_THAT(found, testing::ElementsAre(0x10u, 0x11u));
  EXPECT_EQ(registers.read(0x100), 0u) << "no extended capabilities";
  EXPECT_EQ(registers.read(0xffc), 0u);
}

TEST_F(ConfigSpaceTest, TheSizeOfBar0IsFoundByWritingOnes) {
  EXPECT_EQ(registers.bar0(), 0xe0000000u);
  EXPECT_EQ(registers.read(0x10), 0xe0000004u);  // memory, 64 bits, not prefetchable
  write(0x10, 4, ~0u);
  write(0x14, 4, ~0u);
  const std::uint64_t mask = std::uint64_t{registers.read(0x14)} << 32 | (registers.read(0x10) & ~15u);
  EXPECT_EQ(~mask + 1, 8192u);
  write(0x10, 4, 0x80000000);
  write(0x14, 4, 0x12);
  EXPECT_EQ(registers.bar0(), 0x1280000000u);
  for (const std::uint32_t other : {0x18u, 0x1cu, 0x20u, 0x24u, 0x30u}) {
    write(other, 4, ~0u);
    EXPECT_EQ(registers.read(other), 0u) << "no other BAR, and no ROM";
  }
}

// A BAR has no bits for such an address.
TEST_F(ConfigSpaceTest, AnAddressThatIsNoMultipleOfTheSizeIsAConfigurationError) {
  for (const std::uint64_t address : {0xe0000004u, 0xe0001000u}) {
    link.bar0_address = address;
    EXPECT_THROW(R{link}, ConfigError) << address;
  }
}

TEST_F(ConfigSpaceTest, LinkAndSizesAreThoseOfTheSettings) {
  link.generation = 3;
  link.width = 8;
  link.max_payload_bytes = 256;
  link.max_read_request_bytes = 512;
  const R r{link};
  EXPECT_EQ(r.read(0x44) & 7, 1u);         // 256 octets can be sent
  EXPECT_EQ(r.read(0x44) >> 28 & 1, 1u);   // function level reset
  EXPECT_EQ(r.read(0x48) >> 5 & 7, 1u);    // and are sent
  EXPECT_EQ(r.read(0x48) >> 12 & 7, 2u);   // read requests of 512 octets
  EXPECT_EQ(r.read(0x4c) & 0x3ff, 0x83u);  // 8 lanes at 8 GT/s
  EXPECT_EQ(r.read(0x50) >> 16, 0x83u);
}

TEST_F(ConfigSpaceTest, MsixHasItsTableInBar0) {
  EXPECT_EQ(registers.read(0x80) >> 16 & 0x7ff, 31u);  // 32 vectors
  EXPECT_EQ(registers.read(0x84), 0x1000u);
  EXPECT_EQ(registers.read(0x88), 0x1800u);
  EXPECT_TRUE(registers.msix());
  write(0x82, 2, 0xc000);
  EXPECT_FALSE(registers.msix()) << "masked";
  write(0x83, 1, 0x00);
  EXPECT_FALSE(registers.msix()) << "disabled";
  write(0x83, 1, 0x80);
  EXPECT_TRUE(registers.msix());
  EXPECT_EQ(registers.read(0x80) >> 16 & 0x7ff, 31u);
}

TEST_F(ConfigSpaceTest, OctetsThatAreNotEnabledStay) {
  write(0x11, 1, 0x60);
  EXPECT_EQ(registers.read(0x10), 0xe0006004u);
  write(0x12, 2, 0x1234);
  EXPECT_EQ(registers.read(0x10), 0x12346004u);
  write(0x00, 4, 0);
  EXPECT_EQ(registers.read(0x00), 0x50401234u) << "read-only";
}

TEST_F(ConfigSpaceTest, AFunctionLevelResetIsOneBitThatReadsZero) {
  EXPECT_FALSE(write(0x48, 2, 0x7fff));
  EXPECT_TRUE(write(0x49, 1, 0x80));
  EXPECT_TRUE(write(0x48, 4, 0x8000));
  EXPECT_EQ(registers.read(0x48) & 0x8000, 0u);
}

TEST_F(ConfigSpaceTest, AResetLeavesNothingEnabled) {
  registers.reset();
  EXPECT_EQ(registers.bar0(), 0u);
  EXPECT_FALSE(registers.memory_space());
  EXPECT_FALSE(registers.bus_master());
  EXPECT_FALSE(registers.msix());
  EXPECT_EQ(registers.read(0x00), 0x50401234u);
  EXPECT_EQ(registers.read(0x48) >> 5 & 7, 2u) << "MPS stays: both ends are built with it";
}

// Both in one cycle: the reset wins, and its owner hears of one reset, the larger one.
TEST_F(ConfigSpaceTest, AResetWinsOverAWriteOfTheSameCycle) {
  ConfigSpace space{clk, link};
  std::vector<ConfigSpace::Reset> resets;
  space.on_reset([&](ConfigSpace::Reset kind) { resets.push_back(kind); });
  space.reset(ConfigSpace::Reset::kLink);
  space.write(Tlp::config_write(R::kDeviceControl, 2, R::kFunctionReset));
  space.write(Tlp::config_write(R::kCommand, 2, R::kMemorySpace));
  EXPECT_EQ(space.get().bar0(), 0xe0000000u) << "until the end of the cycle";
  space.commit();
  EXPECT_THAT(resets, testing::ElementsAre(ConfigSpace::Reset::kLink));
  EXPECT_FALSE(space.get().memory_space());
  EXPECT_EQ(space.get().bar0(), 0u);
  space.write(Tlp::config_write(R::kCommand, 2, R::kMemorySpace));
  space.commit();
  EXPECT_TRUE(space.get().memory_space());
  EXPECT_EQ(resets.size(), 1u);
}

}  // namespace
}  // namespace rnic::pcie
