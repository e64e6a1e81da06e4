// Boards beside a stage alone: devices with other cycles, other beats and another order of flows are right,
// and each fault of one is found.
#include "model/scoreboard/stage_board.h"

#include <deque>
#include <functional>
#include <stdexcept>

#include "model/rnic/rx/crc_check.h"
#include "model/rnic/rx/mpa_deframer.h"
#include "model/rnic/terminate/terminate_generator.h"
#include "model/scoreboard/watched_stages.h"
#include "testbench/support/contexts.h"
#include "testbench/support/mpa_reference.h"
#include "testbench/support/stage_test.h"
#include "testbench/support/stream_segments.h"

namespace rnic::test {
namespace {

using scoreboard::StageBoard;
using testing::HasSubstr;

// RTL of somebody else instead of crc_check: it judges each FPDU when it is complete, and sends it as it likes.
class Device final : public Clocked {
 public:
  explicit Device(CrcCheck& stage) : stage_(stage) { stage.be_replaced(*this); }

  std::function<Cycle()> delay = [] { return Cycle{0}; };  // from an FPDU's last beat to its first one
  unsigned beat_words = 16;
  bool swaps = false;                                                // two FPDUs of different flows
  std::function<void(std::vector<FpduBeat>&)> spoil = [](auto&) {};  // the beats of an FPDU that leaves

  Wake tick() override {
    if (stage_.in->can_pop()) take(stage_.in->pop());
    if (!ready_.empty() && ready_.front().at <= stage_.clock().now() && stage_.out->can_push()) {
      stage_.out->push(ready_.front().beat);
      ready_.pop_front();
    }
    return ready_.empty() ? Wake::on_traffic() : Wake::next_cycle();
  }
  void reset() override {}

 private:
  struct Due {
    Cycle at;
    FpduBeat beat;
  };
  void take(const FpduBeat& beat) {
    fpdu_.push_back(beat);
    if (!beat.last) return;
    std::vector<FpduBeat> out = cut();
    fpdu_.clear();
    spoil(out);
    if (!swaps || out.empty()) return send(out);
    if (held_.empty()) return held_.swap(out);
    if (held_.front().flow.v != out.front().flow.v) send(out), out.clear();
    send(held_);
    held_ = std::move(out);
    if (!held_.empty()) send(held_), held_.clear();
  }
  void send(const std::vector<FpduBeat>& beats) {
    const Cycle at = std::max(ready_.empty() ? 0 : ready_.back().at, stage_.clock().now() + delay());
    for (const FpduBeat& beat : beats) ready_.push_back({at, beat});
  }
  // Its verdict is bit by bit, over octets without markers.
  std::vector<FpduBeat> cut() const {
    Bytes octets;
    for (const FpduBeat& beat : fpdu_) octets.insert(octets.end(), beat.data, beat.data + 4 * beat.words);
    const std::uint32_t field = load_le32(octets.data() + octets.size() - 4);
    octets.resize(octets.size() - 4);
    std::vector<FpduBeat> out;
    const unsigned words = static_cast<unsigned>(octets.size() / 4) + 1;
    for (unsigned at = 0; at < words; at += beat_words) {
      FpduBeat beat = fpdu_.front();
      beat.data += 4 * at;
      beat.words = static_cast<std::uint8_t>(std::min(beat_words, words - at));
      beat.first = at == 0;
      beat.last = at + beat_words >= words;
      beat.crc_ok = beat.last && crc32c_by_bits(octets) == field;
      out.push_back(beat);
    }
    return out;
  }

  CrcCheck& stage_;
  std::vector<FpduBeat> fpdu_, held_;
  std::deque<Due> ready_;
};

class StageBoardTest : public StageTest {
 protected:
  static constexpr unsigned kFpdus = 40;
  BufferPool pool{4096};
  CrcCheck dut{"dut", clk};
  Source<FpduBeat> source = drive(dut.in);
  Sink<FpduBeat> sink = collect(dut.out);
  std::optional<Device> device;
  std::optional<StageBoard> board;

  void watch(const std::string& settings = "{}") {
    board.emplace(dut, "crc_check", settings);
    scoreboard::watch(*board, dut.in, 0);
    scoreboard::watch(*board, dut.out, 1);
  }
  // FPDUs of three flows, every fifth one with a wrong CRC.
  void send() {
    Prng rng(7);
    MpaReference stream;
    for (unsigned i = 0; i < kFpdus; ++i) {
      Bytes wire = stream.fpdu(random_bytes(rng, 1 + rng.next() % 500));
      if (i % 5 == 4) wire.back() ^= 1;
      source.send(cut_fpdu(pool, wire, 64, false, 0, FlowId{i % 3}));
    }
  }
  // What the board says in the end; it ends a run by an exception.
  std::string verdict() {
    send();
    try {
      run_until_idle();
    } catch (const std::exception& error) {
      EXPECT_THAT(error.what(), HasSubstr(board->fault()));
    }
    board->finish(true);
    return board->fault();
  }
};

// Other stages of the model.
class StageBoardStages : public StageTest {
 protected:
  template <class Send>
  std::string judge(Stage& stage, const scoreboard::WatchedStage& kind, const scoreboard::WatchedChip& chip,
                    Send send) {
    StageBoard board(stage, kind.name, "{" + kind.settings(stage, chip) + "}");
    kind.ports(stage, chip, board);
    send();
    run_until_idle();
    board.finish(true);
    return board.fault();
  }
};

TEST_F(StageBoardTest, TheModelIsRight) {
  watch();
  EXPECT_EQ(verdict(), "");
  EXPECT_EQ(board->given(), kFpdus);
}

TEST_F(StageBoardTest, ADeviceMayBeLater) {
  device.emplace(dut);
  watch();
  for (const Cycle cycles : {0u, 1u, 2u, 7u, 100u}) {
    device->delay = [cycles] { return cycles; };
    EXPECT_EQ(verdict(), "") << cycles;
  }
  device->delay = [rng = Prng(3)]() mutable { return rng.next() % 8; };
  EXPECT_EQ(verdict(), "");
  EXPECT_EQ(board->given(), 6 * kFpdus);
  EXPECT_THAT(board->report(), HasSubstr("\"compared\": 240"));
}

TEST_F(StageBoardTest, ADeviceMayHaveOtherBeats) {
  device.emplace(dut);
  watch();
  for (const unsigned words : {1u, 7u, 8u, 32u}) {
    device->beat_words = words;
    EXPECT_EQ(verdict(), "") << words;
  }
}

TEST_F(StageBoardTest, FlowsMayOvertakeEachOther) {
  device.emplace(dut);
  device->swaps = true;
  watch();
  EXPECT_EQ(verdict(), "");
}

struct Fault {
  const char* name;
  const char* words;
  void (*spoil)(std::vector<FpduBeat>&);
};
class StageBoardFault : public StageBoardTest, public testing::WithParamInterface<Fault> {};

TEST_P(StageBoardFault, IsFound) {
  device.emplace(dut);
  watch();
  device->spoil = [n = 0](auto& beats) mutable {
    if (++n == 10) GetParam().spoil(beats);  // whose CRC is wrong
  };
  const std::string text = verdict();
  EXPECT_THAT(text, HasSubstr(GetParam().words));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4) << text;
  EXPECT_GT(board->fault_to(), board->fault_from());
}

INSTANTIATE_TEST_SUITE_P(
    All, StageBoardFault,
    testing::Values(Fault{"Verdict", "crc_ok: expected 0, seen 1", [](auto& beats) { beats.back().crc_ok = true; }},
                    Fault{"Field", "life: expected 0, seen 1", [](auto& beats) { beats.front().life = 1; }},
                    Fault{"Short", "octets instead of", [](auto& beats) { --beats.back().words; }},
                    Fault{"Octet", "differs   octet 0 (beat 0, lane 0)",
                          [](auto& beats) { beats.front().data[0] ^= 1; }},
                    Fault{"Lost", " differs", [](auto& beats) { beats.clear(); }},
                    Fault{"Twice", "is one too many",
                          [](auto& beats) {
                            const std::vector<FpduBeat> again = beats;
                            beats.insert(beats.end(), again.begin(), again.end());
                          }}),
    [](const auto& of) { return of.param.name; });

TEST_F(StageBoardTest, AnOutcomeThatIsTooLateIsMissing) {
  device.emplace(dut);
  device->delay = [] { return Cycle{300}; };
  watch(R"({"max_latency": 200})");
  EXPECT_THAT(verdict(), HasSubstr("is missing"));
}

// Nor is one right that swallows all, long before it would be late.
TEST_F(StageBoardTest, ADeviceThatGivesNothingIsFound) {
  device.emplace(dut);
  device->spoil = [](auto& beats) { beats.clear(); };
  watch();
  EXPECT_THAT(verdict(), HasSubstr("fpdu 1 of flow 0 is missing"));
  EXPECT_EQ(board->given(), 0u);
}

// Without room a device can give nothing of all that it has accepted.
TEST_F(StageBoardTest, AConsumerThatWaitsIsNoHang) {
  device.emplace(dut);
  sink.pause(Pattern::every(400, 399));
  watch(R"({"max_latency": 1000})");
  EXPECT_EQ(verdict(), "");
}

// Several FPDUs in a beat: what is complete leaves before the beat is taken.
TEST_F(StageBoardStages, ABeatMayHoldSeveralFpdus) {
  BufferPool frames{4096}, pool{8192};
  MpaDeframer dut{"deframer", clk, MpaDeframerConfig{}, DatapathConfig{}, 4, frames};
  Source<StreamBeat> source = drive(dut.in);
  Sink<FpduBeat> sink = collect(dut.out);
  Sink<RxConsumed> consumed = collect(dut.consumed);
  const std::string text = judge(dut, scoreboard::watched_streams()[3], {}, [&] {
    MpaReference stream;
    Bytes octets;
    for (unsigned i = 0; i < 100; ++i) octets = joined({octets, stream.fpdu(counting(i % 3))});
    source.send(cut_segment(pool, octets, 0, 64, FlowId{1}));
  });
  EXPECT_EQ(text, "");
  EXPECT_EQ(consumed.size(), 100u);
}

// A Terminate depends on the row of its queue pair as it is when the error is taken.
TEST_F(StageBoardStages, RowsReachTheBoard) {
  BufferPool pool{1024};
  ContextStore contexts{clk, {8, 8, 1, 1}};
  const TerminateConfig config;
  TerminateGenerator dut{"generator", clk, contexts, pool, config};
  Source<QpEvent> errors = drive(dut.in);
  Sink<TerminateMessage> out = collect(dut.out);
  Sink<QpEvent> event = collect(dut.event);
  open_qp(contexts, 2, rts_qp(2));
  const std::string text = judge(dut, scoreboard::watched_requests()[0], {64, &contexts, &config}, [&] {
    errors.send({{QpEvent::Kind::kLocalError, Qpn{2}, wire::ddp::kInvalidStag, {}},
                 {QpEvent::Kind::kLocalError, Qpn{3}, wire::ddp::kInvalidStag, {}}});
  });
  EXPECT_EQ(text, "");
  EXPECT_EQ(out.size(), 1u);
}

}  // namespace
}  // namespace rnic::test
