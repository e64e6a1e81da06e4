// The kernel without SystemC (model/golden/kernel), on its own. The test golden_kernel compares it with SystemC.
#include <memory>
#include <stdexcept>
#include <string>
#include <systemc>
#include <thread>
#include <tlm>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace {

using sc_core::Kernel;
using testing::ElementsAre;

sc_core::sc_time ps(std::uint64_t n) { return sc_core::sc_time::from_value(n); }
std::uint64_t now() { return sc_core::sc_time_stamp().value(); }

// Each test has a kernel of its own.
struct GoldenKernel : testing::Test {
  Kernel kernel;
  Kernel::Scope entered{kernel};
};

// Notes its name and the time when its event calls it, and then runs `then`.
struct Noted final : sc_core::sc_module {
  using Log = std::vector<std::pair<std::string, std::uint64_t>>;
  Noted(sc_core::sc_module_name nm, Log& to) : sc_module(nm), log(to) {
    SC_HAS_PROCESS(Noted);
    SC_METHOD(run);
    sensitive << event;
    dont_initialize();
  }
  void run() {
    log.emplace_back(basename(), now());
    if (then) then();
  }
  Log& log;
  sc_core::sc_event event;
  std::function<void()> then;
};

TEST_F(GoldenKernel, CallsByTimeAndThenByNotification) {
  Noted::Log log;
  Noted a("a", log), b("b", log), c("c", log);
  c.event.notify(ps(30));
  b.event.notify(ps(20));
  a.event.notify(ps(20));
  sc_core::sc_start(ps(100));
  EXPECT_THAT(log, ElementsAre(std::pair("b", 20), std::pair("a", 20), std::pair("c", 30)));
  EXPECT_EQ(now(), 100u);
}

TEST_F(GoldenKernel, OfTwoNotificationsTheEarlierStays) {
  Noted::Log log;
  Noted a("a", log);
  a.event.notify(ps(20));
  a.event.notify(ps(10));
  a.event.notify(ps(15));
  sc_core::sc_start(ps(100));
  EXPECT_THAT(log, ElementsAre(std::pair("a", 10)));
}

TEST_F(GoldenKernel, WithoutDelayItComesAfterWhatIsDueAtThatInstant) {
  Noted::Log log;
  Noted a("a", log), b("b", log), c("c", log);
  a.event.notify(ps(10));
  b.event.notify(ps(10));
  a.then = [&] { c.event.notify(ps(0)); };
  sc_core::sc_start(ps(11));
  EXPECT_THAT(log, ElementsAre(std::pair("a", 10), std::pair("b", 10), std::pair("c", 10)));
}

TEST_F(GoldenKernel, WhatIsDueAtTheEndBelongsToTheNextCall) {
  Noted::Log log;
  Noted a("a", log);
  a.event.notify(ps(10));
  sc_core::sc_start(ps(10));
  EXPECT_TRUE(log.empty());
  EXPECT_EQ(now(), 10u);
  EXPECT_TRUE(sc_core::sc_pending_activity());
  EXPECT_EQ(sc_core::sc_time_to_pending_activity().value(), 0u);
  sc_core::sc_start(ps(5));
  EXPECT_THAT(log, ElementsAre(std::pair("a", 10)));
  EXPECT_EQ(now(), 15u);
  EXPECT_FALSE(sc_core::sc_pending_activity());
}

TEST_F(GoldenKernel, WithoutDurationWhatIsDueNowIsCalledOnce) {
  Noted::Log log;
  Noted a("a", log), b("b", log);
  a.event.notify(ps(0));
  a.then = [&] { b.event.notify(ps(0)); };
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  EXPECT_THAT(log, ElementsAre(std::pair("a", 0)));
  EXPECT_EQ(now(), 0u);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  EXPECT_EQ(log.size(), 2u);
}

TEST_F(GoldenKernel, EndsAtTheLastCallIfToldSo) {
  Noted::Log log;
  Noted a("a", log);
  a.event.notify(ps(10));
  sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_SEC), sc_core::SC_EXIT_ON_STARVATION);
  EXPECT_EQ(now(), 10u);
}

TEST_F(GoldenKernel, APauseEndsAfterWhatWasDueThen) {
  Noted::Log log;
  Noted a("a", log), b("b", log), c("c", log);
  a.event.notify(ps(10));
  b.event.notify(ps(10));
  a.then = [&] {
    sc_core::sc_pause();
    c.event.notify(ps(0));
  };
  sc_core::sc_start(ps(100));
  EXPECT_THAT(log, ElementsAre(std::pair("a", 10), std::pair("b", 10)));
  EXPECT_EQ(now(), 10u);
  sc_core::sc_start(ps(100));
  EXPECT_EQ(log.size(), 3u);
  EXPECT_EQ(now(), 110u);
}

TEST_F(GoldenKernel, NeitherCancelledNorDestroyedEventsAreDue) {
  Noted::Log log;
  Noted a("a", log), b("b", log);
  auto c = std::make_unique<Noted>("c", log);
  for (Noted* each : {&a, &b, c.get()}) each->event.notify(ps(10));
  a.event.cancel();
  c.reset();
  sc_core::sc_start(ps(100));
  EXPECT_THAT(log, ElementsAre(std::pair("b", 10)));
}

TEST_F(GoldenKernel, AnExceptionOfAMethodPassesAndTheRestStaysDue) {
  Noted::Log log;
  Noted a("a", log), b("b", log);
  a.event.notify(ps(10));
  b.event.notify(ps(20));
  a.then = [] { throw std::range_error("planted"); };
  EXPECT_THROW(sc_core::sc_start(ps(100)), std::range_error);
  sc_core::sc_start(ps(100));
  EXPECT_THAT(log, ElementsAre(std::pair("a", 10), std::pair("b", 20)));
}

struct Leaf : sc_core::sc_module {
  explicit Leaf(sc_core::sc_module_name nm, bool fails = false) : sc_module(nm) {
    if (fails) throw std::range_error("planted");
  }
  void end_of_elaboration() override { ++elaborated; }
  int elaborated = 0;
};
struct Pair final : sc_core::sc_module {
  Pair(sc_core::sc_module_name nm, bool fails) : sc_module(nm), left("left"), right("right", fails) {}
  Leaf left, right;
};

TEST_F(GoldenKernel, NamesFollowTheConstructors) {
  Pair pair("pair", false);
  Leaf leaf("leaf");
  EXPECT_STREQ(pair.right.name(), "pair.right");
  EXPECT_STREQ(pair.right.basename(), "right");
  EXPECT_EQ(pair.right.get_parent_object(), &pair);
  EXPECT_THAT(pair.get_child_objects(), ElementsAre(&pair.left, &pair.right));
  EXPECT_STREQ(leaf.name(), "leaf");
  EXPECT_EQ(leaf.get_parent_object(), nullptr);
  EXPECT_EQ(std::string(sc_core::sc_gen_unique_name("end")), "end_0");
  EXPECT_EQ(std::string(sc_core::sc_gen_unique_name("end")), "end_1");
  EXPECT_EQ(std::string(sc_core::sc_gen_unique_name("other")), "other_0");
}

TEST_F(GoldenKernel, AConstructorThatThrowsLeavesNothing) {
  EXPECT_THROW(Pair("pair", true), std::range_error);
  Leaf leaf("leaf");
  EXPECT_STREQ(leaf.name(), "leaf");
  sc_core::sc_start(ps(1));
  EXPECT_EQ(leaf.elaborated, 1);
}

TEST_F(GoldenKernel, EachModuleIsElaboratedOnce) {
  Leaf first("first");
  {
    Leaf gone("gone");
    sc_core::sc_start(ps(1));
  }
  Leaf second("second");
  sc_core::sc_start(ps(1));
  EXPECT_EQ(first.elaborated, 1);
  EXPECT_EQ(second.elaborated, 1);
}

TEST_F(GoldenKernel, AMethodThatStartsByItselfIsRefused) {
  struct Eager final : sc_core::sc_module {
    SC_HAS_PROCESS(Eager);
    explicit Eager(sc_core::sc_module_name nm) : sc_module(nm) { SC_METHOD(run); }
    void run() {}
  } eager("eager");
  EXPECT_THROW(sc_core::sc_start(ps(1)), std::logic_error);
}

TEST(GoldenKernels, OutsideOfAScopeThereIsNone) { EXPECT_THROW(Leaf("leaf"), std::logic_error); }

TEST(GoldenKernels, AThreadHasItsOwn) {
  const auto simulate = [](std::uint64_t period, Noted::Log& log) {
    Kernel kernel;
    const Kernel::Scope entered(kernel);
    Noted a("a", log);
    a.then = [&] { a.event.notify(ps(period)); };
    a.event.notify(ps(period));
    for (int i = 0; i < 1000; ++i) sc_core::sc_start(ps(10 * period));
  };
  Noted::Log first, second;
  std::thread other([&] { simulate(7, second); });
  simulate(3, first);
  other.join();
  ASSERT_EQ(first.size(), 9'999u);
  ASSERT_EQ(second.size(), 9'999u);
  EXPECT_EQ(first.back().second, 29'997u);
  EXPECT_EQ(second.back().second, 69'993u);
}

TEST(GoldenKernels, AScopeInsideAnotherOneEnds) {
  Kernel outer, inner;
  const Kernel::Scope entered(outer);
  {
    const Kernel::Scope other(inner);
    EXPECT_EQ(&Kernel::current(), &inner);
  }
  EXPECT_EQ(&Kernel::current(), &outer);
}

struct Protocol {
  using tlm_payload_type = int;
  using tlm_phase_type = tlm::tlm_phase;
};
TLM_DECLARE_EXTENDED_PHASE(THIRD);

struct Ends final : tlm::tlm_fw_transport_if<Protocol>, tlm::tlm_bw_transport_if<Protocol> {
  tlm::tlm_sync_enum nb_transport_fw(int& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override {
    seen = {payload, delay.value()};
    third = phase == THIRD;
    return tlm::TLM_COMPLETED;
  }
  tlm::tlm_sync_enum nb_transport_bw(int& payload, tlm::tlm_phase&, sc_core::sc_time&) override {
    back = payload;
    return tlm::TLM_ACCEPTED;
  }
  void b_transport(int&, sc_core::sc_time&) override {}
  bool get_direct_mem_ptr(int&, tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(int&) override { return 0; }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  std::pair<int, std::uint64_t> seen;
  int back = 0;
  bool third = false;
};

TEST(GoldenTlm, SocketsReachEachOtherWhateverIsBoundFirst) {
  Ends ends;
  tlm::tlm_initiator_socket<32, Protocol> out("out");
  tlm::tlm_target_socket<32, Protocol> in("in");
  out.bind(in);
  out.bind(static_cast<tlm::tlm_bw_transport_if<Protocol>&>(ends));
  in.bind(static_cast<tlm::tlm_fw_transport_if<Protocol>&>(ends));
  int payload = 5;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = ps(9);
  EXPECT_EQ(out->nb_transport_fw(payload, phase, delay), tlm::TLM_COMPLETED);
  EXPECT_THAT(ends.seen, testing::Pair(5, 9u));
  EXPECT_FALSE(ends.third);
  phase = THIRD;
  out->nb_transport_fw(payload, phase, delay);
  EXPECT_TRUE(ends.third);
  in->nb_transport_bw(payload, phase, delay);
  EXPECT_EQ(ends.back, 5);
}

}  // namespace
