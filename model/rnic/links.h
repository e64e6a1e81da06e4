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
#include "model/rnic/rx/placed.h"
#include "model/rnic/tx/ulpdu_job.h"

namespace rnic {

inline constexpr unsigned kQpEventSources = 7;  // stages that tell the firmware about a QP

class RnicLinks {
 private:
  const std::string chip_;
  ClockDomain& clk_;
  const RnicConfig& cfg_;
  std::string path(const char* name) const { return chip_ + "." + name; }
  template <std::size_t... I>
  std::array<Link<QpEvent>, sizeof...(I)> make_qp_events(std::index_sequence<I...>) {
    return {Link<QpEvent>(path("qp_event") + std::to_string(I), clk_, {4, 1, 1})...};
  }

 public:
  RnicLinks(std::string chip, ClockDomain& clk, const RnicConfig& cfg) : chip_(std::move(chip)), clk_(clk), cfg_(cfg) {}

  // Host to chip.
  Link<SqDoorbell> sq_doorbells{path("sq_doorbells"), clk_, {16, 1, 1}};
  Link<RqDoorbell> rq_doorbells{path("rq_doorbells"), clk_, {16, 1, 1}};
  Link<CqArm> cq_arms{path("cq_arms"), clk_, {16, 1, 1}};
  Link<CommandDoorbell> command_doorbells{path("command_doorbells"), clk_, {4, 1, 1}};

  // Transmit.
  Link<FetchedWqe> wqes{path("wqes"), clk_, {4, 1, 1}};
  Link<WqeTaken> wqes_taken{path("wqes_taken"), clk_, {4, 1, 1}};
  Link<DmaReadRequest> wqe_reads{path("wqe_reads"), clk_, {4, 1, 1}};
  Link<DmaReadDone> wqe_reads_done{path("wqe_reads_done"), clk_, {4, 1, 1}};
  Link<UlpduJob> jobs{path("jobs"), clk_, {4, 2, 1}};
  Link<DmaReadRequest> payload_reads{path("payload_reads"), clk_, {4, 1, 1}};
  Link<DmaReadDone> payload_reads_done{path("payload_reads_done"), clk_, {4, 1, 1}};
  Link<Ulpdu> ulpdus{path("ulpdus"), clk_, {2, 1, 1}};
  Link<FpduBeat> framed{path("framed"), clk_, MpaFramer::output_link(cfg_.tx.mpa_framer)};
  Link<FpduBeat> marked{path("marked"), clk_, MarkerInserter::output_link(cfg_.tx.marker_inserter)};
  Link<FpduBeat> sealed{path("sealed"), clk_, CrcInsert::output_link(cfg_.tx.crc_insert)};
  Link<Frame> tx_frames{path("tx_frames"), clk_, cfg_.tcp.tx_link()};

  // Receive.
  Link<Frame> rx_frames{path("rx_frames"), clk_, {4, 1, 1}};
  Link<StreamBeat> stream{path("stream"), clk_, cfg_.tcp.rx_link()};
  Link<RxConsumed> consumed{path("consumed"), clk_, {4, 1, 1}};
  Link<FpduBeat> deframed{path("deframed"), clk_, MpaDeframer::output_link(cfg_.rx.mpa_deframer)};
  Link<FpduBeat> checked{path("checked"), clk_, CrcCheck::output_link(cfg_.rx.crc_check)};
  Link<RqDoorbell> rqes_posted{path("rqes_posted"), clk_, {4, 1, 1}};
  Link<FetchedWqe> rqes{path("rqes"), clk_, {4, 1, 1}};
  Link<WqeTaken> rqes_taken{path("rqes_taken"), clk_, {4, 1, 1}};
  Link<DmaReadRequest> rqe_reads{path("rqe_reads"), clk_, {4, 1, 1}};
  Link<DmaReadDone> rqe_reads_done{path("rqe_reads_done"), clk_, {4, 1, 1}};
  Link<RqFlush> rq_flushes{path("rq_flushes"), clk_, {4, 1, 1}};
  Link<DmaWriteRequest> placements{path("placements"), clk_, {8, 3, 1}};
  Link<DmaWriteDone> placements_done{path("placements_done"), clk_, {16, 1, 1}};
  Link<PlacedSegment> placed{path("placed"), clk_, {16, 1, 1}};

  // Responder.
  Link<QueuedRead> read_requests{path("read_requests"), clk_, {4, 1, 1}};
  Link<QueuedRead> reads_due{path("reads_due"), clk_, {2, 1, 1}};
  Link<ReadWork> read_work{path("read_work"), clk_, {2, 2, 1}};
  Link<ReadResponseSent> responses_sent{path("responses_sent"), clk_, {4, 1, 1}};

  // Between the directions, and completion.
  Link<TxUnblock> unblock{path("unblock"), clk_, {4, 1, 1}};
  Link<ReadDone> reads_done{path("reads_done"), clk_, {4, 1, 1}};
  Link<WqeIssued> issued{path("issued"), clk_, {4, 1, 1}};
  Link<WqesAcked> acked{path("acked"), clk_, {4, 1, 1}};
  Link<TxCredit> credit{path("credit"), clk_, {4, 1, 1}};
  Link<CqeRequest> receive_cqes{path("receive_cqes"), clk_, {4, 1, 1}};
  Link<CqeRequest> send_cqes{path("send_cqes"), clk_, {4, 1, 1}};
  Link<DmaWriteRequest> cqe_writes{path("cqe_writes"), clk_, {4, 1, 1}};
  Link<CqNotify> cq_notifies{path("cq_notifies"), clk_, {16, 1, 1}};

  // TCP's parts.
  Link<tcp::TxCommand> tcp_tx_commands{path("tcp_tx_commands"), clk_, {4, 1, 1}};
  Link<tcp::RxCommand> tcp_rx_commands{path("tcp_rx_commands"), clk_, {4, 1, 1}};
  Link<tcp::TxReport> tcp_tx_reports{path("tcp_tx_reports"), clk_, {4, 1, 1}};
  Link<tcp::RxReport> tcp_rx_reports{path("tcp_rx_reports"), clk_, {4, 1, 1}};
  Link<tcp::RxFeedback> tcp_feedback{path("tcp_feedback"), clk_, {4, 1, 1}};

  // Firmware.
  std::array<Link<QpEvent>, kQpEventSources> qp_event{make_qp_events(std::make_index_sequence<kQpEventSources>())};
  Link<QpEvent> qp_events{path("qp_events"), clk_, {8, 1, 1}};
  Link<TcpOp> tcp_ops{path("tcp_ops"), clk_, {4, 1, 1}};
  Link<TcpEvent> tcp_events{path("tcp_events"), clk_, {8, 1, 1}};
  Link<TxInternalWork> internal_work{path("internal_work"), clk_, {4, 1, 1}};
  Link<FetchedCommand> commands{path("commands"), clk_, {2, 1, 1}};
  Link<DmaReadRequest> command_reads{path("command_reads"), clk_, {2, 1, 1}};
  Link<DmaReadDone> command_reads_done{path("command_reads_done"), clk_, {2, 1, 1}};
  Link<HostEvent> host_events{path("host_events"), clk_, {8, 1, 1}};
  Link<EventsTaken> events_taken{path("events_taken"), clk_, {4, 1, 1}};
  Link<DmaWriteRequest> event_writes{path("event_writes"), clk_, {4, 1, 1}};
  Link<DmaWriteDone> event_writes_done{path("event_writes_done"), clk_, {4, 1, 1}};
  Link<MsixRequest> msix{path("msix"), clk_, {4, 1, 1}};
};

}  // namespace rnic
