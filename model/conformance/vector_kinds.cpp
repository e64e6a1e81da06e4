#include "model/conformance/vector_kinds.h"

#include <memory>

#include "model/conformance/atomic_vectors.h"
#include "model/conformance/mpa_vectors.h"
#include "model/conformance/vector_stages.h"

namespace rnic::conformance {

namespace {

using Fields = std::vector<VectorField>;

// RFC 6581: the word after an MPA frame with S=1.
const Fields kEnhancedWord = {"a", "b", "c", "d", "ird", "ord"};

const Fields kMpaFrame = {
    "frame",
    "receiver_max_rev",
    "hex",
    {"decoded", {"ok", "error", "m", "c", "r", "s", "rev", "pd_length", {"enhanced", kEnhancedWord}, "private_hex"}},
    // "s" says no more than that there is an enhanced word
    {"encode", {"m", "c", "r", "s", "rev", {"enhanced", kEnhancedWord}, "private_hex"}}};

const Fields kEnhancedNego = {
    {"initiator", {"enhanced", "p2p", "ird", "ord", "max_ird", "auto_ird", "auto_ord", "rtr", "rtr_pref", "fallback"}},
    {"responder", {"enhanced", "ird", "ord", "max_ird", "need_ord", "reject_small_ird", "rtr"}},
    {"request", {"rev", "s", "r", "a", "b", "c", "d", "ird", "ord"}},
    {"reply", {"action", "rev", "s", "r", "a", "b", "c", "d", "ird", "ord"}},
    "reply_forced",
    {"responder_final", {"ird", "ord", "error"}},
    {"result", {"outcome", "ird", "ord", "rtr", "peer_ird", "peer_ord", "error", "may_retry_unenhanced"}}};

const Fields kRnicInterop = {
    {"initiator", {"type", "m", "c"}},
    {"responder", {"type", "m", "c"}},
    {"request", {"rev", "m", "c"}},
    "request_hex",
    {"reply", {"rev", "m", "c"}},
    "reply_hex",
    {"result", {"outcome", "closed_by", "version", "markers_to_initiator", "markers_to_responder", "crc"}}};

const Fields kFpdu = {
    "ulpdu_hex",    "marker_pos", "crc", "fpdu_hex", "ulpdu_length", "pad", {"markers", {"offset", "fpduptr"}},
    "received_hex", "expect"};

const Fields kMarkerStream = {"seq_start",
                              "pos",
                              "crc",
                              "ulpdus_hex",
                              "stream_hex",
                              {"markers", {"offset", "pos", "seq", "fpduptr"}},
                              {"fpdus", {"offset", "header_offset", "octets", "ulpdu_len", "pad", "crc_wire_hex"}}};

// What a chunk has depends on its type: a chunk that comes out otherwise than it stands here is a difference.
const Fields kSctpPacket = {"sport",        "dport", "vtag", "chunks", "packet_hex", "checksum", "checksum_wire_hex",
                            "received_hex", "expect"};

const Fields kSctpSession = {
    {"encode", {"ddp_ssn", "code", {"enhanced", kEnhancedWord}, "private_hex"}},
    "receiver_enhanced",
    "hex",
    {"decoded",
     {"ok", "error", "ddp_ssn", "code", "message", "pd_length", {"enhanced", kEnhancedWord}, "private_hex"}}};

const Fields kSctpNego = {
    {"initiator", {"enhanced", "p2p", "ird", "ord", "max_ird", "auto_ird", "auto_ord", "rtr", "rtr_pref", "fallback"}},
    {"responder",
     {"enhanced", "ird", "ord", "max_ird", "need_ord", "reject_small_ird", "rtr", "reject_no_rtr", "ulp",
      "pending_full"}},
    {"request", {"code", {"enhanced", kEnhancedWord}}},
    "request_hex",
    {"reply", {"code", {"enhanced", kEnhancedWord}}},
    "reply_hex",
    "reply_forced",
    {"responder_final", {"ird", "ord", "error"}},
    {"result",
     {"outcome",
      "ird",
      "ord",
      "rtr",
      "peer_ird",
      "peer_ord",
      "peer_rtr",
      "error",
      "may_retry_unenhanced",
      {"sends", {"ppid", "user_hex"}}}}};

const Fields kFetchAdd = {"original", "add", "mask", "result", "returned"};
const Fields kCmpSwap = {"original", "compare", "compare_mask", "swap", "swap_mask", "match", "result", "returned"};

}  // namespace

std::vector<VectorKind> vector_kinds(const PredictorSource* stages) {
  std::vector<VectorKind> kinds = {
      {"crc32c", {"data_hex", "crc", "wire_hex"}, check_crc32c},
      {"enhanced_nego", kEnhancedNego, check_enhanced_nego},
      // what stands in "fields" depends on the message
      {"messages", {"fields", "ulpdu_hex", "ulpdu_length"}, check_message},
      {"mpa_frame", kMpaFrame, check_mpa_frame},
      {"mulpdu", {"emss", "plain", "markers"}, check_mulpdu},
      {"rnic_interop", kRnicInterop, check_rnic_interop},
      {"sctp_nego", kSctpNego, check_sctp_nego},
      {"sctp_packet", kSctpPacket, check_sctp_packet},
      {"sctp_session", kSctpSession, check_sctp_session},
  };
  if (stages == nullptr) return kinds;
  const auto chains = std::make_shared<VectorStages>(*stages);
  const auto add = [&](const char* name, const Fields& fields, auto check) { kinds.push_back({name, fields, check}); };
  add("cmp_swap", kCmpSwap, [chains](const nlohmann::json& v) { return check_cmp_swap(chains->atomics(), v); });
  add("fetch_add", kFetchAdd, [chains](const nlohmann::json& v) { return check_fetch_add(chains->atomics(), v); });
  add("fpdu", kFpdu, [chains](const nlohmann::json& v) { return check_fpdu(chains->mpa(), v); });
  add("marker_stream", kMarkerStream,
      [chains](const nlohmann::json& v) { return check_marker_stream(chains->mpa(), v); });
  return kinds;
}

}  // namespace rnic::conformance
