// What the boards of stages with contexts get, in which order and in which cycle.
#include "model/scoreboard/watched_stages.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "model/golden/contexts.h"
#include "model/golden/dma.h"
#include "model/golden/host_write.h"
#include "model/rnic/responder/atomic_alu.h"
#include "model/rnic/responder/irrq.h"
#include "model/scoreboard/context_rows.h"
#include "testbench/support/contexts.h"
#include "testbench/support/fake_dma.h"
#include "testbench/support/stage_test.h"
#include "testbench/unit/scoreboard/recorded_board.h"

namespace rnic::test {
namespace {

using scoreboard::StageBoard;
using testing::ElementsAre;
using testing::IsEmpty;
using Call = RecordedBoard::Call;

constexpr std::uint8_t kRights = abi::kRemoteRead | abi::kRemoteWrite | abi::kRemoteAtomic;

class WatchedStages : public StageTest {
 protected:
  RecordedBoard recorded;
  ContextStore contexts{clk, {8, 8, 8, 16, 4, 16}};
  At firmware{"firmware", clk};

  std::unique_ptr<StageBoard> board_of(Stage& stage, const std::string& name) {
    static const AtomicAluConfig kAlu;
    for (const scoreboard::WatchedStage& kind : scoreboard::watched_requests()) {
      if (name != kind.name) continue;
      auto board = std::make_unique<StageBoard>(stage, kind.name, "{}", RecordedBoard::library());
      kind.ports(stage, {64, &contexts, nullptr, &kAlu}, *board);
      return board;
    }
    return nullptr;
  }
  static QueuedRequest read(std::uint32_t qpn, std::uint32_t epoch = 1) {
    return QueuedRead{Qpn{qpn}, {1, 2, 10, 3, 4}, {}, epoch, Pdn{1}};
  }
};

class WatchedIrrq : public WatchedStages {
 protected:
  Irrq dut{"dut", clk, contexts};
  Source<QueuedRequest> peer = drive(dut.in);
  Source<ReadResponseSent> segmenter = drive(dut.sent);
  Sink<QueuedRead> responder = collect(dut.out, {5, 4, 1});
  Sink<QueuedAtomic> alu = collect(dut.atomic);
  Sink<QpEvent> events = collect(dut.event);
  std::unique_ptr<StageBoard> board = board_of(dut, "irrq");

  // As the chip's reset does, at the end of a cycle.
  void reset_chip() {
    (*dut.in).reset();
    (*dut.sent).reset();
    (*dut.out).reset();
    contexts.reset();
    dut.reset();
  }
  WatchedIrrq() {
    recorded.detail = [](const std::string& what, const void* row) {
      if (what.compare(0, 4, "row ") != 0) return std::string();
      const QpContext qp = loaded<golden::QpRow>(row).qp;
      return (qp.valid ? "valid " : "over ") + std::to_string(qp.epoch);
    };
  }
};

// Whatever the order of the calls in a cycle: first the rows that are found from it on, then what the stage takes in
// it.
TEST_F(WatchedIrrq, ARowCountsFromTheCycleAfterItsWrite) {
  for (Cycle cycle = 0; cycle < 12; ++cycle) peer.send_at(cycle, read(3));
  firmware.at(6, [this] { contexts.write(Qpn{3}, rts_qp(3)); });
  run_until_idle();
  board->finish(true);
  const auto row = std::find(recorded.calls.begin(), recorded.calls.end(), Call{"row qp 3", 7, "valid 1"});
  ASSERT_NE(row, recorded.calls.end());
  ASSERT_NE(row, recorded.calls.begin());
  EXPECT_EQ(std::prev(row)->cycle, 6u);
  EXPECT_EQ(*std::next(row), (Call{"accepted 0", 7}));
}

TEST_F(WatchedIrrq, ANumberIsUsedAgain) {
  QpContext over = rts_qp(3);
  over.valid = false;
  firmware.at(5, [this] { contexts.write(Qpn{3}, rts_qp(3)); });
  firmware.at(9, [this, over] { contexts.write(Qpn{3}, over); });
  firmware.at(10, [this] { contexts.write(Qpn{3}, rts_qp(3, 2)); });
  run_until_idle();
  board->finish(true);
  EXPECT_THAT(recorded.of("row"), ElementsAre(Call{"row qp 3", 6, "valid 1"}, Call{"row qp 3", 10, "over 1"},
                                              Call{"row qp 3", 11, "valid 2"}));
}

// The board does not hear of a row that is written again as it was.
TEST_F(WatchedIrrq, OnlyChangesAreToldAndOnlyOfItsTables) {
  QpContext moved = rts_qp(3);
  moved.sq_base = 0x1000;  // which no predictor has
  firmware.at(5, [this] { contexts.write(Qpn{3}, rts_qp(3)); });
  firmware.at(6, [this] { contexts.write(Qpn{3}, rts_qp(3)); });
  firmware.at(7, [this, moved] { contexts.write(Qpn{3}, moved); });
  firmware.at(8, [this] { contexts.write(Qpn{4}, QpContext{}); });
  firmware.at(8, [this] { contexts.write(Stag{stag_of(2)}, region(0, 64, kRights)); });
  firmware.at(8, [this] { contexts.write(Srqn{1}, {true, 4, {}, 0, 1}); });
  firmware.at(8, [this] { contexts.write_page(1, 0x3000); });
  peer.send_at(20, read(3));
  run_until_idle();
  board->finish(true);
  EXPECT_THAT(recorded.of("row"), ElementsAre(Call{"row qp 3", 6, "valid 1"}));
}

// Those of before and of its cycle are gone: after it the board hears of a row again, though it is the one of before.
TEST_F(WatchedIrrq, AResetTakesRowsAway) {
  firmware.at(5, [this] { contexts.write(Qpn{3}, rts_qp(3)); });
  peer.send_at(10, read(3));
  firmware.at(30, [this] {
    contexts.write(Qpn{4}, rts_qp(4));
    reset_chip();
  });
  firmware.at(40, [this] { contexts.write(Qpn{3}, rts_qp(3)); });
  peer.send_at(50, read(3));
  run_until_idle();
  board->finish(true);
  EXPECT_THAT(recorded.of("r"),
              ElementsAre(Call{"row qp 3", 6, "valid 1"}, Call{"reset", 31}, Call{"row qp 3", 41, "valid 1"}));
  EXPECT_EQ(recorded.of("given").size(), 2u);
}

// However long the link is: the order of several outputs counts.
TEST_F(WatchedIrrq, AMessageIsGivenWhenItIsPutOnItsLink) {
  open_qp(contexts, 3, rts_qp(3));
  peer.send(read(3));
  run_until_idle();
  board->finish(true);
  ASSERT_EQ(responder.size(), 1u);
  EXPECT_THAT(recorded.of("given"), ElementsAre(Call{"given 2", responder.cycles()[0] - 3}));
}

// What the firmware has written is in several tables: a board that is made later gets the same rows.
TEST_F(WatchedStages, RowsThatAreThereAreTold) {
  QpContext qp = rts_qp(5, 7);
  qp.state = QpState::kClosing;
  qp.responder = qp.absorbs_rtr_send = qp.shares_rq = qp.markers = true;
  qp.log_sq = 3;
  qp.log_rq = 5;
  qp.version = 2;
  qp.crc = qp.extensions = false;
  qp.ird = 9;
  qp.ord = 11;
  qp.send_cq = Cqn{6};
  qp.llp = LlpId::kSctp;
  qp.srq = Srqn{3};
  qp.first_msn = 77;
  open_qp(contexts, 5, qp, true);
  contexts.write(Srqn{3}, {true, 4, {}, 0x5000, 2});
  contexts.write_page(9, 0x9000);
  contexts.page_table.settle_writes();
  contexts.write(Stag{stag_of(7)}, region(0x1000, 0x100, kRights));
  StagContext window = region(0x1000, 0x10, kRights);
  window.kind = StagKind::kWindow2;
  window.region = stag_of(7);
  contexts.write(Stag{stag_of(2)}, window);
  contexts.commit();
  recorded.detail = [](const std::string& what, const void* row) {
    return what == "row qp 5" ? describe(loaded<golden::QpRow>(row)) : std::string();
  };
  struct Nothing final : Stage {
    using Stage::Stage;
    Wake tick() override { return Wake::on_traffic(); }
  } stage{"stage", clk};
  using scoreboard::ContextRows;
  StageBoard board(stage, "", "", RecordedBoard::library());
  board.add(std::make_unique<ContextRows>(board, contexts, ContextRows::kQp | ContextRows::kStags | ContextRows::kSrq));
  firmware.at(5, [this] { contexts.end(Stag{stag_of(7)}); });
  firmware.at(6, [this] { contexts.end(Stag{stag_of(7)}); });  // it names nothing any more
  firmware.at(7, [&board] { board.moved(); });
  run_until_idle();
  EXPECT_THAT(recorded.calls,
              ElementsAre(Call{"row qp 5", 0, describe(golden::QpRow{qp})}, Call{"row srq 3", 0}, Call{"row page 9", 0},
                          Call{"row stag 7", 0}, Call{"row stag 2", 0}, Call{"row stag 7", 6}));
}

class WatchedAtomics : public WatchedStages {
 protected:
  AtomicAlu dut{"dut", clk, contexts, {}};
  Source<QueuedAtomic> irrq = drive(dut.in);
  Sink<AtomicWork> segmenter = collect(dut.out);
  Sink<QpEvent> events = collect(dut.event);
  FakeDma reader{dut.read, dut.read_done};
  FakeDmaWrite writer{dut.write, dut.written, reader.memory};
  std::unique_ptr<StageBoard> board = board_of(dut, "atomic_alu");

  WatchedAtomics() {
    open_qp(contexts, 1, rts_qp(1));
    contexts.write(Stag{stag_of(3)}, region(0x1000, 0x100, kRights));
    contexts.commit();
    recorded.detail = [](const std::string& what, const void* message) -> std::string {
      if (what == "accepted 1") return hex(loaded<golden::DmaReadMessage>(message).octets);
      if (what == "given 5") return hex(loaded<golden::DmaWriteMessage>(message).octets);
      return what == "accepted 3" ? describe(loaded<golden::HostWrite>(message)) : "";
    };
    irrq.send_at(10, add(0x1010));
  }
  static QueuedAtomic add(std::uint64_t address) {
    wire::AtomicRequest request = wire::AtomicRequest::fetch_add(1, 0);
    request.stag = stag_of(3);
    request.to = address;
    return {Qpn{1}, request, {}, 1, Pdn{1}};
  }
  static std::string hex(const std::vector<std::uint8_t>& octets) {
    std::string text;
    for (const std::uint8_t octet : octets) text += fmt::format("{:02x}", octet);
    return text;
  }
};

TEST_F(WatchedAtomics, OctetsOfHostMemoryPass) {
  store_le64(&reader.memory[0x1010], 0x1122334455667788);
  run_until_idle();
  board->finish(true);
  std::vector<std::string> order;
  for (const Call& call : recorded.calls) order.push_back(call.what + ' ' + call.detail);
  EXPECT_THAT(order, ElementsAre("row qp 1 ", "row stag 3 ", "accepted 0 ", "given 4 ", "accepted 1 8877665544332211",
                                 "given 5 8977665544332211", "accepted 2 ", "given 6 "));
}

// An answer to a write frees its word for the atomic that the stage takes in the same cycle.
TEST_F(WatchedAtomics, InputsOfACycleComeInTheStagesOrder) {
  for (unsigned i = 0; i < 100; ++i) irrq.send(add(0x1000 + 8 * (i % 16)));
  irrq.pause(at_random(1, 80));
  run_until_idle();
  board->finish(true);
  unsigned at_once = 0;
  for (const Call& answered : recorded.of("accepted 2")) {
    const auto taken = std::find(recorded.calls.begin(), recorded.calls.end(), Call{"accepted 0", answered.cycle});
    if (taken == recorded.calls.end()) continue;
    ++at_once;
    EXPECT_LT(std::find(recorded.calls.begin(), recorded.calls.end(), answered), taken) << answered;
  }
  EXPECT_GT(at_once, 0u);
}

TEST_F(WatchedAtomics, AReadThatFailedHasNone) {
  reader.fails.insert(0);
  run_until_idle();
  board->finish(true);
  ASSERT_EQ(recorded.of("accepted 1").size(), 1u);
  EXPECT_EQ(recorded.of("accepted 1")[0].detail, "");
  EXPECT_THAT(recorded.of("given 5"), IsEmpty());
}

// In their own cycle, before an atomic that is taken in it; also while no word is watched.
TEST_F(WatchedAtomics, OtherWritesAreTold) {
  firmware.at(200, [this] { dut.words().written(0x1000, 64); });
  firmware.at(206, [this] { dut.words().written(0x1040, 8); });
  run_until_idle();
  board->finish(true);
  EXPECT_THAT(recorded.of("accepted 3"), ElementsAre(Call{"accepted 3", 200, "host_write: address 4096, bytes 64"},
                                                     Call{"accepted 3", 206, "host_write: address 4160, bytes 8"}));
}

// A board does not keep blocks of the chip's pools.
TEST(Watched, AReadHoldsNothing) {
  BufferPool pool{64};
  scoreboard::TransactionsOf<DmaReadRequest> reads;
  reads.join({0x1000, 8, nullptr, pool.take(), 5, {}, {}, 0});
  EXPECT_EQ(reads.transaction.tag, 5u);
  EXPECT_FALSE(reads.transaction.hold);
}

TEST(Watched, AMessageNamesItsRequest) {
  const RequestId id{1, RequestId::Kind::kSend, 2, 3, 4};
  const auto owner = [](const auto& message) {
    scoreboard::TransactionsOf<std::decay_t<decltype(message)>> messages;
    messages.join(message);
    return messages.owner;
  };
  QueuedRead read;
  read.segment.owner = id;
  AtomicWork answer;
  answer.owner = id;
  QpEvent event;
  event.failed.owner = id;
  EXPECT_EQ(owner(QueuedRequest(read)), id);
  EXPECT_EQ(owner(answer), id);
  EXPECT_EQ(owner(event), id);
  EXPECT_EQ(owner(ReadResponseSent{}), RequestId{});
}

}  // namespace
}  // namespace rnic::test
