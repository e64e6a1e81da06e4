#include "model/rnic/rnic.h"

#include <iterator>

#include "firmware/lib/version.h"
#include "model/abi/host_abi_names.h"
#include "model/common/description.h"
#include "model/rnic/llp/link_address.h"
#include "model/rnic/llp/llp.h"
#include "model/rnic/llp/sctp/sctp_traits.h"
#include "model/rnic/llp/tcp/flow_home.h"
#include "model/rnic/llp/tcp/mpa_tcp_traits.h"
#include "model/rnic/messages/internal_work.h"
#include "model/rnic/register_owner.h"

namespace rnic {

namespace {

// Clients of the DMA engines, in the order of their turns.
enum Reader : unsigned {
  kPayloadReader,
  kWqeReader,
  kRqeReader,
  kCommandReader,
  kAtomicReader,
  kCqReader,
  kHomeReader,
  kReaders
};
enum Writer : unsigned {
  kPlacementWriter,
  kCqeWriter,
  kEventWriter,
  kAtomicWriter,
  kOriginalWriter,
  kEarlyWriter,
  kHomeWriter,
  kWriters
};
// What each is for. The home is asked for rows of all kinds: pcie::purpose_of().
using pcie::Purpose;
constexpr Purpose kReads[]{Purpose::kPayload, Purpose::kWqe, Purpose::kReceiveWqe, Purpose::kCommand,
                           Purpose::kAtomic,  Purpose::kCqe, Purpose::kContext};
constexpr Purpose kWrites[]{Purpose::kPayload, Purpose::kCqe,     Purpose::kEvent,  Purpose::kAtomic,
                            Purpose::kAtomic,  Purpose::kPayload, Purpose::kContext};
static_assert(std::size(kReads) == kReaders && std::size(kWrites) == kWriters);

// A frame of the MTU, or one FPDU of the smallest MULPDU where that is longer, behind the headroom.
std::uint32_t frame_block_bytes(const RnicConfig& cfg) {
  return kFrameHeadroom + std::max(cfg.tcp.mtu, 256u) + cfg.datapath.beat_bytes;
}
constexpr std::uint32_t kMessageBlockBytes = 1024;  // a start-up frame or a private data slot

// The FPDUs in the deframer's queue, and those in its neighbours and in the transmit path.
Cycle moved_ahead(const RnicConfig& config) {
  constexpr unsigned kFpdusElsewhere = 8;
  const Cycle fpdu = config.tcp.mtu / config.datapath.beat_bytes + 1;
  return (config.rx.mpa_deframer.queue_fpdus + kFpdusElsewhere) * fpdu;
}

// Of a cache with room for all rows nothing else counts.
template <class Config>
const Config& cache_of(const Config& cache, const char* kind, std::uint32_t rows) {
  const std::string fault = cache.entries < rows ? fault_of(cache) : "";
  if (!fault.empty()) throw ConfigError(std::string("rnic.context.cache.") + kind + '.' + fault);
  return cache;
}

// It must hold a whole segment.
const TransmitMemoryConfig& checked(const TransmitMemoryConfig& memory, const char* llp, unsigned mtu) {
  if (memory.octets >= mtu) return memory;
  throw ConfigError(std::string("rnic.") + llp + ".tx_memory.octets: " + std::to_string(memory.octets) +
                    " is less than rnic.tcp.mtu, " + std::to_string(mtu));
}

PerLlp<LlpTraits> llp_traits() { return {mpa_tcp_traits(), sctp_traits()}; }

QueueRegs queue_regs(const regs::RegBank& bank) {
  const auto address = [](std::uint32_t lo, std::uint32_t hi) { return std::uint64_t{hi} << 32 | lo; };
  QueueRegs r;
  r.enabled = bank.get<regs::Control>().enable;
  r.command_log_entries = static_cast<std::uint8_t>(bank.get<regs::CmdqLogSize>().log_entries);
  r.event_log_entries = static_cast<std::uint8_t>(bank.get<regs::EvqLogSize>().log_entries);
  r.command_base = address(bank.get<regs::CmdqBaseLo>().value, bank.get<regs::CmdqBaseHi>().value);
  r.command_data_base = address(bank.get<regs::CmdqDataLo>().value, bank.get<regs::CmdqDataHi>().value);
  r.event_base = address(bank.get<regs::EvqBaseLo>().value, bank.get<regs::EvqBaseHi>().value);
  r.event_data_base = address(bank.get<regs::EvqDataLo>().value, bank.get<regs::EvqDataHi>().value);
  return r;
}

}  // namespace

Rnic::Rnic(sc_core::sc_module_name nm, ClockDomain& clk, const RnicConfig& config, const LinkAddress& station)
    : sc_module(nm),
      config_(config),
      contexts_(
          clk, {config.context.qps,
                config.flows(),
                config.context.cqs,
                config.context.stags,
                config.context.srqs,
                config.context.pages,
                station.node,
                config.context.page_table,
                config.context.stag_table,
                config.context.cq_table,
                config.context.tx_table,
                config.context.rx_table,
                config.context.sqc_table,
                config.context.sq_table,
                config.context.rq_table,
                config.context.srq_table,
                config.context.irrq_table,
                config.context.orq_table,
                cache_of(config.context.cache.page, "page", PageRow::rows(config.context.pages)),
                cache_of(config.context.cache.cq, "cq", config.context.cqs),
                cache_of(config.context.cache.stag, "stag", config.context.stags),
                cache_of(config.context.cache.srq, "srq", config.context.srqs),
                cache_of(config.context.cache.qp, "qp", config.context.qps),
                config.context.home.kind == HomeKind::kHost,
                config.context.cache.flow.entries < config.tcp.max_flows ? config.tcp.max_flows : 0,
                basename(),
                {config.fwcpu.max_ird, config.fwcpu.max_ord, config.tx.wqe_fetch.prefetch, config.rx.rqe_fetch.prefetch,
                 config.tx.rdmap_segmenter.outstanding, config.tx.wqe_fetch.shared, config.rx.rqe_fetch.shared}}),
      frames_(frame_block_bytes(config)),
      messages_(kMessageBlockBytes),
      tcp_memory_(clk, checked(config.tcp.tx_memory, "tcp", config.tcp.mtu), FlowId{0}, config.tcp.max_flows),
      sctp_memory_(clk, checked(config.sctp.tx_memory, "sctp", config.tcp.mtu), FlowId{config.tcp.max_flows},
                   config.flows() - config.tcp.max_flows),
      outstanding_(clk, config.tx.rdmap_segmenter.outstanding, config.context.qps),
      flow_cache_(std::make_shared<RowCache>(std::string(basename()) + ".flow_tx_table", clk, config.tcp.max_flows,
                                             cache_of(config.context.cache.flow, "flow", config.tcp.max_flows))),
      flow_tx_table_(std::string(basename()) + ".flow_tx_table", clk, config.tcp.max_flows, config.tcp.flow_tx_table,
                     flow_cache_),
      flow_rx_table_(std::string(basename()) + ".flow_rx_table", clk, config.tcp.max_flows, config.tcp.flow_rx_table,
                     flow_cache_),
      net_(basename(), clk),
      pcie("pcie", clk, config.pcie, {kReaders, kWriters}),
      wqe_fetch("wqe_fetch", clk, contexts_, config.tx.wqe_fetch),
      rdmap_segmenter("rdmap_segmenter", clk, contexts_, frames_, llp_traits(), config.tx.rdmap_segmenter),
      payload_fetch("payload_fetch", clk, config.context.qps, config.tx.payload_fetch),
      mpa_framer("mpa_framer", clk, config.datapath),
      marker_inserter("marker_inserter", clk, config.datapath, frames_),
      crc_insert("crc_insert", clk),
      tcp_tx("tcp_tx", clk, config.tcp, flow_tx_table_, station, frames_),
      mac_tx("mac_tx", clk, config.mac_tx),
      mac_rx("mac_rx", clk, config.rx.mac_rx, station.mac),
      tcp_rx("tcp_rx", clk, config.tcp, config.datapath, flow_rx_table_, station, messages_, tcp_tx.sent()),
      mpa_deframer("mpa_deframer", clk, config.rx.mpa_deframer, config.datapath, config.flows(), frames_),
      crc_check("crc_check", clk),
      rqe_fetch("rqe_fetch", clk, contexts_, config.rx.rqe_fetch),
      ddp_placement("ddp_placement", clk, contexts_, llp_traits(), config.rx.ddp_placement),
      early_placement("early_placement", clk, config.datapath, contexts_, frames_, llp_traits()),
      rdmap_dispatch("rdmap_dispatch", clk, contexts_),
      irrq("irrq", clk, contexts_),
      read_responder("read_responder", clk, contexts_),
      atomic_alu("atomic_alu", clk, contexts_, config.responder.atomic_alu),
      response_queue("response_queue", clk, contexts_),
      sq_completion("sq_completion", clk, contexts_),
      cqe_writer("cqe_writer", clk, contexts_),
      tcp_connection("tcp_connection", clk, config.tcp, station),
      sctp_rx("sctp_rx", clk, config.datapath, station, frames_),
      sctp_crc_check("sctp_crc_check", clk),
      sctp_association("sctp_association", clk, config.sctp, config.tcp.mtu, config.datapath, station,
                       config.tcp.max_flows, frames_),
      sctp_tx("sctp_tx", clk, config.datapath, station),
      sctp_crc_insert("sctp_crc_insert", clk),
      context_home("context_home", clk, contexts_, config.context.home),
      stag_work("stag_work", clk, contexts_),
      command_fetch(
          "command_fetch", clk, [this] { return queue_regs(pcie.regs); }, messages_, station.node),
      firmware_log(clk, pcie.regs, static_cast<fw::LogLevel>(config.fwcpu.log_level)),
      fwcpu("fwcpu", clk, config.fwcpu, contexts_, messages_),
      event_writer(
          "event_writer", clk, [this] { return queue_regs(pcie.regs); }, messages_, station.node),
      stream_errors("stream_errors", clk),
      terminate_generator("terminate_generator", clk, contexts_, frames_, config.terminate),
      qp_events("qp_events", clk) {
  contexts_.keep_flows_in(connection_rows_, FlowId{0}, config.tcp.max_flows);
  contexts_.keep_flows_in(sctp_association.flow_rows(), FlowId{config.tcp.max_flows},
                          config.flows() - config.tcp.max_flows);
  tcp_connection.begin_in(*flow_cache_);
  if (config.context.cache.qp.prefetch == QpPrefetch::kFrame) tcp_rx.prefetch_in(contexts_.rx_table.cache());
  if (flow_tx_table_.cached()) {
    context_home.keep_flows(std::make_unique<tcp::HomedFlows>(contexts_.home_layout(), flow_tx_table_, flow_rx_table_));
  }
  for (unsigned i = 0; i < kReaders; ++i) pcie.dma_read.serves(i, kReads[i]);
  for (unsigned i = 0; i < kWriters; ++i) pcie.dma_write.serves(i, kWrites[i]);
  pcie.dma_read.in_pages(kPayloadReader, "payload_fetch", contexts_.page_table, contexts_.stag_table);
  pcie.dma_write.in_pages(kPlacementWriter, "ddp_placement", contexts_.page_table, contexts_.stag_table);
  pcie.dma_write.in_pages(kOriginalWriter, "response_queue", contexts_.page_table, contexts_.stag_table);
  pcie.dma_write.in_pages(kEarlyWriter, "early_placement", contexts_.page_table, contexts_.stag_table);
  strap();
  connect_transmit();
  connect_receive();
  connect_sctp();
  connect_llps();
  connect_responder();
  connect_completion();
  connect_firmware();
}

// CONTROL.RESET, at the end of the cycle in which the host writes it. Reads that are on their way to the host are
// answered late, to nobody; the PCIe link and the line to the peer go on.
void Rnic::reset() {
  net_.reset();
  contexts_.reset();
  outstanding_.reset();
  tcp_memory_.reset();
  sctp_memory_.reset();
  firmware_log.reset();
  for (Stage* stage : stages()) stage->clock().reset(*stage);
}

// What the host reads about the chip. The native firmware needs no time to boot.
void Rnic::strap() {
  const FwCpuConfig& fw = config_.fwcpu;
  pcie.regs.strap(regs::Features{true, true, fw.rdmap_extensions, fw.rdmap_extensions,
                                 fw.personality != abi::Personality::kIetf, fw.personality != abi::Personality::kRdmac,
                                 fw.receive_markers || fw.personality == abi::Personality::kRdmac, fw.crc,
                                 contexts_.home_pages() != 0});
  pcie.regs.strap(regs::HomePages{contexts_.home_pages()});
  pcie.regs.strap(regs::MaxQps{config_.context.qps});
  pcie.regs.strap(regs::MaxCqs{config_.context.cqs});
  pcie.regs.strap(regs::MaxPages{config_.context.pages});
  pcie.regs.strap(regs::MaxSrqs{config_.context.srqs});
  pcie.regs.strap(regs::MaxStags{config_.context.stags});
  pcie.regs.strap(regs::MaxFlows{config_.tcp.max_flows});
  pcie.regs.strap(regs::FirmwareVersion{rnic::fw::kVersion.patch, rnic::fw::kVersion.minor, rnic::fw::kVersion.major,
                                        fw.target == FirmwareTargetKind::kRv32});
  pcie.regs.strap(regs::AbiVersion{abi::kAbiVersion});
  pcie.regs.strap(regs::MaxConnections{fw.max_connections});
  pcie.regs.strap(regs::MaxSetups{fw.max_setups});
  fwcpu.attach(firmware_log);
  pcie.regs.on_reset([this] { reset(); });
  pcie.regs.strap(regs::Status{true, false});
}

void Rnic::connect_transmit() {
  net_.connect(pcie.mmio.sq_doorbells, wqe_fetch.doorbell, "host.sq_doorbells", {16, 1, 1})
      .traced_as(TraceKind::kDoorbell);
  net_.connect(wqe_fetch.out, rdmap_segmenter.wqe, "tx.wqes").traced_as(TraceKind::kWqeFetched);
  net_.connect(rdmap_segmenter.taken, wqe_fetch.taken, "tx.wqes_taken");
  net_.connect(wqe_fetch.dma, pcie.dma_read.request(kWqeReader), "tx.wqe_reads");
  net_.connect(pcie.dma_read.done(kWqeReader), wqe_fetch.dma_done, "tx.wqe_reads_done");
  net_.connect(rdmap_segmenter.out, payload_fetch.in, "tx.jobs", {4, 2, 1}).detailed_as(TraceKind::kSegmented);
  net_.connect(payload_fetch.dma, pcie.dma_read.request(kPayloadReader), "tx.payload_reads");
  net_.connect(pcie.dma_read.done(kPayloadReader), payload_fetch.dma_done, "tx.payload_reads_done");
  net_.connect(mpa_framer.out, marker_inserter.in, "tx.framed", LinkConfig::pipeline(config_.tx.mpa_framer))
      .detailed_as(TraceKind::kFramed);
  net_.connect(marker_inserter.out, crc_insert.in, "tx.marked", LinkConfig::pipeline(config_.tx.marker_inserter))
      .detailed_as(TraceKind::kMarked);
  net_.connect(crc_insert.out, tcp_tx.in, "tx.sealed", LinkConfig::pipeline(config_.tx.crc_insert))
      .traced_as(TraceKind::kFpduSent);
  net_.connect(tcp_tx.out, mac_tx.in[LlpId::kMpaTcp], "tx.tx_frames", config_.tcp.tx_link())
      .traced_as(TraceKind::kFrameSent);
}

void Rnic::connect_receive() {
  net_.connect(pcie.mmio.rq_doorbells, rqe_fetch.doorbell, "host.rq_doorbells", {16, 1, 1});
  net_.connect(mac_rx.out[LlpId::kMpaTcp], tcp_rx.in, "rx.rx_frames").traced_as(TraceKind::kFrameReceived);
  net_.connect(tcp_rx.out, mpa_deframer.in, "rx.stream", config_.tcp.rx_link())
      .detailed_as(TraceKind::kStreamDelivered);
  net_.connect(mpa_deframer.consumed, tcp_rx.consumed, "rx.consumed");
  net_.connect(mpa_deframer.out, crc_check.in, "rx.deframed", LinkConfig::pipeline(config_.rx.mpa_deframer))
      .detailed_as(TraceKind::kFpduReceived);
  net_.connect(rqe_fetch.posted, ddp_placement.posted, "rx.rqes_posted");
  net_.connect(rqe_fetch.out, ddp_placement.rqe, "rx.rqes").traced_as(TraceKind::kWqeFetched);
  net_.connect(ddp_placement.rqe_taken, rqe_fetch.taken, "rx.rqes_taken");
  net_.connect(rqe_fetch.dma, pcie.dma_read.request(kRqeReader), "rx.rqe_reads");
  net_.connect(pcie.dma_read.done(kRqeReader), rqe_fetch.dma_done, "rx.rqe_reads_done");
  net_.connect(rdmap_segmenter.read_issued, ddp_placement.read_issued, "rx.reads_issued");
  net_.connect(fwcpu.srq_arms, ddp_placement.srq_arm, "rx.srq_arms");
  net_.connect(ddp_placement.srq_event, fwcpu.srq_events, "rx.srq_events");
  net_.connect(rdmap_segmenter.flush_rq, ddp_placement.flush, "rx.rq_flushes");
  net_.connect(ddp_placement.dma, pcie.dma_write.request(kPlacementWriter), "rx.placements", {8, 3, 1});
  net_.connect(pcie.dma_write.done(kPlacementWriter), rdmap_dispatch.written, "rx.placements_done", {16, 1, 1});
  net_.connect(ddp_placement.out, rdmap_dispatch.in, "rx.placed", {16, 1, 1}).traced_as(TraceKind::kPlaced);
  net_.connect(rdmap_segmenter.read_issued_early, early_placement.read_issued, "rx.reads_issued_early");
  net_.connect(rdmap_dispatch.read_over, early_placement.read_over, "rx.reads_over");
  net_.connect(early_placement.dma, pcie.dma_write.request(kEarlyWriter), "rx.early_writes", {8, 3, 1});
  net_.connect(pcie.dma_write.done(kEarlyWriter), early_placement.written, "rx.early_writes_done", {16, 1, 1});
}

void Rnic::connect_sctp() {
  net_.connect(sctp_association.packets, sctp_tx.in, "sctp.packets", {2, 1, 1});
  net_.connect(sctp_tx.to_crc, sctp_crc_insert.in, "sctp.tx_beats");
  net_.connect(sctp_crc_insert.out, sctp_tx.sealed, "sctp.tx_sealed", LinkConfig::pipeline(config_.tx.crc_insert));
  net_.connect(sctp_tx.out, mac_tx.in[LlpId::kSctp], "sctp.tx_frames", config_.sctp.tx_link())
      .traced_as(TraceKind::kFrameSent);
  net_.connect(mac_rx.out[LlpId::kSctp], sctp_rx.in, "sctp.rx_frames").traced_as(TraceKind::kFrameReceived);
  net_.connect(sctp_rx.to_crc, sctp_crc_check.in, "sctp.rx_beats");
  net_.connect(sctp_crc_check.out, sctp_rx.checked, "sctp.rx_checked", LinkConfig::pipeline(config_.rx.crc_check));
  net_.connect(sctp_rx.out, sctp_association.received, "sctp.received");
}

// The lower layers side by side.
void Rnic::connect_llps() {
  rdmap_segmenter.keep_in(LlpId::kMpaTcp, tcp_memory_);
  rdmap_segmenter.keep_in(LlpId::kSctp, sctp_memory_);
  payload_fetch.keep_in(LlpId::kMpaTcp, tcp_memory_);
  payload_fetch.keep_in(LlpId::kSctp, sctp_memory_);
  tcp_tx.keep_in(tcp_memory_);
  sctp_association.keep_in(sctp_memory_);
  connect_llp(net_, *this, LlpId::kMpaTcp,
              {mpa_framer.in, tcp_tx.credit, tcp_tx.acked, crc_check.out, tcp_rx.ended, tcp_rx.behind, tcp_rx.early},
              {{"tx.ulpdus", {2, 1, 1}},
               {"completion.credit"},
               {"completion.acked"},
               {"rx.checked", LinkConfig::pipeline(config_.rx.crc_check)},
               {"rx.ended"},
               {"rx.behind"},
               {"rx.early"}});
  connect_llp(net_, *this, LlpId::kSctp,
              {sctp_association.in, sctp_association.credit, sctp_association.acked, sctp_association.out,
               sctp_association.ended, sctp_association.behind, sctp_association.early},
              {{"sctp.ulpdus", {2, 1, 1}},
               {"sctp.credit"},
               {"sctp.acked"},
               {"sctp.segments", config_.sctp.rx_link()},
               {"sctp.ended"},
               {"sctp.behind"},
               {"sctp.early"}});
}

void Rnic::connect_responder() {
  net_.connect(rdmap_dispatch.read_request, irrq.in, "responder.read_requests").detailed_as(TraceKind::kDelivered);
  net_.connect(irrq.out, read_responder.in, "responder.reads_due", {2, 1, 1}).detailed_as(TraceKind::kDue);
  net_.connect(irrq.atomic, atomic_alu.in, "responder.atomics_due", {2, 1, 1}).detailed_as(TraceKind::kDue);
  net_.connect(atomic_alu.read, pcie.dma_read.request(kAtomicReader), "responder.atomic_reads");
  net_.connect(pcie.dma_read.done(kAtomicReader), atomic_alu.read_done, "responder.atomic_reads_done");
  net_.connect(atomic_alu.write, pcie.dma_write.request(kAtomicWriter), "responder.atomic_writes");
  net_.connect(pcie.dma_write.done(kAtomicWriter), atomic_alu.written, "responder.atomic_writes_done");
  net_.connect(atomic_alu.out, rdmap_segmenter.atomic_work, "responder.atomic_work", {2, 1, 1})
      .traced_as(TraceKind::kResponse);
  net_.connect(read_responder.out, rdmap_segmenter.read_work, "responder.read_work", {2, 2, 1})
      .traced_as(TraceKind::kResponse);
  net_.connect(rdmap_segmenter.read_sent, irrq.sent, "responder.responses_sent");
  net_.connect(rdmap_segmenter.answered, ddp_placement.answered, "responder.answered");
  pcie.dma_write.tell(atomic_alu.words(), kAtomicWriter);
}

void Rnic::connect_completion() {
  rdmap_segmenter.bound_by(outstanding_);
  sq_completion.bound_by(outstanding_);
  net_.connect(pcie.mmio.cq_arms, cqe_writer.arm, "host.cq_arms", {16, 1, 1});
  net_.connect(rdmap_dispatch.unblock, rdmap_segmenter.unblock, "completion.unblock");
  net_.connect(rdmap_dispatch.read_done, sq_completion.read_done, "completion.reads_done");
  net_.connect(rdmap_segmenter.atomic_issued, response_queue.issued, "completion.atomics_issued");
  net_.connect(rdmap_dispatch.atomic_response, response_queue.in, "completion.atomic_responses")
      .detailed_as(TraceKind::kDelivered);
  net_.connect(response_queue.dma, pcie.dma_write.request(kOriginalWriter), "completion.original_writes");
  net_.connect(pcie.dma_write.done(kOriginalWriter), response_queue.written, "completion.original_writes_done");
  net_.connect(response_queue.done, sq_completion.atomic_done, "completion.atomics_done");
  net_.connect(response_queue.unblock, rdmap_segmenter.atomic_unblock, "completion.atomic_unblock");
  net_.connect(sq_completion.unblock, rdmap_segmenter.sink_unblock, "completion.sink_unblock");
  net_.connect(rdmap_segmenter.issued, sq_completion.issued, "completion.issued");
  net_.connect(payload_fetch.lost, sq_completion.lost, "completion.lost");
  net_.connect(rdmap_dispatch.cqe, cqe_writer.receive, "completion.receive_cqes").traced_as(TraceKind::kCompleted);
  net_.connect(sq_completion.cqe, cqe_writer.send, "completion.send_cqes").traced_as(TraceKind::kCompleted);
  net_.connect(cqe_writer.dma, pcie.dma_write.request(kCqeWriter), "completion.cqe_writes")
      .detailed_as(TraceKind::kCqeWritten);
  net_.connect(cqe_writer.read_record, pcie.dma_read.request(kCqReader), "completion.cq_record_reads");
  net_.connect(pcie.dma_read.done(kCqReader), cqe_writer.record_read, "completion.cq_records_read");
  net_.connect(cqe_writer.overflow, fwcpu.cq_overflows, "completion.cq_overflows");
  net_.connect(cqe_writer.notify, event_writer.cq_notifies, "completion.cq_notifies", {16, 1, 1});
}

void Rnic::connect_firmware() {
  fwcpu.on_fault([this] {
    pcie.regs.raise(regs::FatalError{false, false, true});
    pcie.regs.set(regs::Status{false, true});
  });
  net_.connect(pcie.mmio.command_doorbells, command_fetch.doorbells, "host.command_doorbells");
  net_.connect(tcp_connection.to_tx, tcp_tx.commands, "tcp.tcp_tx_commands");
  net_.connect(tcp_connection.to_rx, tcp_rx.commands, "tcp.tcp_rx_commands");
  net_.connect(tcp_tx.reports, tcp_connection.from_tx, "tcp.tcp_tx_reports");
  net_.connect(tcp_rx.reports, tcp_connection.from_rx, "tcp.tcp_rx_reports");
  net_.connect(tcp_rx.feedback, tcp_tx.feedback, "tcp.tcp_feedback");

  for (PushPort<QpEvent>* error :
       {&payload_fetch.event, &rdmap_segmenter.event, &ddp_placement.event, &irrq.event, &read_responder.event,
        &atomic_alu.event, &response_queue.event, &wqe_fetch.event, &rdmap_dispatch.stream_error}) {
    net_.connect(*error, stream_errors.add(), "firmware." + std::string(error->owner().basename()) + "_error")
        .detailed_as(TraceKind::kRefused);
  }
  net_.connect(stream_errors.out, terminate_generator.in, "firmware.stream_errors");
  net_.connect(terminate_generator.out, rdmap_segmenter.terminate, "firmware.terminates")
      .traced_as(TraceKind::kTerminated);
  unsigned source = 0;
  for (PushPort<QpEvent>* event : {&terminate_generator.event, &rdmap_dispatch.event, &sq_completion.event}) {
    net_.connect(*event, qp_events.add(), "firmware.qp_event" + std::to_string(source++));
  }
  net_.connect(qp_events.out, fwcpu.qp_events, "firmware.qp_events", {8, 1, 1}).traced_as(TraceKind::kTerminated);
  net_.connect(fwcpu.llp_ops[LlpId::kMpaTcp], tcp_connection.op, "firmware.tcp_ops");
  net_.connect(tcp_connection.event, fwcpu.llp_events[LlpId::kMpaTcp], "firmware.tcp_events", {8, 1, 1});
  net_.connect(fwcpu.llp_ops[LlpId::kSctp], sctp_association.op, "firmware.sctp_ops");
  net_.connect(sctp_association.event, fwcpu.llp_events[LlpId::kSctp], "firmware.sctp_events", {8, 1, 1});
  net_.connect(fwcpu.home_ops, context_home.ops, "firmware.home_ops", FwCpu::kHomeOps);
  net_.connect(context_home.events, fwcpu.home_events, "firmware.home_events");
  net_.connect(rdmap_segmenter.stag_request, stag_work.request, "context.stag_requests");
  net_.connect(stag_work.request_done, rdmap_segmenter.stag_request_done, "context.stag_requests_done");
  net_.connect(sq_completion.sink, stag_work.sink, "context.sink_ends");
  net_.connect(stag_work.sink_ended, sq_completion.sink_ended, "context.sinks_ended");
  net_.connect(fwcpu.stag_writes, stag_work.write, "context.stag_writes");
  net_.connect(stag_work.written, fwcpu.stag_written, "context.stags_written");
  net_.connect(context_home.read, pcie.dma_read.request(kHomeReader), "context.home_reads");
  net_.connect(pcie.dma_read.done(kHomeReader), context_home.read_done, "context.home_reads_done");
  net_.connect(context_home.write, pcie.dma_write.request(kHomeWriter), "context.home_writes");
  net_.connect(pcie.dma_write.done(kHomeWriter), context_home.write_done, "context.home_writes_done");
  net_.connect(fwcpu.tx_work, rdmap_segmenter.internal_work, "firmware.internal_work")
      .detailed_as(TraceKind::kTerminated);
  net_.connect(command_fetch.commands, fwcpu.commands, "firmware.commands", {2, 1, 1});
  net_.connect(command_fetch.read, pcie.dma_read.request(kCommandReader), "firmware.command_reads", {2, 1, 1});
  net_.connect(pcie.dma_read.done(kCommandReader), command_fetch.read_done, "firmware.command_reads_done", {2, 1, 1});
  net_.connect(fwcpu.events, event_writer.events, "firmware.host_events", {8, 1, 1});
  net_.connect(pcie.mmio.events_taken, event_writer.taken, "firmware.events_taken");
  net_.connect(event_writer.write, pcie.dma_write.request(kEventWriter), "firmware.event_writes");
  net_.connect(pcie.dma_write.done(kEventWriter), event_writer.write_done, "firmware.event_writes_done");
  net_.connect(event_writer.msix, pcie.msix.vectors, "firmware.msix").traced_as(TraceKind::kInterrupt);
}

Rnic::~Rnic() = default;

std::vector<LinkBase*> Rnic::links() const {
  std::vector<LinkBase*> links;
  for (const Netlist* net : {&net_, &pcie.net()}) {
    for (const auto& link : net->links()) links.push_back(link.get());
  }
  const TableBase* const tables[] = {
      &contexts_.page_table, &contexts_.stag_table, &contexts_.cq_table, &contexts_.tx_table,  &contexts_.rx_table,
      &contexts_.sqc_table,  &contexts_.sq_table,   &contexts_.rq_table, &contexts_.srq_table, &contexts_.irrq_table,
      &contexts_.orq_table,  &flow_rx_table_,       &flow_tx_table_};
  for (const TableBase* table : tables) {
    for (LinkBase* link : table->links()) links.push_back(link);
  }
  return links;
}

void Rnic::describe(const Description& d) {
  contexts_.page_table.describe(d.part("page_table"));
  contexts_.page_table.cache().describe(
      d.part("page_cache"), {"context.page_cache", "context.page_misses", "page cache", "page cache misses"},
      contexts_.context(abi::ContextKind::kPages, 0));
  contexts_.stag_table.describe(d.part("stag_table"));
  contexts_.stag_table.cache().describe(
      d.part("stag_cache"), {"context.stag_cache", "context.stag_misses", "STag cache", "STag cache misses"},
      contexts_.context(abi::ContextKind::kStag, 0));
  contexts_.cq_table.describe(d.part("cq_table"));
  contexts_.cq_table.cache().describe(d.part("cq_cache"),
                                      {"context.cq_cache", "context.cq_misses", "CQ cache", "CQ cache misses"},
                                      contexts_.context(abi::ContextKind::kCq, 0));
  contexts_.tx_table.describe(d.part("tx_table"));
  contexts_.tx_table.cache().describe(d.part("tx_cache"),
                                      {"context.qp_cache", "context.qp_misses", "QP cache", "QP cache misses"},
                                      contexts_.context(abi::ContextKind::kQp, 0));
  contexts_.rx_table.describe(d.part("rx_table"));
  if (!contexts_.rx_table.shares_cache_with(contexts_.tx_table)) {
    contexts_.rx_table.cache().describe(
        d.part("rx_cache"),
        {"context.qp_rx_cache", "context.qp_rx_misses", "QP receive cache", "QP receive cache misses"},
        contexts_.context(abi::ContextKind::kQp, 0));
  }
  d.part("qp_prefetch").counters(contexts_.rx_table.cache().prefetches());
  contexts_.sqc_table.describe(d.part("sqc_table"));
  contexts_.sq_table.describe(d.part("sq_table"));
  contexts_.rq_table.describe(d.part("rq_table"));
  contexts_.srq_table.describe(d.part("srq_table"));
  contexts_.srq_table.cache().describe(d.part("srq_cache"),
                                       {"context.srq_cache", "context.srq_misses", "SRQ cache", "SRQ cache misses"},
                                       contexts_.context(abi::ContextKind::kSrq, 0));
  contexts_.irrq_table.describe(d.part("irrq_table"));
  contexts_.orq_table.describe(d.part("orq_table"));
  flow_rx_table_.describe(d.part("flow_rx_table"));
  flow_tx_table_.describe(d.part("flow_tx_table"));
  flow_cache_->describe(d.part("flow_cache"),
                        {"context.flow_cache", "context.flow_misses", "flow cache", "flow cache misses"},
                        contexts_.context(abi::ContextKind::kFlow, 0));
  contexts_.describe(d.part("context"));
  outstanding_.describe(d.part("outstanding_requests"));
  tcp_memory_.describe(d.part("tcp_memory"));
  sctp_memory_.describe(d.part("sctp_memory"));
  firmware_log.describe(d);
  d.access_owners([this] { return std::make_unique<RegisterOwner>(contexts_, config_.pcie.link); });
  d.moved_ahead(moved_ahead(config_));
  for (LinkBase* link : links()) d.link(*link);
  for (Stage* stage : stages()) stage->describe(d.of(*stage));
}

std::vector<Stage*> Rnic::stages() const {
  std::vector<Stage*> stages;
  for (const sc_core::sc_module* parent :
       {static_cast<const sc_core::sc_module*>(this), static_cast<const sc_core::sc_module*>(&pcie)}) {
    for (sc_core::sc_object* child : parent->get_child_objects()) {
      if (auto* const stage = dynamic_cast<Stage*>(child)) stages.push_back(stage);
    }
  }
  return stages;
}

}  // namespace rnic
