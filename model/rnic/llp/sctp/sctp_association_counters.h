#pragma once

#include <cstdint>

namespace rnic {

struct SctpAssociationCounters {
  std::uint64_t opened = 0, accepted = 0, failed = 0, restarted = 0, shut_down = 0, no_association = 0;
  std::uint64_t chunks = 0, duplicates = 0, no_room = 0, violations = 0, strays = 0, out_of_order = 0;
  std::uint64_t messages = 0, sacks = 0, fast_retransmits = 0, timeouts = 0, late_ulpdus = 0, segments = 0;
  std::uint64_t ops_ignored = 0, bad_header = 0, peer_errors = 0;
  std::uint64_t early_segments = 0, not_offered = 0, path_mtu_changes = 0;
  std::uint64_t idle_ended = 0, evicted = 0, sessions_abandoned = 0;
  template <class V>
  static void fields(V& v) {
    using C = SctpAssociationCounters;
    v("opened", &C::opened, "associations", "associations that this side opened");
    v("accepted", &C::accepted, "associations", "associations that a peer opened");
    v("failed", &C::failed, "associations", "associations that were aborted, lost, or could not be opened");
    v("restarted", &C::restarted, "associations", "associations that the peer restarted");
    v("shut_down", &C::shut_down, "associations", "associations that ended by a complete shutdown");
    v("idle_ended", &C::idle_ended, "associations", "associations shut down because the peer had no session on them");
    v("evicted", &C::evicted, "associations", "associations without a session that were aborted to make room");
    v("sessions_abandoned", &C::sessions_abandoned, "streams",
      "sessions that a peer did not end in time; an association without any other session is aborted");
    v("no_association", &C::no_association, "packets", "cookies refused because all associations were in use");
    v("chunks", &C::chunks, "chunks", "DATA chunks received");
    v("duplicates", &C::duplicates, "chunks", "DATA chunks that had been received before");
    v("no_room", &C::no_room, "chunks", "DATA chunks dropped without acknowledgement: no room, or beyond the window");
    v("violations", &C::violations, "chunks", "DATA chunks that broke a rule of DDP streams, or of SCTP");
    v("strays", &C::strays, "chunks", "DATA chunks on a stream without a session");
    v("out_of_order", &C::out_of_order, "segments", "segments that waited for an earlier one");
    v("path_mtu_changes", &C::path_mtu_changes, "events", "reductions of an association's path MTU");
    v("early_segments", &C::early_segments, "segments", "segments whose payload was written to memory out of order");
    v("not_offered", &C::not_offered, "segments",
      "segments out of order that were not offered, as early_placement was busy");
    v("segments", &C::segments, "segments", "DDP segments handed to ddp_placement");
    v("messages", &C::messages, "messages", "DDP segments and control messages to be sent");
    v("sacks", &C::sacks, "chunks", "SACK chunks sent");
    v("fast_retransmits", &C::fast_retransmits, "events",
      "retransmissions after three SACKs that report a chunk missing");
    v("timeouts", &C::timeouts, "events", "expiries of T3-rtx");
    v("ops_ignored", &C::ops_ignored, "operations", "operations on a stream whose association is gone or ending");
    v("bad_header", &C::bad_header, "packets", "dropped: a port is 0");
    v("peer_errors", &C::peer_errors, "chunks", "ERROR chunks of peers");
    v("late_ulpdus", &C::late_ulpdus, "segments", "dropped: segments of a session that had ended");
  }
};

}  // namespace rnic
