// The chip. Reads like the block diagram: stages, the links between them, and nothing else.
#pragma once

#include <memory>

#include "model/common/netlist.h"
#include "model/rnic/completion/cqe_writer.h"
#include "model/rnic/completion/response_queue.h"
#include "model/rnic/completion/sq_completion.h"
#include "model/rnic/context/context_home.h"
#include "model/rnic/context/stag_work.h"
#include "model/rnic/fwcpu/command_fetch.h"
#include "model/rnic/fwcpu/event_writer.h"
#include "model/rnic/fwcpu/fwcpu.h"
#include "model/rnic/llp/link_address.h"
#include "model/rnic/llp/sctp/sctp_association.h"
#include "model/rnic/llp/sctp/sctp_rx.h"
#include "model/rnic/llp/sctp/sctp_tx.h"
#include "model/rnic/llp/tcp/connection_rows.h"
#include "model/rnic/llp/tcp/tcp_connection.h"
#include "model/rnic/llp/tcp/tcp_rx.h"
#include "model/rnic/llp/tcp/tcp_tx.h"
#include "model/rnic/merge.h"
#include "model/rnic/responder/atomic_alu.h"
#include "model/rnic/responder/irrq.h"
#include "model/rnic/responder/read_responder.h"
#include "model/rnic/rnic_config.h"
#include "model/rnic/rx/ddp_placement.h"
#include "model/rnic/rx/early_placement.h"
#include "model/rnic/rx/rdmap_dispatch.h"
#include "model/rnic/terminate/terminate_generator.h"
#include "model/rnic/tx/rdmap_segmenter.h"

namespace rnic {

// Left to bind: mac_tx.ethernet and mac_rx (to the wire), pcie.endpoint.port.out and .in (to the host).
class Rnic final : public sc_core::sc_module, public Part {
 public:
  Rnic(sc_core::sc_module_name nm, ClockDomain& clk, const RnicConfig& config, const LinkAddress& station);
  ~Rnic() override;

  void describe(const Description& d) override;

  // For twins in place of stages.
  const RnicConfig& config() const { return config_; }
  const ContextStore& contexts() const { return contexts_; }
  const llp::TransmitMemory& tcp_memory() const { return tcp_memory_; }
  const FlowTxTable& flow_tx_table() const { return flow_tx_table_; }
  const tcp::FlowRxTable& flow_rx_table() const { return flow_rx_table_; }
  ContextStore& contexts() { return contexts_; }
  BufferPool& frames() { return frames_; }

  // All stages and links of the chip, including those inside the PCIe block.
  std::vector<Stage*> stages() const;
  std::vector<LinkBase*> links() const;

 private:
  const RnicConfig config_;
  ContextStore contexts_;
  BufferPool frames_;    // a frame of the MTU with its headroom; declared before the stages that hold its blocks
  BufferPool messages_;  // private data, start-up frames
  llp::TransmitMemory tcp_memory_, sctp_memory_;
  OutstandingRequests outstanding_;
  const std::shared_ptr<RowCache> flow_cache_;
  FlowTxTable flow_tx_table_;
  tcp::FlowRxTable flow_rx_table_;
  Netlist net_;

 public:
  pcie::Pcie pcie;

  WqeFetch<SqDoorbell> wqe_fetch;
  RdmapSegmenter rdmap_segmenter;
  PayloadFetch payload_fetch;
  MpaFramer mpa_framer;
  MarkerInserter marker_inserter;
  CrcInsert crc_insert;
  TcpTx tcp_tx;
  MacTx mac_tx;

  MacRx mac_rx;
  TcpRx tcp_rx;
  MpaDeframer mpa_deframer;
  CrcCheck crc_check;
  WqeFetch<RqDoorbell> rqe_fetch;
  DdpPlacement ddp_placement;
  EarlyPlacement early_placement;
  RdmapDispatch rdmap_dispatch;

  Irrq irrq;
  ReadResponder read_responder;
  AtomicAlu atomic_alu;
  ResponseQueue response_queue;
  SqCompletion sq_completion;
  CqeWriter cqe_writer;

  TcpConnection tcp_connection;
  SctpRx sctp_rx;
  CrcCheck sctp_crc_check;
  SctpAssociation sctp_association;
  SctpTx sctp_tx;
  CrcInsert sctp_crc_insert;
  ContextHome context_home;
  StagWork stag_work;
  CommandFetch command_fetch;
  LogRing firmware_log;
  FwCpu fwcpu;
  EventWriter event_writer;
  Merge<QpEvent> stream_errors;
  TerminateGenerator terminate_generator;
  Merge<QpEvent> qp_events;

 private:
  void reset();
  void strap();
  void connect_transmit();
  void connect_receive();
  void connect_sctp();
  void connect_llps();
  void connect_responder();
  void connect_completion();
  void connect_firmware();

  tcp::ConnectionRows connection_rows_{flow_tx_table_, flow_rx_table_};
};

}  // namespace rnic
