#include <deque>

#include "model/common/bytes.h"
#include "model/rnic/completion/response_queue.h"
#include "rtl-stubs/verilated/verilated_response_queue.h"
#include "testbench/cosim/boards.h"
#include "testbench/cosim/cosim.h"
#include "testbench/support/contexts.h"

namespace rnic::test {
namespace {

constexpr unsigned kQps = 8, kPages = 16;

// Host memory: takes writes as its pattern allows, records them with their cycles, and answers some cycles later.
class Memory final : public Answerer<DmaWriteRequest, DmaWriteDone> {
 public:
  using Answerer::Answerer;

  struct Write {
    Cycle cycle;
    std::uint64_t address;
    std::uint32_t bytes, offset, tag, list;
    bool notify;
    std::uint64_t value;  // the whole buffer
    bool operator==(const Write& o) const {
      return cycle == o.cycle && address == o.address && bytes == o.bytes && offset == o.offset && tag == o.tag &&
             list == o.list && notify == o.notify && value == o.value;
    }
  };
  std::vector<Write> writes;
  Pattern pattern;

  Wake tick() override {
    if (in->can_pop() && !pattern.pauses(now())) {
      const DmaWriteRequest r = in->pop();
      writes.push_back({now(), r.address, r.bytes, r.src_offset, r.tag, r.list.v, r.notify, load_le64(r.src->bytes())});
      if (r.notify) answers_.push_back(now() + 20);
    }
    if (!answers_.empty() && answers_.front() <= now() && out->can_push()) {
      out->push({0, ++answered_ % 5 != 0});
      answers_.pop_front();
    }
    return in->can_pop() || !answers_.empty() ? Wake::next_cycle() : Wake::on_traffic();
  }

 private:
  std::deque<Cycle> answers_;
  unsigned answered_ = 0;  // each fifth octet has no page any more
};

struct ResponseQueueEnds {
  ContextStore contexts;
  ResponseQueue block;
  Source<AtomicIssued> segmenter = drive(block.issued, CurrentUse(contexts));
  Source<DeliveredAtomic> dispatch = drive(block.in);
  Sink<AtomicDone> completions = collect(block.done);
  Sink<TxUnblock> unblocks = collect(block.unblock);
  Sink<QpEvent> firmware = collect(block.event);
  Memory memory{block.dma, block.written};

  static ContextStore::Sizes sizes() {
    ContextStore::Sizes s{kQps, kQps, 1, 16, 1, kPages};
    s.elements.ord = 128;
    return s;
  }
  ResponseQueueEnds(const std::string& name, ClockDomain& clk)
      : contexts(clk, sizes()), block(name.c_str(), clk, contexts) {}
  void run_as(const Traffic& traffic) {
    segmenter.pause(traffic.produce);
    dispatch.pause(traffic.produce);
    memory.pattern = traffic.consume;
    completions.pause(traffic.consume);
    unblocks.pause(traffic.control);
    firmware.pause(traffic.control);
  }
  void clear() {
    memory.writes.clear();
    completions.clear();
    unblocks.clear();
    firmware.clear();
  }
};

class ResponseQueueCosim : public StageTest, public testing::WithParamInterface<Traffic> {
 protected:
  ResponseQueueEnds model{"response_queue", clk}, twin{"twin", clk};
  std::deque<ResponseQueueEnds> others;
  rtl::Twin<rtl::ResponseQueuePins> rtl{twin.block, twin.contexts};
  At firmware{"firmware", clk};

  // Mostly valid; each of the others fails one check.
  static StagContext random_stag(Prng& rng) {
    StagContext s = region(0x1000, 0x100, abi::kLocalWrite);
    if (rng.below(2) == 0) {  // in pages, starting some octets before the end of the first one
      s.log_page = static_cast<std::uint8_t>(rng.between(12, 14));
      s.bus = (std::uint64_t{1} << s.log_page) - rng.below(24);
      s.first_page = static_cast<std::uint32_t>(rng.below(kPages - 3));
      s.pages = static_cast<std::uint32_t>(rng.between(1, 3));
    } else {
      s.bus = rng.next() >> 8;
    }
    if (rng.below(4) == 0) s.zero_based = true;
    switch (rng.below(150)) {
      case 0:
        s.valid = false;
        break;
      case 1:
        s.key ^= 1;
        break;
      case 2:
        s.access = static_cast<std::uint8_t>(~unsigned{abi::kLocalWrite});
        break;
      case 3:
        s.pd = Pdn{2};
        break;
      case 4:
        s.kind = StagKind::kWindow1;
        break;
      case 5:
        s.length = rng.below(16);
        break;
      default:
        break;
    }
    return s;
  }
  // In a region's first octets, at a page boundary, or in its last octets; sometimes outside.
  AtomicIssued random_request(Prng& rng, Qpn qpn) const {
    const std::uint32_t index = static_cast<std::uint32_t>(rng.below(rng.below(200) == 0 ? 20 : 16));
    const StagContext* const stag = model.contexts.stag(Stag{stag_of(index)});
    const std::uint64_t offset = rng.below(4) == 0 ? 0xf8 + (rng.below(40) == 0) : rng.below(24);
    std::uint64_t address = (stag != nullptr ? stag->base() : 0) + offset;
    if (rng.below(200) == 0) address -= 24;
    return {qpn, static_cast<std::uint32_t>(rng.next()), {address, 8, stag_of(index)}};
  }
  template <class F>
  void each(F&& f) {
    f(model.contexts);
    f(twin.contexts);
    for (ResponseQueueEnds& other : others) f(other.contexts);
  }
  Qpn any_qp(Prng& rng) const { return Qpn{static_cast<std::uint32_t>(rng.below(kQps))}; }

  void open(Prng& rng) {
    for (std::uint32_t n = 0; n < kQps; ++n) each([n](ContextStore& c) { open_qp(c, n, rts_qp(n)); });
    for (std::uint32_t n = 0; n < 16; ++n) {
      each([stag = random_stag(rng), n](ContextStore& c) { c.write(Stag{stag_of(n)}, stag); });
    }
    write_pages();
    model.run_as(GetParam());
    twin.run_as(GetParam());
  }
  // Some pages, of any size, are contiguous on the bus.
  void write_pages() {
    for (std::uint32_t n = 0; n < kPages; ++n) {
      each([n](ContextStore& c) { c.write_page(n, (n / 3 * 7 + n) << (12 + n / 3 % 3)); });
    }
    each([](ContextStore& c) { c.commit(); });
  }
  void expect_all_same() {
    expect_same(model.completions, twin.completions);
    expect_same(model.unblocks, twin.unblocks);
    expect_same(model.firmware, twin.firmware);
    if (!(model.memory.writes == twin.memory.writes)) end_test("what response_queue and its twin wrote differs");
  }

  // As many requests as the QPs' queues hold, for several of them or for one that fills up. Responses follow their
  // requests, except for a few that are superfluous or belong to others.
  void script(Prng& rng, Cycle from, const std::vector<ResponseQueueEnds*>& sides) {
    const auto epoch =
        static_cast<std::uint32_t>(from);  // of a number's first use in this script; the next one follows
    for (std::uint32_t n = 0; n < kQps; ++n) {
      each([n, epoch](ContextStore& c) { c.write(Qpn{n}, rts_qp(n, epoch)); });
    }
    const bool one = rng.below(8) == 0;
    const Qpn the_one = any_qp(rng);
    const Cycle answered = from + (one ? 150 : 2);
    for (int i = 0; i < (one ? 128 : 300); ++i) {
      const AtomicIssued request = random_request(rng, one ? the_one : any_qp(rng));
      DeliveredAtomic response{request.qpn, {request.request_id, rng.next()}, {}, epoch + (rng.below(20) == 0), Pdn{1}};
      if (rng.below(50) == 0) response.pd = Pdn{2};
      response.segment.length = static_cast<std::uint16_t>(rng.next());
      for (std::uint8_t& octet : response.segment.octets) octet = static_cast<std::uint8_t>(rng.next());
      if (rng.below(200) == 0) ++response.response.request_id;
      const bool twice = rng.below(200) == 0;
      for (ResponseQueueEnds* ends : sides) {
        ends->segmenter.send_at(from, request);
        ends->dispatch.send_at(answered, response);
        if (twice) ends->dispatch.send_at(answered, response);
      }
    }
    for (Cycle c = from; c < from + 400; c += 1 + rng.below(150)) {
      if (rng.below(2) == 0) {
        const Qpn qpn = any_qp(rng);
        QpContext context = rts_qp(qpn.v, epoch + (rng.below(3) == 0));
        context.valid = rng.below(16) != 0;
        firmware.at(c, [=] { each([&](ContextStore& s) { s.write(qpn, context); }); });
      } else {
        const Stag stag{stag_of(static_cast<std::uint32_t>(rng.below(16)))};
        const StagContext context = random_stag(rng);
        firmware.at(c, [=] { each([&](ContextStore& s) { s.write(stag, context); }); });
      }
    }
  }
};

TEST_P(ResponseQueueCosim, AgreesInEveryMessageAndEveryCycle) {
  Prng rng = seeded(20260106);
  open(rng);
  std::size_t written = 0, in_pages = 0, refused = 0;
  for (unsigned round = rounds(250); round-- > 0;) {
    script(rng, clk.now() + 1, {&model, &twin});
    run_until_idle();
    expect_all_same();
    written += model.memory.writes.size();
    for (const Memory::Write& w : model.memory.writes) in_pages += w.list != 0;
    refused += model.firmware.size();
    model.clear();
    twin.clear();
  }
  EXPECT_GT(written, 1'000u);
  EXPECT_GT(in_pages, 250u);
  EXPECT_GT(refused, 200u);
  EXPECT_EQ(figures(model.block), figures(twin.block));
}
// The twin continues with the state of other blocks that were stopped and reset during the same traffic.
TEST_P(ResponseQueueCosim, BehavesAsNewAfterAResetAmidResponses) {
  Prng rng = seeded(20260117);
  Stopped stopped;
  std::deque<rtl::Twin<rtl::ResponseQueuePins>> blocks;
  for (int i = 0; i < 6; ++i) {
    others.emplace_back("other" + std::to_string(i), clk).run_as(GetParam());
    blocks.emplace_back(others.back().block, others.back().contexts);
  }
  open(rng);
  for (std::size_t i = 0; i < others.size(); ++i) {
    script(rng, clk.now() + 1, {&others[i]});
    sc_core::sc_start(sc_core::sc_time::from_value(rng.between(10, 400) * clk.period_ps()));
    others[i].block.be_replaced(stopped);
    others[i].memory.be_replaced(stopped);
    rtl.take_over(blocks[i]);
    script(rng, clk.now() + 1, {&model, &twin});
    run_until_idle();
    expect_all_same();
  }
  EXPECT_GT(model.memory.writes.size(), 50u);
}
INSTANTIATE_TEST_SUITE_P(Patterns, ResponseQueueCosim, kTraffics, traffic_name);

// By transaction. As in a chip, the next use of a number and another region of an STag's come when nothing moves.
class ResponseQueueBoard : public ResponseQueueCosim {
 protected:
  void begin_uses(Prng& rng, std::uint32_t epoch) {
    for (std::uint32_t n = 0; n < kQps; ++n) twin.contexts.write(Qpn{n}, rts_qp(n, epoch));
    for (std::uint32_t n = 0; n < 16; ++n) {
      StagContext stag = random_stag(rng);
      if (stag.log_page != 0) --stag.bus, stag.pages = 2;  // from the first one on, and those that it needs
      for (ResponseQueueEnds* side : {&model, &twin}) side->contexts.write(Stag{stag_of(n)}, stag);
    }
    model.contexts.commit();
  }
  // At a pace at which no response waits for long for others. Those of one queue pair come when its queue is full.
  void ask_and_answer(Prng& rng, Cycle from, std::uint32_t epoch) {
    const bool one = rng.below(4) == 0;
    const Qpn the_one = any_qp(rng);
    for (unsigned i = 0; i < 128; ++i) {
      const Cycle asked = from + (one ? 0 : 8 * i), answered = from + (one ? 300 : rng.below(4)) + 8 * i;
      AtomicIssued request = random_request(rng, one ? the_one : any_qp(rng));
      DeliveredAtomic response{request.qpn, {request.request_id, rng.next()}, {}, epoch, Pdn{1}};
      if (rng.below(50) == 0) response.pd = Pdn{2};
      response.segment.length = static_cast<std::uint16_t>(rng.next());
      for (std::uint8_t& octet : response.segment.octets) octet = static_cast<std::uint8_t>(rng.next());
      const bool early = rng.below(30) == 0;  // both are of an earlier use
      if (early) request.epoch = response.epoch = epoch - 1;
      if (rng.below(200) == 0) ++response.response.request_id;
      twin.segmenter.send_at(asked, request);
      twin.dispatch.send_at(answered, response);
      if (rng.below(200) == 0) twin.dispatch.send_at(answered, response);
    }
  }
  void end_some(Prng& rng, Cycle from, std::uint32_t epoch) {
    for (Cycle at = from; at < from + 1'000; at += 1 + rng.below(200)) {
      const Qpn qpn = any_qp(rng);
      QpContext over = rts_qp(qpn.v, epoch);
      over.valid = false;
      const Stag stag{stag_of(static_cast<std::uint32_t>(rng.below(16)))};
      if (rng.below(2) == 0) firmware.at(at, [this, qpn, over] { twin.contexts.write(qpn, over); });
      else firmware.at(at, [this, stag] { twin.contexts.write(stag, StagContext{}); });
    }
  }
};
TEST_P(ResponseQueueBoard, IsRight) {
  if (!kHasBoards) GTEST_SKIP() << kNoBoards;
  Judge judge(twin.block, "response_queue", {64, &twin.contexts});
  Prng rng = seeded(20260126);
  write_pages();
  twin.run_as(GetParam());
  for (std::uint32_t round = 0; round < 100; ++round) {
    const std::uint32_t epoch = 10 + 2 * round;
    const Cycle from = clk.now() + 100;  // when no board takes what was before for what races with it
    firmware.at(from, [&] { begin_uses(rng, epoch); });
    ask_and_answer(rng, from + 1, epoch);
    end_some(rng, from + 1, epoch);
    run_until_idle();
  }
  EXPECT_GT(twin.memory.writes.size(), 500u);
  EXPECT_GT(twin.firmware.size(), 100u);
  judge.expect_right(2'000);
}
INSTANTIATE_TEST_SUITE_P(Once, ResponseQueueBoard, kBoth, traffic_name);

}  // namespace
}  // namespace rnic::test
