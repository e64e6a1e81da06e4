// Two firmware processors bring a connection up and down over a TCP that never fails: the whole exchange, cycle by
// cycle, and the same for any order in which the stages are called.
#include <cstring>
#include <deque>

#include <fmt/format.h>

#include "model/common/overloaded.h"
#include "model/rnic/fwcpu/fwcpu.h"
#include "testbench/support/contexts.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;

// A node's view of the chip around its firmware.
struct Node {
  Node(const std::string& name, ClockDomain& clk, BufferPool& pool)
      : contexts(clk, {}), cpu((name + "_cpu").c_str(), clk, {}, contexts, pool) {}
  ContextStore contexts;
  WrittenFlows flows{contexts};
  FwCpu cpu;
  Source<FetchedCommand> host = drive(cpu.commands);
  Sink<HostEvent> to_host = collect(cpu.events);
  const Stubs others = stub(cpu.cq_overflows, cpu.srq_events, cpu.srq_arms, cpu.home_events, cpu.home_ops,
                            cpu.stag_writes, cpu.stag_written, cpu.llp_events[LlpId::kSctp], cpu.llp_ops[LlpId::kSctp]);
};

// TCP and the transmit pipeline of one node. Function calls within one cycle join them to those of the other node, so
// both live in one stage.
class Wire final : public Stage {
 public:
  struct End {
    PopPort<LlpOp> ops;
    PopPort<TxInternalWork> work;
    PushPort<LlpEvent> tcp;
    PushPort<QpEvent> qp;
    FlowId flow;
    std::deque<LlpEvent> reports{};    // one leaves per cycle
    std::vector<std::uint8_t> stream;  // received and not read
    std::uint32_t wanted = 0;
    bool rdma = false, closed = false;
  };
  Wire(sc_core::sc_module_name nm, ClockDomain& clk, BufferPool& pool)
      : Stage(nm, clk),
        ends_{End{{*this, "ops_a"}, {*this, "work_a"}, {*this, "tcp_a"}, {*this, "qp_a"}, FlowId{3}, {}, {}},
              End{{*this, "ops_b"}, {*this, "work_b"}, {*this, "tcp_b"}, {*this, "qp_b"}, FlowId{7}, {}, {}}},
        pool_(pool),
        net_("wire", clk) {}
  void join(unsigned side, Node& node) {
    End& end = ends_[side];
    const std::string name(node.cpu.basename());
    net_.connect(node.cpu.llp_ops[LlpId::kMpaTcp], end.ops, name + ".tcp_ops");
    net_.connect(node.cpu.tx_work, end.work, name + ".tx_work");
    net_.connect(end.tcp, node.cpu.llp_events[LlpId::kMpaTcp], name + ".tcp_events", {8, 50, 1});
    net_.connect(end.qp, node.cpu.qp_events, name + ".qp_events", {8, 50, 1});
  }
  const End& end(unsigned side) const { return ends_[side]; }
  std::vector<std::string> work_log;

  Wake tick() override {
    bool busy = false;
    for (unsigned side = 0; side < 2; ++side) {
      End &own = ends_[side], &peer = ends_[1 - side];
      if (own.ops->can_pop()) {
        operate(own, peer, own.ops->pop());
        busy = true;
      }
      if (own.work->can_pop()) {
        transmit(own, peer, own.work->pop());
        busy = true;
      }
    }
    for (End& end : ends_) {
      if (end.reports.empty() || !end.tcp->can_push()) continue;
      end.tcp->push(std::move(end.reports.front()));
      end.reports.pop_front();
      busy = true;
    }
    return busy ? Wake::next_cycle() : Wake::on_traffic();
  }

 private:
  static void report(End& end, LlpEvent e) { end.reports.push_back(std::move(e)); }
  void operate(End& own, End& peer, const LlpOp& op) {
    op.visit(Overloaded{
        [&](const fw::TcpOpen& o) {
          report(peer, fw::TcpAccepted{peer.flow, 0, 0, o.peer_port, 1460});
          report(own, fw::TcpConnected{own.flow, o.cookie, 0, 1460});
        },
        [&](const fw::TcpStreamSend& o) {
          own.wanted = 0;
          peer.stream.insert(peer.stream.end(), op.data->bytes(), op.data->bytes() + o.octets.bytes);
          answer_read(peer);
        },
        [&](const fw::TcpStreamRead& o) {
          own.wanted = o.into.bytes;
          answer_read(own);
        },
        [&](const fw::TcpEnterRdma&) {
          own.rdma = true;
          own.wanted = 0;
          EXPECT_TRUE(own.stream.empty()) << "the switch is at the frame's last octet";
        },
        [&](const fw::TcpClose&) {
          own.closed = true;
          report(peer, fw::TcpPeerClosed{peer.flow});
          if (!peer.closed) return;
          report(own, fw::TcpClosed{own.flow});
          report(peer, fw::TcpClosed{peer.flow});
        },
        [&](const fw::TcpListen&) {},
        [&](const fw::TcpUnlisten&) {},
        [&](const fw::TcpSetLimits&) {},
        [&](const auto& other) { FAIL() << other.kName << ": nothing goes wrong here"; },
    });
  }
  void answer_read(End& end) {
    if (end.wanted == 0 || end.stream.size() < end.wanted) return;
    const std::uint32_t bytes = std::exchange(end.wanted, 0);
    BufferRef data = pool_.take();
    std::memcpy(data->bytes(), end.stream.data(), bytes);
    end.stream.erase(end.stream.begin(), end.stream.begin() + bytes);
    report(end, LlpEvent(fw::TcpStreamData{end.flow, bytes}, 0, std::move(data)));
  }
  void transmit(End& own, End& peer, const TxInternalWork& work) {
    work_log.push_back(fmt::format("{} qp {} kind {}", now(), work.qpn.v, static_cast<int>(work.kind)));
    if (work.kind == TxInternalWork::Kind::kDrain) return own.qp->push({QpEvent::Kind::kSendDrained, work.qpn, {}});
    if (work.kind == TxInternalWork::Kind::kFlush) return;
    EXPECT_TRUE(own.rdma && peer.rdma) << "FPDUs only between ends in RDMA mode";
    peer.qp->push({QpEvent::Kind::kFirstFpdu, Qpn{6}, {}});
  }

  std::array<End, 2> ends_;
  BufferPool& pool_;
  Netlist net_;
};

class TwoFirmwares : public StageTest, public testing::WithParamInterface<std::uint64_t> {
 protected:
  TwoFirmwares() {
    if (GetParam() != 0) clk.shuffle(GetParam());
    wire.join(0, a);
    wire.join(1, b);
  }
  static FetchedCommand command(abi::CommandOp op, std::uint32_t id = 0) {
    FetchedCommand f;
    f.command.op = op;
    f.command.id = id;
    return f;
  }
  static std::vector<std::string> trace(const Node& node) {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < node.to_host.size(); ++i) {
      const abi::Event& e = node.to_host[i].event;
      if (e.type == abi::EventType::kCommandDone) continue;
      out.push_back(fmt::format("{} type {} status {} id {:x} ird {} ord {} peer {}/{}", node.to_host.cycles()[i],
                                static_cast<int>(e.type), e.status, e.id, e.ird, e.ord, e.peer_ird, e.peer_ord));
    }
    return out;
  }

  BufferPool pool{1024};
  Node a{"a", clk, pool}, b{"b", clk, pool};
  Wire wire{"wire", clk, pool};
};

TEST_P(TwoFirmwares, PeerToPeerConnectAndDisconnect) {
  for (auto [node, qpn] : {std::pair(&a, 5u), std::pair(&b, 6u)}) {
    node->host.send(command(abi::CommandOp::kCreateCq, 0));
    FetchedCommand qp = command(abi::CommandOp::kCreateQp, qpn);
    node->host.send(qp);
  }
  FetchedCommand listen = command(abi::CommandOp::kListen);
  listen.command.flags = abi::kCmCrc | abi::kCmEnhanced;
  listen.command.u.cm.local_port = 7000;
  b.host.send(listen);

  FetchedCommand connect = command(abi::CommandOp::kConnect);
  connect.command.flags = abi::kCmMarkers | abi::kCmEnhanced | abi::kCmPeerToPeer;
  connect.command.qpn = 5;
  connect.command.u.cm = {0x0a000001, 7000, 0, 4, 8, {}, 0, 0, 0, 0, 0, {}};
  a.host.send_at(1000, connect);

  FetchedCommand accept = command(abi::CommandOp::kAccept, 0x80000000);
  accept.command.qpn = 6;
  accept.command.u.cm = {0, 0, 0, 2, 16, {}, 0, 0, 0, 0, 0, {}};
  b.host.send_at(3000, accept);
  a.host.send_at(6000, command(abi::CommandOp::kDisconnect, 5));
  run_until_idle();

  // The request event, for one: 1001 the command arrives; 40 to dispatch, 32 for kCommandDone, 6 to build 24 octets, 16
  // to open; 1 + 50 to the responder, 40, 8 for its timer, 12 to read; 1 + 50, 40, 5 for the header, 12 to read the
  // rest; 1 + 50, 40, 6 for the frame, 12 for the guard, 32 for the event; 1 to the host.
  EXPECT_THAT(trace(b), ElementsAre("1456 type 2 status 0 id 80000000 ird 0 ord 0 peer 4/8",
                                    "3574 type 3 status 0 id 6 ird 8 ord 4 peer 4/8",
                                    "6579 type 6 status 0 id 6 ird 0 ord 0 peer 4/8"));
  // The reply, likewise: 3001 + 40 + 32 + 6 + 6 + 52 + 16 + 12; 1 + 50 + 40 + 5 + 12; 1 + 50 + 40 + 6, then the
  // contexts with 52 + 16, 4 to enter RDMA mode, 8 for the RTR message, 32 for the event, 1.
  EXPECT_THAT(trace(a), ElementsAre("3483 type 3 status 0 id 5 ird 4 ord 8 peer 8/4",
                                    "6782 type 6 status 0 id 5 ird 0 ord 0 peer 8/4"));
  EXPECT_EQ(wire.work_log.front(), "3451 qp 5 kind 1") << "the RTR message, by RDMA Write";
  EXPECT_TRUE(wire.end(0).closed && wire.end(1).closed);
  EXPECT_EQ(a.contexts.state_of(Qpn{5}), QpState::kError);
  EXPECT_EQ(a.flows[FlowId{3}].rx_markers, true);
  EXPECT_EQ(b.flows[FlowId{7}].tx_markers, true);
  EXPECT_EQ(b.contexts.tx_table.peek(6)->qp.mulpdu, 1442);
  EXPECT_EQ(pool.in_use(), 0u) << "every buffer came back";
}

INSTANTIATE_TEST_SUITE_P(Orders, TwoFirmwares, testing::Values(0, 1, 2, 3));

}  // namespace
}  // namespace rnic::test
