// Parts of messages that are defined elsewhere, field by field: headers on the wire, and the host's structures.
#pragma once

#include <array>
#include <cstring>
#include <iterator>

#include "model/abi/host_abi.h"
#include "model/abi/host_abi_names.h"
#include "model/common/message.h"
#include "model/wire/ethernet.h"
#include "model/wire/rdmap.h"
#include "model/wire/tcp_options.h"
#include "model/wire/terminate.h"

namespace rnic {

namespace abi {
inline const ValueWords& value_words(WrOpcode) {
  static const ValueWords kWords{"send",     "write", "read",      "send_inv", "immediate", "fetch_add", "cmp_swap",
                                 "read_inv", "",      "",          "",         "",          "",          "",
                                 "",         "",      "local_inv", "reg_mr",   "bind_mw"};
  return kWords;
}
inline const ValueWords& value_words(WcStatus) {
  static const ValueWords kWords{"success",          "loc_len_err",       "loc_qp_op_err",     "loc_eec_op_err",
                                 "loc_prot_err",     "wr_flush_err",      "mw_bind_err",       "bad_resp_err",
                                 "loc_access_err",   "rem_inv_req_err",   "rem_access_err",    "rem_op_err",
                                 "retry_exc_err",    "rnr_retry_exc_err", "loc_rdd_viol_err",  "rem_inv_rd_req_err",
                                 "rem_abort_err",    "inv_eecn_err",      "inv_eec_state_err", "fatal_err",
                                 "resp_timeout_err", "general_err"};
  return kWords;
}
inline const ValueWords& value_words(QpState) {
  static const ValueWords kWords{"idle", "rts", "closing", "terminate", "error"};
  return kWords;
}
inline const ValueWords& value_words(CommandOp) {
  static const ValueWords kWords(std::begin(kCommandNames), std::end(kCommandNames));
  return kWords;
}
}  // namespace abi
namespace wire {
inline const ValueWords& value_words(Opcode) {
  static const ValueWords kWords{"write",           "read_request", "read_response",      "send",
                                 "send_invalidate", "send_se",      "send_se_invalidate", "terminate",
                                 "immediate",       "immediate_se", "atomic_request",     "atomic_response"};
  return kWords;
}
}  // namespace wire

template <>
struct Message<wire::TerminateCause> {
  static constexpr const char* kName = "terminate_cause";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("layer", 4, m.layer);
    v("etype", 4, m.etype);
    v("code", 8, m.code);
  }
};
template <>
struct Message<wire::ReadRequest> {
  static constexpr const char* kName = "read_request";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("sink_stag", 32, m.sink_stag);
    v("sink_to", 64, m.sink_to);
    v("size", 32, m.size);
    v("src_stag", 32, m.src_stag);
    v("src_to", 64, m.src_to);
  }
};
template <>
struct Message<wire::AtomicRequest> {
  static constexpr const char* kName = "atomic_request";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("operation", 32, m.operation);
    v("request_id", 32, m.request_id);
    v("stag", 32, m.stag);
    v("to", 64, m.to);
    v("data", 64, m.data);
    v("data_mask", 64, m.data_mask);
    v("compare", 64, m.compare);
    v("compare_mask", 64, m.compare_mask);
  }
};
template <>
struct Message<wire::AtomicResponse> {
  static constexpr const char* kName = "atomic_response";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("request_id", 32, m.request_id);
    v("original", 64, m.original);
  }
};
template <>
struct Message<wire::ImmediateData> {
  static constexpr const char* kName = "immediate_data";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("data", 64, m.data);
  }
};
template <>
struct Message<wire::MacAddress> {
  static constexpr const char* kName = "mac_address";
  template <class V, class M>
  static void fields(V& v, M& m) {
    std::uint64_t address = 0;
    for (const std::uint8_t octet : m.octets) address = address << 8 | octet;
    v("address", 48, address);
    if constexpr (!std::is_const_v<M>) {
      for (auto octet = m.octets.rbegin(); octet != m.octets.rend(); ++octet, address >>= 8) {
        *octet = static_cast<std::uint8_t>(address);
      }
    }
  }
};
template <>
struct Message<wire::TcpTimestamps> {
  static constexpr const char* kName = "tcp_timestamps";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("value", 32, m.value);
    v("echo_reply", 32, m.echo_reply);
  }
};
template <>
struct Message<wire::SackBlock> {
  static constexpr const char* kName = "sack_block";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("left", 32, m.left);
    v("right", 32, m.right);
  }
};
// A missing option is 0 and has its flag clear.
template <>
struct Message<wire::TcpOptions> {
  static constexpr const char* kName = "tcp_options";
  template <class V>
  static void fields(V& v, const wire::TcpOptions& m) {
    const bool scales = m.window_scale.has_value(), stamped = m.timestamps.has_value();
    const std::uint16_t mss = m.mss.value_or(0);
    const std::uint8_t scale = m.window_scale.value_or(0);
    const wire::TcpTimestamps stamps = m.timestamps.value_or(wire::TcpTimestamps{});
    v("mss", 16, mss);
    v("scales", 1, scales);
    v("window_scale", 8, scale);
    v("sack_permitted", 1, m.sack_permitted);
    v("stamped", 1, stamped);
    v("timestamps", stamps);
    v("sack_blocks", 3, m.sack_blocks);
    v.each("sack", m.sack);
  }
};

template <>
struct Message<abi::Sge> {
  static constexpr const char* kName = "sge";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("address", 64, m.address);
    v("length", 32, m.length);
    v("lkey", 32, m.lkey);
  }
};
// Of a receive work request.
template <>
struct Message<abi::Wqe> {
  static constexpr const char* kName = "receive_wqe";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("wr_id", 64, m.wr_id);
    v("num_sge", 8, m.num_sge);
    v.each("sge", m.sge);
  }
};
template <>
struct Message<abi::Cqe> {
  static constexpr const char* kName = "cqe";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("wr_id", 64, m.wr_id);
    v("immediate", 64, m.immediate);
    v("byte_len", 32, m.byte_len);
    v("qpn", 32, m.qpn);
    v("vendor_error", 32, m.vendor_error);
    v("opcode", 8, m.opcode);
    v("status", 8, m.status);
    v("flags", 8, m.flags);
  }
};
template <>
struct Message<abi::Command> {
  static constexpr const char* kName = "command";
  template <class V>
  static void fields(V& v, const abi::Command& m) {
    v("op", 8, m.op);
    v("flags", 8, m.flags);
    v("private_bytes", 16, m.private_bytes);
    v("cookie", 32, m.cookie);
    v("id", 32, m.id);
    v("qpn", 32, m.qpn);
    std::array<std::uint8_t, sizeof m.u.raw> arguments;
    std::memcpy(arguments.data(), m.u.raw, sizeof m.u.raw);
    v.octets("arguments", arguments);
  }
};
template <>
struct Message<abi::StreamAttr> {
  static constexpr const char* kName = "stream_attr";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("personality", 8, m.personality);
    v("rx_markers", 8, m.rx_markers);
    v("tx_markers", 8, m.tx_markers);
  }
};
template <>
struct Message<abi::Event> {
  static constexpr const char* kName = "event";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("type", 8, m.type);
    v("status", 8, m.status);
    v("private_bytes", 16, m.private_bytes);
    v("cookie", 32, m.cookie);
    v("id", 32, m.id);
    v("peer_ip", 32, m.peer_ip);
    v("peer_port", 16, m.peer_port);
    v("local_port", 16, m.local_port);
    v("ird", 16, m.ird);
    v("ord", 16, m.ord);
    v("srq_limit", 32, m.srq_limit);
    v("terminate", 32, m.terminate);
    v("peer_ird", 16, m.peer_ird);
    v("peer_ord", 16, m.peer_ord);
    v("mpa_revision", 8, m.mpa_revision);
    v("mpa_flags", 8, m.mpa_flags);
    v("terminate_origin", 8, m.terminate_origin);
    v("ddp_version", 8, m.ddp_version);
    v("qp_state", 8, m.qp_state);
    v("stream", m.stream);
  }
};

}  // namespace rnic
