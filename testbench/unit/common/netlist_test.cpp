#include "model/common/netlist.h"

#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

struct Item {
  std::uint8_t number = 0;
  static constexpr const char* kMessage = "item";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("number", 8, m.number);
  }
};

class NetlistTest : public StageTest {
 protected:
  Netlist net{"chip", clk};
  Source<Item> source{"source", clk};
  Sink<Item> sink{"sink", clk};
};

TEST_F(NetlistTest, ConnectsWithTheLatencyOfItsConfig) {
  constexpr unsigned kCycles = 5;
  Link<Item>& link = net.connect(source.out, sink.in, "items", LinkConfig::pipeline(kCycles));
  EXPECT_EQ(link.name(), "chip.items");
  EXPECT_EQ(link.producer(), &source);
  EXPECT_EQ(link.consumer(), &sink);
  source.send(std::vector<Item>(20));
  run_until_idle();
  ASSERT_EQ(sink.cycles().size(), 20u);
  for (Cycle i = 0; i < 20; ++i) EXPECT_EQ(sink.cycles()[i], i + kCycles);  // no gap: deep enough for its latency
}

TEST_F(NetlistTest, TheDomainKnowsItsLinksWhileTheyLast) {
  {
    Netlist other("other", clk);
    Link<int> alone("alone", clk, {});
    other.connect(source.out, sink.in, "items");
    ASSERT_EQ(clk.links().size(), 2u);
    EXPECT_EQ(clk.links()[0]->name(), "alone");
    EXPECT_EQ(clk.links()[1]->name(), "other.items");
    EXPECT_EQ(other.links().size(), 1u);
  }
  EXPECT_TRUE(clk.links().empty());
}

TEST_F(NetlistTest, ResetEmptiesEveryLink) {
  Source<Item> second("second", clk);
  Sink<Item> end("end", clk);
  net.connect(source.out, sink.in, "first");
  net.connect(second.out, end.in, "second");
  sink.pause(every(1, 1));
  end.pause(every(1, 1));
  source.send({1});
  second.send({2});
  sc_core::sc_start(sc_core::sc_time::from_value(3 * clk.period_ps()));
  for (const auto& link : net.links()) EXPECT_EQ(link->used(), 1u) << link->name();
  net.reset();
  for (const auto& link : net.links()) EXPECT_TRUE(link->empty()) << link->name();
}

TEST_F(NetlistTest, AnEndIsBoundOnce) {
  Sink<Item> other("other", clk);
  net.connect(source.out, sink.in, "items");
  EXPECT_THROW(net.connect(source.out, other.in, "again"), InternalError);
}

}  // namespace
}  // namespace rnic::test
