// Every link of the chip: between which stages, how deep, how long. Depths of datapath links cover the latency and the
// credit's way back, so that a beat flows each cycle; the others hold the few items that their round trip needs.
#pragma once

#include <array>
#include <string>
#include <utility>

#include "model/rnic/completion/cqe.h"
#include "model/rnic/context/qp_events.h"
#include "model/rnic/dma.h"
#include "model/rnic/fwcpu/messages.h"
#include "model/rnic/llp/tcp_messages.h"
#include "model/rnic/responder/read_request.h"
#include "model/rnic/rnic_config.h"
#include "model/rnic/rx/early_placed.h"
#include "model/rnic/rx/placed.h"
#include "model/rnic/terminate/terminate_message.h"
#include "model/rnic/tx/ulpdu_job.h"

namespace rnic {

inline constexpr unsigned kErrorSources = 8;    // stages that find errors of a stream
inline constexpr unsigned kQpEventSources = 3;  // stages that tell the firmware about a QP

class RnicLinks {
 private:
  const std::string chip_;
  ClockDomain& clk_;
  const RnicConfig& cfg_;
  std::string path(const char* name) const { return chip_ + "." + name; }
  template <std::size_t... I>
  std::array<Link<QpEvent>, sizeof...(I)> make_qp_events(const char* name, std::index_sequence<I...>) {
    return {Link<QpEvent>(path(name) + std::to_string(I), clk_, {4, 1, 1})...};
  }

 public:
  RnicLinks(std::string chip, ClockDomain& clk, const RnicConfig& cfg) : chip_(std::move(chip)), clk_(clk), cfg_(cfg) {}

  // Host to chip.
  Link<SqDoorbell> sq_doorbells{path("host.sq_doorbells"), clk_, {16, 1, 1}};
  Link<RqDoorbell> rq_doorbells{path("host.rq_doorbells"), clk_, {16, 1, 1}};
  Link<CqArm> cq_arms{path("host.cq_arms"), clk_, {16, 1, 1}};
  Link<CommandDoorbell> command_doorbells{path("host.command_doorbells"), clk_, {4, 1, 1}};

  // Transmit.
  Link<FetchedWqe> wqes{path("tx.wqes"), clk_, {4, 1, 1}};
  Link<WqeTaken> wqes_taken{path("tx.wqes_taken"), clk_, {4, 1, 1}};
  Link<DmaReadRequest> wqe_reads{path("tx.wqe_reads"), clk_, {4, 1, 1}};
  Link<DmaReadDone> wqe_reads_done{path("tx.wqe_reads_done"), clk_, {4, 1, 1}};
  Link<UlpduJob> jobs{path("tx.jobs"), clk_, {4, 2, 1}};
  Link<DmaReadRequest> payload_reads{path("tx.payload_reads"), clk_, {4, 1, 1}};
  Link<DmaReadDone> payload_reads_done{path("tx.payload_reads_done"), clk_, {4, 1, 1}};
  Link<Ulpdu> ulpdus{path("tx.ulpdus"), clk_, {2, 1, 1}};
  Link<FpduBeat> framed{path("tx.framed"), clk_, MpaFramer::output_link(cfg_.tx.mpa_framer)};
  Link<FpduBeat> marked{path("tx.marked"), clk_, MarkerInserter::output_link(cfg_.tx.marker_inserter)};
  Link<FpduBeat> sealed{path("tx.sealed"), clk_, CrcInsert::output_link(cfg_.tx.crc_insert)};
  Link<Frame> tx_frames{path("tx.tx_frames"), clk_, cfg_.tcp.tx_link()};

  // Receive.
  Link<Frame> rx_frames{path("rx.rx_frames"), clk_, {4, 1, 1}};
  Link<StreamBeat> stream{path("rx.stream"), clk_, cfg_.tcp.rx_link()};
  Link<RxConsumed> consumed{path("rx.consumed"), clk_, {4, 1, 1}};
  Link<FpduBeat> deframed{path("rx.deframed"), clk_, MpaDeframer::output_link(cfg_.rx.mpa_deframer)};
  Link<FpduBeat> checked{path("rx.checked"), clk_, CrcCheck::output_link(cfg_.rx.crc_check)};
  Link<RqDoorbell> rqes_posted{path("rx.rqes_posted"), clk_, {4, 1, 1}};
  Link<FetchedRqe> rqes{path("rx.rqes"), clk_, {4, 1, 1}};
  Link<RqeTaken> rqes_taken{path("rx.rqes_taken"), clk_, {4, 1, 1}};
  Link<DmaReadRequest> rqe_reads{path("rx.rqe_reads"), clk_, {4, 1, 1}};
  Link<DmaReadDone> rqe_reads_done{path("rx.rqe_reads_done"), clk_, {4, 1, 1}};
  Link<ReadIssued> reads_issued{path("rx.reads_issued"), clk_, {4, 1, 1}};
  Link<SrqArm> srq_arms{path("rx.srq_arms"), clk_, {4, 1, 1}};
  Link<SrqEvent> srq_events{path("rx.srq_events"), clk_, {4, 1, 1}};
  Link<RqFlush> rq_flushes{path("rx.rq_flushes"), clk_, {4, 1, 1}};
  Link<DmaWriteRequest> placements{path("rx.placements"), clk_, {8, 3, 1}};
  Link<DmaWriteDone> placements_done{path("rx.placements_done"), clk_, {16, 1, 1}};
  Link<PlacedSegment> placed{path("rx.placed"), clk_, {16, 1, 1}};
  Link<StreamEnded> ended{path("rx.ended"), clk_, {4, 1, 1}};
  Link<StreamBeat> behind{path("rx.behind"), clk_, {4, 1, 1}};
  Link<EarlyPlaced> early{path("rx.early"), clk_, {4, 1, 1}};
  Link<ReadIssued> reads_issued_early{path("rx.reads_issued_early"), clk_, {4, 1, 1}};
  Link<ReadDone> reads_over{path("rx.reads_over"), clk_, {4, 1, 1}};
  Link<DmaWriteRequest> early_writes{path("rx.early_writes"), clk_, {8, 3, 1}};
  Link<DmaWriteDone> early_writes_done{path("rx.early_writes_done"), clk_, {16, 1, 1}};

  // Responder.
  Link<QueuedRequest> read_requests{path("responder.read_requests"), clk_, {4, 1, 1}};
  Link<QueuedRead> reads_due{path("responder.reads_due"), clk_, {2, 1, 1}};
  Link<QueuedAtomic> atomics_due{path("responder.atomics_due"), clk_, {2, 1, 1}};
  Link<DmaReadRequest> atomic_reads{path("responder.atomic_reads"), clk_, {4, 1, 1}};
  Link<DmaReadDone> atomic_reads_done{path("responder.atomic_reads_done"), clk_, {4, 1, 1}};
  Link<DmaWriteRequest> atomic_writes{path("responder.atomic_writes"), clk_, {4, 1, 1}};
  Link<DmaWriteDone> atomic_writes_done{path("responder.atomic_writes_done"), clk_, {4, 1, 1}};
  Link<AtomicWork> atomic_work{path("responder.atomic_work"), clk_, {2, 1, 1}};
  Link<ReadWork> read_work{path("responder.read_work"), clk_, {2, 2, 1}};
  Link<ReadResponseSent> responses_sent{path("responder.responses_sent"), clk_, {4, 1, 1}};
  Link<ReadResponseSent> answered{path("responder.answered"), clk_, {4, 1, 1}};

  // Between the directions, and completion.
  Link<TxUnblock> unblock{path("completion.unblock"), clk_, {4, 1, 1}};
  Link<ReadDone> reads_done{path("completion.reads_done"), clk_, {4, 1, 1}};
  Link<AtomicIssued> atomics_issued{path("completion.atomics_issued"), clk_, {4, 1, 1}};
  Link<DeliveredAtomic> atomic_responses{path("completion.atomic_responses"), clk_, {4, 1, 1}};
  Link<DmaWriteRequest> original_writes{path("completion.original_writes"), clk_, {4, 1, 1}};
  Link<DmaWriteDone> original_writes_done{path("completion.original_writes_done"), clk_, {4, 1, 1}};
  Link<AtomicDone> atomics_done{path("completion.atomics_done"), clk_, {4, 1, 1}};
  Link<TxUnblock> atomic_unblock{path("completion.atomic_unblock"), clk_, {4, 1, 1}};
  Link<WqeIssued> issued{path("completion.issued"), clk_, {4, 1, 1}};
  Link<WqesAcked> acked{path("completion.acked"), clk_, {4, 1, 1}};
  Link<WqeLost> lost{path("completion.lost"), clk_, {4, 1, 1}};
  Link<TxCredit> credit{path("completion.credit"), clk_, {4, 1, 1}};
  Link<CqeRequest> receive_cqes{path("completion.receive_cqes"), clk_, {4, 1, 1}};
  Link<CqeRequest> send_cqes{path("completion.send_cqes"), clk_, {4, 1, 1}};
  Link<DmaWriteRequest> cqe_writes{path("completion.cqe_writes"), clk_, {4, 1, 1}};
  Link<DmaReadRequest> cq_record_reads{path("completion.cq_record_reads"), clk_, {4, 1, 1}};
  Link<DmaReadDone> cq_records_read{path("completion.cq_records_read"), clk_, {4, 1, 1}};
  Link<CqOverflow> cq_overflows{path("completion.cq_overflows"), clk_, {4, 1, 1}};
  Link<CqNotify> cq_notifies{path("completion.cq_notifies"), clk_, {16, 1, 1}};

  // TCP's parts.
  Link<tcp::TxCommand> tcp_tx_commands{path("tcp.tcp_tx_commands"), clk_, {4, 1, 1}};
  Link<tcp::RxCommand> tcp_rx_commands{path("tcp.tcp_rx_commands"), clk_, {4, 1, 1}};
  Link<tcp::TxReport> tcp_tx_reports{path("tcp.tcp_tx_reports"), clk_, {4, 1, 1}};
  Link<tcp::RxReport> tcp_rx_reports{path("tcp.tcp_rx_reports"), clk_, {4, 1, 1}};
  Link<tcp::RxFeedback> tcp_feedback{path("tcp.tcp_feedback"), clk_, {4, 1, 1}};

  // Firmware.
  std::array<Link<QpEvent>, kErrorSources> stream_error{
      make_qp_events("firmware.stream_error", std::make_index_sequence<kErrorSources>())};
  Link<QpEvent> stream_errors{path("firmware.stream_errors"), clk_, {4, 1, 1}};
  Link<TerminateMessage> terminates{path("firmware.terminates"), clk_, {4, 1, 1}};
  std::array<Link<QpEvent>, kQpEventSources> qp_event{
      make_qp_events("firmware.qp_event", std::make_index_sequence<kQpEventSources>())};
  Link<QpEvent> qp_events{path("firmware.qp_events"), clk_, {8, 1, 1}};
  Link<TcpOp> tcp_ops{path("firmware.tcp_ops"), clk_, {4, 1, 1}};
  Link<TcpEvent> tcp_events{path("firmware.tcp_events"), clk_, {8, 1, 1}};
  Link<TxInternalWork> internal_work{path("firmware.internal_work"), clk_, {4, 1, 1}};
  Link<FetchedCommand> commands{path("firmware.commands"), clk_, {2, 1, 1}};
  Link<DmaReadRequest> command_reads{path("firmware.command_reads"), clk_, {2, 1, 1}};
  Link<DmaReadDone> command_reads_done{path("firmware.command_reads_done"), clk_, {2, 1, 1}};
  Link<HostEvent> host_events{path("firmware.host_events"), clk_, {8, 1, 1}};
  Link<EventsTaken> events_taken{path("firmware.events_taken"), clk_, {4, 1, 1}};
  Link<DmaWriteRequest> event_writes{path("firmware.event_writes"), clk_, {4, 1, 1}};
  Link<DmaWriteDone> event_writes_done{path("firmware.event_writes_done"), clk_, {4, 1, 1}};
  Link<MsixRequest> msix{path("firmware.msix"), clk_, {4, 1, 1}};

  // Calls f(link) for every link, in the order above.
  template <class F>
  void for_each(F& f) {
    const auto all = [&f](auto&... link) { (f(link), ...); };
    for (Link<QpEvent>& link : stream_error) f(link);
    for (Link<QpEvent>& link : qp_event) f(link);
    all(sq_doorbells, rq_doorbells, cq_arms, command_doorbells, wqes, wqes_taken, wqe_reads, wqe_reads_done, jobs,
        payload_reads, payload_reads_done, ulpdus, framed, marked, sealed, tx_frames, rx_frames, stream, consumed,
        deframed, checked, rqes_posted, rqes, rqes_taken, rqe_reads, rqe_reads_done, reads_issued, srq_arms, srq_events,
        rq_flushes, placements, placements_done, placed, ended, behind, early, reads_issued_early, reads_over,
        early_writes, early_writes_done, read_requests, reads_due, atomics_due, atomic_reads, atomic_reads_done,
        atomic_writes, atomic_writes_done, atomic_work, read_work, responses_sent, answered, unblock, reads_done,
        atomics_issued, atomic_responses, original_writes, original_writes_done, atomics_done, atomic_unblock, issued,
        acked, lost, credit, receive_cqes, send_cqes, cqe_writes, cq_record_reads, cq_records_read, cq_overflows,
        cq_notifies, tcp_tx_commands, tcp_rx_commands, tcp_tx_reports, tcp_rx_reports, tcp_feedback, stream_errors,
        terminates, qp_events, tcp_ops, tcp_events, internal_work, commands, command_reads, command_reads_done,
        host_events, events_taken, event_writes, event_writes_done, msix);
  }
};

}  // namespace rnic
