#include "model/rnic/responder/atomic_alu.h"

#include <algorithm>
#include <map>

#include "model/common/bytes.h"
#include "model/common/prng.h"
#include "testbench/support/contexts.h"
#include "testbench/support/fake_dma.h"
#include "testbench/support/stage_test.h"
#include "testbench/unit/rnic/responder/masked_reference.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using wire::AtomicRequest;
namespace rdma = wire::rdma;

constexpr std::uint8_t kRights = abi::kRemoteRead | abi::kRemoteWrite | abi::kRemoteAtomic;
constexpr std::uint32_t kIi = 4, kPipeline = 6, kRead = 20, kWrite = 3;  // cycles
constexpr unsigned kQps = 16;

QueuedAtomic to(AtomicRequest r, std::uint64_t address, std::uint32_t qpn = 1, std::uint32_t id = 0) {
  r.stag = stag_of(3);
  r.to = address;
  r.request_id = id;
  return {Qpn{qpn}, r, {}, 1, Pdn{1}};
}
QueuedAtomic add(std::uint64_t value, std::uint64_t address, std::uint32_t qpn = 1, std::uint64_t mask = 0) {
  return to(AtomicRequest::fetch_add(value, mask), address, qpn);
}
QueuedAtomic swap(std::uint64_t compare, std::uint64_t value, std::uint64_t address, std::uint32_t qpn = 1) {
  return to(AtomicRequest::cmp_swap(value, ~std::uint64_t{0}, compare, ~std::uint64_t{0}), address, qpn);
}

class AtomicAluTest : public StageTest {
 protected:
  ContextStore contexts{clk, {kQps, kQps, kQps, 16}};
  At firmware{"firmware", clk};
  AtomicAlu dut{"dut", clk, contexts, {8, kIi, kPipeline}};
  Source<QueuedAtomic> irrq = drive(dut.in);
  Sink<AtomicWork> segmenter = collect(dut.out);
  Sink<QpEvent> events = collect(dut.event);
  FakeDma reader{dut.read, dut.read_done};
  FakeDmaWrite writer{dut.write, dut.written, reader.memory};

  AtomicAluTest() {
    reader.latency = kRead;
    writer.hold = kWrite;
    for (std::uint32_t n = 1; n < kQps; ++n) open_qp(contexts, n, rts_qp(n));
    contexts.write(Stag{stag_of(3)}, region(0x1000, 0x100, kRights));
    contexts.write(Stag{stag_of(4)}, region(0x1000, 0x100, kRights & ~abi::kRemoteAtomic));
    contexts.write(Stag{stag_of(5)}, region(0x1000, 0x100, kRights, 2));
    contexts.write(Stag{stag_of(6)}, region(0x1000, 0x100, kRights & ~abi::kRemoteRead));
    contexts.write(Stag{stag_of(7)}, region(0x1000, 0x100, kRights & ~abi::kRemoteWrite));
    contexts.write(Stag{stag_of(8)}, region(0x1004, 0x100, kRights));
    contexts.commit();
  }
  std::uint64_t word(std::uint64_t address) const { return load_le64(&reader.memory[address]); }
  void set(std::uint64_t address, std::uint64_t value) { store_le64(&reader.memory[address], value); }
  std::vector<std::uint64_t> originals() const {
    std::vector<std::uint64_t> v;
    for (const AtomicWork& w : segmenter) v.push_back(w.response.original);
    return v;
  }
  void expect_refused(AtomicRequest r, std::uint32_t stag, std::uint64_t address, wire::TerminateCause cause) {
    QueuedAtomic q = to(r, address);
    q.request.stag = stag;
    const std::vector<std::uint8_t> before = reader.memory;
    irrq.send(q);
    run_until_idle();
    EXPECT_THAT(segmenter, IsEmpty());
    EXPECT_THAT(reader.requests(), IsEmpty());
    EXPECT_EQ(reader.memory, before);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].kind, QpEvent::Kind::kStreamError);
    EXPECT_EQ(events[0].qpn, Qpn{1});
    EXPECT_EQ(events[0].cause, cause) << int(events[0].cause.code);
  }
};

constexpr AtomicRequest kAdd = AtomicRequest::fetch_add(1, 0);

// From the cycle c of a request: the entry of its STag; its read; the read's answer after kRead and two links;
// kPipeline; the write; the write's answer after kWrite and two links; the answer.
constexpr Cycle kStag = StagTableConfig{}.read_cycles;
constexpr Cycle kFirst = 1 + kStag;                // when the entry of its STag is there
constexpr Cycle kRow = TableConfig{}.read_cycles;  // of the page table
constexpr Cycle kReadTrip = 1 + kRead + 1, kWriteTrip = 1 + kWrite + 1;
constexpr Cycle kAnswer = kFirst + kReadTrip + kPipeline + kWriteTrip + 1;

TEST_F(AtomicAluTest, FetchAdd) {
  set(0x1008, 41);
  irrq.send(to(AtomicRequest::fetch_add(2, 0), 0x1008, 3, 0xabcd));
  run_until_idle();
  EXPECT_EQ(word(0x1008), 43u);
  EXPECT_THAT(reader.cycles(), ElementsAre(kFirst + 1));
  EXPECT_THAT(writer.cycles(), ElementsAre(kFirst + kReadTrip + kPipeline + 1));
  EXPECT_THAT(segmenter.cycles(), ElementsAre(kAnswer));
  EXPECT_EQ(segmenter[0].qpn, Qpn{3});
  EXPECT_EQ(segmenter[0].response.request_id, 0xabcdu);
  EXPECT_EQ(segmenter[0].response.original, 41u);
}
// RFC 5040 section 8.1.1: a round trip to host memory lies between the check and the write. The end of an STag is
// reported when no atomic that it allowed is in progress any more.
TEST_F(AtomicAluTest, AnAtomicIsInProgressFromItsStartToItsAnswer) {
  irrq.send(add(1, 0x1000));
  std::vector<bool> at_rest;
  const auto look = [&] { at_rest.push_back(contexts.in_flight.at_rest(StagWrites::kAtomic)); };
  firmware.at(kFirst, look);
  firmware.at(kFirst + 1, [&] {
    look();
    contexts.write(Stag{stag_of(3)}, StagContext{});
  });
  firmware.at(kAnswer - 1, look);
  firmware.at(kAnswer, look);
  run_until_idle();
  EXPECT_THAT(at_rest, ElementsAre(true, false, false, true));
  EXPECT_EQ(word(0x1000), 1u);
  EXPECT_EQ(segmenter.size(), 1u);
}
// The one that began later is answered earlier: the end of the first one is not reported with it.
TEST_F(AtomicAluTest, TheEndOfOneThatBeganLaterIsNotTheEndOfTheFirst) {
  constexpr Cycle kSlow = 100;
  reader.latency_of[0] = kSlow;
  irrq.send({add(1, 0x1000, 1), add(1, 0x1008, 2)});
  StagWrites::Counts first{};
  std::vector<Cycle> over;
  firmware.at(kFirst + 1, [&] { first = contexts.in_flight.begun(); });
  for (Cycle c = kFirst + 2; c < kAnswer + kSlow + 10; ++c) {
    firmware.at(c, [&] {
      if (contexts.in_flight.over(first, StagWrites::kAtomic)) over.push_back(clk.now());
    });
  }
  run_until_idle();
  ASSERT_EQ(first[StagWrites::kAtomic], 1u);
  ASSERT_EQ(segmenter.size(), 2u);
  EXPECT_EQ(segmenter[0].qpn, Qpn{2});
  EXPECT_THAT(segmenter.cycles(), ElementsAre(kAnswer + kIi, kAnswer + kSlow - kRead));
  EXPECT_EQ(over.front(), kAnswer + kSlow - kRead);
  EXPECT_TRUE(contexts.in_flight.at_rest(StagWrites::kAtomic));
}
TEST_F(AtomicAluTest, OneThatFailedIsNotInProgressAnyMore) {
  reader.fails.insert(0);
  irrq.send({add(1, 0x1000), swap(1, 2, 0x1008)});  // nor one that writes nothing
  run_until_idle();
  EXPECT_TRUE(contexts.in_flight.at_rest(StagWrites::kAtomic));
}
TEST_F(AtomicAluTest, HostMemoryIsLittleEndian) {
  reader.memory[0x1000] = 0xff;
  irrq.send(add(1, 0x1000));
  run_until_idle();
  EXPECT_EQ(reader.memory[0x1000], 0);
  EXPECT_EQ(reader.memory[0x1001], 1);
}
TEST_F(AtomicAluTest, CmpSwapThatMatches) {
  set(0x1000, 7);
  irrq.send(swap(7, 9, 0x1000));
  run_until_idle();
  EXPECT_EQ(word(0x1000), 9u);
  EXPECT_THAT(originals(), ElementsAre(7));
}
TEST_F(AtomicAluTest, CmpSwapThatDoesNotMatchWritesNothingAndAnswersAtOnce) {
  set(0x1000, 8);
  irrq.send(swap(7, 9, 0x1000));
  run_until_idle();
  EXPECT_EQ(word(0x1000), 8u);
  EXPECT_THAT(writer.cycles(), IsEmpty());
  EXPECT_THAT(originals(), ElementsAre(8));
  EXPECT_THAT(segmenter.cycles(), ElementsAre(kFirst + kReadTrip + kPipeline + 1 + 1));
}
TEST_F(AtomicAluTest, ReservedBitsAndTheCompareFieldsOfAFetchAddMeanNothing) {
  AtomicRequest r = AtomicRequest::fetch_add(5, 0);
  r.operation |= 0xfffffff0;
  r.compare = 1;
  r.compare_mask = 2;
  irrq.send(to(r, 0x1000));
  run_until_idle();
  EXPECT_EQ(word(0x1000), 5u);
}

// Hazards. Requests to different addresses start once per initiation interval.
TEST_F(AtomicAluTest, DifferentAddressesBackToBack) {
  for (std::uint64_t i = 0; i < 4; ++i) irrq.send(add(i + 1, 0x1000 + 8 * i, static_cast<std::uint32_t>(i + 1)));
  run_until_idle();
  EXPECT_THAT(reader.cycles(), ElementsAre(kFirst + 1, kFirst + 1 + kIi, kFirst + 1 + 2 * kIi, kFirst + 1 + 3 * kIi));
  EXPECT_THAT(segmenter.cycles(), ElementsAre(kAnswer, kAnswer + kIi, kAnswer + 2 * kIi, kAnswer + 3 * kIi));
  EXPECT_EQ(dut.counters().forwarded, 0u);
}
// One address: one read, and one result per pipeline length.
TEST_F(AtomicAluTest, OneAddressBackToBack) {
  for (std::uint32_t i = 0; i < 4; ++i) irrq.send(add(10, 0x1000, i + 1));
  run_until_idle();
  EXPECT_EQ(reader.requests().size(), 1u);
  EXPECT_THAT(segmenter.cycles(),
              ElementsAre(kAnswer, kAnswer + kPipeline, kAnswer + 2 * kPipeline, kAnswer + 3 * kPipeline));
  EXPECT_THAT(originals(), ElementsAre(0, 10, 20, 30));
  EXPECT_EQ(word(0x1000), 40u);
  EXPECT_EQ(dut.counters().forwarded, 3u);
}
// The second request comes while the first one's result is on its way to memory.
TEST_F(AtomicAluTest, AResultThatIsBeingWrittenIsForwarded) {
  irrq.send(add(10, 0x1000, 1));
  const Cycle result = kFirst + kReadTrip + kPipeline;
  irrq.pause(window(1, result - kStag));
  irrq.send(add(1, 0x1000, 2));  // starts one cycle after the result
  run_until_idle();
  EXPECT_EQ(reader.requests().size(), 1u);
  EXPECT_THAT(originals(), ElementsAre(0, 10));
  EXPECT_THAT(segmenter.cycles(), ElementsAre(kAnswer, result + 1 + 1 + kPipeline + kWriteTrip + 1));
}
// Once nothing can overtake the write, memory is read again.
TEST_F(AtomicAluTest, AResultThatIsInMemoryIsReadFromThere) {
  irrq.send(add(10, 0x1000, 1));
  irrq.pause(window(1, kAnswer - 2));
  irrq.send(add(1, 0x1000, 2));  // taken in the cycle of the first one's answer
  run_until_idle();
  EXPECT_EQ(reader.requests().size(), 2u);
  EXPECT_THAT(originals(), ElementsAre(0, 10));
}
TEST_F(AtomicAluTest, AMixOfAddressesKeepsTheOrderAtEachOne) {
  irrq.send({add(1, 0x1000, 1), add(2, 0x1008, 2), swap(1, 50, 0x1000, 3), add(4, 0x1008, 4), add(8, 0x1000, 5)});
  run_until_idle();
  std::map<std::uint32_t, std::uint64_t> original;
  for (const AtomicWork& w : segmenter) original[w.qpn.v] = w.response.original;
  EXPECT_EQ(original, (std::map<std::uint32_t, std::uint64_t>{{1, 0}, {2, 0}, {3, 1}, {4, 2}, {5, 50}}));
  EXPECT_EQ(word(0x1000), 58u);
  EXPECT_EQ(word(0x1008), 6u);
  EXPECT_EQ(reader.requests().size(), 2u);
}
// A CmpSwap that finds a value still on its way to memory is not answered before the value is there.
TEST_F(AtomicAluTest, AnAnswerDoesNotOvertakeTheWriteOfTheValueItTells) {
  writer.hold = 40;
  irrq.send({add(10, 0x1000, 1), swap(7, 9, 0x1000, 2)});
  run_until_idle();
  EXPECT_THAT(originals(), ElementsAre(0, 10));
  EXPECT_THAT(segmenter.cycles(), ElementsAre(kAnswer + 37, kAnswer + 38));
}
TEST_F(AtomicAluTest, ReadsThatAreAnsweredInAnotherOrder) {
  reader.latency_of[0] = 60;
  irrq.send({add(1, 0x1000, 1), add(2, 0x1008, 2), add(4, 0x1000, 3)});
  run_until_idle();
  EXPECT_EQ(segmenter[0].qpn, Qpn{2});
  EXPECT_EQ(word(0x1000), 5u);
  EXPECT_EQ(word(0x1008), 2u);
}
TEST_F(AtomicAluTest, NoMoreInFlightThanOperations) {
  for (std::uint32_t i = 0; i < 9; ++i) irrq.send(add(1, 0x1000 + 8 * i, i + 1));
  reader.latency = 200;
  run_until_idle();
  EXPECT_EQ(reader.cycles()[7], kFirst + 1 + 7 * kIi);
  EXPECT_EQ(reader.cycles()[8], segmenter.cycles()[0]);  // the slot is free in the cycle of the answer
}

// RFC 7306 section 5.4, rule 5: an atomic sees earlier Writes on its stream, whatever is in flight at its word.
class WriteBetweenAtomics : public AtomicAluTest {
 protected:
  BufferPool buffers{256};
  std::vector<std::uint64_t> landed;  // values of the word at kWord, in order
  static constexpr std::uint64_t kWord = 0x1010;

  WriteBetweenAtomics() {
    writer.on_landing = [this](auto...) { landed.push_back(word(kWord)); };
  }
  // Acts like a Write's TLP, in this cycle.
  void write(std::uint64_t address, const std::vector<std::uint8_t>& octets) {
    BufferRef buf = buffers.take();
    std::copy(octets.begin(), octets.end(), buf->bytes());
    const auto bytes = static_cast<std::uint32_t>(octets.size());
    dut.words().written(address, bytes);
    writer.write_of_another(address, std::move(buf), bytes);
  }
  void write_word(std::uint64_t value) {
    std::vector<std::uint8_t> octets(8);
    store_le64(octets.data(), value);
    write(kWord, octets);
  }
  void write_four_octets_between(std::uint64_t address) {
    const Cycle start = clk.now() + 1;
    irrq.send_at(start, add(1, kWord, 1));
    firmware.at(start + 5, [this, address] {
      write(address, {1, 2, 3, 4});
      irrq.send(add(1, kWord, 2));
    });
    run_until_idle();
  }
  // Sends the older atomics at once. In cycle `write_at` sends the Write and after it an atomic, which must see it or a
  // later value.
  void expect_seen(const std::vector<QueuedAtomic>& older, Cycle write_at) {
    SCOPED_TRACE("Write in cycle " + std::to_string(write_at));
    set(kWord, 5);
    landed.clear();
    segmenter.clear();
    const Cycle start = clk.now() + 1;
    irrq.send_at(start, older);
    firmware.at(start + write_at, [this] {
      write_word(100);
      irrq.send(add(1, kWord, 2));
    });
    run_until_idle();
    ASSERT_EQ(segmenter.size(), older.size() + 1);
    ASSERT_EQ(segmenter.back().qpn, Qpn{2});
    const std::uint64_t seen = originals().back();
    const auto the_write = std::find(landed.begin(), landed.end(), 100);
    ASSERT_NE(the_write, landed.end());
    EXPECT_EQ(landed.back(), seen + 1);
    EXPECT_NE(std::find(the_write, landed.end() - 1, seen), landed.end() - 1) << seen << " is older than the Write";
  }
};
TEST_F(WriteBetweenAtomics, IsSeenBehindACmpSwapThatDoesNotMatch) {
  for (Cycle at = 0; at < kAnswer + 10; ++at) expect_seen({swap(7, 9, kWord)}, at);
}
TEST_F(WriteBetweenAtomics, IsSeenBehindAFetchAdd) {
  for (Cycle at = 0; at < kAnswer + 10; ++at) expect_seen({add(1, kWord)}, at);
}
TEST_F(WriteBetweenAtomics, IsSeenBehindAChainOfBoth) {
  for (Cycle at = 0; at < kAnswer + 5 * kPipeline; ++at) {
    expect_seen({add(1, kWord, 1), swap(7, 9, kWord, 3), add(1, kWord, 4), swap(8, 9, kWord, 5)}, at);
  }
  EXPECT_GT(dut.counters().forwarded, 100u);
  EXPECT_GT(dut.counters().held_up, 20u);
}
// One stream polls a lock, and another one releases it by a Write.
TEST_F(WriteBetweenAtomics, IsSeenByThoseWhoPollAllTheTime) {
  set(kWord, 1);
  for (int i = 0; i < 40; ++i) irrq.send({swap(0, 1, kWord, 1), swap(0, 1, kWord, 3)});
  firmware.at(100, [this] { write_word(0); });
  run_until_idle();
  const std::vector<std::uint64_t> seen = originals();
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 0), 1);
  EXPECT_EQ(word(kWord), 1u);
}
TEST_F(WriteBetweenAtomics, HoldsUpTheNextOneUntilTheOlderIsAnswered) {
  irrq.send({add(1, kWord, 1), add(1, kWord, 2)});
  irrq.pause(window(1, 10));
  firmware.at(5, [this] { write_word(100); });
  run_until_idle();
  EXPECT_THAT(reader.cycles(), ElementsAre(kFirst + 1, kAnswer));  // asked for in the cycle before
  EXPECT_THAT(segmenter.cycles(), ElementsAre(kAnswer, kAnswer + kReadTrip - 1 + kPipeline + kWriteTrip + 1));
  EXPECT_EQ(dut.counters().held_up, 1u);
}
TEST_F(WriteBetweenAtomics, BesideTheWordHoldsNobodyUp) {
  for (const std::uint64_t address : {kWord - 4, kWord + 8}) write_four_octets_between(address);
  EXPECT_EQ(dut.counters().held_up, 0u);
  EXPECT_EQ(dut.counters().forwarded, 2u);
}
TEST_F(WriteBetweenAtomics, OfOneOctetOfTheWordHoldsTheNextOneUp) {
  for (const std::uint64_t address : {kWord - 3, kWord + 7}) write_four_octets_between(address);
  EXPECT_EQ(dut.counters().held_up, 2u);
}

// Errors: each fails its own check and the later ones.
TEST_F(AtomicAluTest, ReservedOpcodes) {
  for (const std::uint32_t op : {1u, 3u, 15u}) {
    AtomicRequest r = kAdd;
    r.operation = op;
    irrq.send(to(r, 0x1001));
  }
  run_until_idle();
  ASSERT_EQ(events.size(), 3u);
  for (const QpEvent& e : events) EXPECT_EQ(e.cause, rdma::kUnexpectedOpcode);
}
TEST_F(AtomicAluTest, UnknownIndex) { expect_refused(kAdd, stag_of(99), ~std::uint64_t{0}, rdma::kInvalidStag); }
TEST_F(AtomicAluTest, UnknownKey) { expect_refused(kAdd, stag_of(3, 1), 0x1001, rdma::kInvalidStag); }
TEST_F(AtomicAluTest, ForeignDomain) { expect_refused(kAdd, stag_of(5), ~std::uint64_t{0}, rdma::kStagNotAssociated); }
TEST_F(AtomicAluTest, NoRemoteAtomic) { expect_refused(kAdd, stag_of(4), ~std::uint64_t{0}, rdma::kAccessRights); }
TEST_F(AtomicAluTest, NoRemoteRead) { expect_refused(kAdd, stag_of(6), ~std::uint64_t{0}, rdma::kAccessRights); }
TEST_F(AtomicAluTest, NoRemoteWrite) { expect_refused(kAdd, stag_of(7), ~std::uint64_t{0}, rdma::kAccessRights); }
TEST_F(AtomicAluTest, Wrap) { expect_refused(kAdd, stag_of(3), ~std::uint64_t{0} - 6, rdma::kToWrap); }
TEST_F(AtomicAluTest, OneOctetBefore) { expect_refused(kAdd, stag_of(3), 0xfff, rdma::kBaseOrBounds); }
TEST_F(AtomicAluTest, OneOctetBehind) { expect_refused(kAdd, stag_of(3), 0x10f9, rdma::kBaseOrBounds); }
TEST_F(AtomicAluTest, MisalignedFetchAdd) { expect_refused(kAdd, stag_of(3), 0x1004, rdma::kCatastrophicStream); }
TEST_F(AtomicAluTest, MisalignedCmpSwap) {
  expect_refused(AtomicRequest::cmp_swap(1, 0, 0, 0), stag_of(3), 0x1001, rdma::kCatastrophicStream);
}
TEST_F(AtomicAluTest, ARegionAtAnyAddressHoldsAlignedWords) {
  QueuedAtomic q = add(1, 0x1008);
  q.request.stag = stag_of(8);
  irrq.send(q);
  run_until_idle();
  EXPECT_EQ(word(0x1008), 1u);
}
TEST_F(AtomicAluTest, MemoryThatCannotBeReadFailsThoseThatWaitForItToo) {
  reader.fails.insert(0);
  irrq.send({add(1, 0x1000, 1), add(1, 0x1000, 2), add(1, 0x1008, 3)});
  run_until_idle();
  ASSERT_EQ(events.size(), 2u);
  for (const QpEvent& e : events) EXPECT_EQ(e.cause, rdma::kLocalCatastrophic);
  EXPECT_EQ(word(0x1000), 0u);
  EXPECT_EQ(word(0x1008), 1u);
}

TEST_F(AtomicAluTest, AReusedQpGetsNoAnswerOfItsEarlierUse) {
  irrq.send({add(5, 0x1000, 1), add(5, 0x1008, 2)});
  firmware.at(15, [this] { contexts.write(Qpn{1}, rts_qp(1, 2)); });
  run_until_idle();
  ASSERT_EQ(segmenter.size(), 1u);
  EXPECT_EQ(segmenter[0].qpn, Qpn{2});
  EXPECT_EQ(word(0x1000), 5u);  // it was delivered
}
// Whatever is wrong with it, before or after it has begun.
TEST_F(AtomicAluTest, ARequestOfAnEarlierUseIsNoErrorOfTheLaterOne) {
  reader.fails.insert(0);
  QueuedAtomic refused = add(5, 0x1004, 3), starts = add(5, 0x1010, 3);
  irrq.send({add(5, 0x1000, 1), add(5, 0x1008, 2)});
  firmware.at(15, [this] { contexts.write(Qpn{1}, rts_qp(1, 2)); });
  firmware.at(60, [this] { contexts.write(Qpn{3}, rts_qp(3, 2)); });
  irrq.send_at(70, {refused, starts});
  run_until_idle();
  EXPECT_THAT(events, IsEmpty());
  ASSERT_EQ(segmenter.size(), 1u);
  EXPECT_EQ(segmenter[0].qpn, Qpn{2});
  EXPECT_EQ(word(0x1010), 0u);
  EXPECT_EQ(dut.counters().failed, 1u);
  EXPECT_EQ(dut.counters().refused, 0u);
}
TEST_F(AtomicAluTest, AnIdleStageIsNotCalled) {
  irrq.send_at(4000, add(1, 0x1000));
  run_until_idle();
  EXPECT_LE(clk.activity().cycles, kAnswer + 4);
}

// Random requests of many QPs, one at a time for each as the IRRQ sends them, on few addresses, with slow and unfair
// neighbours. The answers fit one order at each address, the order of arrival.
TEST_F(AtomicAluTest, RandomRequestsOnFewAddresses) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::uint64_t state = seed;
    const auto draw = [&state] { return mix64(++state); };
    const std::size_t before = segmenter.size();
    std::vector<std::uint64_t> memory(4);
    for (std::uint64_t i = 0; i < 4; ++i) memory[i] = word(0x1000 + 8 * i);
    std::map<std::uint32_t, std::uint64_t> expected;  // by request identifier
    std::vector<QueuedAtomic> requests;
    for (std::uint32_t id = 0; id < 2000; ++id) {
      const std::uint64_t slot = draw() % 4, kind = draw() % 4;
      const std::uint64_t masks[] = {0, ~std::uint64_t{0}, draw(), 0x8080808080808080};
      std::uint64_t& value = memory[slot];
      expected[id] = value;
      AtomicRequest r;
      if (kind < 2) {
        r = AtomicRequest::fetch_add(draw(), masks[draw() % 4]);
        value = reference_add(value, r.data, r.data_mask);
      } else {
        r = AtomicRequest::cmp_swap(draw(), masks[draw() % 4], kind == 2 ? value : draw(), masks[draw() % 4]);
        value = reference_swap(value, r.compare, r.compare_mask, r.data, r.data_mask);
      }
      requests.push_back(to(r, 0x1000 + 8 * slot, 1 + static_cast<std::uint32_t>(draw() % (kQps - 1)), id));
    }
    for (unsigned i = 0; i < 4000; ++i) {
      reader.latency_of[static_cast<unsigned>(reader.requests().size()) + i] = 5 + draw() % 40;
    }
    clk.shuffle(seed);
    segmenter.pause(at_random(seed, 20));
    irrq.pause(at_random(seed + 100, 30));
    irrq.send(requests);
    run_until_idle();
    ASSERT_EQ(segmenter.size(), before + 2000);
    for (std::size_t i = before; i < segmenter.size(); ++i) {
      const wire::AtomicResponse& response = segmenter[i].response;
      ASSERT_EQ(response.original, expected.at(response.request_id)) << "request " << response.request_id;
    }
    for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(word(0x1000 + 8 * i), memory[i]);
    EXPECT_GT(dut.counters().forwarded, 100u);
  }
}

// Alignment, and conflicts with other atomics in flight, depend on the bus address.
TEST_F(AtomicAluTest, AtomicsInThePagesOfARegion) {
  StagContext paged = region(0x7000, 0x100, kRights);
  paged.bus = 0xff8;
  paged.log_page = 12;
  paged.pages = 2;
  contexts.write(Stag{stag_of(9)}, paged);
  contexts.write_page(0, 0x4000);
  contexts.write_page(1, 0x2000);
  contexts.commit();
  set(0x4ff8, 5);
  set(0x2000, 7);
  QueuedAtomic last_of_a_page = add(1, 0x7000), first_of_the_next = add(2, 0x7008);
  last_of_a_page.request.stag = first_of_the_next.request.stag = stag_of(9);
  irrq.send({last_of_a_page, first_of_the_next});
  run_until_idle();
  EXPECT_THAT(reader.cycles(),
              ElementsAre(kFirst + kRow + 1, kFirst + kRow + std::max<Cycle>(kIi, 1 + kStag + kRow) + 1));
  EXPECT_THAT(originals(), ElementsAre(5, 7));
  EXPECT_EQ(word(0x4ff8), 6u);
  EXPECT_EQ(word(0x2000), 9u);
}
// What counts is the entry as it is when the atomic starts, from which cycle on it is in progress.
TEST_F(AtomicAluTest, AnStagThatEndsInAnyCycleAllowsNothingFromTheNextOneOn) {
  for (Cycle ended = 0; ended <= kFirst + 1; ++ended) {
    const Cycle from = clk.now() + 100;
    const std::size_t answers = segmenter.size(), refused = events.size();
    StagWrites::Counts begun{};
    irrq.send_at(from, add(1, 0x1000));
    firmware.at(from + ended, [this] { contexts.write(Stag{stag_of(3)}, StagContext{}); });
    firmware.at(from + ended + 1, [&] { begun = contexts.in_flight.begun(); });
    firmware.at(from + 90, [this] { contexts.write(Stag{stag_of(3)}, region(0x1000, 0x100, kRights)); });
    run_until_idle();
    EXPECT_EQ(segmenter.size() - answers, ended < kFirst ? 0u : 1u) << "cycle " << ended;
    EXPECT_EQ(events.size() - refused, ended < kFirst ? 1u : 0u) << "cycle " << ended;
    EXPECT_EQ(begun, contexts.in_flight.begun()) << "cycle " << ended << ": it begins after the end of its STag";
  }
}
TEST_F(AtomicAluTest, AWindowWaitsForTheEntryOfItsRegion) {
  StagContext window = region(0x1000, 0x100, kRights);
  window.kind = StagKind::kWindow1;
  window.region = stag_of(3);
  contexts.write(Stag{stag_of(9)}, window);
  contexts.commit();
  QueuedAtomic r = add(1, 0x1000);
  r.request.stag = stag_of(9);
  irrq.send(r);
  run_until_idle();
  EXPECT_THAT(reader.cycles(), ElementsAre(kFirst + kStag + 1));
}
// The row that was asked for is dropped when it comes, and the right one is asked for.
TEST_F(AtomicAluTest, AnStagThatChangesWhileItsPageIsReadLeadsToItsNewPage) {
  paged_region(contexts, stag_of(9), {0x4000, 0x2000, 0x5000, 0x3000, 0x6000}, kRights);
  StagContext later = *contexts.stag(Stag{stag_of(9)});
  later.first_page = 4;
  later.pages = 1;
  QueuedAtomic r = add(1, 8);
  r.request.stag = stag_of(9);
  irrq.send(r);
  firmware.at(kFirst + kRow - 1, [this, later] { contexts.write(Stag{stag_of(9)}, later); });
  run_until_idle();
  EXPECT_THAT(reader.cycles(), ElementsAre(kFirst + kRow + kRow + 1));
  EXPECT_EQ(word(0x6008), 1u);
  EXPECT_EQ(word(0x4008), 0u);
}
TEST_F(AtomicAluTest, AnStagThatEndsWhileItsPageIsReadRefusesTheAtomic) {
  paged_region(contexts, stag_of(9), {0x4000}, kRights);
  QueuedAtomic r = add(1, 8);
  r.request.stag = stag_of(9);
  irrq.send({r, add(1, 0x1000)});
  firmware.at(kFirst + kRow - 1, [this] { contexts.write(Stag{stag_of(9)}, StagContext{}); });
  run_until_idle();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].cause, rdma::kInvalidStag);
  EXPECT_EQ(word(0x1000), 1u);
}

TEST_F(AtomicAluTest, AnAtomicAcrossTwoPagesIsNotAligned) {
  StagContext paged = region(0x7000, 0x100, kRights);
  paged.bus = 0xffc;
  paged.log_page = 12;
  paged.pages = 2;
  contexts.write(Stag{stag_of(9)}, paged);
  contexts.write_page(0, 0x4000);
  contexts.write_page(1, 0x2000);
  contexts.commit();
  expect_refused(kAdd, stag_of(9), 0x7000, wire::rdma::kCatastrophicStream);
}

}  // namespace
}  // namespace rnic::test
