// ddp_placement against its twin: each with its own contexts, buffers and neighbours.
#include <set>
#include <tuple>

#include "rtl-stubs/verilated/verilated_ddp_placement.h"
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
  explicit DdpPlacementCosim(const TableConfig& stags = StagTableConfig{})
      : model("ddp_placement", clk, sizes(stags)), twin("twin", clk, sizes(stags)) {}
  static ContextStore::Sizes sizes(const TableConfig& stags) {
    ContextStore::Sizes s = PlacementTraffic::sizes();
    s.stag_table = stags;
    s.rx_table.read_cycles = stags.read_cycles;
    s.rx_table.read_ports = std::min(stags.read_ports, RxTableConfig{}.read_ports);
    return s;
  }
  PlacementBench model, twin;
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
  // Random rounds, compared.
  void play(unsigned rounds) {
    Prng rng = seeded(20260110);
    PlacementTraffic traffic(rng);
    model.run_as(GetParam());
    twin.run_as(GetParam());
    while (rounds-- > 0) {
      const PlacementRound next = traffic.round();
      model.play(next);
      twin.play(next);
      run_until_idle(1'000'000);
      ASSERT_NO_FATAL_FAILURE(compare()) << "round " << rounds;
    }
    EXPECT_EQ(model.block.counters().errors, twin.block.counters().errors);
  }
  static Bytes octets(const DmaWriteRequest& w) {
    const std::uint8_t* const from = w.src->bytes() + w.src_offset;
    return {from, from + w.bytes};
  }
};

TEST_P(DdpPlacementCosim, AgreesInEveryMessageAndEveryCycle) {
  ASSERT_NO_FATAL_FAILURE(play(140 * rounds(120'000)));
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

// The rows of STags come late, and the readers are in one another's way; or at once.
struct SlowTableCosim : DdpPlacementCosim {
  static TableConfig slow() { return {5, 1, 1}; }
  SlowTableCosim() : DdpPlacementCosim(slow()) {}
};
TEST_P(SlowTableCosim, AgreesInEveryMessageAndEveryCycle) { play(40 * rounds(40'000)); }
struct FastTableCosim : DdpPlacementCosim {
  static TableConfig fast() { return {1, 8, 1}; }
  FastTableCosim() : DdpPlacementCosim(fast()) {}
};
TEST_P(FastTableCosim, AgreesInEveryMessageAndEveryCycle) { play(40 * rounds(40'000)); }
INSTANTIATE_TEST_SUITE_P(Patterns, SlowTableCosim, kTraffics, traffic_name);
INSTANTIATE_TEST_SUITE_P(Patterns, FastTableCosim, kTraffics, traffic_name);

// Messages of the control side in the cycle in which a segment is judged, and in those around it.
struct RaceCosim : DdpPlacementCosim {
  static constexpr Cycle kLast = 48;  // after the last FPDU, whatever the pattern
  static PlacementRound opened(std::uint32_t epoch) {
    PlacementRound r;
    r.before.push_back([epoch](ContextStore& c) {
      for (std::uint32_t n = 1; n < 3; ++n) c.write(Qpn{n}, rts_qp(n, epoch));
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
    for (Cycle at = 0; at < kLast; ++at) {
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

  std::uint32_t epoch() const { return epoch_; }  // of the queue pairs

 private:
  std::uint32_t epoch_ = 0;
};
TEST_P(RaceCosim, AFlushAndWrites) {
  race({write(1), write(2), write(1), write(2), write(1), write(1)}, [](PlacementRound& r, Cycle at) {
    r.flushes.emplace_back(at, RqFlush{Qpn{1}, 0, Cqn{41}});
  });
  EXPECT_GT(pieces, 40u);
}
TEST_P(RaceCosim, AReadAndItsResponse) {
  race({write(2), write(1), write(1), read_response(1), write(1)}, [](PlacementRound& r, Cycle at) {
    r.reads.emplace_back(at, ReadIssued{Qpn{1}, 0x15a, 0x1010, 4});
  });
  EXPECT_EQ(causes.count(wire::terminate_word(rdma::kUnexpectedOpcode)), 1u);
  EXPECT_EQ(opcodes.count(wire::Opcode::kReadResponse), 1u);
}
// It has come before its queue pair's number is used again, and its row comes after that, whatever a row takes.
TEST_P(RaceCosim, AnEventOfAnEarlierUse) {
  for (const Cycle later : {1u, 2u, 3u, 4u, 5u}) {
    race({write(2), write(1), read_response(1), write(1)}, [later](PlacementRound& r, Cycle at) {
      r.reads.emplace_back(at, ReadIssued{Qpn{1}, 0x15a, 0x1010, 4});
      r.flushes.emplace_back(at + 1, RqFlush{Qpn{1}});
      r.changes.emplace_back(at + later, [](ContextStore& c) { c.write(Qpn{1}, rts_qp(1, c.epoch(Qpn{1}) + 1000)); });
    });
  }
  EXPECT_EQ(causes.count(wire::terminate_word(rdma::kUnexpectedOpcode)), 1u);
  EXPECT_GT(pieces, 40u);
}
// IRD is 4: the fifth request arrives when the first one's response leaves.
TEST_P(RaceCosim, ARequestAtIrdAndAnAnswer) {
  race({read_request(1, 1), read_request(1, 2), read_request(1, 3), read_request(1, 4), read_request(1, 5), write(1)},
       [this](PlacementRound& r, Cycle at) {
         r.answers.emplace_back(at, ReadResponseSent{Qpn{1}, epoch()});
       });
  EXPECT_EQ(causes, std::set{wire::terminate_word(ddp::kInvalidMsnNoBuffer)});
  EXPECT_GT(pieces, 0u);
}
// It makes no room.
TEST_P(RaceCosim, ARequestAtIrdAndAnAnswerOfAnEarlierUse) {
  race({read_request(1, 1), read_request(1, 2), read_request(1, 3), read_request(1, 4), read_request(1, 5), write(1)},
       [this](PlacementRound& r, Cycle at) {
         r.answers.emplace_back(at, ReadResponseSent{Qpn{1}, epoch() - 1});
       });
  EXPECT_EQ(causes, std::set{wire::terminate_word(ddp::kInvalidMsnNoBuffer)});
  EXPECT_EQ(pieces, 0u);
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
abi::Wqe elements(std::uint64_t address, unsigned count) {
  abi::Wqe w;
  w.wr_id = address;
  for (w.num_sge = 0; w.num_sge < count; ++w.num_sge) {
    w.sge[w.num_sge] = {address + 0x100u * w.num_sge, 1, stag_of(1u + w.num_sge)};
  }
  return w;
}
// Its elements are in several regions, of which one ends.
TEST_P(RaceCosim, AnStagThatEndsAndASend) {
  race({write(2), write(2), send(1), write(2)}, [](PlacementRound& r, Cycle at) {
    r.before.push_back([](ContextStore& c) {
      for (std::uint32_t n = 2; n < 5; ++n) c.write(Stag{stag_of(n)}, region(0x1000, 0x1000, abi::kLocalWrite));
    });
    r.doorbells.emplace_back(0, RqDoorbell{Qpn{1}, 1});
    r.requests.emplace_back(0, FetchedRqe{Qpn{1}, true, elements(0x1100, 4)});
    r.changes.emplace_back(
        at, [at](ContextStore& c) { c.write(Stag{stag_of(1 + static_cast<std::uint32_t>(at) % 4)}, StagContext{}); });
  });
  EXPECT_EQ(causes.count(wire::terminate_word(ddp::kLocalCatastrophic)), 1u);
  EXPECT_EQ(opcodes.count(wire::Opcode::kSend), 1u);
}
TEST_P(RaceCosim, AWindowThatIsBoundAgainAndItsWrites) {
  const auto window = [](std::uint32_t of, std::uint32_t epoch) {
    StagContext w = region(0x1000, 0x1000, abi::kRemoteWrite);
    w.kind = StagKind::kWindow2;
    w.region = stag_of(of);
    w.qpn = Qpn{1};
    w.qp_epoch = epoch;
    return w;
  };
  race({write(1), write(1), write(1), write(1)}, [&](PlacementRound& r, Cycle at) {
    const auto epoch = static_cast<std::uint32_t>(at) + 1;
    r.before.push_back([=](ContextStore& c) {
      c.write(Stag{stag_of(2)}, region(0x1000, 0x1000, abi::kRemoteWrite));
      c.write(Stag{stag_of(3)}, region(0x1000, 0x1000, abi::kRemoteWrite));
      c.write(Stag{stag_of(1)}, window(2, epoch));
    });
    r.changes.emplace_back(at, [=](ContextStore& c) { c.write(Stag{stag_of(1)}, window(3, epoch)); });
    r.changes.emplace_back(at + 5, [](ContextStore& c) { c.write(Stag{stag_of(3)}, StagContext{}); });
  });
  EXPECT_EQ(causes, std::set{wire::terminate_word(ddp::kInvalidStag)});
  EXPECT_GT(pieces, 40u);
}
// Which of the two layers gets which request of the shared queue depends on when their last beats come.
TEST_P(RaceCosim, SendsOfBothLayersAndTheRequestsOfASharedQueue) {
  PlacementRound::Fpdu ahead = write(2), over_sctp = send(2);
  ahead.sctp = over_sctp.sctp = true;
  PlacementRound::Fpdu long_one = send(1);
  long_one.octets.resize(400);
  store_be16(long_one.octets.data(), 394);
  race({write(1), ahead, long_one, over_sctp}, [](PlacementRound& r, Cycle at) {
    const auto epoch = static_cast<std::uint32_t>(at) + 1;
    r.before.push_back([epoch](ContextStore& c) {
      for (std::uint32_t n = 2; n < 8; ++n) c.write(Stag{stag_of(n)}, region(0x1000, 0x1000, abi::kLocalWrite));
      SrqContext srq;
      srq.valid = true;
      srq.log_entries = 4;
      srq.pd = Pdn{1};
      srq.epoch = epoch;
      c.write(PlacementTraffic::kSrq, srq);
      for (std::uint32_t n = 1; n < 3; ++n) {
        QpContext qp = rts_qp(n, epoch);
        qp.shares_rq = true;
        qp.srq = PlacementTraffic::kSrq;
        c.write(Qpn{n}, qp);
      }
    });
    abi::Wqe first, second;
    first.num_sge = second.num_sge = 1;
    first.sge[0] = {0x1100, 400, stag_of(4)};
    second.sge[0] = {0x1200, 400, stag_of(5)};
    r.doorbells.emplace_back(0, RqDoorbell{PlacementTraffic::kSrq, 2});
    r.requests.emplace_back(at / 3, FetchedRqe{PlacementTraffic::kSrq, true, first});
    r.requests.emplace_back(at / 2, FetchedRqe{PlacementTraffic::kSrq, true, second});
  });
  EXPECT_EQ(pieces, 4 * kLast);
}
INSTANTIATE_TEST_SUITE_P(Patterns, RaceCosim, kTraffics, traffic_name);

// The block alone, with tables for Writes: the row of their STag comes when a test says so.
class DdpPlacementReset : public testing::Test {
 protected:
  DdpPlacementReset() {
    context.assertOn(true);
    reset();
    open(rts_qp(1));
    m.mpa_row_ready_i = m.mpa_row_ok_i = 1;
    rtl::pack(StagRow{region(0x1000, 0x1000, abi::kRemoteWrite)}, m.mpa_stag_i);
    m.event_ready_i = m.mpa_stag_ready_i = 1;
  }
  void open(const QpContext& qp) { rtl::pack(RxRow{RxContext::of(qp), {}}, m.mpa_row_i); }
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
    for (FpduBeat& each : beats) each.qpn = Qpn{1}, each.life = 1;
    m.in_valid_i = 1;
    rtl::pack(beats[beat], m.in_i, m.in_data_i);
    m.in_offset_i = static_cast<std::uint32_t>(64 * beat);
    m.clk_i = 0;
    m.eval();
    BufferRef::adopt(beats[0].buf);
  }
  // The offered segment is judged.
  void judge() {
    ASSERT_TRUE(m.mpa_stag_ask_o);
    ASSERT_TRUE(m.mpa_row_ask_o);
    EXPECT_FALSE(m.in_ready_o);
    edge();
    m.mpa_stag_valid_i = m.mpa_row_valid_i = 1;
    m.clk_i = 0;
    m.eval();
    EXPECT_TRUE(m.in_ready_o);
    EXPECT_TRUE(m.state_write_o);
    EXPECT_TRUE(m.begun_o);
    edge();
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
  judge();
}
TEST_F(DdpPlacementReset, ForgetsThatARowWasAskedFor) {
  offer(write(100), 0);
  ASSERT_TRUE(m.mpa_stag_ask_o);
  edge();
  reset();
  offer(write(100), 0);
  EXPECT_TRUE(m.mpa_stag_ask_o);
}
TEST_F(DdpPlacementReset, ForgetsARowThatWasToBeDropped) {
  open(QpContext{});
  offer(write(100), 0);
  edge();
  m.mpa_row_valid_i = 1;
  offer(write(100), 1);
  ASSERT_TRUE(m.in_ready_o) << "dropped, as its queue pair is gone";
  edge();
  m.mpa_row_valid_i = 0;
  reset();
  open(rts_qp(1));
  offer(write(4), 0);
  judge();
}
TEST_F(DdpPlacementReset, BeforeItsWriteForgetsASegment) {
  offer(write(4), 0);
  judge();
  m.in_valid_i = m.mpa_stag_valid_i = m.mpa_row_valid_i = 0;
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
