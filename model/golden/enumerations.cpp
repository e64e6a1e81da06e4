#include "model/golden/enumerations.h"

#include <utility>

#include "model/common/check.h"
#include "model/rnic/messages/datapath.h"

namespace rnic::golden {
namespace {

// Of numbers from 0 on.
template <class Last>
MeantNumbers counted(std::string name, std::vector<std::string> members, const std::vector<const char*>& words,
                     Last last) {
  MeantNumbers numbers{std::move(name), std::move(members), {}};
  for (const char* const word : words) numbers.values.push_back({word, numbers.values.size()});
  RNIC_CHECK(words.size() == static_cast<std::size_t>(last) + 1);
  return numbers;
}

}  // namespace

const std::vector<MeantNumbers>& meant_numbers() {
  static const std::vector<MeantNumbers> kNumbers{
      counted("stream_end", {"fpdu.octets"}, {"in_order", "reset"}, StreamEnd::kReset),
      counted("connect_status", {"cm_event.status"},
              {"ok", "refused", "timeout", "reset", "bad_mpa_frame", "bad_revision", "insufficient_ird",
               "no_matching_rtr", "local_failure", "cancelled", "no_resources"},
              abi::ConnectStatus::kNoResources),
      {"atomic_opcode",
       {"queued_atomic.request_operation", "queued_request.atomic_operation", "placed_segment.atomic_operation"},
       {{"fetch_add", static_cast<std::uint64_t>(wire::AtomicOpcode::kFetchAdd)},
        {"cmp_swap", static_cast<std::uint64_t>(wire::AtomicOpcode::kCmpSwap)}}},
      {"wqe_flag",
       {"fetched_wqe.flags"},
       {{"signaled", abi::kWqeSignaled},
        {"solicited", abi::kWqeSolicited},
        {"fence", abi::kWqeFence},
        {"inline", abi::kWqeInline}}},
      {"access_flag",
       {"stag_context.access"},
       {{"local_write", abi::kLocalWrite},
        {"remote_write", abi::kRemoteWrite},
        {"remote_read", abi::kRemoteRead},
        {"remote_atomic", abi::kRemoteAtomic},
        {"mw_bind", abi::kMwBind},
        {"zero_based", abi::kZeroBased},
        {"remote_invalidate", abi::kRemoteInvalidate}}},
      {"cm_flag",
       {"cm_command.flags"},
       {{"markers", abi::kCmMarkers},
        {"crc", abi::kCmCrc},
        {"enhanced", abi::kCmEnhanced},
        {"peer_to_peer", abi::kCmPeerToPeer},
        {"rtr_send", abi::kCmRtrSend},
        {"rtr_write", abi::kCmRtrWrite},
        {"rtr_read", abi::kCmRtrRead}}},
      {"cm_option",
       {"cm_command.options"},
       {{"keep_ird", abi::kCmKeepIrd},
        {"keep_ord", abi::kCmKeepOrd},
        {"max_ird", abi::kCmMaxIrd},
        {"stay", abi::kCmStay},
        {"sctp", abi::kCmSctp}}},
  };
  return kNumbers;
}

}  // namespace rnic::golden
