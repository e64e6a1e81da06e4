// Counters of tcp_rx.
#pragma once

#include <cstdint>
#include <utility>

#include "model/rnic/llp/tcp/receiver.h"
#include "model/rnic/llp/tcp/segment.h"
#include "model/stats/high_water.h"

namespace rnic {

struct TcpRxCounters {
  std::uint64_t segments = 0, payload_bytes = 0, out_of_order = 0, duplicates = 0, trimmed = 0, beyond_window = 0;
  std::uint64_t more_buckets = 0, reorder_drops = 0, paws = 0, no_timestamp = 0;
  HighWater reorder_bytes_max, reorder_segments_max;
  std::uint64_t early_fpdus = 0, early_saved = 0, not_offered = 0, path_mtu_reports = 0;
  std::uint64_t bad_reset = 0, bad_syn = 0, bad_ack = 0, outside = 0;
  std::uint64_t not_ipv4 = 0, bad_ipv4 = 0, not_for_us = 0, bad_tcp = 0, bad_checksum = 0;
  template <class V>
  static void fields(V& v) {
    v("segments", &TcpRxCounters::segments, "segments", "valid segments, of any flow or none");
    v("more_buckets", &TcpRxCounters::more_buckets, "buckets",
      "read in look-ups of flows beyond the first one, as that was full");
    v("payload_bytes", &TcpRxCounters::payload_bytes, "octets", "payload accepted");
    v("out_of_order", &TcpRxCounters::out_of_order, "segments",
      "segments out of order: kept if they fit into the reassembly queue");
    v("reorder_drops", &TcpRxCounters::reorder_drops, "segments",
      "segments out of order, dropped as the reassembly queue was full");
    v("reorder_bytes_max", &TcpRxCounters::reorder_bytes_max, "octets",
      "peak of the reassembly queue, over all connections");
    v("reorder_segments_max", &TcpRxCounters::reorder_segments_max, "segments",
      "peak of the reassembly queue of one connection, parts of segments counted separately");
    v("early_fpdus", &TcpRxCounters::early_fpdus, "FPDUs",
      "FPDUs out of order whose payload early_placement has placed: only their headers were kept");
    v("early_saved", &TcpRxCounters::early_saved, "octets", "octets freed in the reassembly queue by early placement");
    v("not_offered", &TcpRxCounters::not_offered, "segments",
      "segments out of order that early_placement could not take");
    v("paws", &TcpRxCounters::paws, "segments", "dropped: an old timestamp (RFC 7323 section 5)");
    v("no_timestamp", &TcpRxCounters::no_timestamp, "segments", "dropped: without the negotiated timestamp");
    v("duplicates", &TcpRxCounters::duplicates, "segments", "dropped: all octets were received before");
    v("trimmed", &TcpRxCounters::trimmed, "segments", "segments of which some octets were received before");
    v("beyond_window", &TcpRxCounters::beyond_window, "segments", "segments with octets beyond the receive window");
    v("outside", &TcpRxCounters::outside, "segments",
      "segments without octets, outside of the receive window: only acknowledged");
    v("bad_ack", &TcpRxCounters::bad_ack, "segments",
      "dropped: an ACK of what was never sent, or one older than any window (RFC 5961 section 5)");
    v("bad_reset", &TcpRxCounters::bad_reset, "segments", "RST not at the next octet (RFC 5961 section 3)");
    v("bad_syn", &TcpRxCounters::bad_syn, "segments", "SYN within a connection (RFC 5961 section 4)");
    v("not_ipv4", &TcpRxCounters::not_ipv4, "frames", "dropped: a protocol other than IPv4");
    v("bad_ipv4", &TcpRxCounters::bad_ipv4, "frames", "dropped: malformed IPv4 header, wrong checksum, or a fragment");
    v("not_for_us", &TcpRxCounters::not_for_us, "frames", "dropped: another address, or a protocol other than TCP");
    v("path_mtu_reports", &TcpRxCounters::path_mtu_reports, "packets",
      "ICMP packets that report a segment of ours as too long for a router");
    v("bad_tcp", &TcpRxCounters::bad_tcp, "segments", "dropped: malformed TCP header");
    v("bad_checksum", &TcpRxCounters::bad_checksum, "segments", "dropped: wrong TCP checksum");
  }

  void count(tcp::SegmentFault fault) {
    switch (fault) {
      case tcp::SegmentFault::kNone:
        return;
      case tcp::SegmentFault::kNotIpv4:
        ++not_ipv4;
        return;
      case tcp::SegmentFault::kIpv4Header:
        ++bad_ipv4;
        return;
      case tcp::SegmentFault::kNotForUs:
        ++not_for_us;
        return;
      case tcp::SegmentFault::kTcpHeader:
        ++bad_tcp;
        return;
      case tcp::SegmentFault::kTcpChecksum:
        ++bad_checksum;
        return;
    }
  }
  void count(const tcp::Receiver::Arrival& a) {
    using Answer = tcp::Receiver::Answer;
    using Verdict = tcp::Receiver::Verdict;
    trimmed += a.trimmed;
    if (a.verdict == Verdict::kAcceptable && (a.answer == Answer::kNone || a.answer == Answer::kSoon)) return;
    bad_reset += a.verdict == Verdict::kBadReset;
    bad_ack += a.verdict == Verdict::kBadAck || a.verdict == Verdict::kRefused;
    outside += a.verdict == Verdict::kOutside && !a.duplicate && !a.beyond_window;
    bad_syn += a.verdict == Verdict::kBadSyn;
    no_timestamp += a.verdict == Verdict::kNoTimestamp;
    paws += a.verdict == Verdict::kOldTimestamp;
    duplicates += a.duplicate;
    beyond_window += a.beyond_window;
    out_of_order += a.out_of_order;
    reorder_drops += a.dropped;
  }
  // Of all flows, and of the one that has changed.
  void count_peaks(tcp::ReassemblyMemory& m) {
    reorder_bytes_max.level(std::exchange(m.bytes_peak, m.bytes), m.bytes);
    reorder_segments_max.level(std::exchange(m.segments_peak, 0));
  }
};

}  // namespace rnic
