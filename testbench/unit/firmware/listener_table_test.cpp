#include "firmware/conn/listener_table.h"

#include <memory>

#include <gmock/gmock.h>

namespace rnic::fw {
namespace {

template <class Table>
class ListenerTables : public testing::Test {
 protected:
  // That of the large firmware is too large for a stack.
  std::unique_ptr<Table> table_ = std::make_unique<Table>();
  Table& table = *table_;
};
using Tables = testing::Types<ListenerTable<8>, ListenerTable<kAllPorts>>;
TYPED_TEST_SUITE(ListenerTables, Tables);

TYPED_TEST(ListenerTables, FindsAPortOfItsTransportOnly) {
  EXPECT_EQ(this->table.find(LlpId::kMpaTcp, 7), nullptr);
  Listener* const tcp = this->table.add(LlpId::kMpaTcp, 7, 1, abi::Personality::kIetf, 3);
  Listener* const sctp = this->table.add(LlpId::kSctp, 7, 2, abi::Personality::kIetf, 0);
  Listener* const last = this->table.add(LlpId::kMpaTcp, 65535, 0, abi::Personality::kIetf, 0);
  EXPECT_EQ(this->table.find(LlpId::kMpaTcp, 7), tcp);
  EXPECT_EQ(this->table.find(LlpId::kSctp, 7), sctp);
  EXPECT_EQ(this->table.find(LlpId::kMpaTcp, 65535), last);
  EXPECT_EQ(this->table.find(LlpId::kSctp, 65535), nullptr);
  EXPECT_EQ(tcp->flags, 1u);
  EXPECT_EQ(tcp->backlog, 3u);
  EXPECT_NE(tcp->serial, sctp->serial);
}

// A request of an earlier listener at the port is none of the present one.
TYPED_TEST(ListenerTables, AnAnswerCountsForItsListenerOnly) {
  Listener* listener = this->table.add(LlpId::kMpaTcp, 7, 0, abi::Personality::kIetf, 1);
  const std::uint32_t earlier = listener->serial;
  listener->used = false;
  EXPECT_EQ(this->table.find(LlpId::kMpaTcp, 7), nullptr);
  listener = this->table.add(LlpId::kMpaTcp, 7, 0, abi::Personality::kIetf, 1);
  listener->pending = 1;
  EXPECT_TRUE(listener->full());
  this->table.answered(LlpId::kMpaTcp, 7, earlier);
  EXPECT_TRUE(listener->full());
  this->table.answered(LlpId::kMpaTcp, 7, listener->serial);
  EXPECT_FALSE(listener->full());
  this->table.answered(LlpId::kMpaTcp, 8, 99);  // of a port that nothing listens on
}

}  // namespace
}  // namespace rnic::fw
