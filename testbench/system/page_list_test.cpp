// Two hosts whose memory is scattered over pages: Sends, Writes and Reads from pages to pages.
#include "model/cable/ethernet_link.h"
#include "model/common/prng.h"
#include "model/rnic/llp/link_address.h"
#include "model/system/node.h"
#include "testbench/support/home_check.h"
#include "testbench/support/stage_test.h"
#include "testbench/system/few_rows.h"
#include "testbench/system/session_host.h"

namespace rnic::test {
namespace {

constexpr std::uint32_t kServerIp = 0x0a000001, kClientIp = 0x0a000002;
constexpr std::uint16_t kPort = 7471;
// Aligned to nothing: the region begins in the middle of its first page and ends in the middle of its last.
constexpr std::uint32_t kPages = 9, kFirstOffset = 0x7b3, kPart = 11003, kLength = 3 * kPart;
constexpr std::uint64_t kServerVa = 0x7f00'0000'0123, kClientVa = 0x5500'0000'0fff;

LinkAddress station(std::uint32_t ip, std::uint8_t last, std::uint32_t peer_ip, std::uint8_t peer_last) {
  const auto mac = [](std::uint8_t n) { return wire::MacAddress{{2, 0, 0, 0, 0, n}}; };
  return {mac(last), wire::Ipv4Address{ip}, {{wire::Ipv4Address{peer_ip}, mac(peer_last)}}};
}

// One queue pair, and one region over scattered pages, registered by command or by a request of the send queue.
class Program : public SessionHost {
 public:
  Program(Node& node, std::uint64_t va) : SessionHost(node), va_(va) {}
  bool fast = false;  // with a kRegMr request once connected

  // Octet i of the region, in its page.
  std::uint8_t& octet(std::uint32_t i) {
    const std::uint32_t at = kFirstOffset + i;
    return *node_.memory.span(list.pages[at / 4096] + at % 4096, 1).data();
  }
  std::vector<std::uint8_t> part(unsigned n) {
    std::vector<std::uint8_t> octets;
    for (std::uint32_t i = n * kPart; i < (n + 1) * kPart; ++i) octets.push_back(octet(i));
    return octets;
  }
  // The octets of the pages before and after the region.
  bool surroundings_are(std::uint8_t value) {
    const auto all = [&](std::uint64_t address, std::uint32_t bytes) {
      const MutableByteSpan s = node_.memory.span(address, bytes);
      return std::all_of(s.data(), s.data() + bytes, [&](std::uint8_t o) { return o == value; });
    };
    const std::uint32_t end = (kFirstOffset + kLength) % 4096;
    return all(list.pages.front(), kFirstOffset) && all(list.pages.back() + end, 4096 - end);
  }

  host::PageList list;
  host::Mr* mr = nullptr;

 protected:
  host::Sge sge(unsigned n) const { return {va_ + n * kPart, kPart, mr->lkey()}; }
  // A kRegMr request, for an allocated region.
  void register_fast() {
    if (!fast) return;
    host::SendWr wr;
    wr.opcode = abi::WrOpcode::kRegMr;
    wr.rkey = mr->rkey();
    wr.registration = registration_;
    EXPECT_EQ(qp->post_send(wr), 0);
  }
  const std::uint64_t va_;

 private:
  bool ready() override { return SessionHost::ready() && mr->mapped(); }
  void make() override {
    constexpr std::uint8_t kRights = abi::kLocalWrite | abi::kRemoteWrite | abi::kRemoteRead;
    const host::Pd pd = session_.domain();
    session_.make_cq(512);
    list = {12, kFirstOffset, node_.memory.alloc_pages(kPages, 12, va_)};
    for (const std::uint64_t page : list.pages) std::fill_n(node_.memory.span(page, 4096).data(), 4096, 0xee);
    mr = &session_.made(fast ? node_.context.alloc_mr(pd, kPages)
                             : node_.context.reg_mr(pd, list, va_, kLength, kRights));
    if (fast) registration_ = node_.context.map_mr(*mr, list, va_, kLength, kRights);
  }
  abi::Registration registration_;
};

class Server final : public Program {
 public:
  explicit Server(Node& node) : Program(node, kServerVa) {}
  void run() override {
    if (!session_.listens()) {
      EXPECT_EQ(qp->post_recv(host::receive_request(0, sge(0))), 0);
      session_.listen(kPort, abi::kCmCrc | abi::kCmMarkers | abi::kCmEnhanced);
    }
    if (accepted_ || events.empty()) return;
    accepted_ = true;
    session_.accept(events[0].connection);
  }

 private:
  bool accepted_ = false;
};

// A Send of part 0, a Write of part 1 to part 1, and a Read of the server's part 0 into part 2.
class Client final : public Program {
 public:
  Client(Node& node, Server& server) : Program(node, kClientVa), server_(server) {}
  std::uint32_t beyond = 0;  // octets by which the Write exceeds the server's region
  void run() override {
    core_.wake_at(40'000'000);  // the server listens by then
    if (core_.time_ps() < 40'000'000) return;
    if (!connecting_) {
      connecting_ = true;
      host::ConnParam param;
      param.flags = abi::kCmCrc | abi::kCmMarkers | abi::kCmEnhanced;
      session_.connect(kServerIp, kPort, param);
    }
    if (qp->state() != host::QpState::kRts || posted_) return;
    posted_ = true;
    for (std::uint32_t i = 0; i < 2 * kPart; ++i) octet(i) = static_cast<std::uint8_t>(7 * i + i / 256);
    register_fast();
    post(1, abi::WrOpcode::kSend, 0, 0);
    post(2, abi::WrOpcode::kRdmaWrite, 1, kServerVa + (beyond == 0 ? kPart : 2 * kPart + beyond));
    post(3, abi::WrOpcode::kRdmaRead, 2, kServerVa);
  }

 private:
  void post(std::uint64_t id, abi::WrOpcode opcode, unsigned part, std::uint64_t remote) {
    host::SendWr wr = host::send_request(id, opcode, sge(part));
    wr.remote_addr = remote;
    wr.rkey = server_.mr->rkey();
    EXPECT_EQ(qp->post_send(wr), 0);
  }
  Server& server_;
  bool connecting_ = false, posted_ = false;
};

class PageListEndToEnd : public testing::Test {
 protected:
  explicit PageListEndToEnd(const NodeConfig& server_config = {}, const NodeConfig& client_config = {})
      : a("a", server_config, station(kServerIp, 1, kClientIp, 2)),
        b("b", client_config, station(kClientIp, 2, kServerIp, 1)) {
    cable.attach(0, a.chip.mac_tx.ethernet, a.chip.mac_rx);
    cable.attach(1, b.chip.mac_tx.ethernet, b.chip.mac_rx);
    a.set_lookahead(0, 500'000);
    b.set_lookahead(0, 500'000);
  }
  Node a, b;
  EthernetLink cable{"cable", {}};
  Server server{a};
  Client client{b, server};
  void run() { sc_core::sc_start(sc_core::sc_time(20, sc_core::SC_MS), sc_core::SC_EXIT_ON_STARVATION); }
  void expect_all_moved() {
    std::vector<std::uint64_t> done;
    for (const host::Wc& wc : client.completions) {
      EXPECT_EQ(wc.status, abi::WcStatus::kSuccess);
      done.push_back(wc.wr_id);
    }
    EXPECT_THAT(done, testing::ElementsAre(1, 2, 3));
    ASSERT_EQ(server.completions.size(), 1u);
    EXPECT_EQ(server.completions[0].byte_len, kPart);
    EXPECT_EQ(server.part(0), client.part(0));
    EXPECT_EQ(server.part(1), client.part(1));
    EXPECT_EQ(server.part(2), std::vector<std::uint8_t>(kPart, 0xee));
    EXPECT_EQ(client.part(2), client.part(0));
    EXPECT_TRUE(server.surroundings_are(0xee));
    EXPECT_TRUE(client.surroundings_are(0xee));
  }
};

TEST_F(PageListEndToEnd, SendWriteAndReadMoveTheirOctetsFromPagesToPages) {
  run();
  expect_all_moved();
}
TEST_F(PageListEndToEnd, ARegionThatTheSendQueueRegistersOverPages) {
  client.fast = true;
  run();
  expect_all_moved();
}
TEST_F(PageListEndToEnd, LostFramesChangeNothing) {
  Prng prng(3);
  cable.impair([&](unsigned, Frame& frame) { return frame.bytes <= 200 || prng.below(6) != 0; });
  run();
  expect_all_moved();
}
TEST_F(PageListEndToEnd, AWriteOfOneOctetTooManyPlacesNothingOfItsSegmentInTheLastPage) {
  client.beyond = 1;
  run();
  unsigned errors = 0;
  for (const host::CmEvent& e : server.events) {
    if (e.type != host::CmEventType::kQpError) continue;
    ++errors;
    EXPECT_EQ(e.terminate.cause, wire::ddp::kBaseOrBounds);
  }
  EXPECT_EQ(errors, 1u);
  EXPECT_TRUE(server.surroundings_are(0xee));
}

// ---- Page lists that are not all on the chip

class PageCacheEndToEnd : public PageListEndToEnd, public testing::WithParamInterface<FewRows> {
 protected:
  PageCacheEndToEnd() : PageListEndToEnd(config(), config()) {}
  static NodeConfig config() { return GetParam().of(&CachesConfig::page); }
  static const CacheCounters& counters(Node& node) { return node.chip.contexts().page_table.cache().counters(); }
};

TEST_P(PageCacheEndToEnd, SendWriteAndReadMoveTheirOctets) {
  run();
  expect_all_moved();
  for (Node* node : {&a, &b}) {
    EXPECT_GE(counters(*node).misses, 2u);
    EXPECT_EQ(counters(*node).evictions + GetParam().entries, counters(*node).misses);
    if (node->context.home() != nullptr) {
      EXPECT_EQ(check_home(*node), GetParam().entries);
    }
  }
}
TEST_P(PageCacheEndToEnd, LostFramesChangeNothing) {
  Prng prng(3);
  cable.impair([&](unsigned, Frame& frame) { return frame.bytes <= 200 || prng.below(6) != 0; });
  run();
  expect_all_moved();
}

INSTANTIATE_TEST_SUITE_P(Sizes, PageCacheEndToEnd,
                         testing::Values(FewRows{"OnePlace", 1, 1}, FewRows{"TwoSets", 2, 1}, FewRows{"TwoWays", 2, 2},
                                         FewRows{"OnePlaceOnBoard", 1, 1, HomeKind::kBoard},
                                         FewRows{"TwoWaysOnBoard", 2, 2, HomeKind::kBoard}),
                         testing::PrintToStringParamName());

// A wrong bit in each of the rows that a chip fetches: the host gets an event, what completes is right, and no octet is
// written beside the region.
class WrongRow : public PageListEndToEnd, public testing::WithParamInterface<unsigned> {
 protected:
  static NodeConfig one_row(unsigned flip_fetch = 0) {
    return FewRows{"", 1, 1, HomeKind::kHost, flip_fetch}.of(&CachesConfig::page);
  }
  WrongRow()
      : PageListEndToEnd(GetParam() < kAtClient ? one_row(GetParam()) : one_row(),
                         GetParam() < kAtClient ? one_row() : one_row(GetParam() - kAtClient)) {}
  static constexpr unsigned kAtClient = 100;
};

TEST_P(WrongRow, EndsTheStreamsThatNeedIt) {
  run();
  Node& node = GetParam() < kAtClient ? a : b;
  ASSERT_EQ(node.chip.context_home.counters().corrupt, 1u);
  unsigned errors = 0, successes = 0;
  for (const Program* program : {static_cast<Program*>(&server), static_cast<Program*>(&client)}) {
    for (const host::CmEvent& e : program->events) errors += e.type == host::CmEventType::kQpError;
    for (const host::Wc& wc : program->completions) successes += wc.status == abi::WcStatus::kSuccess;
  }
  for (const host::Wc& wc : server.completions) {
    if (wc.status == abi::WcStatus::kSuccess) {
      EXPECT_EQ(server.part(0), client.part(0));
    }
  }
  for (const host::Wc& wc : client.completions) {
    if (wc.status == abi::WcStatus::kSuccess && wc.wr_id == 3) {
      EXPECT_EQ(client.part(2), client.part(0));
    }
  }
  if (errors == 0) expect_all_moved();  // nobody needed that entry
  else EXPECT_LT(successes, 4u);
  EXPECT_TRUE(server.surroundings_are(0xee));
  EXPECT_TRUE(client.surroundings_are(0xee));
}

INSTANTIATE_TEST_SUITE_P(Fetches, WrongRow, testing::Values(1, 2, 3, 101, 102, 103));

// A program that takes the home back and gives it again.
class Taker final : public SessionHost {
 public:
  explicit Taker(Node& node) : SessionHost(node) {}
  bool refused = false, was_given = false;
  unsigned step_ = 0;
  host::Mr *first = nullptr, *second = nullptr, *third = nullptr;

 protected:
  void make() override { session_.make_cq(512); }
  void run() override {
    if (core_.time_ps() < due_ps_) return;
    due_ps_ = core_.time_ps() + 20'000'000;  // each step has had its answers by then
    core_.wake_at(due_ps_);
    host::Context& context = node_.context;
    const host::PageList list{12, 0, pages_};
    const auto region = [&] { return context.reg_mr(session_.domain(), list, 0x10000, 4096, abi::kLocalWrite); };
    switch (step_) {
      case 0:
        pages_ = node_.memory.alloc_pages(1, 12);
        first = context.reg_mr(session_.domain(), {12, 0, pages_}, 0x10000, 4096, abi::kLocalWrite);
        was_given = context.give_home() == context.home() && context.home()->ready();  // it has one: no effect
        break;
      case 1:
        context.release_home();
        break;
      case 2:
        refused = context.home()->failed() && context.home()->status() == abi::CommandStatus::kBusy;
        context.dereg_mr(*first);
        break;
      case 3:
        context.release_home();
        break;
      case 4:
        EXPECT_TRUE(context.home()->destroyed());
        second = region();
        break;
      case 5:
        EXPECT_TRUE(second->failed());
        EXPECT_EQ(second->status(), abi::CommandStatus::kNoHome);
        context.release_home();  // it has none: no effect
        context.give_home();
        third = region();
        break;
      default:
        EXPECT_TRUE(context.home()->ready());
        EXPECT_TRUE(third->ready());
        return;
    }
    ++step_;
  }

 private:
  std::vector<std::uint64_t> pages_;
  std::uint64_t due_ps_ = 0;
};

TEST(HomeOfADevice, IsTakenBackWhenNoRegionNeedsItAndGivenAgain) {
  Node node("a", FewRows{"", 1, 1}.of(&CachesConfig::page), station(kServerIp, 1, kClientIp, 2));
  EthernetLink cable("cable", {});
  Node other("b", {}, station(kClientIp, 2, kServerIp, 1));
  cable.attach(0, node.chip.mac_tx.ethernet, node.chip.mac_rx);
  cable.attach(1, other.chip.mac_tx.ethernet, other.chip.mac_rx);
  node.set_lookahead(0, 500'000);
  other.set_lookahead(0, 500'000);
  Taker taker(node);
  sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_MS));
  EXPECT_EQ(taker.step_, 6u);
  EXPECT_TRUE(taker.was_given);
  EXPECT_TRUE(taker.refused);
  EXPECT_EQ(other.context.home(), nullptr);
  EXPECT_EQ(other.context.release_home(), nullptr);
  EXPECT_EQ(other.context.give_home(), nullptr);
  check_home(node);
}

}  // namespace
}  // namespace rnic::test
