// The settings of the TCP offload.
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/common/cycle.h"
#include "model/common/link.h"
#include "model/common/table.h"
#include "model/config/field.h"
#include "model/rnic/llp/tcp/congestion_algorithm.h"
#include "model/rnic/llp/transmit_memory_config.h"
#include "model/rnic/messages/datapath.h"
#include "model/wire/ipv4.h"
#include "model/wire/tcp.h"

namespace rnic {

struct TcpConfig {
  unsigned max_flows = 256;
  unsigned mtu = 1500;
  unsigned window_bytes = 128 * 1024;
  unsigned tx_cycles = 6;
  unsigned rx_cycles = 3;
  unsigned hash_cycles = 1;
  unsigned ack_every = 2;
  std::uint64_t ack_delay_ns = 500;
  std::uint64_t rto_initial_us = 1000;
  std::uint64_t rto_min_us = 200;
  std::uint64_t rto_max_us = 100'000;
  unsigned max_retries = 8;
  unsigned syn_retries = 5;
  std::uint64_t time_wait_us = 1000;
  tcp::CongestionAlgorithm congestion = tcp::CongestionAlgorithm::kNewReno;
  unsigned initial_window = 90;
  bool sack = true;
  unsigned reorder_bytes = 512 * 1024;
  unsigned reorder_segments = 512;
  bool early_placement = true;
  bool timestamps = false;
  std::uint64_t timestamp_ns = 1000;
  bool ecn = false;
  std::uint64_t keepalive_us = 0;
  unsigned path_mtu_min = 576;
  std::uint64_t seed = 0;
  unsigned challenge_acks = 10;
  std::uint64_t challenge_interval_us = 5'000'000;
  TransmitMemoryConfig tx_memory;
  TableConfig flow_rx_table, flow_tx_table;

  template <class V>
  static void fields(V& v) {
    v("max_flows", &TcpConfig::max_flows, "connections at a time", in_range(1, 65536));
    v("mtu", &TcpConfig::mtu, "largest IPv4 packet", in_range(576, 9000), unit("octets"));
    v("window_bytes", &TcpConfig::window_bytes, "receive window of a flow; scaled by RFC 7323 as needed",
      in_range(4096, 1 << 30), unit("octets"));
    v("tx_cycles", &TcpConfig::tx_cycles, "from the last beat of an FPDU to its frame at mac_tx", in_range(1, 63),
      unit("cycles"));
    v("rx_cycles", &TcpConfig::rx_cycles, "from a frame's beat in tcp_rx to that beat at the deframer", in_range(1, 63),
      unit("cycles"));
    v("hash_cycles", &TcpConfig::hash_cycles,
      "look-up of a flow: from a frame's headers to the bucket of its address, and to each further one",
      in_range(1, 63), unit("cycles"));
    v("ack_every", &TcpConfig::ack_every, "delayed ACK: segments per acknowledgement", in_range(1, 255));
    v("ack_delay_ns", &TcpConfig::ack_delay_ns, "delayed ACK: longest delay of an acknowledgement", unit("ns"));
    v("rto_initial_us", &TcpConfig::rto_initial_us, "retransmission timeout before the first measurement",
      in_range(1, 60'000'000), unit("us"));
    v("rto_min_us", &TcpConfig::rto_min_us, "lower bound of the retransmission timeout", in_range(1, 60'000'000),
      unit("us"));
    v("rto_max_us", &TcpConfig::rto_max_us, "upper bound of the retransmission timeout", in_range(1, 240'000'000),
      unit("us"));
    v("max_retries", &TcpConfig::max_retries, "retransmission timeouts without an answer after which a flow is reset",
      in_range(0, 64));
    v("syn_retries", &TcpConfig::syn_retries, "the same during the handshake", in_range(0, 64));
    v("time_wait_us", &TcpConfig::time_wait_us, "how long a flow that closed first stays in TIME-WAIT", unit("us"));
    v("congestion", &TcpConfig::congestion, "congestion control algorithm", one_of(tcp::kCongestionAlgorithms));
    v("initial_window", &TcpConfig::initial_window,
      "congestion window of a new or idle flow; RFC 6928 has 10, the default lets a flow start at line rate",
      in_range(1, 65'535), unit("segments"));
    v("sack", &TcpConfig::sack, "selective acknowledgements (RFC 2018), if the peer agrees");
    v("reorder_bytes", &TcpConfig::reorder_bytes,
      "reassembly queue: payload of segments out of order, over all flows; what does not fit is dropped and "
      "retransmitted",
      in_range(0, 1 << 30), unit("octets"));
    v("reorder_segments", &TcpConfig::reorder_segments,
      "reassembly queue: segments out of order of one connection; even a short one occupies its frame's block",
      in_range(0, 1 << 16), unit("segments"));
    v("early_placement", &TcpConfig::early_placement,
      "place payload received out of order in host memory at once if a marker proves where its FPDU starts, and keep "
      "only its header");
    v("timestamps", &TcpConfig::timestamps,
      "timestamps and PAWS (RFC 7323), if the peer agrees; they take 12 octets of every segment");
    v("timestamp_ns", &TcpConfig::timestamp_ns, "tick of the timestamp clock", in_range(100, 1'000'000'000),
      unit("ns"));
    v("ecn", &TcpConfig::ecn, "explicit congestion notification (RFC 3168), if the peer agrees; dctcp implies it");
    v("keepalive_us", &TcpConfig::keepalive_us,
      "idle time after which keepalive probes are sent, up to max_retries; 0: never (RFC 9293 section 3.8.4)",
      in_range(0, 1'000'000'000), unit("us"));
    v("path_mtu_min", &TcpConfig::path_mtu_min,
      "smallest path MTU that is accepted from a router (RFC 1191); mtu or more: none", in_range(296, 9000),
      unit("octets"));
    v("seed", &TcpConfig::seed,
      "seed of the key of initial sequence numbers (RFC 6528); 0: the run's, or the system's");
    v("challenge_acks", &TcpConfig::challenge_acks,
      "challenge ACKs of one connection per interval (RFC 5961 section 7)", in_range(1, 255), unit("segments"));
    v("challenge_interval_us", &TcpConfig::challenge_interval_us, "interval of the limit of challenge ACKs",
      in_range(1, 1'000'000'000), unit("us"));
    v.group("tx_memory", &TcpConfig::tx_memory);
    v.group("flow_rx_table", &TcpConfig::flow_rx_table);
    v.group("flow_tx_table", &TcpConfig::flow_tx_table);
  }

  bool wants_ecn() const { return ecn || congestion == tcp::CongestionAlgorithm::kDctcp; }
  // Largest payload of a segment without options (RFC 9293 section 3.7.1).
  std::uint16_t mss() const {
    return static_cast<std::uint16_t>(mtu - wire::Ipv4Header::kBytes - wire::TcpHeader::kBytes);
  }
  // What is announced to the peer. Its FPDUs are as long, and none is consumed before it is complete: after one, there
  // is always room for half of the window, by which its edge may move.
  std::uint16_t announced_mss() const {
    return static_cast<std::uint16_t>(std::min<unsigned>(mss(), window_bytes / 2));
  }
  // The smallest shift at which the whole window fits its 16 bits.
  std::uint8_t window_scale() const {
    std::uint8_t shift = 0;
    while ((window_bytes >> shift) > 0xffff) ++shift;
    return shift;
  }
  // Links whose latency is the pipeline's depth: tcp_tx.out and tcp_rx.out.
  LinkConfig tx_link() const { return {tx_cycles + 4, tx_cycles, 1}; }
  LinkConfig rx_link() const { return {rx_cycles + 4, rx_cycles, 1}; }
};

}  // namespace rnic
