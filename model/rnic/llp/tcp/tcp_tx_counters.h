// Counters of tcp_tx.
#pragma once

#include <cstdint>

#include "model/rnic/llp/tcp/sender.h"

namespace rnic {

struct TcpTxCounters {
  std::uint64_t segments = 0, payload_bytes = 0, pure_acks = 0, retransmissions = 0, timeouts = 0, probes = 0;
  std::uint64_t retransmitted_bytes = 0, fast_retransmits = 0, idle_restarts = 0;
  std::uint64_t sacked_bytes = 0, congestion_echoes = 0, congestion_marks = 0, keepalives = 0;
  std::uint64_t resets = 0, duplicate_acks = 0, fpdus_dropped = 0;
  std::uint64_t path_mtu_changes = 0, path_mtu_ignored = 0, cuts = 0, challenges_withheld = 0;
  template <class V>
  static void fields(V& v) {
    v("segments", &TcpTxCounters::segments, "segments", "all segments sent");
    v("payload_bytes", &TcpTxCounters::payload_bytes, "octets", "payload sent, including retransmissions");
    v("pure_acks", &TcpTxCounters::pure_acks, "segments", "segments sent only to acknowledge or to update the window");
    v("retransmissions", &TcpTxCounters::retransmissions, "segments", "segments retransmitted");
    v("retransmitted_bytes", &TcpTxCounters::retransmitted_bytes, "octets", "payload retransmitted");
    v("fast_retransmits", &TcpTxCounters::fast_retransmits, "recoveries",
      "recoveries started by duplicate ACKs (RFC 5681 section 3.2)");
    v("sacked_bytes", &TcpTxCounters::sacked_bytes, "octets",
      "octets reported out of order by the peer's SACK (RFC 2018)");
    v("congestion_echoes", &TcpTxCounters::congestion_echoes, "reductions",
      "reductions of the congestion window after an echoed congestion mark (RFC 3168)");
    v("congestion_marks", &TcpTxCounters::congestion_marks, "segments", "segments received with a congestion mark");
    v("keepalives", &TcpTxCounters::keepalives, "segments", "keepalive probes sent to an idle peer");
    v("idle_restarts", &TcpTxCounters::idle_restarts, "restarts",
      "restarts with the initial window after an idle time of one RTO");
    v("timeouts", &TcpTxCounters::timeouts, "timeouts", "expiries of the retransmission timer");
    v("probes", &TcpTxCounters::probes, "segments", "zero-window probes sent");
    v("resets", &TcpTxCounters::resets, "segments", "RST sent");
    v("duplicate_acks", &TcpTxCounters::duplicate_acks, "segments", "pure ACKs received that acknowledge nothing new");
    v("fpdus_dropped", &TcpTxCounters::fpdus_dropped, "FPDUs", "FPDUs of a flow that was closed or reset");
    v("challenges_withheld", &TcpTxCounters::challenges_withheld, "segments",
      "challenge ACKs not sent, as `challenge_acks` were sent in the interval (RFC 5961 section 7)");
    v("path_mtu_changes", &TcpTxCounters::path_mtu_changes, "changes",
      "changes of a flow's segment size after a router reported a smaller path MTU (RFC 1191)");
    v("path_mtu_ignored", &TcpTxCounters::path_mtu_ignored, "reports",
      "path MTU reports that quote no octet in flight, or change nothing (RFC 5927)");
    v("cuts", &TcpTxCounters::cuts, "segments",
      "segments cut from FPDUs too long for the path MTU or the peer's window: they start within an FPDU");
  }

  void count(const tcp::Sender::AckOutcome& outcome) {
    sacked_bytes += outcome.sacked;
    duplicate_acks += outcome.duplicate;
    fast_retransmits += outcome.loss;
    congestion_echoes += outcome.echo;
  }
  void count(const tcp::Sender::Departure& departure, std::uint32_t bytes) {
    idle_restarts += departure.idle_restart;
    if (!departure.again) return;
    ++retransmissions;
    retransmitted_bytes += bytes;
  }
};

}  // namespace rnic
