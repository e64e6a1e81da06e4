#include "rtl-stubs/verilated/atomic_owners.h"

#include <gtest/gtest.h>

namespace rnic::rtl::test {
namespace {

class AtomicOwnersTest : public testing::Test {
 protected:
  AtomicOwners owners;

  static RequestId id(std::uint64_t n) { return {1, RequestId::Kind::kSend, 3, 0, n}; }
  static QueuedAtomic request(std::uint64_t n, wire::AtomicOpcode opcode, std::uint64_t data, std::uint64_t compare) {
    QueuedAtomic r;
    r.qpn = Qpn{5};
    r.request.operation = static_cast<std::uint32_t>(opcode);
    r.request.request_id = static_cast<std::uint32_t>(n);
    r.request.data = data;
    r.request.data_mask = opcode == wire::AtomicOpcode::kFetchAdd ? 0 : ~std::uint64_t{0};
    r.request.compare = compare;
    r.request.compare_mask = ~std::uint64_t{0};
    r.segment.owner = id(n);
    return r;
  }
  void start(std::uint32_t index, std::uint64_t address, const QueuedAtomic& r) {
    owners.take(r);
    owners.start(index, address);
  }
  static QueuedAtomic add(std::uint64_t n, std::uint64_t data) {
    return request(n, wire::AtomicOpcode::kFetchAdd, data, 0);
  }
  static QueuedAtomic swap(std::uint64_t n, std::uint64_t compare, std::uint64_t data) {
    return request(n, wire::AtomicOpcode::kCmpSwap, data, compare);
  }
};

TEST_F(AtomicOwnersTest, AReadIsOfTheRequestThatWasTaken) {
  owners.take(add(7, 1));
  EXPECT_EQ(owners.taken(), id(7));
}

TEST_F(AtomicOwnersTest, AddressesAreToldApart) {
  start(0, 0x100, add(0, 1));
  start(1, 0x200, add(1, 1));
  owners.read(1, 5);
  owners.read(0, 9);
  EXPECT_EQ(owners.write(0x200), id(1));
  EXPECT_EQ(owners.write(0x100), id(0));
  EXPECT_EQ(owners.answer(Qpn{5}, 1), id(1));
  EXPECT_EQ(owners.answer(Qpn{5}, 2), RequestId());
  owners.release(1);
  EXPECT_EQ(owners.answer(Qpn{5}, 1), RequestId());
}

// The first one reads memory, the others read its result.
TEST_F(AtomicOwnersTest, ThoseOfOneAddressWriteInTheirOrder) {
  start(0, 0x100, add(0, 1));
  start(1, 0x100, add(1, 1));
  start(2, 0x100, add(2, 1));
  owners.read(0, 5);
  EXPECT_EQ(owners.write(0x100), id(0));
  EXPECT_EQ(owners.write(0x100), id(1));
  owners.release(0);
  EXPECT_EQ(owners.write(0x100), id(2));
}

// A CmpSwap that finds a different value does not write, and the next one does.
TEST_F(AtomicOwnersTest, ACmpSwapThatDoesNotMatchIsPassedOver) {
  start(0, 0x100, swap(0, 1, 2));
  start(1, 0x100, swap(1, 5, 6));
  start(2, 0x100, swap(2, 6, 7));
  owners.read(0, 5);
  EXPECT_EQ(owners.write(0x100), id(1));
  EXPECT_EQ(owners.write(0x100), id(2));
}

// The earlier operation is answered, and so released, when the next one writes; its place is used again.
TEST_F(AtomicOwnersTest, AResultOutlivesItsOperation) {
  start(0, 0x100, swap(0, 1, 2));
  start(1, 0x100, swap(1, 5, 6));
  owners.read(0, 5);
  owners.release(0);
  start(0, 0x100, swap(2, 6, 8));
  EXPECT_EQ(owners.write(0x100), id(1));
  EXPECT_EQ(owners.write(0x100), id(2));
}

}  // namespace
}  // namespace rnic::rtl::test
