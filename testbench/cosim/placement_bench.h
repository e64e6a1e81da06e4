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
#include "testbench/support/llps.h"

namespace rnic::test {

// The events of a round, in cycles from its beginning.
struct PlacementRound {
  struct Fpdu {
    Bytes octets;  // without markers
    FlowId flow;
    bool crc_ok = true, marker_ok = true;
    bool placed = false;  // only its header comes
    bool ends = false;    // the peer's FIN, or session Terminate
    bool sctp = false;
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
  At agenda;
  DdpPlacement block;
  Source<FpduBeat> wire = drive(block.in[LlpId::kMpaTcp], CurrentUse(contexts), {8, 1, 1});
  Source<FpduBeat> sctp = drive(block.in[LlpId::kSctp], CurrentUse(contexts), {4, 1, 1});
  Source<RqDoorbell> doorbells = drive(block.posted);
  Source<FetchedRqe> requests = drive(block.rqe, CurrentUse(contexts));
  Source<SrqArm> arms = drive(block.srq_arm);
  Source<ReadIssued> reads = drive(block.read_issued, CurrentUse(contexts));
  Source<RqFlush> flushes = drive(block.flush, CurrentUse(contexts));
  Source<ReadResponseSent> answers = drive(block.answered);
  Sink<DmaWriteRequest> dma = collect(block.dma, {4, 3, 1});
  Sink<PlacedSegment> placed = collect(block.out);
  Sink<QpEvent> events = collect(block.event, {2, 1, 1});
  Sink<RqeTaken> taken = collect(block.rqe_taken);
  Sink<SrqEvent> srq_events = collect(block.srq_event);

  PlacementBench(const std::string& name, ClockDomain& clk, const ContextStore::Sizes& sizes)
      : contexts(clk, sizes),
        agenda((name + "_agenda").c_str(), clk),
        block(name.c_str(), clk, contexts, llp_traits()) {}

  void run_as(const Traffic& traffic) {
    wire.pause(traffic.produce);
    sctp.pause(traffic.produce);
    dma.pause(traffic.consume);
    placed.pause(traffic.consume);
    taken.pause(traffic.consume);
    srq_events.pause(traffic.consume);
    events.pause(traffic.consume);
  }

  // Starts in the next cycle.
  void play(const PlacementRound& round) {
    for (const auto& write : round.before) write(contexts);
    contexts.commit();
    send(round, block.clock().now() + 1);
  }
  // Its contexts are written in this cycle, and all else comes after it.
  void play_at(Cycle cycle, const PlacementRound& round) {
    agenda.at(cycle, [this, before = round.before] {
      for (const auto& write : before) write(contexts);
    });
    send(round, cycle + 1);
  }
  void send(const PlacementRound& round, Cycle start) {
    for (const auto& f : round.fpdus) {
      const Bytes header(f.octets.begin(), f.octets.begin() + (f.placed ? 16 : 0));
      auto beats = cut_fpdu(pool, f.placed ? header : f.octets, 64, false, 0, f.flow);
      if (f.placed) beats.back().marker_lane = FpduBeat::kPlaced;
      if (f.ends) beats.back().marker_lane = FpduBeat::kEnds;
      beats.back().crc_ok = f.crc_ok;
      beats.back().marker_ok = f.marker_ok;
      if (f.sctp) {
        sctp.send_at(start, beats);
        continue;
      }
      wire.send_at(start, beats);
      beats_ += beats.size();
      scripted_.push_back({f.flow, beats_});
    }
    send(round.doorbells, doorbells, start);
    send(round.requests, requests, start);
    send(round.arms, arms, start);
    send(round.reads, reads, start);
    send(round.flushes, flushes, start);
    send(round.answers, answers, start);
    for (const auto& [cycle, change] : round.changes) {
      agenda.at(start + cycle, [this, change = change] { change(contexts); });
    }
  }
  // For messages: the last FPDU of MPA with a beat received up to this cycle.
  std::string fpdu_at(Cycle cycle) const {
    const auto& cycles = wire.cycles();
    const auto came = static_cast<std::size_t>(std::upper_bound(cycles.begin(), cycles.end(), cycle) - cycles.begin());
    const auto fpdu = std::lower_bound(scripted_.begin(), scripted_.end(), came,
                                       [](const Scripted& s, std::size_t beats) { return s.beats < beats; });
    if (came == 0 || fpdu == scripted_.end()) return "";
    return fmt::format("\nthe last FPDU to come was {} of this run, flow {}", fpdu - scripted_.begin(), fpdu->flow.v);
  }
  // Clears the received messages and returns their buffers.
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
    std::size_t beats;  // of all FPDUs up to this one
  };
  std::vector<Scripted> scripted_;
  std::size_t beats_ = 0;

  template <class T>
  static void send(PlacementRound::Timed<T> messages, Source<T>& source, Cycle start) {
    std::stable_sort(messages.begin(), messages.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [cycle, message] : messages) source.send_at(start + cycle + 1, message);
  }
};

}  // namespace rnic::test
