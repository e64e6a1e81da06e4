// From a frame of TCP to the check of its segment, with fewer receive contexts on the chip than queue pairs: the queue
// pair of a frame is fetched with the segment's header, or already when the frame is accepted.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/common/netlist.h"
#include "model/rnic/context/context_home.h"
#include "model/rnic/rx/crc_check.h"
#include "model/rnic/rx/ddp_placement.h"
#include "model/rnic/rx/mpa_deframer.h"
#include "testbench/support/contexts.h"
#include "testbench/support/fake_dma.h"
#include "testbench/support/llps.h"
#include "testbench/unit/rnic/llp/tcp/scripted_peer.h"

namespace rnic::test {
namespace {

using testing::IsEmpty;

constexpr std::uint32_t kQps = 24, kStag = stag_of(3);
constexpr std::uint32_t kFirst = 1000;                        // of the peer's octets, and of ours
constexpr std::uint64_t kBuffers = 0x100000, kEach = 0x1000;  // of each queue pair
constexpr std::uint32_t kFpduBytes = 2 + 14 + 4;              // beside the payload
constexpr Cycle kLatency = 400;                               // of host memory
constexpr Cycle kFrom = 1000;

TcpConfig tcp_config() {
  TcpConfig c;
  c.max_flows = kQps;
  return c;
}

// Flow n, the peer's port 4000 + n, is the stream of queue pair n.
struct Chip {
  explicit Chip(bool prefetches, QpFetch fetch = QpFetch::kHalf)
      : clk(sc_core::sc_gen_unique_name("clock"), {}),
        contexts(clk, sizes(fetch)),
        flows("flow_rx_table", clk, kQps, tcp.flow_rx_table),
        sent(clk, kQps),
        home(sc_core::sc_gen_unique_name("context_home"), clk, contexts, {}),
        tcp_rx(sc_core::sc_gen_unique_name("tcp_rx"), clk, tcp, datapath, flows, {kMacB, {kIpB}, {}}, pool, sent),
        mpa_deframer(sc_core::sc_gen_unique_name("mpa_deframer"), clk, deframer, datapath, kQps, pool),
        crc_check(sc_core::sc_gen_unique_name("crc_check"), clk),
        ddp_placement(sc_core::sc_gen_unique_name("ddp_placement"), clk, contexts, llp_traits()) {
    dma.latency = kLatency;
    net.connect(tcp_rx.out, mpa_deframer.in, "stream", tcp.rx_link());
    net.connect(mpa_deframer.consumed, tcp_rx.consumed, "consumed");
    net.connect(mpa_deframer.out, crc_check.in, "deframed", LinkConfig::pipeline(deframer));
    net.connect(crc_check.out, ddp_placement.in[LlpId::kMpaTcp], "checked", LinkConfig::pipeline(crc));
    if (prefetches) tcp_rx.prefetch_in(contexts.rx_table.cache());
    contexts.write(Stag{kStag}, region(kBuffers, kQps * kEach, abi::kRemoteWrite));
    contexts.commit();
    ops.send({HomeOp::Kind::kHomePage, 0, 0});
    for (std::uint32_t n = 0; n < kQps; ++n) begin_use(n, 1);
  }
  static ContextStore::Sizes sizes(QpFetch fetch) {
    ContextStore::Sizes s{kQps, kQps, kQps, 16, 4, 64};
    s.qp_cache = {{{8, 1, CachePolicy::kLru, 4, 1}}, fetch};
    return s;
  }
  // Of the number of a queue pair, by the firmware.
  void begin_use(std::uint32_t n, std::uint32_t epoch) {
    write(n, rts_qp(n, epoch));
    sent.set(FlowId{n}, kFirst);
    flows.write(n, &tcp::FlowRxRow::facts, FlowFacts{Qpn{n}, life_of(epoch), false, false});
    tcp::RxCommand c;
    c.kind = tcp::RxCommand::Kind::kOpen;
    c.flow = FlowId{n};
    c.key = {kIpA, static_cast<std::uint16_t>(4000 + n), 5000};
    c.rcv_nxt = kFirst;
    c.agreed.emss = 1460;
    c.established = true;
    c.snd_una = kFirst;
    c.peer_window = 60'000;
    commands.send(c);
    c.kind = tcp::RxCommand::Kind::kEnterRdma;
    commands.send(c);
  }
  void write(std::uint32_t n, const QpContext& c) {
    HomeOp op{HomeOp::Kind::kWriteQp, n};
    op.qp = c;
    ops.send(op);
  }
  // A Write of one FPDU in a frame.
  void receive(std::uint32_t n, std::uint32_t payload, Cycle at, std::uint32_t seq = 0) {
    PeerSegment s{"A", kFirst + seq, kFirst, Bytes(kFpduBytes + payload)};
    s.peer_port = static_cast<std::uint16_t>(4000 + n);
    std::uint8_t* const fpdu = s.payload.data();
    store_be16(fpdu, static_cast<std::uint16_t>(14 + payload));
    fpdu[2] = 0xc1;  // tagged, the last one
    fpdu[3] = 0x40;  // RDMA Write
    store_be32(fpdu + 4, kStag);
    store_be64(fpdu + 8, kBuffers + n * kEach);
    const Bytes bytes = s.frame();
    Frame f;
    f.buf = pool.take();
    f.bytes = static_cast<std::uint32_t>(bytes.size());
    std::copy(bytes.begin(), bytes.end(), f.buf->bytes());
    in.send_at(at, std::move(f));
  }
  const PrefetchCounters& prefetches() const { return contexts.rx_table.cache().prefetches(); }

  const TcpConfig tcp = tcp_config();
  const DatapathConfig datapath;
  const MpaDeframerConfig deframer;
  const CrcCheckConfig crc;
  ClockDomain clk;
  ContextStore contexts;
  tcp::FlowRxTable flows;
  tcp::SentOctets sent;
  BufferPool pool{4096};
  ContextHome home;
  TcpRx tcp_rx;
  MpaDeframer mpa_deframer;
  CrcCheck crc_check;
  DdpPlacement ddp_placement;
  Netlist net{sc_core::sc_gen_unique_name("chip"), clk};
  Source<HomeOp> ops = drive(home.ops);
  Sink<HomeEvent> home_events = collect(home.events);
  FakeDma dma{home.read, home.read_done};
  FakeDmaWrite home_writes{home.write, home.write_done, dma.memory};
  Source<Frame> in = drive(tcp_rx.in);
  Source<tcp::RxCommand> commands = drive(tcp_rx.commands);
  Sink<DmaWriteRequest> writes = collect(ddp_placement.dma);
  Sink<PlacedSegment> placed = collect(ddp_placement.out);
  Sink<QpEvent> events = collect(ddp_placement.event);
  const Stubs others =
      stub(ddp_placement.in[LlpId::kSctp], tcp_rx.feedback, tcp_rx.reports, tcp_rx.ended, tcp_rx.behind, tcp_rx.early,
           ddp_placement.posted, ddp_placement.rqe, ddp_placement.rqe_taken, ddp_placement.read_issued,
           ddp_placement.srq_arm, ddp_placement.srq_event, ddp_placement.flush, ddp_placement.answered);
};

class QpPrefetch : public StageTest {
 protected:
  // From the use of a frame's row in tcp_rx to the header in ddp_placement, which asks for its queue pair. An FPDU
  // leaves the deframer from the cycle on that follows its last beat.
  static Cycle ahead(const Chip& chip, std::uint32_t payload) {
    const std::uint32_t beat = chip.datapath.beat_bytes;
    const Cycle beats = (kFpduBytes + payload + beat - 1) / beat;
    return chip.tcp.rx_cycles + beats + 1 + chip.deframer.pipeline_cycles + chip.crc.pipeline_cycles;
  }
};

TEST_F(QpPrefetch, AMessageIsPlacedAsMuchEarlierAsItsFrameIsAheadOfItsHeader) {
  struct Pair {
    std::uint32_t payload;
    std::unique_ptr<Chip> without, with;
  };
  std::vector<Pair> pairs;
  for (const QpFetch fetch : {QpFetch::kHalf, QpFetch::kObject}) {
    for (const std::uint32_t payload : {0u, 8u, 64u, 300u, 1400u}) {
      pairs.push_back({payload, std::make_unique<Chip>(false, fetch), std::make_unique<Chip>(true, fetch)});
      for (Chip* chip : {pairs.back().without.get(), pairs.back().with.get()}) chip->receive(3, payload, kFrom);
    }
  }
  run_until_idle();
  for (const auto& [payload, without, with] : pairs) {
    ASSERT_EQ(without->placed.size(), 1u);
    ASSERT_EQ(with->placed.size(), 1u);
    const Cycle used = with->in.cycles()[0] + kToEnd + with->tcp.hash_cycles + with->tcp.flow_rx_table.read_cycles;
    EXPECT_EQ(with->dma.cycles().at(0), used + 2) << payload;
    EXPECT_EQ(without->dma.cycles().at(0) - with->dma.cycles()[0], ahead(*with, payload)) << payload;
    EXPECT_EQ(without->placed.cycles()[0] - with->placed.cycles()[0], ahead(*with, payload)) << payload;
    EXPECT_EQ(with->prefetches().rows, 1u);
    EXPECT_EQ(with->prefetches().late, 1u);
    EXPECT_EQ(without->prefetches().rows, 0u);
  }
}

// A row that is on the chip is not fetched, and the second frame of a row that is fetched brings nothing.
TEST_F(QpPrefetch, ARowIsFetchedOnce) {
  Chip chip(true);
  chip.receive(3, 64, kFrom);
  chip.receive(3, 64, kFrom + 20, kFpduBytes + 64);
  chip.receive(3, 64, kFrom + 2000, 2 * (kFpduBytes + 64));
  run_until_idle();
  EXPECT_EQ(chip.placed.size(), 3u);
  EXPECT_EQ(chip.dma.cycles().size(), 1u);
  EXPECT_EQ(chip.prefetches().rows, 1u);
  EXPECT_EQ(chip.prefetches().dropped, 0u);
}

// The queue pair is destroyed in each cycle from before its frame to after its check, and its number is used again.
TEST_F(QpPrefetch, AQueuePairThatIsDestroyedWhileItIsPrefetchedLeavesNothing) {
  std::vector<std::unique_ptr<Chip>> chips;
  std::vector<std::unique_ptr<At>> firmware;
  for (Cycle at = kFrom; at < kFrom + kLatency + 60; at += 3) {
    Chip& chip = *chips.emplace_back(std::make_unique<Chip>(true));
    firmware.push_back(std::make_unique<At>(sc_core::sc_gen_unique_name("firmware"), chip.clk));
    firmware.back()->at(at, [&chip] {
      QpContext gone = rts_qp(3);
      gone.valid = false;
      gone.state = QpState::kIdle;
      chip.write(3, gone);
    });
    chip.receive(3, 64, kFrom);
    firmware.back()->at(kFrom + 2000, [&chip] {
      tcp::RxCommand c;
      c.kind = tcp::RxCommand::Kind::kRelease;
      c.flow = FlowId{3};
      chip.commands.send(c);
      chip.begin_use(3, 2);
    });
    chip.receive(3, 8, kFrom + 3000);
  }
  run_until_idle();
  unsigned dropped = 0;
  for (const auto& chip : chips) {
    dropped += chip->placed.size() == 1;
    ASSERT_GE(chip->placed.size(), 1u);
    EXPECT_EQ(chip->placed[chip->placed.size() - 1].bytes, 8u);
    EXPECT_EQ(chip->placed[chip->placed.size() - 1].epoch, 2u);
    EXPECT_THAT(chip->events, IsEmpty());
    EXPECT_THAT(chip->home_events, IsEmpty());
    EXPECT_EQ(chip->prefetches().rows, 1u);
    chip->writes.clear();
    EXPECT_EQ(chip->pool.in_use(), 0u);
  }
  EXPECT_GT(dropped, 100u);
  EXPECT_LT(dropped, chips.size()) << "one that was judged before";
}

// A prefetch that fails ends its queue pair as any fetch does, and no other one.
TEST_F(QpPrefetch, ARowThatCannotBePrefetchedIsLost) {
  Chip chip(true);
  chip.dma.fails = {0};
  chip.receive(3, 64, kFrom);
  chip.receive(4, 64, kFrom + 2000);
  run_until_idle();
  EXPECT_EQ(chip.home_events.size(), 1u);
  ASSERT_EQ(chip.events.size(), 1u);
  EXPECT_EQ(chip.events[0].qpn, Qpn{3});
  ASSERT_EQ(chip.placed.size(), 1u);
  EXPECT_EQ(chip.placed[0].qpn, Qpn{4});
}

}  // namespace
}  // namespace rnic::test
