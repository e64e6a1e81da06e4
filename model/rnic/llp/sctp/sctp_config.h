// The settings of the SCTP association engine. Addresses and neighbours are the chip's (LinkAddress), the MTU is the
// interface's (TcpConfig::mtu).
#pragma once

#include <cstdint>

#include "model/common/link.h"
#include "model/config/field.h"
#include "model/rnic/llp/link_address.h"
#include "model/rnic/llp/transmit_memory_config.h"

namespace rnic {

struct SctpConfig {
  unsigned max_associations = 16;
  unsigned streams = 16;
  unsigned receive_buffer = 128 * 1024;
  unsigned send_chunks = 4096;
  std::uint64_t rto_initial_us = 1000;
  std::uint64_t rto_min_us = 200;
  std::uint64_t rto_max_us = 100'000;
  unsigned sack_every = 2;
  std::uint64_t sack_delay_ns = 500;
  unsigned max_burst = 4;
  unsigned initial_window = 90;
  unsigned max_init_retries = 8;
  unsigned max_retries = 10;
  std::uint64_t heartbeat_us = 0;
  std::uint64_t idle_us = 10'000'000;
  std::uint64_t cookie_life_us = 60'000'000;
  unsigned bundle_reserve = 16;
  unsigned reorder_chunks = 1024;
  unsigned reassembly_messages = 4;
  unsigned path_mtu_min = 576;
  unsigned ddp_window = 256;
  bool early_placement = true;
  unsigned tx_cycles = 6;
  unsigned rx_cycles = 6;
  unsigned chunk_cycles = 1;
  unsigned gap_cycles = 1;
  unsigned mac_cycles = 16;
  unsigned scan_cycles = 1;
  unsigned release_cycles = 1;
  std::uint64_t seed = 0;
  TransmitMemoryConfig tx_memory;

  template <class V>
  static void fields(V& v) {
    v("max_associations", &SctpConfig::max_associations,
      "associations at a time; at most 1024 DDP streams in all of them together", in_range(1, 1024));
    v("streams", &SctpConfig::streams,
      "streams of an association in each direction (OS and MIS); each pair carries one DDP stream",
      in_range(1, 65'535));
    v("receive_buffer", &SctpConfig::receive_buffer, "receive window of an association (a_rwnd)",
      in_range(1500, 1 << 30), unit("octets"));
    v("send_chunks", &SctpConfig::send_chunks, "DATA chunks of an association that wait to be sent or acknowledged",
      in_range(2, 8192), power_of_two());
    v("rto_initial_us", &SctpConfig::rto_initial_us,
      "retransmission timeout before the first measurement; RFC 9260 has 1 s", in_range(1, 60'000'000), unit("us"));
    v("rto_min_us", &SctpConfig::rto_min_us, "lower bound of the retransmission timeout; RFC 9260 has 1 s",
      in_range(1, 60'000'000), unit("us"));
    v("rto_max_us", &SctpConfig::rto_max_us, "upper bound of the retransmission timeout; RFC 9260 has 60 s",
      in_range(1, 240'000'000), unit("us"));
    v("sack_every", &SctpConfig::sack_every, "delayed SACK: packets with DATA per acknowledgement", in_range(1, 255));
    v("sack_delay_ns", &SctpConfig::sack_delay_ns,
      "delayed SACK: longest delay of an acknowledgement; RFC 9260 has 200 ms", in_range(0, 500'000'000), unit("ns"));
    v("max_burst", &SctpConfig::max_burst, "packets sent per event: a SACK, a timeout, a message (Max.Burst)",
      in_range(1, 65'535), unit("packets"));
    v("initial_window", &SctpConfig::initial_window,
      "congestion window of a new association, in packets of Ethernet size; RFC 9260 has 3, the default lets it start "
      "at line rate",
      in_range(1, 65'535), unit("packets"));
    v("max_init_retries", &SctpConfig::max_init_retries,
      "retransmissions of INIT or COOKIE ECHO after which the set-up fails (Max.Init.Retransmits)", in_range(0, 64));
    v("max_retries", &SctpConfig::max_retries,
      "consecutive timeouts after which an association fails (Association.Max.Retrans and Path.Max.Retrans)",
      in_range(0, 64));
    v("heartbeat_us", &SctpConfig::heartbeat_us,
      "idle time, plus the RTO, after which a HEARTBEAT is sent (HB.interval); 0: never", in_range(0, 1'000'000'000),
      unit("us"));
    v("idle_us", &SctpConfig::idle_us,
      "time without a session after which an association that the peer opened is shut down; 0: never. If all "
      "associations are in use, the one idle for longest makes room earlier",
      in_range(0, 1'000'000'000), unit("us"));
    v("cookie_life_us", &SctpConfig::cookie_life_us, "lifetime of a cookie (Valid.Cookie.Life)",
      in_range(1, 1'000'000'000), unit("us"));
    v("bundle_reserve", &SctpConfig::bundle_reserve,
      "room that a full DDP segment leaves in its packet for control chunks; 16 fits a SACK without gaps",
      in_range(0, 256), unit("octets"));
    v("reorder_chunks", &SctpConfig::reorder_chunks,
      "TSNs beyond the cumulative TSN that a receiver accepts; chunks further ahead are dropped and retransmitted",
      in_range(64, 32'768), power_of_two());
    v("reassembly_messages", &SctpConfig::reassembly_messages,
      "fragmented messages that a receiver reassembles at a time", in_range(1, 64));
    v("path_mtu_min", &SctpConfig::path_mtu_min, "smallest path MTU that is accepted from a router (RFC 1191)",
      in_range(296, 9000), unit("octets"));
    v("ddp_window", &SctpConfig::ddp_window,
      "DDP stream sequence numbers that a stream accepts, from the next expected one on", in_range(16, 32'768),
      power_of_two());
    v("early_placement", &SctpConfig::early_placement,
      "place the payload of segments received out of order in host memory at once, and keep only their headers");
    v("tx_cycles", &SctpConfig::tx_cycles, "from a packet's last beat out of its CRC engine to its frame at mac_tx",
      in_range(1, 63), unit("cycles"));
    v("rx_cycles", &SctpConfig::rx_cycles,
      "from a segment's beat in the association engine to that beat at ddp_placement", in_range(1, 63), unit("cycles"));
    v("chunk_cycles", &SctpConfig::chunk_cycles, "cycles that the association engine takes for a DATA chunk",
      in_range(1, 64), unit("cycles"));
    v("gap_cycles", &SctpConfig::gap_cycles,
      "cycles that the association engine takes for a gap block of a received SACK", in_range(0, 64), unit("cycles"));
    v("mac_cycles", &SctpConfig::mac_cycles,
      "cycles that the association engine takes for the MAC of a cookie that it makes or checks", in_range(0, 1024),
      unit("cycles"));
    v("scan_cycles", &SctpConfig::scan_cycles,
      "cycles that the association engine takes for each association that it looks at in a search, for a connect or "
      "for one that makes room",
      in_range(0, 64), unit("cycles"));
    v("release_cycles", &SctpConfig::release_cycles,
      "cycles that the association engine takes for each 16 messages that it releases when an association ends or "
      "restarts",
      in_range(0, 64), unit("cycles"));
    v("seed", &SctpConfig::seed, "seed of tags, first TSNs and the key of cookies; 0: the run's, or the system's");
    v.group("tx_memory", &SctpConfig::tx_memory);
  }

  // Links whose latency is the pipeline's depth: sctp_tx.out and sctp_association.out.
  LinkConfig tx_link() const { return {tx_cycles + 4, tx_cycles, 1}; }
  LinkConfig rx_link() const { return {rx_cycles + 4, rx_cycles, 1}; }
};

// Throws ConfigError, naming the setting, for contradictory values.
void check_settings(const SctpConfig& config, unsigned ip_mtu);

}  // namespace rnic
