#include <array>

#include "model/common/prng.h"
#include "rtl-stubs/verilated/verilated_atomic_alu.h"
#include "rtl-stubs/verilated/verilated_irrq.h"
#include "rtl-stubs/verilated/verilated_response_queue.h"
#include "rtl-stubs/verilated/verilated_terminate_generator.h"
#include "testbench/perf/rtl/neighbours.h"
#include "testbench/perf/rtl/swap_in_blocks.h"
#include "testbench/support/contexts.h"

namespace rnic::perf {
namespace {

constexpr std::uint32_t kQps = 64;

// Queue pairs that take turns, a clock, and a region that all of them may use.
struct Bench {
  ClockDomain clk{"clk", {4000, 38}};
  ContextStore contexts{clk, {kQps, kQps, 1, 2}};
  Bench() {
    for (std::uint32_t n = 0; n < kQps; ++n) test::open_qp(contexts, n, test::rts_qp(n));
    contexts.write(Stag{test::stag_of(1)}, test::region(0, 0x1000, ~0));
    contexts.commit();
  }
};
Qpn turn(std::uint64_t n) { return Qpn{static_cast<std::uint32_t>(n % kQps)}; }

FailedSegment random_segment(Prng& rng) {
  FailedSegment s;
  s.length = 100;
  s.ddp_bytes = 18;
  s.request_bytes = 28;
  for (std::uint8_t& octet : s.octets) octet = static_cast<std::uint8_t>(rng.next());
  return s;
}

}  // namespace

// Reads, each answered some cycles after it was passed on.
SwappedIn measure_irrq() {
  Bench b;
  Prng rng(1);
  std::uint64_t asked = 0, answered = 0;
  Link<QueuedRequest> in("in", b.clk, {4, 1, 1});
  Link<ReadResponseSent> sent("sent", b.clk, {4, 1, 1});
  Link<QueuedRead> out("out", b.clk, {4, 1, 1});
  Link<QueuedAtomic> atomic("atomic", b.clk, {4, 1, 1});
  Link<QpEvent> event("event", b.clk, {4, 1, 1});
  QueuedRequest request = QueuedRead{Qpn{0}, {1, 0, 8, test::stag_of(1), 0}, random_segment(rng), 1, Pdn{1}};
  auto& read = std::get<QueuedRead>(request);
  auto peer = feed<QueuedRequest>("peer", b.clk, [&]() -> const QueuedRequest* {
    if (asked == answered + 2 * kQps) return nullptr;
    read.qpn = turn(asked);
    read.request.src_to = read.request.sink_to = asked++;
    return &request;
  });
  auto responder = answers<QueuedRead, ReadResponseSent>("responder", b.clk, 10, [&](const QueuedRead& r, auto& done) {
    done.qpn = r.qpn;
    done.epoch = r.epoch;
    peer.go_on();
    return ++answered, true;
  });
  Irrq block("block", b.clk, b.contexts);
  peer.out(in);
  block.in(in);
  block.sent(sent);
  block.out(out);
  block.atomic(atomic);
  block.event(event);
  responder.in(out);
  responder.out(sent);
  return measure_swapped_in<rtl::IrrqPins>(
      block, [](auto& m, auto&& f) { f(m.row_ready_i, m.row_valid_i, m.row_tag_i, m.row_i, m.oldest_i); }, b.contexts);
}

// FetchAdds to eight words of memory, in turn.
SwappedIn measure_atomic_alu() {
  Bench b;
  std::array<std::uint8_t, 64> memory{};
  std::uint64_t asked = 0;
  Link<QueuedAtomic> in("in", b.clk, {4, 1, 1});
  Link<DmaReadRequest> read("read", b.clk, {4, 1, 1});
  Link<DmaReadDone> read_done("read_done", b.clk, {4, 1, 1});
  Link<DmaWriteRequest> write("write", b.clk, {4, 1, 1});
  Link<DmaWriteDone> written("written", b.clk, {4, 1, 1});
  Link<AtomicWork> out("out", b.clk, {4, 1, 1});
  Link<QpEvent> event("event", b.clk, {4, 1, 1});
  QueuedAtomic request{Qpn{0}, wire::AtomicRequest::fetch_add(1, 0), {}, 1, Pdn{1}};
  request.request.stag = test::stag_of(1);
  auto irrq = feed<QueuedAtomic>("irrq", b.clk, [&] {
    request.qpn = turn(asked);
    request.request.to = asked++ % (memory.size() / 8) * 8;
    return &request;
  });
  auto reader =
      answers<DmaReadRequest, DmaReadDone>("reader", b.clk, 10, [&](const DmaReadRequest& r, DmaReadDone& done) {
        std::memcpy(r.dst, &memory[r.address], r.bytes);
        done.tag = r.tag;
        return true;
      });
  auto writer =
      answers<DmaWriteRequest, DmaWriteDone>("writer", b.clk, 3, [&](const DmaWriteRequest& w, DmaWriteDone& done) {
        std::memcpy(&memory[w.address], w.src->bytes() + w.src_offset, w.bytes);
        done.tag = w.tag;
        return w.notify;
      });
  auto segmenter = drain<AtomicWork>("segmenter", b.clk);
  AtomicAlu block("block", b.clk, b.contexts, {});
  irrq.out(in);
  block.in(in);
  block.read(read);
  block.read_done(read_done);
  block.write(write);
  block.written(written);
  block.out(out);
  block.event(event);
  reader.in(read);
  reader.out(read_done);
  writer.in(write);
  writer.out(written);
  segmenter.in(out);
  return measure_swapped_in<rtl::AtomicAluPins>(
      block,
      [](auto& m, auto&& f) { f(m.read_done_data_i, m.in_qp_i, m.in_stag_i, m.in_region_i, m.pages_i, m.answer_qp_i); },
      b.contexts);
}

// Responses that lag some requests behind.
SwappedIn measure_response_queue() {
  Bench b;
  std::uint64_t asked = 0, answered = 0, completed = 0;
  Link<AtomicIssued> issued("issued", b.clk, {4, 1, 1});
  Link<DeliveredAtomic> in("in", b.clk, {4, 1, 1});
  Link<DmaWriteRequest> dma("dma", b.clk, {4, 1, 1});
  Link<DmaWriteDone> written("written", b.clk, {4, 1, 1});
  Link<AtomicDone> done("done", b.clk, {4, 1, 1});
  Link<TxUnblock> unblock("unblock", b.clk, {4, 1, 1});
  Link<QpEvent> event("event", b.clk, {4, 1, 1});
  DeliveredAtomic response;
  response.epoch = 1;
  response.pd = Pdn{1};
  auto dispatch = feed<DeliveredAtomic>("dispatch", b.clk, [&]() -> const DeliveredAtomic* {
    if (answered + kQps >= asked) return nullptr;
    response.qpn = turn(answered);
    response.response = {static_cast<std::uint32_t>(answered), mix64(answered)};
    return ++answered, &response;
  });
  AtomicIssued request;
  auto segmenter = feed<AtomicIssued>("segmenter", b.clk, [&]() -> const AtomicIssued* {
    if (asked == completed + 2 * kQps) return nullptr;
    request = {turn(asked), static_cast<std::uint32_t>(asked), {8 * (asked % 64), 8, test::stag_of(1)}, 1};
    dispatch.go_on();
    return ++asked, &request;
  });
  auto memory =
      answers<DmaWriteRequest, DmaWriteDone>("memory", b.clk, 10, [](const DmaWriteRequest& w, DmaWriteDone& d) {
        d.tag = w.tag;
        return w.notify;
      });
  auto completions = drain<AtomicDone>("completions", b.clk, [&](const AtomicDone&) {
    ++completed;
    segmenter.go_on();
  });
  auto unblocks = drain<TxUnblock>("unblocks", b.clk);
  ResponseQueue block("block", b.clk, b.contexts);
  segmenter.out(issued);
  dispatch.out(in);
  block.issued(issued);
  block.in(in);
  block.dma(dma);
  block.written(written);
  block.done(done);
  block.unblock(unblock);
  block.event(event);
  memory.in(dma);
  memory.out(written);
  completions.in(done);
  unblocks.in(unblock);
  return measure_swapped_in<rtl::ResponseQueuePins>(
      block,
      [](auto& m, auto&& f) {
        f(m.under_way_i, m.one_port_i, m.request_row_ready_i, m.request_row_valid_i, m.request_row_tag_i,
          m.request_row_i, m.response_row_ready_i, m.response_row_valid_i, m.response_row_tag_i, m.response_row_i,
          m.oldest_i, m.stag_ready_i, m.stag_valid_i, m.stag_row_i, m.stag_i);
      },
      b.contexts);
}

// Errors of streams that restart again and again; each stream's later errors are ignored.
SwappedIn measure_terminate_generator() {
  Bench b;
  Prng rng(1);
  std::array<QpEvent, kQps> errors;
  std::array<QpContext, kQps> next;  // streams about to begin
  for (std::uint32_t n = 0; n < kQps; ++n) {
    next[n] = test::rts_qp(n, 2);
    errors[n].kind = QpEvent::Kind::kStreamError;
    errors[n].qpn = Qpn{n};
    errors[n].cause = wire::ddp::kBaseOrBounds;
    errors[n].failed = random_segment(rng);
  }
  std::uint64_t told = 0;
  BufferPool buffers(1024);
  const TerminateConfig config;
  Link<QpEvent> in("in", b.clk, {4, 1, 1}), event("event", b.clk, {4, 1, 1});
  Link<TerminateMessage> out("out", b.clk, {4, 1, 1});
  auto stages = feed<QpEvent>("stages", b.clk, [&] {
    const QpEvent& error = errors[told % kQps];
    if (++told % 4 == 0) {
      QpContext& context = next[error.qpn.v];
      b.contexts.write(error.qpn, context);
      ++context.epoch;
    }
    return &error;
  });
  auto segmenter = drain<TerminateMessage>("segmenter", b.clk);
  auto firmware = drain<QpEvent>("firmware", b.clk);
  TerminateGenerator block("block", b.clk, b.contexts, buffers, config);
  stages.out(in);
  block.in(in);
  block.out(out);
  block.event(event);
  segmenter.in(out);
  firmware.in(event);
  return measure_swapped_in<rtl::TerminateGeneratorPins>(
      block, [](auto& m, auto&& f) { f(m.foreign_stag_is_invalid_i, m.qp_exists_i, m.qp_epoch_i, m.reported_i); },
      b.contexts, buffers, config);
}

}  // namespace rnic::perf
