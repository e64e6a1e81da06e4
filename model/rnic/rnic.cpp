#include "model/rnic/rnic.h"

#include "firmware/lib/version.h"
#include "model/rnic/host_abi_names.h"

namespace rnic {

namespace {

// DMA engine clients, in the order of their turns, and the stages that tell the firmware about a QP.
enum Reader : unsigned { kPayloadReader, kWqeReader, kRqeReader, kCommandReader, kAtomicReader, kCqReader, kReaders };
enum Writer : unsigned {
  kPlacementWriter,
  kCqeWriter,
  kEventWriter,
  kAtomicWriter,
  kOriginalWriter,
  kEarlyWriter,
  kWriters
};

// A frame of the MTU, or one FPDU of the smallest MULPDU where that is longer, behind the headroom.
std::uint32_t frame_block_bytes(const RnicConfig& cfg) {
  return kFrameHeadroom + std::max(cfg.tcp.mtu, 256u) + cfg.datapath.beat_bytes;
}
constexpr std::uint32_t kMessageBlockBytes = 1024;  // a start-up frame or a private data slot

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

Rnic::Rnic(sc_core::sc_module_name nm, ClockDomain& clk, const RnicConfig& config, const StationConfig& station)
    : sc_module(nm),
      config_(config),
      contexts_(clk, {config.context.qps, config.tcp.max_flows, config.context.cqs, config.context.stags,
                      config.context.srqs, config.context.pages}),
      frames_(frame_block_bytes(config)),
      messages_(kMessageBlockBytes),
      links(basename(), clk, config_),
      pcie("pcie", clk, config.pcie, {kReaders, kWriters}),
      wqe_fetch("wqe_fetch", clk, contexts_, config.tx.wqe_fetch),
      rdmap_segmenter("rdmap_segmenter", clk, contexts_, frames_),
      payload_fetch("payload_fetch", clk, contexts_, config.tx.payload_fetch),
      mpa_framer("mpa_framer", clk, config.datapath, contexts_),
      marker_inserter("marker_inserter", clk, config.datapath, contexts_, frames_),
      crc_insert("crc_insert", clk),
      tcp_tx("tcp_tx", clk, config.tcp, station, frames_),
      mac_tx("mac_tx", clk, config.mac_tx),
      mac_rx("mac_rx", clk, config.rx.mac_rx, station.mac),
      tcp_rx("tcp_rx", clk, config.tcp, config.datapath, station, messages_),
      mpa_deframer("mpa_deframer", clk, config.rx.mpa_deframer, config.datapath, contexts_, frames_),
      crc_check("crc_check", clk),
      rqe_fetch("rqe_fetch", clk, contexts_, config.rx.rqe_fetch),
      ddp_placement("ddp_placement", clk, contexts_),
      early_placement("early_placement", clk, config.datapath, contexts_, frames_),
      rdmap_dispatch("rdmap_dispatch", clk, contexts_),
      irrq("irrq", clk, contexts_),
      read_responder("read_responder", clk, contexts_),
      atomic_alu("atomic_alu", clk, contexts_, config.responder.atomic_alu),
      response_queue("response_queue", clk, contexts_),
      sq_completion("sq_completion", clk, contexts_),
      cqe_writer("cqe_writer", clk, contexts_),
      tcp_connection("tcp_connection", clk, config.tcp, station),
      command_fetch(
          "command_fetch", clk, [this] { return queue_regs(pcie.regs); }, messages_),
      firmware_log(clk, pcie.regs, static_cast<fw::LogLevel>(config.fwcpu.log_level)),
      fwcpu("fwcpu", clk, config.fwcpu, contexts_, messages_),
      event_writer(
          "event_writer", clk, [this] { return queue_regs(pcie.regs); }, messages_),
      stream_errors("stream_errors", clk, kErrorSources),
      terminate_generator("terminate_generator", clk, contexts_, frames_, config.terminate),
      qp_events("qp_events", clk, kQpEventSources) {
  strap();
  bind_transmit();
  bind_receive();
  bind_responder();
  bind_completion();
  bind_firmware();
}

// CONTROL.RESET, at the end of the cycle in which the host writes it. Reads that are on their way to the host are
// answered late, to nobody; the PCIe link and the line to the peer go on.
void Rnic::reset() {
  auto empty = [](auto& link) { link.reset(); };
  links.for_each(empty);
  contexts_.reset();
  firmware_log.reset();
  for (sc_core::sc_module* parent : {static_cast<sc_core::sc_module*>(this), static_cast<sc_core::sc_module*>(&pcie)}) {
    for (sc_core::sc_object* child : parent->get_child_objects()) {
      if (auto* const stage = dynamic_cast<Stage*>(child)) stage->clock().reset(*stage);
    }
  }
}

// What the host reads about the chip. The native firmware needs no time to boot.
void Rnic::strap() {
  const FwCpuConfig& fw = config_.fwcpu;
  pcie.regs.strap(regs::Features{true, true, fw.rdmap_extensions, fw.rdmap_extensions,
                                 fw.personality != abi::Personality::kIetf, fw.personality != abi::Personality::kRdmac,
                                 fw.receive_markers || fw.personality == abi::Personality::kRdmac, fw.crc});
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

void Rnic::bind_transmit() {
  pcie.mmio.sq_doorbells(links.sq_doorbells);
  wqe_fetch.doorbell(links.sq_doorbells);
  wqe_fetch.taken(links.wqes_taken);
  wqe_fetch.dma(links.wqe_reads);
  wqe_fetch.dma_done(links.wqe_reads_done);
  wqe_fetch.out(links.wqes);
  pcie.dma_read.request(kWqeReader)(links.wqe_reads);
  pcie.dma_read.done(kWqeReader)(links.wqe_reads_done);

  rdmap_segmenter.wqe(links.wqes);
  rdmap_segmenter.taken(links.wqes_taken);
  rdmap_segmenter.credit(links.credit);
  rdmap_segmenter.unblock(links.unblock);
  rdmap_segmenter.atomic_unblock(links.atomic_unblock);
  rdmap_segmenter.read_work(links.read_work);
  rdmap_segmenter.atomic_work(links.atomic_work);
  rdmap_segmenter.read_sent(links.responses_sent);
  rdmap_segmenter.answered(links.answered);
  rdmap_segmenter.internal_work(links.internal_work);
  rdmap_segmenter.terminate(links.terminates);
  rdmap_segmenter.out(links.jobs);
  rdmap_segmenter.issued(links.issued);
  rdmap_segmenter.atomic_issued(links.atomics_issued);
  rdmap_segmenter.read_issued(links.reads_issued);
  rdmap_segmenter.read_issued_early(links.reads_issued_early);
  rdmap_segmenter.flush_rq(links.rq_flushes);

  payload_fetch.in(links.jobs);
  payload_fetch.dma(links.payload_reads);
  payload_fetch.dma_done(links.payload_reads_done);
  payload_fetch.lost(links.lost);
  payload_fetch.out(links.ulpdus);
  pcie.dma_read.request(kPayloadReader)(links.payload_reads);
  pcie.dma_read.done(kPayloadReader)(links.payload_reads_done);

  mpa_framer.in(links.ulpdus);
  mpa_framer.out(links.framed);
  marker_inserter.in(links.framed);
  marker_inserter.out(links.marked);
  crc_insert.in(links.marked);
  crc_insert.out(links.sealed);

  tcp_tx.in(links.sealed);
  tcp_tx.out(links.tx_frames);
  tcp_tx.credit(links.credit);
  tcp_tx.acked(links.acked);
  tcp_tx.commands(links.tcp_tx_commands);
  tcp_tx.feedback(links.tcp_feedback);
  tcp_tx.reports(links.tcp_tx_reports);
  mac_tx.in(links.tx_frames);
}

void Rnic::bind_receive() {
  mac_rx.out(links.rx_frames);
  tcp_rx.in(links.rx_frames);
  tcp_rx.out(links.stream);
  tcp_rx.consumed(links.consumed);
  tcp_rx.commands(links.tcp_rx_commands);
  tcp_rx.feedback(links.tcp_feedback);
  tcp_rx.reports(links.tcp_rx_reports);
  tcp_rx.behind(links.behind);
  tcp_rx.early(links.early);
  tcp_rx.ended(links.ended);

  mpa_deframer.in(links.stream);
  mpa_deframer.out(links.deframed);
  mpa_deframer.consumed(links.consumed);
  crc_check.in(links.deframed);
  crc_check.out(links.checked);

  pcie.mmio.rq_doorbells(links.rq_doorbells);
  rqe_fetch.doorbell(links.rq_doorbells);
  rqe_fetch.posted(links.rqes_posted);
  rqe_fetch.taken(links.rqes_taken);
  rqe_fetch.dma(links.rqe_reads);
  rqe_fetch.dma_done(links.rqe_reads_done);
  rqe_fetch.out(links.rqes);
  pcie.dma_read.request(kRqeReader)(links.rqe_reads);
  pcie.dma_read.done(kRqeReader)(links.rqe_reads_done);

  ddp_placement.in(links.checked);
  ddp_placement.posted(links.rqes_posted);
  ddp_placement.rqe(links.rqes);
  ddp_placement.rqe_taken(links.rqes_taken);
  ddp_placement.read_issued(links.reads_issued);
  ddp_placement.srq_arm(links.srq_arms);
  ddp_placement.srq_event(links.srq_events);
  ddp_placement.flush(links.rq_flushes);
  ddp_placement.answered(links.answered);
  ddp_placement.dma(links.placements);
  ddp_placement.out(links.placed);
  pcie.dma_write.request(kPlacementWriter)(links.placements);
  pcie.dma_write.done(kPlacementWriter)(links.placements_done);

  early_placement.in(links.behind);
  early_placement.read_issued(links.reads_issued_early);
  early_placement.read_over(links.reads_over);
  early_placement.dma(links.early_writes);
  early_placement.written(links.early_writes_done);
  early_placement.out(links.early);
  pcie.dma_write.request(kEarlyWriter)(links.early_writes);
  pcie.dma_write.done(kEarlyWriter)(links.early_writes_done);

  rdmap_dispatch.in(links.placed);
  rdmap_dispatch.written(links.placements_done);
  rdmap_dispatch.cqe(links.receive_cqes);
  rdmap_dispatch.read_request(links.read_requests);
  rdmap_dispatch.atomic_response(links.atomic_responses);
  rdmap_dispatch.read_done(links.reads_done);
  rdmap_dispatch.read_over(links.reads_over);
  rdmap_dispatch.unblock(links.unblock);
  rdmap_dispatch.ended(links.ended);
}

void Rnic::bind_responder() {
  irrq.in(links.read_requests);
  irrq.sent(links.responses_sent);
  irrq.out(links.reads_due);
  irrq.atomic(links.atomics_due);
  read_responder.in(links.reads_due);
  read_responder.out(links.read_work);

  atomic_alu.in(links.atomics_due);
  atomic_alu.read(links.atomic_reads);
  atomic_alu.read_done(links.atomic_reads_done);
  atomic_alu.write(links.atomic_writes);
  atomic_alu.written(links.atomic_writes_done);
  atomic_alu.out(links.atomic_work);
  pcie.dma_read.request(kAtomicReader)(links.atomic_reads);
  pcie.dma_read.done(kAtomicReader)(links.atomic_reads_done);
  pcie.dma_write.request(kAtomicWriter)(links.atomic_writes);
  pcie.dma_write.done(kAtomicWriter)(links.atomic_writes_done);
  pcie.dma_write.tell(atomic_alu.words(), kAtomicWriter);
}

void Rnic::bind_completion() {
  response_queue.issued(links.atomics_issued);
  response_queue.in(links.atomic_responses);
  response_queue.dma(links.original_writes);
  response_queue.written(links.original_writes_done);
  response_queue.done(links.atomics_done);
  response_queue.unblock(links.atomic_unblock);
  pcie.dma_write.request(kOriginalWriter)(links.original_writes);
  pcie.dma_write.done(kOriginalWriter)(links.original_writes_done);
  sq_completion.issued(links.issued);
  sq_completion.acked(links.acked);
  sq_completion.lost(links.lost);
  sq_completion.read_done(links.reads_done);
  sq_completion.atomic_done(links.atomics_done);
  sq_completion.cqe(links.send_cqes);
  pcie.mmio.cq_arms(links.cq_arms);
  cqe_writer.receive(links.receive_cqes);
  cqe_writer.send(links.send_cqes);
  cqe_writer.arm(links.cq_arms);
  cqe_writer.dma(links.cqe_writes);
  cqe_writer.notify(links.cq_notifies);
  cqe_writer.read_record(links.cq_record_reads);
  cqe_writer.record_read(links.cq_records_read);
  cqe_writer.overflow(links.cq_overflows);
  pcie.dma_write.request(kCqeWriter)(links.cqe_writes);
  pcie.dma_read.request(kCqReader)(links.cq_record_reads);
  pcie.dma_read.done(kCqReader)(links.cq_records_read);
}

void Rnic::bind_firmware() {
  fwcpu.on_fault([this] {
    pcie.regs.raise(regs::FatalError{false, false, true});
    pcie.regs.set(regs::Status{false, true});
  });
  pcie.mmio.command_doorbells(links.command_doorbells);
  command_fetch.doorbells(links.command_doorbells);
  command_fetch.read(links.command_reads);
  command_fetch.read_done(links.command_reads_done);
  command_fetch.commands(links.commands);
  pcie.dma_read.request(kCommandReader)(links.command_reads);
  pcie.dma_read.done(kCommandReader)(links.command_reads_done);

  payload_fetch.event(links.stream_error[0]);
  rdmap_segmenter.event(links.stream_error[1]);
  ddp_placement.event(links.stream_error[2]);
  irrq.event(links.stream_error[3]);
  read_responder.event(links.stream_error[4]);
  atomic_alu.event(links.stream_error[5]);
  response_queue.event(links.stream_error[6]);
  wqe_fetch.event(links.stream_error[7]);
  for (unsigned i = 0; i < kErrorSources; ++i) stream_errors.in(i)(links.stream_error[i]);
  stream_errors.out(links.stream_errors);
  terminate_generator.in(links.stream_errors);
  terminate_generator.out(links.terminates);

  terminate_generator.event(links.qp_event[0]);
  rdmap_dispatch.event(links.qp_event[1]);
  sq_completion.event(links.qp_event[2]);
  for (unsigned i = 0; i < kQpEventSources; ++i) qp_events.in(i)(links.qp_event[i]);
  qp_events.out(links.qp_events);

  tcp_connection.op(links.tcp_ops);
  tcp_connection.event(links.tcp_events);
  tcp_connection.to_tx(links.tcp_tx_commands);
  tcp_connection.to_rx(links.tcp_rx_commands);
  tcp_connection.from_tx(links.tcp_tx_reports);
  tcp_connection.from_rx(links.tcp_rx_reports);

  fwcpu.commands(links.commands);
  fwcpu.tcp_events(links.tcp_events);
  fwcpu.qp_events(links.qp_events);
  fwcpu.cq_overflows(links.cq_overflows);
  fwcpu.srq_events(links.srq_events);
  fwcpu.srq_arms(links.srq_arms);
  fwcpu.tcp_ops(links.tcp_ops);
  fwcpu.tx_work(links.internal_work);
  fwcpu.events(links.host_events);

  pcie.mmio.events_taken(links.events_taken);
  event_writer.events(links.host_events);
  event_writer.cq_notifies(links.cq_notifies);
  event_writer.taken(links.events_taken);
  event_writer.write(links.event_writes);
  event_writer.write_done(links.event_writes_done);
  event_writer.msix(links.msix);
  pcie.dma_write.request(kEventWriter)(links.event_writes);
  pcie.dma_write.done(kEventWriter)(links.event_writes_done);
  pcie.msix.vectors(links.msix);
}

Rnic::~Rnic() = default;

void Rnic::register_stats(const StatsGroup& group) const {
  contexts_.register_stats(group.group("context"));
  group.group("tcp_connection")
      .derived(
          "flows", [this] { return static_cast<double>(tcp_connection.flows_in_use()); }, "flows",
          "flows that are not free, those in TIME-WAIT included");
  wqe_fetch.register_stats(group.group("wqe_fetch"));
  rdmap_segmenter.register_stats(group.group("rdmap_segmenter"));
  payload_fetch.register_stats(group.group("payload_fetch"));
  mpa_framer.register_stats(group.group("mpa_framer"));
  marker_inserter.register_stats(group.group("marker_inserter"));
  crc_insert.register_stats(group.group("crc_insert"));
  mpa_deframer.register_stats(group.group("mpa_deframer"));
  crc_check.register_stats(group.group("crc_check"));
  rqe_fetch.register_stats(group.group("rqe_fetch"));
  ddp_placement.register_stats(group.group("ddp_placement"));
  early_placement.register_stats(group.group("early_placement"));
  rdmap_dispatch.register_stats(group.group("rdmap_dispatch"));
  irrq.register_stats(group.group("irrq"));
  read_responder.register_stats(group.group("read_responder"));
  atomic_alu.register_stats(group.group("atomic_alu"));
  response_queue.register_stats(group.group("response_queue"));
  sq_completion.register_stats(group.group("sq_completion"));
  cqe_writer.register_stats(group.group("cqe_writer"));
  command_fetch.register_stats(group.group("command_fetch"));
  fwcpu.register_stats(group.group("fwcpu"));
  terminate_generator.register_stats(group.group("terminate_generator"));
  event_writer.register_stats(group.group("event_writer"));
}

}  // namespace rnic
