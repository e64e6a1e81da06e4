// Checks the host's commands on queue pairs, completion and shared receive queues and memory regions, and writes the
// contexts.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "firmware/lib/capacity.h"
#include "firmware/lib/personality.h"
#include "model/abi/firmware_operations.h"
#include "model/abi/firmware_sram.h"
#include "model/common/bytes.h"

namespace rnic::fw {

inline constexpr std::uint32_t kNoConnection = 0xffffffff;
// As kMaxLogWq.
inline constexpr unsigned kMaxLogCq = 10;

struct QpEntry {
  QpContext context;  // as the hardware has it
  std::uint32_t connection = kNoConnection;
  abi::StreamAttr stream = {};

  // Records the markers that the peers have agreed on.
  void settle(bool rx_markers, bool tx_markers) {
    stream.rx_markers = rx_markers ? abi::Markers::kOn : abi::Markers::kOff;
    stream.tx_markers = tx_markers ? abi::Markers::kOn : abi::Markers::kOff;
  }
  abi::StreamAttr selection() const {
    return context.version == 0 ? abi::StreamAttr{stream.personality, abi::Markers::kOn, abi::Markers::kOn} : stream;
  }
};

template <class Bus, class Capacity = DefaultCapacity>
class ResourceManager {
 public:
  using Status = abi::CommandStatus;
  ResourceManager(Bus& bus, const Settings& settings) : bus_(bus), settings_(settings) {}
  ResourceManager(const ResourceManager&) = delete;
  ResourceManager& operator=(const ResourceManager&) = delete;
  // Of this object, in octets.
  static constexpr std::size_t bytes_per_qp() { return sizeof(QpEntry); }
  static constexpr std::size_t bytes_per_cq() { return sizeof(CqEntry); }
  static constexpr std::size_t bytes_per_stag() { return sizeof(MrEntry); }

  // A command has no effect unless it returns kOk.
  Status create_cq(const abi::Command& c);
  Status modify_cq(const abi::Command& c);
  Status destroy_cq(const abi::Command& c);
  Status create_qp(const abi::Command& c);
  Status modify_qp(const abi::Command& c);
  Status destroy_qp(const abi::Command& c);
  Status create_srq(const abi::Command& c);
  Status modify_srq(const abi::Command& c);
  Status destroy_srq(const abi::Command& c);
  Status register_mr(const abi::Command& c);
  Status write_pages(const abi::Command& c);
  Status register_mr_pages(const abi::Command& c);
  Status deregister_mr(const abi::Command& c);
  Status alloc_mr(const abi::Command& c) { return allocate(c, StagKind::kRegion); }
  Status alloc_mw(const abi::Command& c);
  // The home of contexts: in host memory, and only on chips that need one.
  Status set_home(const abi::Command& c);
  Status release_home();
  void home_released() { releasing_ = false; }
  // Not all contexts of the kind are on the chip.
  bool is_homed(abi::ContextKind kind) const { return settings_.homed_kinds >> static_cast<unsigned>(kind) & 1; }
  // Their home has all of its pages, or needs none.
  bool has_home(abi::ContextKind kind) const { return !is_homed(kind) || home_pages_ == settings_.home_pages; }

  // nullptr if the QP does not exist.
  QpEntry* qp(Qpn n) { return n.v < settings_.qps && qps_[n.v].context.valid ? &qps_[n.v] : nullptr; }
  // No further QP can be created on the CQ. False if it does not exist, or has failed already.
  bool fail_cq(Cqn n) { return has_cq(n.v) && !std::exchange(cqs_[n.v].failed, true); }
  // Calls f(qpn) for each QP that uses the CQ.
  template <class F>
  void for_each_qp_on(Cqn cqn, F f) {
    for (std::uint32_t n = 0; n < settings_.qps; ++n) {
      const QpContext& c = qps_[n].context;
      if (c.valid && (c.send_cq == cqn || c.recv_cq == cqn)) f(Qpn{n});
    }
  }
  // The armed limit, 0 if none is; nothing if the queue does not exist.
  std::optional<std::uint32_t> srq_limit(Srqn n) const {
    return has_srq(n.v) ? std::optional(srqs_[n.v].arm.limit) : std::nullopt;
  }
  // False if the queue no longer exists. A queue that was armed again meanwhile stays armed.
  bool limit_reached(Srqn n, std::uint32_t serial);
  // No further QP can be created on the queue. False if it does not exist, or has failed already.
  bool fail_srq(Srqn n) { return has_srq(n.v) && !std::exchange(srqs_[n.v].failed, true); }
  // Calls f(qpn) for each QP that takes its receive requests from the queue.
  template <class F>
  void for_each_qp_sharing(Srqn srqn, F f) {
    for (std::uint32_t n = 0; n < settings_.qps; ++n) {
      const QpContext& c = qps_[n].context;
      if (c.valid && c.shares_rq && c.srq == srqn) f(Qpn{n});
    }
  }
  // Writes an entry's context to the hardware.
  void publish(Qpn n) { bus_.write(WriteQp{n, qps_[n.v].context}); }

 private:
  struct CqEntry {
    CqContext context;        // as the hardware has it
    std::uint32_t users = 0;  // send and receive queues that complete here
    bool failed = false;      // it lost an entry
  };
  struct SrqEntry {
    SrqContext context;  // as the hardware has it
    SrqArm arm;
    std::uint32_t users = 0;
    bool failed = false;
  };
  struct MrEntry {
    bool valid : 1;
    bool allocated : 1;  // the send queue checks and changes its key
    bool in_pages : 1;   // it has a part of the page table
    std::uint8_t key;
  };
  void enter(std::uint32_t index, const MrEntry& entry) {
    mrs_in_use_ += entry.valid;
    mrs_in_use_ -= mrs_[index].valid;
    regions_in_pages_ += entry.in_pages;
    regions_in_pages_ -= mrs_[index].in_pages;
    mrs_[index] = entry;
  }
  Status check_mr(const abi::Command& c) const;
  bool has_pages(std::uint32_t first, std::uint32_t count) const {
    return first <= settings_.pages && count <= settings_.pages - first;
  }
  void write_mr(const abi::Command& c, StagContext context);
  Status allocate(const abi::Command& c, StagKind kind);
  void set_stream(QpEntry& entry, abi::StreamAttr attr);
  bool has_srq(std::uint32_t srqn) const { return srqn < settings_.srqs && srqs_[srqn].context.valid; }
  bool has_cq(std::uint32_t cqn) const { return cqn < settings_.cqs && cqs_[cqn].context.valid; }

  Bus& bus_;
  const Settings settings_;
  QpEntry qps_[Capacity::kQps];
  CqEntry cqs_[Capacity::kCqs];
  SrqEntry srqs_[Capacity::kSrqs];
  MrEntry mrs_[Capacity::kStags] = {};
  std::uint32_t regions_in_pages_ = 0, cqs_in_use_ = 0, mrs_in_use_ = 0, qps_in_use_ = 0, srqs_in_use_ = 0;
  std::uint32_t home_pages_ = 0;  // that the host has given, in their order
  bool releasing_ = false;        // the hardware has not answered yet
};

template <class Bus, class Capacity>
abi::CommandStatus ResourceManager<Bus, Capacity>::create_cq(const abi::Command& c) {
  if (c.id >= settings_.cqs) return Status::kBadIndex;
  if (has_cq(c.id)) return Status::kBusy;
  if (c.u.cq.log_entries > kMaxLogCq) return Status::kBadLength;
  if (!has_home(abi::ContextKind::kCq)) return Status::kNoHome;
  ++cqs_in_use_;
  cqs_[c.id].failed = false;
  CqContext& context = cqs_[c.id].context;
  context.valid = true;
  context.log_entries = static_cast<std::uint8_t>(c.u.cq.log_entries);
  context.base = c.u.cq.base;
  context.moderation_count = 0;
  context.moderation_ns = 0;
  ++context.epoch;
  bus_.write(WriteCq{Cqn{c.id}, context});
  return Status::kOk;
}

// A count without a period could leave an entry unannounced forever.
template <class Bus, class Capacity>
abi::CommandStatus ResourceManager<Bus, Capacity>::modify_cq(const abi::Command& c) {
  if (!has_cq(c.id)) return Status::kBadIndex;
  const auto& moderation = c.u.moderation;
  if (moderation.count > 0xffff || (moderation.count > 1 && moderation.period_ns == 0)) return Status::kBadLength;
  CqContext& context = cqs_[c.id].context;
  context.moderation_count = static_cast<std::uint16_t>(moderation.count);
  context.moderation_ns = moderation.period_ns;
  bus_.write(WriteCq{Cqn{c.id}, context});
  return Status::kOk;
}

template <class Bus, class Capacity>
abi::CommandStatus ResourceManager<Bus, Capacity>::destroy_cq(const abi::Command& c) {
  if (!has_cq(c.id)) return Status::kBadIndex;
  if (cqs_[c.id].users != 0) return Status::kBusy;
  --cqs_in_use_;
  cqs_[c.id].context.valid = false;
  bus_.write(WriteCq{Cqn{c.id}, cqs_[c.id].context});
  return Status::kOk;
}

template <class Bus, class Capacity>
abi::CommandStatus ResourceManager<Bus, Capacity>::create_qp(const abi::Command& c) {
  const auto& qp = c.u.qp;
  if (c.id >= settings_.qps || !has_cq(qp.send_cqn) || !has_cq(qp.recv_cqn)) return Status::kBadIndex;
  if (qps_[c.id].context.valid) return Status::kBusy;
  if (cqs_[qp.send_cqn].failed || cqs_[qp.recv_cqn].failed) return Status::kBadState;
  if (!has_home(abi::ContextKind::kQp) || !has_home(abi::ContextKind::kFlow)) return Status::kNoHome;
  const bool shares_rq = (c.flags & abi::kQpSharesRq) != 0;
  if (shares_rq) {
    if (!has_srq(qp.srqn)) return Status::kBadIndex;
    if (srqs_[qp.srqn].failed || srqs_[qp.srqn].context.pd != Pdn{qp.pd}) return Status::kBadState;
  }
  if (qp.log_sq > kMaxLogWq || qp.log_rq > kMaxLogWq) return Status::kBadLength;
  if (const Status status = check(qp.stream, settings_.personality); status != Status::kOk) return status;
  QpContext& context = qps_[c.id].context;
  const std::uint32_t epoch = context.epoch + 1;
  context = {};
  context.valid = true;
  context.epoch = epoch;
  context.extensions = settings_.extensions;
  context.log_sq = qp.log_sq;
  context.log_rq = qp.log_rq;
  context.pd = Pdn{qp.pd};
  context.send_cq = Cqn{qp.send_cqn};
  context.recv_cq = Cqn{qp.recv_cqn};
  context.shares_rq = shares_rq;
  if (shares_rq) {
    context.srq = Srqn{qp.srqn};
    ++srqs_[qp.srqn].users;
  }
  context.sq_base = qp.sq_base;
  context.rq_base = qp.rq_base;
  set_stream(qps_[c.id], qp.stream);
  ++cqs_[qp.send_cqn].users;
  ++cqs_[qp.recv_cqn].users;
  ++qps_in_use_;
  publish(Qpn{c.id});
  return Status::kOk;
}

template <class Bus, class Capacity>
void ResourceManager<Bus, Capacity>::set_stream(QpEntry& entry, abi::StreamAttr attr) {
  entry.stream = attr;
  entry.context.version = first_version(resolve(attr.personality, settings_.personality));
}

// Changes the stream's attributes until a start-up frame has announced them to a peer. Connect and accept move a QP
// from Idle to RTS (draft-carrier-rddp-rnic-interop-00 section 6.2.5). The connection manager handles kError.
template <class Bus, class Capacity>
abi::CommandStatus ResourceManager<Bus, Capacity>::modify_qp(const abi::Command& c) {
  const auto& modify = c.u.modify_qp;
  QpEntry* entry = qp(Qpn{c.id});
  if (entry == nullptr) return Status::kBadIndex;
  const bool open = modify.stream.personality == abi::Personality::kDevice &&
                    modify.stream.rx_markers == abi::Markers::kOpen && modify.stream.tx_markers == abi::Markers::kOpen;
  if (modify.to == QpState::kError) return open ? Status::kOk : Status::kBadState;
  if (modify.to != QpState::kIdle || entry->context.state != QpState::kIdle) return Status::kBadState;
  if (entry->connection != kNoConnection) return Status::kBadState;
  const abi::StreamAttr attr = changed(entry->stream, modify.stream);
  if (const Status status = check(attr, settings_.personality); status != Status::kOk) return status;
  set_stream(*entry, attr);
  publish(Qpn{c.id});
  return Status::kOk;
}

template <class Bus, class Capacity>
abi::CommandStatus ResourceManager<Bus, Capacity>::destroy_qp(const abi::Command& c) {
  QpEntry* entry = qp(Qpn{c.id});
  if (entry == nullptr) return Status::kBadIndex;
  if (entry->connection != kNoConnection) return Status::kBadState;
  --cqs_[entry->context.send_cq.v].users;
  --cqs_[entry->context.recv_cq.v].users;
  if (entry->context.shares_rq) --srqs_[entry->context.srq.v].users;
  entry->context.valid = false;
  --qps_in_use_;
  publish(Qpn{c.id});
  return Status::kOk;
}

template <class Bus, class Capacity>
abi::CommandStatus ResourceManager<Bus, Capacity>::create_srq(const abi::Command& c) {
  if (c.id >= settings_.srqs) return Status::kBadIndex;
  if (has_srq(c.id)) return Status::kBusy;
  if (c.u.srq.log_entries > kMaxLogWq) return Status::kBadLength;
  if (!has_home(abi::ContextKind::kSrq)) return Status::kNoHome;
  ++srqs_in_use_;
  SrqEntry& entry = srqs_[c.id];
  entry.failed = false;
  entry.arm = {Srqn{c.id}, 0, entry.arm.serial};
  entry.context.valid = true;
  entry.context.log_entries = static_cast<std::uint8_t>(c.u.srq.log_entries);
  entry.context.pd = Pdn{c.u.srq.pd};
  entry.context.base = c.u.srq.base;
  ++entry.context.epoch;
  bus_.write(WriteSrq{Srqn{c.id}, entry.context});
  return Status::kOk;
}

template <class Bus, class Capacity>
abi::CommandStatus ResourceManager<Bus, Capacity>::modify_srq(const abi::Command& c) {
  if (!has_srq(c.id)) return Status::kBadIndex;
  SrqEntry& entry = srqs_[c.id];
  if (entry.failed) return Status::kBadState;
  if (c.u.srq.limit > 1u << entry.context.log_entries) return Status::kBadLength;
  entry.arm = {Srqn{c.id}, c.u.srq.limit, entry.arm.serial + 1};
  bus_.write(ArmSrq{entry.arm});
  return Status::kOk;
}

template <class Bus, class Capacity>
bool ResourceManager<Bus, Capacity>::limit_reached(Srqn n, std::uint32_t serial) {
  if (!has_srq(n.v)) return false;
  if (srqs_[n.v].arm.serial == serial) srqs_[n.v].arm.limit = 0;
  return true;
}

template <class Bus, class Capacity>
abi::CommandStatus ResourceManager<Bus, Capacity>::destroy_srq(const abi::Command& c) {
  if (!has_srq(c.id)) return Status::kBadIndex;
  if (srqs_[c.id].users != 0) return Status::kBusy;
  --srqs_in_use_;
  srqs_[c.id].context.valid = false;
  bus_.write(WriteSrq{Srqn{c.id}, srqs_[c.id].context});
  return Status::kOk;
}

template <class Bus, class Capacity>
abi::CommandStatus ResourceManager<Bus, Capacity>::check_mr(const abi::Command& c) const {
  const std::uint32_t index = c.id >> 8;
  if (index >= settings_.stags) return Status::kBadIndex;
  if (mrs_[index].valid) return Status::kBusy;
  if (!has_home(abi::ContextKind::kStag)) return Status::kNoHome;
  return c.u.mr.address + c.u.mr.length < c.u.mr.address ? Status::kBadLength : Status::kOk;
}

// The caller has filled in the location of the memory.
template <class Bus, class Capacity>
void ResourceManager<Bus, Capacity>::write_mr(const abi::Command& c, StagContext context) {
  enter(c.id >> 8, {true, false, context.log_page != 0, static_cast<std::uint8_t>(c.id)});
  context.valid = true;
  context.key = static_cast<std::uint8_t>(c.id);
  context.access = c.flags & ~abi::kZeroBased;
  context.zero_based = (c.flags & abi::kZeroBased) != 0;
  context.pd = Pdn{c.u.mr.pd};
  context.address = c.u.mr.address;
  context.length = c.u.mr.length;
  bus_.write(WriteStag{Stag{c.id}, context});
}

template <class Bus, class Capacity>
abi::CommandStatus ResourceManager<Bus, Capacity>::register_mr(const abi::Command& c) {
  if (const Status status = check_mr(c); status != Status::kOk) return status;
  StagContext context;
  context.bus = c.u.mr.address;
  write_mr(c, context);
  return Status::kOk;
}

// STag 0 cannot name a page list.
template <class Bus, class Capacity>
abi::CommandStatus ResourceManager<Bus, Capacity>::register_mr_pages(const abi::Command& c) {
  const auto& mr = c.u.mr_pages;
  if (c.id == 0) return Status::kBadIndex;
  if (const Status status = check_mr(c); status != Status::kOk) return status;
  if (!has_pages(mr.first_page, mr.pages)) return Status::kNoResources;
  if (!has_home(abi::ContextKind::kPages)) return Status::kNoHome;
  if (!fits_pages(mr.first_offset, mr.length, mr.pages, mr.log_page)) return Status::kBadLength;
  StagContext context;
  context.bus = mr.first_offset;
  context.log_page = static_cast<std::uint8_t>(mr.log_page);
  context.first_page = mr.first_page;
  context.pages = mr.pages;
  write_mr(c, context);
  return Status::kOk;
}

template <class Bus, class Capacity>
abi::CommandStatus ResourceManager<Bus, Capacity>::write_pages(const abi::Command& c) {
  const std::uint32_t pages = c.private_bytes / 8;
  if (pages == 0 || c.private_bytes % 8 != 0 || c.private_bytes > kCommandWindow.bytes) return Status::kBadLength;
  if (!has_pages(c.id, pages)) return Status::kNoResources;
  if (!has_home(abi::ContextKind::kPages)) return Status::kNoHome;
  const MutableByteSpan list = bus_.sram({kCommandWindow.offset, c.private_bytes});
  for (std::uint32_t i = 0; i < pages; ++i) {
    if (load_le64(list.data() + 8 * i) % (1u << kMinLogPage) != 0) return Status::kBadLength;
  }
  for (std::uint32_t i = 0; i < pages; ++i) bus_.write(WritePage{c.id + i, load_le64(list.data() + 8 * i)});
  return Status::kOk;
}

template <class Bus, class Capacity>
abi::CommandStatus ResourceManager<Bus, Capacity>::deregister_mr(const abi::Command& c) {
  const std::uint32_t index = c.id >> 8;
  if (index >= settings_.stags || !mrs_[index].valid) return Status::kBadIndex;
  if (!mrs_[index].allocated && mrs_[index].key != static_cast<std::uint8_t>(c.id)) return Status::kBadIndex;
  enter(index, {});
  bus_.write(WriteStag{Stag{c.id}, {}});
  return Status::kOk;
}

// In their order, so that no page is forgotten.
template <class Bus, class Capacity>
abi::CommandStatus ResourceManager<Bus, Capacity>::set_home(const abi::Command& c) {
  if (releasing_) return Status::kBusy;
  const std::uint32_t pages = c.private_bytes / 8;
  if (pages == 0 || c.private_bytes % 8 != 0 || c.private_bytes > kCommandWindow.bytes) return Status::kBadLength;
  if (c.id != home_pages_ || pages > settings_.home_pages - home_pages_) return Status::kBadIndex;
  const MutableByteSpan list = bus_.sram({kCommandWindow.offset, c.private_bytes});
  for (std::uint32_t i = 0; i < pages; ++i) {
    if (load_le64(list.data() + 8 * i) % abi::kHomePageBytes != 0) return Status::kBadLength;
  }
  for (std::uint32_t i = 0; i < pages; ++i) bus_.write(WriteHomePage{c.id + i, load_le64(list.data() + 8 * i)});
  home_pages_ += pages;
  return Status::kOk;
}

template <class Bus, class Capacity>
abi::CommandStatus ResourceManager<Bus, Capacity>::release_home() {
  const bool in_use = (is_homed(abi::ContextKind::kPages) && regions_in_pages_ != 0) ||
                      (is_homed(abi::ContextKind::kCq) && cqs_in_use_ != 0) ||
                      (is_homed(abi::ContextKind::kStag) && mrs_in_use_ != 0) ||
                      (is_homed(abi::ContextKind::kSrq) && srqs_in_use_ != 0) ||
                      ((is_homed(abi::ContextKind::kQp) || is_homed(abi::ContextKind::kFlow)) && qps_in_use_ != 0);
  if (releasing_ || in_use) return Status::kBusy;
  home_pages_ = 0;
  releasing_ = true;
  return Status::kOk;
}

template <class Bus, class Capacity>
abi::CommandStatus ResourceManager<Bus, Capacity>::alloc_mw(const abi::Command& c) {
  if (c.flags != 1 && c.flags != 2) return Status::kBadOp;
  return allocate(c, c.flags == 1 ? StagKind::kWindow1 : StagKind::kWindow2);
}

template <class Bus, class Capacity>
abi::CommandStatus ResourceManager<Bus, Capacity>::allocate(const abi::Command& c, StagKind kind) {
  const std::uint32_t index = c.id >> 8;
  if (index >= settings_.stags) return Status::kBadIndex;
  if (mrs_[index].valid) return Status::kBusy;
  if (!has_home(abi::ContextKind::kStag)) return Status::kNoHome;
  if (kind == StagKind::kRegion && !has_pages(c.u.mr_pages.first_page, c.u.mr_pages.pages)) {
    return Status::kNoResources;
  }
  const bool in_pages = kind == StagKind::kRegion && c.u.mr_pages.pages != 0;
  if (in_pages && !has_home(abi::ContextKind::kPages)) return Status::kNoHome;
  enter(index, {true, true, in_pages, 0});
  StagContext context;
  if (kind == StagKind::kRegion) {
    context.first_page = c.u.mr_pages.first_page;
    context.pages = c.u.mr_pages.pages;
  }
  context.allocated = true;
  context.kind = kind;
  context.pd = Pdn{c.u.mr.pd};
  bus_.write(WriteStag{Stag{c.id}, context});
  return Status::kOk;
}

}  // namespace rnic::fw
