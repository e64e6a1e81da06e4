// The vocabulary of libibverbs: work requests, completions, attributes. Verbs return 0 or an errno value.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "model/abi/host_abi.h"
#include "model/common/ids.h"

namespace rnic::host {

using abi::Sge;
using abi::WcOpcode;
using abi::WcStatus;
using abi::WrOpcode;

// Octets that fit into a work request in place of its scatter/gather list (abi::kWqeInline).
inline constexpr std::uint32_t kMaxInlineBytes = abi::kMaxSge * sizeof(Sge);

// ATOMIC_FETCH_AND_ADD and ATOMIC_CMP_AND_SWP, masked (RFC 7306 section 5.1); the defaults make the plain forms.
struct AtomicWr {
  std::uint64_t compare_add = 0;                   // to add, or to compare with
  std::uint64_t swap = 0;                          // kCmpSwap: the new value
  std::uint64_t field_tops = 0;                    // kFetchAdd: most significant bits of fields, which no carry leaves
  std::uint64_t compare_mask = ~std::uint64_t{0};  // kCmpSwap: bits to compare,
  std::uint64_t swap_mask = ~std::uint64_t{0};     // and bits to replace
};

// ibv_send_wr. `send_flags` are abi::WqeFlags. kRdmaReadWithInv has one SGE, whose lkey ends with its completion. An
// atomic has one SGE of eight octets, for the value before it.
struct SendWr {
  std::uint64_t wr_id = 0;
  WrOpcode opcode = WrOpcode::kSend;
  std::uint8_t send_flags = 0;
  std::uint8_t num_sge = 0;
  std::array<Sge, abi::kMaxSge> sg_list{};
  std::uint64_t remote_addr = 0;
  std::uint32_t rkey = 0;
  std::uint32_t invalidate_rkey = 0;  // kSendWithInv, kLocalInv
  // kRegMr: the new content of an allocated region, under `rkey`. kBindMw: the part of the region `registration.lkey`
  // that a window of `rkey` opens. Either takes effect in posting order.
  abi::Registration registration{};
  // With kRdmaWrite this is RDMA_WRITE_WITH_IMM: the Write, then its Immediate Data (RFC 7306 section 6), which takes a
  // receive of the peer. They take two entries of the ring and complete as one request.
  std::optional<std::uint64_t> imm_data{};
  AtomicWr atomic{};
};

// ibv_recv_wr.
struct RecvWr {
  std::uint64_t wr_id = 0;
  std::uint8_t num_sge = 0;
  std::array<Sge, abi::kMaxSge> sg_list{};
};

abi::Wqe receive_wqe(const RecvWr& wr);

// ibv_wc. `byte_len` counts octets; wr_id, qp_num and opcode are valid with every status.
struct Wc {
  std::uint64_t wr_id = 0;
  WcStatus status = WcStatus::kSuccess;
  WcOpcode opcode = WcOpcode::kSend;
  std::uint32_t vendor_err = 0;
  std::uint32_t byte_len = 0;
  std::uint32_t qp_num = 0;
  bool solicited = false;
  std::uint64_t imm_data = 0;  // kRecvRdmaWithImm
};

// ibv_device_attr: the device's capabilities. Atomics are atomic among the queue pairs of the device only
// (IBV_ATOMIC_HCA).
struct DeviceAttr {
  std::uint32_t max_qp = 0, max_cq = 0, max_mr = 0, max_connections = 0;
  std::uint32_t max_srq = 0, max_pages = 0;
  bool atomics = false, immediate_data = false;
  // draft-carrier-rddp-rnic-interop-00 section 6.2.1: whether the device requests MPA markers by default; the
  // version of DDP and RDMAP that it starts with, and whether queue pairs may have another.
  bool receive_markers = false;
  bool crc = true;  // requests CRC on every stream (RFC 5044 section 4.4)
  std::uint8_t ddp_version = 1;
  bool version_selectable = false;
  std::array<std::uint32_t, 3> firmware_version{};  // major, minor, patch
  std::uint32_t home_pages = 0;                     // that it needs for contexts (Context::home)
};

// As ibv_wc_status_str: "success", "WR flushed error".
const char* wc_status_str(WcStatus status);
const char* connect_status_str(abi::ConnectStatus status);
const char* command_status_str(abi::CommandStatus status);
const char* fault_cause_str(abi::FaultCause cause);

}  // namespace rnic::host
