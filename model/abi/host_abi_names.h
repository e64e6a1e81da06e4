// The version of the interface between host and device, and its names.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/abi/host_abi.h"

namespace rnic::abi {

// Changes with the layout or the meaning of anything in host_abi.h.
inline constexpr std::uint32_t kAbiVersion = 2;

inline constexpr const char* kCommandNames[] = {
    "nop",           "create_cq",   "destroy_cq",  "create_qp",         "destroy_qp", "register_mr",
    "deregister_mr", "listen",      "unlisten",    "connect",           "accept",     "reject",
    "disconnect",    "alloc_mr",    "alloc_mw",    "create_srq",        "modify_srq", "query_srq",
    "destroy_srq",   "modify_cq",   "write_pages", "register_mr_pages", "modify_qp",  "query_qp",
    "set_home",      "release_home"};
inline constexpr std::size_t kCommandOps = sizeof kCommandNames / sizeof *kCommandNames;
static_assert(kCommandOps == static_cast<std::size_t>(CommandOp::kReleaseHome) + 1);
constexpr const char* name(CommandOp op) {
  const auto i = static_cast<std::size_t>(op);
  return i < kCommandOps ? kCommandNames[i] : "unknown command";
}

constexpr const char* name(WrOpcode op) {
  switch (op) {
    case WrOpcode::kSend:
      return "send";
    case WrOpcode::kRdmaWrite:
      return "write";
    case WrOpcode::kRdmaRead:
      return "read";
    case WrOpcode::kSendWithInv:
      return "send with invalidate";
    case WrOpcode::kImmediate:
      return "immediate data";
    case WrOpcode::kFetchAdd:
      return "fetch and add";
    case WrOpcode::kCmpSwap:
      return "compare and swap";
    case WrOpcode::kRdmaReadWithInv:
      return "read with invalidate";
    case WrOpcode::kLocalInv:
      return "local invalidate";
    case WrOpcode::kRegMr:
      return "register";
    case WrOpcode::kBindMw:
      return "bind";
  }
  return "";
}

constexpr const char* name(CommandStatus status) {
  constexpr const char* kNames[] = {"ok",
                                    "bad operation",
                                    "bad index",
                                    "busy",
                                    "bad state",
                                    "no resources",
                                    "bad length",
                                    "version not supported",
                                    "markers cannot be disabled",
                                    "the device's firmware stopped",
                                    "no home for contexts"};
  static_assert(sizeof kNames / sizeof *kNames == static_cast<std::size_t>(CommandStatus::kNoHome) + 1);
  const auto i = static_cast<std::size_t>(status);
  return i < sizeof kNames / sizeof *kNames ? kNames[i] : "unknown status";
}

}  // namespace rnic::abi
