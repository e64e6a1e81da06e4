// ddp_placement between scripted neighbours: one side of a co-simulation.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "model/rnic/rx/ddp_placement.h"
#include "rtl-stubs/verilated/messages.h"
#include "testbench/cosim/cosim.h"
#include "testbench/support/contexts.h"

namespace rnic::test {

// What happens in a round, in cycles from its beginning.
struct PlacementRound {
  struct Fpdu {
    Bytes octets;  // without markers
    FlowId flow;
    bool crc_ok = true, marker_ok = true;
    bool placed = false;  // of which only the header comes
    bool ends = false;    // the peer's FIN
  };
  template <class T>
  using Timed = std::vector<std::pair<Cycle, T>>;
  std::vector<std::function<void(ContextStore&)>> before;
  std::vector<Fpdu> fpdus;
  Timed<RqDoorbell> doorbells;
  Timed<FetchedRqe> requests;
  Timed<SrqArm> arms;
  Timed<ReadIssued> reads;
  Timed<RqFlush> flushes;
  Timed<ReadResponseSent> answers;
  Timed<std::function<void(ContextStore&)>> changes;
};

struct PlacementBench {
  ContextStore contexts;
  BufferPool pool{70'000};
  Link<FpduBeat> link_in;
  Link<RqDoorbell> link_posted;
  Link<FetchedRqe> link_rqe;
  Link<SrqArm> link_arm;
  Link<ReadIssued> link_reads;
  Link<RqFlush> link_flush;
  Link<ReadResponseSent> link_answered;
  Link<DmaWriteRequest> link_dma;
  Link<PlacedSegment> link_out;
  Link<QpEvent> link_event;
  Link<RqeTaken> link_taken;
  Link<SrqEvent> link_srq_event;
  Source<FpduBeat> wire;
  Source<RqDoorbell> doorbells;
  Source<FetchedRqe> requests;
  Source<SrqArm> arms;
  Source<ReadIssued> reads;
  Source<RqFlush> flushes;
  Source<ReadResponseSent> answers;
  Sink<DmaWriteRequest> dma;
  Sink<PlacedSegment> placed;
  Sink<QpEvent> events;
  Sink<RqeTaken> taken;
  Sink<SrqEvent> srq_events;
  At agenda;
  DdpPlacement block;

  PlacementBench(const std::string& name, ClockDomain& clk, const ContextStore::Sizes& sizes)
      : contexts(clk, sizes),
        link_in(name + "_in", clk, {8, 1, 1}),
        link_posted(name + "_posted", clk, {4, 1, 1}),
        link_rqe(name + "_rqe", clk, {4, 1, 1}),
        link_arm(name + "_arm", clk, {4, 1, 1}),
        link_reads(name + "_reads", clk, {4, 1, 1}),
        link_flush(name + "_flush", clk, {4, 1, 1}),
        link_answered(name + "_answered", clk, {4, 1, 1}),
        link_dma(name + "_dma", clk, {4, 3, 1}),
        link_out(name + "_out", clk, {4, 1, 1}),
        link_event(name + "_event", clk, {2, 1, 1}),
        link_taken(name + "_taken", clk, {4, 1, 1}),
        link_srq_event(name + "_srq_event", clk, {4, 1, 1}),
        wire((name + "_wire").c_str(), clk),
        doorbells((name + "_doorbells").c_str(), clk),
        requests((name + "_requests").c_str(), clk),
        arms((name + "_arms").c_str(), clk),
        reads((name + "_issued").c_str(), clk),
        flushes((name + "_flushes").c_str(), clk),
        answers((name + "_answers").c_str(), clk),
        dma((name + "_writes").c_str(), clk),
        placed((name + "_placed").c_str(), clk),
        events((name + "_events").c_str(), clk),
        taken((name + "_freed").c_str(), clk),
        srq_events((name + "_told").c_str(), clk),
        agenda((name + "_agenda").c_str(), clk),
        block(name.c_str(), clk, contexts) {
    wire.out(link_in), block.in(link_in);
    doorbells.out(link_posted), block.posted(link_posted);
    requests.out(link_rqe), block.rqe(link_rqe);
    arms.out(link_arm), block.srq_arm(link_arm);
    reads.out(link_reads), block.read_issued(link_reads);
    flushes.out(link_flush), block.flush(link_flush);
    answers.out(link_answered), block.answered(link_answered);
    block.dma(link_dma), dma.in(link_dma);
    block.out(link_out), placed.in(link_out);
    block.event(link_event), events.in(link_event);
    block.rqe_taken(link_taken), taken.in(link_taken);
    block.srq_event(link_srq_event), srq_events.in(link_srq_event);
  }

  void run_as(const Traffic& traffic) {
    wire.pause(traffic.produce);
    dma.pause(traffic.consume);
    placed.pause(traffic.consume);
    for (auto* sink : {&taken}) sink->pause(traffic.consume);
    srq_events.pause(traffic.consume);
    events.pause(traffic.consume);
  }

  // From the next cycle on.
  void play(const PlacementRound& round) {
    for (const auto& write : round.before) write(contexts);
    contexts.commit();
    const Cycle start = block.clock().now() + 1;
    for (const auto& f : round.fpdus) {
      const Bytes header(f.octets.begin(), f.octets.begin() + (f.placed ? 16 : 0));
      auto beats = cut_fpdu(pool, f.placed ? header : f.octets, 64, false, 0, f.flow);
      if (f.placed) beats.back().marker_lane = FpduBeat::kPlaced;
      if (f.ends) beats.back().marker_lane = FpduBeat::kEnds;
      beats.back().crc_ok = f.crc_ok;
      beats.back().marker_ok = f.marker_ok;
      wire.script(beats, start);
      beats_ += beats.size();
      scripted_.push_back({f.flow, beats_});
    }
    script(round.doorbells, doorbells, start);
    script(round.requests, requests, start);
    script(round.arms, arms, start);
    script(round.reads, reads, start);
    script(round.flushes, flushes, start);
    script(round.answers, answers, start);
    for (const auto& [cycle, change] : round.changes) {
      agenda.at(start + cycle, [this, change = change] { change(contexts); });
    }
  }
  // The last FPDU of which something had come in this cycle, for messages.
  std::string fpdu_at(Cycle cycle) const {
    const auto& cycles = wire.cycles();
    const auto came = static_cast<std::size_t>(std::upper_bound(cycles.begin(), cycles.end(), cycle) - cycles.begin());
    const auto fpdu = std::lower_bound(scripted_.begin(), scripted_.end(), came,
                                       [](const Scripted& s, std::size_t beats) { return s.beats < beats; });
    if (came == 0 || fpdu == scripted_.end()) return "";
    return fmt::format("\nthe last FPDU to come was {} of this run, flow {}", fpdu - scripted_.begin(), fpdu->flow.v);
  }
  // What came is forgotten, and its buffers go back.
  void clear() {
    dma.clear();
    placed.clear();
    events.clear();
    taken.clear();
    srq_events.clear();
  }

 private:
  struct Scripted {
    FlowId flow;
    std::size_t beats;  // of all up to this one
  };
  std::vector<Scripted> scripted_;
  std::size_t beats_ = 0;

  template <class T>
  void script(const PlacementRound::Timed<T>& messages, Source<T>& source, Cycle start) {
    for (const auto& [cycle, message] : messages) {
      agenda.at(start + cycle,
                [&source, message = message, this] { source.script({message}, block.clock().now() + 1); });
    }
  }
};

}  // namespace rnic::test
