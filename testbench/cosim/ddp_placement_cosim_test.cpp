// ddp_placement against its twin: each with its own contexts, buffers and neighbours.
#include <set>
#include <tuple>

#include "rtl-stubs/verilated/ddp_placement_pins.h"
#include "testbench/cosim/placement_traffic.h"

namespace rnic::test {
namespace {

namespace ddp = wire::ddp;
namespace rdma = wire::rdma;
namespace mpa = wire::mpa;

// Every error that the stage detects.
constexpr wire::TerminateCause kCauses[] = {mpa::kCrcMismatch,
                                            mpa::kMarkerMismatch,
                                            mpa::kConnectionLost,
                                            ddp::kTaggedInvalidVersion,
                                            ddp::kInvalidStag,
                                            ddp::kStagNotAssociated,
                                            ddp::kToWrap,
                                            ddp::kBaseOrBounds,
                                            ddp::kLocalCatastrophic,
                                            ddp::kUntaggedInvalidVersion,
                                            ddp::kInvalidQn,
                                            ddp::kInvalidMsnRange,
                                            ddp::kInvalidMsnNoBuffer,
                                            ddp::kInvalidMo,
                                            ddp::kMessageTooLong,
                                            rdma::kLocalCatastrophic,
                                            rdma::kInvalidVersion,
                                            rdma::kUnexpectedOpcode,
                                            rdma::kOperationUnspecified,
                                            rdma::kUnknownStagCannotBeInvalidated,
                                            rdma::kForeignStagCannotBeInvalidated};

class DdpPlacementCosim : public StageTest, public testing::WithParamInterface<Traffic> {
 protected:
  PlacementBench model{"ddp_placement", clk, PlacementTraffic::sizes()};
  PlacementBench twin{"twin", clk, PlacementTraffic::sizes()};
  rtl::Twin<rtl::DdpPlacementPins> rtl{twin.block, twin.contexts};

  std::set<std::uint32_t> causes;
  std::set<wire::Opcode> opcodes;
  std::size_t pieces = 0, unused = 0, absorbed = 0, malformed = 0, shared = 0, ends = 0, sessions = 0;

  // Compares all outputs of this round, then clears them.
  void compare() {
    const auto same = [this](const auto& of_model, const auto& of_twin) {
      expect_same(of_model, of_twin, [&](std::size_t i) {
        return model.fpdu_at(i < of_model.cycles().size() ? of_model.cycles()[i] : of_twin.cycles()[i]);
      });
    };
    same(model.dma, twin.dma);
    same(model.placed, twin.placed);
    same(model.events, twin.events);
    same(model.taken, twin.taken);
    same(model.srq_events, twin.srq_events);
    for (std::size_t i = 0; i < model.dma.size(); ++i) {
      expect_same("octets of write " + std::to_string(i), octets(model.dma[i]), octets(twin.dma[i]));
    }
    for (const QpEvent& e : model.events) causes.insert(wire::terminate_word(e.cause));
    for (const PlacedSegment& s : model.placed) {
      if (!s.flushed && !s.ended) opcodes.insert(s.opcode);
      unused += s.flushed;
      absorbed += s.absorbed;
      malformed += s.malformed;
      ends += s.in_order;
      sessions += s.in_order && s.llp == LlpId::kSctp;
    }
    pieces += model.dma.size();
    shared += model.srq_events.size();
    model.clear();
    twin.clear();
    ASSERT_EQ(model.pool.in_use(), 0u);
    ASSERT_EQ(twin.pool.in_use(), 0u);
  }
  static Bytes octets(const DmaWriteRequest& w) {
    const std::uint8_t* const from = w.src->bytes() + w.src_offset;
    return {from, from + w.bytes};
  }
};

TEST_P(DdpPlacementCosim, AgreesInEveryMessageAndEveryCycle) {
  Prng rng = seeded(20260110);
  PlacementTraffic traffic(rng);
  model.run_as(GetParam());
  twin.run_as(GetParam());
  for (unsigned round = 120 * rounds(120'000); round-- > 0;) {
    const PlacementRound next = traffic.round();
    model.play(next);
    twin.play(next);
    run_until_idle(1'000'000);
    ASSERT_NO_FATAL_FAILURE(compare()) << "round " << round;
  }
  EXPECT_EQ(model.block.counters().errors, twin.block.counters().errors);
  EXPECT_EQ(model.contexts.in_flight.begun(), twin.contexts.in_flight.begun());
  for (const wire::TerminateCause& cause : kCauses) {
    EXPECT_EQ(causes.count(wire::terminate_word(cause)), 1u) << to_string(cause);
  }
  EXPECT_EQ(opcodes.size(), 12u);
  EXPECT_GT(model.wire.out->pushed() + model.sctp.out->pushed(), 50'000u);
  EXPECT_GT(model.sctp.out->pushed(), 5'000u);
  EXPECT_GT(ends, 10u);
  EXPECT_GT(sessions, 5u);
  EXPECT_GT(pieces, 1'000u);
  EXPECT_GT(std::min({unused, absorbed, malformed, shared}), 0u);
}

// Messages of the control side in the cycle in which a segment is judged, and in those around it.
struct RaceCosim : DdpPlacementCosim {
  static PlacementRound opened(std::uint32_t epoch) {
    PlacementRound r;
    r.before.push_back([epoch](ContextStore& c) {
      for (std::uint32_t n = 1; n < 3; ++n) {
        c.write(Qpn{n}, rts_qp(n, epoch));
        c.write(FlowId{n}, flow_of(n));
      }
      c.write(Stag{stag_of(1)}, region(0x1000, 0x1000, abi::kLocalWrite | abi::kRemoteWrite));
    });
    return r;
  }
  static PlacementRound::Fpdu fpdu(const char* hex, std::uint32_t flow) {
    Bytes octets = from_hex(hex);
    octets.resize((octets.size() + 3) / 4 * 4 + 4);
    return {octets, FlowId{flow}};
  }
  static PlacementRound::Fpdu write(std::uint32_t flow) {
    return fpdu("0012 C140 0000015A 0000000000001010 DEADBEEF", flow);
  }
  static PlacementRound::Fpdu read_response(std::uint32_t flow) {
    return fpdu("0012 C142 0000015A 0000000000001010 DEADBEEF", flow);
  }
  static PlacementRound::Fpdu send(std::uint32_t flow) {
    return fpdu("0016 4143 00000000 00000000 00000001 00000000 DEADBEEF", flow);
  }
  static PlacementRound::Fpdu read_request(std::uint32_t flow, std::uint8_t msn) {
    PlacementRound::Fpdu f = fpdu(
        "002E 4141 00000000 00000001 00000000 00000000 00000100 0000000000002000 00000010 0000015A 0000000000001010",
        flow);
    f.octets[15] = msn;
    return f;
  }
  // Repeats the FPDUs with the message in each of the cycles in which they pass.
  template <class Disturb>
  void race(std::initializer_list<PlacementRound::Fpdu> fpdus, Disturb disturb) {
    model.run_as(GetParam());
    twin.run_as(GetParam());
    for (Cycle at = 0; at < 24; ++at) {
      PlacementRound r = opened(++epoch_);
      r.fpdus = fpdus;
      disturb(r, at);
      model.play(r);
      twin.play(r);
      run_until_idle(100'000);
      ASSERT_NO_FATAL_FAILURE(compare()) << "disturbed in cycle " << at;
    }
    EXPECT_EQ(model.block.counters().errors, twin.block.counters().errors);
  }

 private:
  std::uint32_t epoch_ = 0;
};
TEST_P(RaceCosim, AFlushAndWrites) {
  race({write(1), write(2), write(1), write(2), write(1), write(1)},
       [](PlacementRound& r, Cycle at) { r.flushes.emplace_back(at, RqFlush{Qpn{1}}); });
  EXPECT_GT(pieces, 40u);
}
TEST_P(RaceCosim, AReadAndItsResponse) {
  race({write(2), write(1), write(1), read_response(1), write(1)}, [](PlacementRound& r, Cycle at) {
    r.reads.emplace_back(at, ReadIssued{Qpn{1}, 0x15a, 0x1010, 4});
  });
  EXPECT_EQ(causes.count(wire::terminate_word(rdma::kUnexpectedOpcode)), 1u);
  EXPECT_EQ(opcodes.count(wire::Opcode::kReadResponse), 1u);
}
// IRD is 4: the fifth request arrives when the first one's response leaves.
TEST_P(RaceCosim, ARequestAtIrdAndAnAnswer) {
  race({read_request(1, 1), read_request(1, 2), read_request(1, 3), read_request(1, 4), read_request(1, 5), write(1)},
       [](PlacementRound& r, Cycle at) { r.answers.emplace_back(at, ReadResponseSent{Qpn{1}}); });
  EXPECT_EQ(causes, std::set{wire::terminate_word(ddp::kInvalidMsnNoBuffer)});
  EXPECT_GT(pieces, 0u);
}
TEST_P(RaceCosim, AnOverrunAndWrites) {
  race({write(2), write(1), write(1), write(1), write(2)}, [](PlacementRound& r, Cycle at) {
    r.doorbells.emplace_back(at, RqDoorbell{Qpn{1}, 17});
  });
  EXPECT_EQ(causes.count(wire::terminate_word(rdma::kLocalCatastrophic)), 1u);
}
TEST_P(RaceCosim, AnOverrunOfASharedQueueAndASend) {
  race({write(2), send(1), write(2)}, [](PlacementRound& r, Cycle at) {
    const auto epoch = static_cast<std::uint32_t>(at) + 1;
    r.before.push_back([epoch](ContextStore& c) {
      SrqContext srq;
      srq.valid = true;
      srq.log_entries = 4;
      srq.pd = Pdn{1};
      srq.epoch = epoch;
      c.write(PlacementTraffic::kSrq, srq);
      QpContext qp = rts_qp(1, epoch);
      qp.shares_rq = true;
      qp.srq = PlacementTraffic::kSrq;
      c.write(Qpn{1}, qp);
    });
    r.doorbells.emplace_back(at, RqDoorbell{PlacementTraffic::kSrq, 17});
  });
  EXPECT_EQ(causes,
            (std::set{wire::terminate_word(rdma::kLocalCatastrophic), wire::terminate_word(ddp::kInvalidMsnNoBuffer)}));
}
TEST_P(RaceCosim, AReceiveRequestAndItsSend) {
  race({write(2), write(1), send(1), write(2)}, [](PlacementRound& r, Cycle at) {
    abi::Wqe w;
    w.num_sge = 1;
    w.sge[0] = {0x1100, 64, stag_of(1)};
    r.doorbells.emplace_back(at / 2, RqDoorbell{Qpn{1}, 1});
    r.requests.emplace_back(at, FetchedRqe{Qpn{1}, true, w});
  });
  EXPECT_EQ(opcodes.count(wire::Opcode::kSend), 1u);
}
INSTANTIATE_TEST_SUITE_P(Patterns, RaceCosim, kTraffics, traffic_name);

// The block alone, with tables for a Write of four octets.
class DdpPlacementReset : public testing::Test {
 protected:
  DdpPlacementReset() {
    context.assertOn(true);
    reset();
    rtl::pack(flow_of(1), m.flow_i);
    rtl::pack(rts_qp(1), m.qp_i);
    rtl::pack(region(0x1000, 0x1000, abi::kRemoteWrite), m.stag_i);
    m.event_ready_i = 1;
  }
  void edge() {
    m.clk_i = 0;
    m.eval();
    m.clk_i = 1;
    m.eval();
  }
  void reset() {
    m.rst_ni = 0;
    edge();
    m.rst_ni = 1;
  }
  void offer(const Bytes& octets, std::size_t beat) {
    auto beats = cut_fpdu(pool, octets, 64, false, 0, FlowId{1});
    beats.back().crc_ok = true;
    m.in_valid_i = 1;
    rtl::pack(beats[beat], m.in_i, m.in_data_i);
    m.clk_i = 0;
    m.eval();
    BufferRef::adopt(beats[0].buf);
  }
  static Bytes write(std::uint16_t payload) {
    Bytes octets = from_hex("0000 C140 0000015A 0000000000001010");
    store_be16(octets.data(), static_cast<std::uint16_t>(14 + payload));
    octets.resize((16u + payload + 3) / 4 * 4 + 4);
    return octets;
  }

  BufferPool pool{16384};
  VerilatedContext context;
  Vddp_placement m{&context, ""};
};
TEST_F(DdpPlacementReset, InTheMiddleOfAnFpduForgetsIt) {
  offer(write(100), 0);
  ASSERT_TRUE(m.in_ready_o);
  edge();
  reset();
  offer(write(4), 0);  // first and last: an assertion fails if the first FPDU were still open
  EXPECT_TRUE(m.in_ready_o);
  EXPECT_TRUE(m.stream_write_o);
  EXPECT_TRUE(m.begun_o);
  edge();
}
TEST_F(DdpPlacementReset, BeforeItsWriteForgetsASegment) {
  offer(write(4), 0);
  ASSERT_TRUE(m.stream_write_o);
  edge();
  m.in_valid_i = 0;
  m.dma_ready_i = m.out_ready_i = 1;
  m.eval();
  EXPECT_TRUE(m.dma_valid_o && m.out_valid_o);
  EXPECT_TRUE(m.busy_o);
  reset();
  m.eval();
  EXPECT_FALSE(m.dma_valid_o || m.out_valid_o);
  EXPECT_FALSE(m.busy_o);
}

INSTANTIATE_TEST_SUITE_P(Patterns, DdpPlacementCosim, kTraffics, traffic_name);

}  // namespace
}  // namespace rnic::test
