// All settings of the chip.
#pragma once

#include "model/common/table.h"
#include "model/config/field.h"
#include "model/rnic/context/context_home.h"
#include "model/rnic/context/stag_table.h"
#include "model/rnic/fwcpu/fwcpu_config.h"
#include "model/rnic/llp/sctp/sctp_config.h"
#include "model/rnic/llp/tcp/tcp_config.h"
#include "model/rnic/messages/datapath.h"
#include "model/rnic/pcie/pcie.h"
#include "model/rnic/responder/atomic_alu.h"
#include "model/rnic/rx/crc_check.h"
#include "model/rnic/rx/ddp_placement.h"
#include "model/rnic/rx/mac_rx.h"
#include "model/rnic/rx/mpa_deframer.h"
#include "model/rnic/terminate/terminate_generator.h"
#include "model/rnic/tx/crc_insert.h"
#include "model/rnic/tx/mac_tx.h"
#include "model/rnic/tx/marker_inserter.h"
#include "model/rnic/tx/mpa_framer.h"
#include "model/rnic/tx/payload_fetch.h"
#include "model/rnic/tx/rdmap_segmenter.h"
#include "model/rnic/tx/wqe_fetch.h"

namespace rnic {

// Contexts that need not all be on the chip.
struct CachesConfig {
  CacheConfig page, srq;
  ChangedRowsConfig cq, stag, flow;
  QpCacheConfig qp;
  template <class V>
  static void fields(V& v) {
    v.group("page", &CachesConfig::page);
    v.group("cq", &CachesConfig::cq);
    v.group("stag", &CachesConfig::stag);
    v.group("qp", &CachesConfig::qp);
    v.group("flow", &CachesConfig::flow);
    v.group("srq", &CachesConfig::srq);
  }
};

struct ContextConfig {
  unsigned qps = 256, cqs = 256, stags = 1024, srqs = 64, pages = 16384;
  TableConfig page_table, stag_table = StagTableConfig{}, cq_table, tx_table = TxTableConfig{},
                          rx_table = RxTableConfig{}, sqc_table = SqcTableConfig{}, sq_table, rq_table, srq_table,
                          irrq_table, orq_table = OrqTableConfig{};
  CachesConfig cache;
  ContextHomeConfig home;
  template <class V>
  static void fields(V& v) {
    v("qps", &ContextConfig::qps, "queue pairs", in_range(1u, fw::LargeCapacity::kQps));
    v("cqs", &ContextConfig::cqs, "completion queues", in_range(1u, fw::LargeCapacity::kCqs));
    v("srqs", &ContextConfig::srqs, "shared receive queues", in_range(1u, fw::LargeCapacity::kSrqs));
    v("stags", &ContextConfig::stags, "STag table entries", in_range(1u, fw::LargeCapacity::kStags));
    v("pages", &ContextConfig::pages, "entries of the page table, for regions over page lists", in_range(1, 1 << 20),
      unit("pages"));
    v.group("page_table", &ContextConfig::page_table);
    v.group("stag_table", &ContextConfig::stag_table);
    v.group("cq_table", &ContextConfig::cq_table);
    v.group("tx_table", &ContextConfig::tx_table);
    v.group("rx_table", &ContextConfig::rx_table);
    v.group("sqc_table", &ContextConfig::sqc_table);
    v.group("sq_table", &ContextConfig::sq_table);
    v.group("rq_table", &ContextConfig::rq_table);
    v.group("srq_table", &ContextConfig::srq_table);
    v.group("irrq_table", &ContextConfig::irrq_table);
    v.group("orq_table", &ContextConfig::orq_table);
    v.group("cache", &ContextConfig::cache);
    v.group("home", &ContextConfig::home);
  }
};

struct TxConfig {
  WqeFetchConfig wqe_fetch;
  RdmapSegmenterConfig rdmap_segmenter;
  PayloadFetchConfig payload_fetch;
  MpaFramerConfig mpa_framer;
  MarkerInserterConfig marker_inserter;
  CrcInsertConfig crc_insert;
  template <class V>
  static void fields(V& v) {
    v.group("wqe_fetch", &TxConfig::wqe_fetch);
    v.group("rdmap_segmenter", &TxConfig::rdmap_segmenter);
    v.group("payload_fetch", &TxConfig::payload_fetch);
    v.group("mpa_framer", &TxConfig::mpa_framer);
    v.group("marker_inserter", &TxConfig::marker_inserter);
    v.group("crc_insert", &TxConfig::crc_insert);
  }
};

struct RxConfig {
  MacRxConfig mac_rx;
  MpaDeframerConfig mpa_deframer;
  CrcCheckConfig crc_check;
  WqeFetchConfig rqe_fetch;
  DdpPlacementConfig ddp_placement;
  template <class V>
  static void fields(V& v) {
    v.group("mac_rx", &RxConfig::mac_rx);
    v.group("mpa_deframer", &RxConfig::mpa_deframer);
    v.group("crc_check", &RxConfig::crc_check);
    v.group("rqe_fetch", &RxConfig::rqe_fetch);
    v.group("ddp_placement", &RxConfig::ddp_placement);
  }
};

struct ResponderConfig {
  AtomicAluConfig atomic_alu;
  template <class V>
  static void fields(V& v) {
    v.group("atomic_alu", &ResponderConfig::atomic_alu);
  }
};

struct RnicConfig {
  std::uint64_t clock_period_ps = 4000;
  DatapathConfig datapath;
  ContextConfig context;
  MacTxConfig mac_tx;
  TcpConfig tcp;
  SctpConfig sctp;
  TxConfig tx;
  RxConfig rx;
  ResponderConfig responder;
  TerminateConfig terminate;
  FwCpuConfig fwcpu;
  pcie::PcieConfig pcie;

  // TCP's, and behind them the DDP streams of SCTP.
  unsigned flows() const { return tcp.max_flows + sctp.max_associations * sctp.streams; }

  template <class V>
  static void fields(V& v) {
    v("clock_period_ps", &RnicConfig::clock_period_ps, "core clock", in_range(100, 1'000'000), unit("ps"));
    v.group("datapath", &RnicConfig::datapath);
    v.group("context", &RnicConfig::context);
    v.group("mac_tx", &RnicConfig::mac_tx);
    v.group("tcp", &RnicConfig::tcp);
    v.group("sctp", &RnicConfig::sctp);
    v.group("tx", &RnicConfig::tx);
    v.group("rx", &RnicConfig::rx);
    v.group("responder", &RnicConfig::responder);
    v.group("terminate", &RnicConfig::terminate);
    v.group("fwcpu", &RnicConfig::fwcpu);
    v.group("pcie", &RnicConfig::pcie);
  }
};

}  // namespace rnic
