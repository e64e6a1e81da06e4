// The names of the enumerations that structures of the C interface carry, and of their values: RNIC_WR_OPCODE_SEND.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/abi/context_types.h"
#include "model/abi/host_abi.h"
#include "model/abi/srq_events.h"
#include "model/abi/tx_internal_work.h"
#include "model/common/value_words.h"
#include "model/rnic/messages/parts.h"
#include "model/wire/rdmap.h"
#include "model/wire/terminate.h"

namespace rnic::golden {

// One that only one member has: its name is "<message>_<member>".
template <class T>
struct Enumeration {
  static constexpr const char* kName = "";
  static const ValueWords& words() { return value_words(T{}); }
};

template <>
struct Enumeration<abi::WrOpcode> {
  static constexpr const char* kName = "wr_opcode";
  static const ValueWords& words() { return value_words(abi::WrOpcode{}); }
};
template <>
struct Enumeration<abi::WcStatus> {
  static constexpr const char* kName = "wc_status";
  static const ValueWords& words() { return value_words(abi::WcStatus{}); }
};
template <>
struct Enumeration<abi::QpState> {
  static constexpr const char* kName = "qp_state";
  static const ValueWords& words() { return value_words(abi::QpState{}); }
};
template <>
struct Enumeration<abi::CommandOp> {
  static constexpr const char* kName = "command_op";
  static const ValueWords& words() { return value_words(abi::CommandOp{}); }
};
template <>
struct Enumeration<wire::Opcode> {
  static constexpr const char* kName = "rdmap_opcode";
  static const ValueWords& words() { return value_words(wire::Opcode{}); }
};

// The words of the others are here alone: their headers are the firmware's, too, which has no strings.
template <>
struct Enumeration<wire::Layer> {
  static constexpr const char* kName = "terminate_layer";
  static const ValueWords& words() {
    static const ValueWords kWords{"rdma", "ddp", "llp"};
    return kWords;
  }
};
template <>
struct Enumeration<LlpId> {
  static constexpr const char* kName = "llp";
  static const ValueWords& words() {
    static const ValueWords kWords{"mpa_tcp", "sctp"};
    return kWords;
  }
};
template <>
struct Enumeration<StagKind> {
  static constexpr const char* kName = "stag_kind";
  static const ValueWords& words() {
    static const ValueWords kWords{"region", "window_1", "window_2"};
    return kWords;
  }
};
template <>
struct Enumeration<SrqEvent::Kind> {
  static constexpr const char* kName = "srq_event_kind";
  static const ValueWords& words() {
    static const ValueWords kWords{"limit", "overrun"};
    return kWords;
  }
};
template <>
struct Enumeration<TxInternalWork::Kind> {
  static constexpr const char* kName = "tx_internal_work_kind";
  static const ValueWords& words() {
    static const ValueWords kWords{"rtr_send", "rtr_write", "rtr_read", "terminate", "drain", "flush"};
    return kWords;
  }
};
template <>
struct Enumeration<abi::CommandStatus> {
  static constexpr const char* kName = "command_status";
  static const ValueWords& words() {
    static const ValueWords kWords{"ok",
                                   "bad_op",
                                   "bad_index",
                                   "busy",
                                   "bad_state",
                                   "no_resources",
                                   "bad_length",
                                   "version_not_supported",
                                   "markers_required",
                                   "device_fatal",
                                   "no_home"};
    return kWords;
  }
};
template <>
struct Enumeration<abi::EventType> {
  static constexpr const char* kName = "event_type";
  static const ValueWords& words() {
    static const ValueWords kWords{"none",          "command_done", "connect_request", "established", "rejected",
                                   "connect_error", "disconnected", "qp_error",        "cq_notify",   "cq_error",
                                   "srq_limit",     "srq_error",    "device_fatal",    "context_lost"};
    return kWords;
  }
};
template <>
struct Enumeration<abi::Personality> {
  static constexpr const char* kName = "personality";
  static const ValueWords& words() {
    static const ValueWords kWords{"device", "rdmac", "ietf", "permissive"};
    return kWords;
  }
};
template <>
struct Enumeration<abi::Markers> {
  static constexpr const char* kName = "markers";
  static const ValueWords& words() {
    static const ValueWords kWords{"open", "off", "on"};
    return kWords;
  }
};
template <>
struct Enumeration<abi::RtrKind> {
  static constexpr const char* kName = "rtr_kind";
  static const ValueWords& words() {
    static const ValueWords kWords{"none", "send", "write", "read"};
    return kWords;
  }
};
template <>
struct Enumeration<abi::TerminateOrigin> {
  static constexpr const char* kName = "terminate_origin";
  static const ValueWords& words() {
    static const ValueWords kWords{"local", "peer", "malformed", "unsent"};
    return kWords;
  }
};

// An enumeration or a set of flags that a member of another type carries, or octets.
struct MeantNumbers {
  struct Value {
    std::string word;
    std::uint64_t number;
  };
  std::string name;
  std::vector<std::string> members;  // "message.member"
  std::vector<Value> values;
};
const std::vector<MeantNumbers>& meant_numbers();

}  // namespace rnic::golden
