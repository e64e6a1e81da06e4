// One program's part in a transfer. Roles of a phase share the program's queue pair.
#pragma once

#include <string>

#include "model/host/session/session.h"
#include "model/programs/workload/transfer.h"

namespace rnic::workload {

// Ring entries for a role's work requests.
struct RingNeeds {
  std::uint32_t sends = 0, receives = 0;
};

// What is wrong with a work request; `what` is nullptr: nothing.
using Spoiled = host::WorkObserver::Spoiled;

class Role {
 public:
  enum class Kind : std::uint8_t { kMessage, kCredit, kEnd };
  // wr_id of a role's work requests: role, purpose and message. Messages count from 1 in it, because 0 is no work
  // request in a trace.
  struct WrId {
    std::uint8_t role;
    Kind kind;
    std::uint32_t message;
    static WrId unpack(std::uint64_t v) {
      return {static_cast<std::uint8_t>(v >> 56), static_cast<Kind>(v >> 48 & 0xff), static_cast<std::uint32_t>(v) - 1};
    }
    std::uint64_t pack() const {
      return std::uint64_t{role} << 56 | std::uint64_t{static_cast<std::uint8_t>(kind)} << 48 |
             (std::uint64_t{message} + 1);
    }
  };

  static constexpr unsigned kBatch = 16;  // requests per doorbell

  Role(Transfer& transfer, std::uint8_t index) : transfer_(transfer), item_(transfer.item), index_(index) {}
  virtual ~Role() = default;

  virtual RingNeeds needs() const = 0;
  // Memory, regions and receives, before the phase begins on either side. Called until it returns true.
  virtual bool prepare(host::Context& context, host::Qp& qp, host::Pd pd) = 0;
  // The program's port has received a connection request.
  virtual void requested(const host::CmEvent&) {}
  // A completion of one of its work requests, seen at `at_ps`.
  virtual void completed(const host::Wc& wc, WrId id, std::uint64_t at_ps) = 0;
  // Posts what can be posted.
  virtual void advance() = 0;
  virtual bool done() const = 0;
  // Called from the beginning of the next stage until it returns true: data that the peer knows to be complete may
  // still be on its way into memory.
  virtual bool settle() { return true; }
  virtual std::string unsettled() const { return ""; }
  virtual std::string waiting_for() const = 0;

  Transfer& transfer() { return transfer_; }

 protected:
  host::Core& core() const { return context_->cpu().running(); }
  std::uint64_t wr_id(Kind kind, std::uint32_t message) const { return WrId{index_, kind, message}.pack(); }
  MutableByteSpan span(std::uint64_t address, std::uint64_t bytes) { return context_->memory().span(address, bytes); }
  // A refused request is a bug of this program: it never posts more than its rings hold.
  void post(const host::SendWr* wrs, unsigned n);
  void post(const host::RecvWr& wr);
  // For observers. The next work request but `ahead` sends this message; `by` is where the transfer keeps that.
  void sends(std::vector<RequestId>& by, std::uint32_t message, unsigned ahead = 0);
  // One of the next ones is spoiled, and how.
  void spoils(bool receive, unsigned ahead, const Spoiled& how) const;
  // A message, sent by that, is here.
  void seen(const std::vector<RequestId>& by, std::uint32_t message, std::uint64_t at_ps) const;
  // Compares it with its expected contents.
  void check(ByteSpan found, const std::vector<RequestId>& by, std::uint32_t message, const PayloadGenerator& expected);

  Transfer& transfer_;
  const WorkItem& item_;
  const std::uint8_t index_;
  host::Context* context_ = nullptr;
  host::Qp* qp_ = nullptr;
};

// A region of host memory and its registration.
class LocalMemory {
 public:
  explicit LocalMemory(Pages pages = Pages::kNone) : pages_(pages) {}
  // Allocates and registers at the first call; true when the device knows the region.
  bool prepare(host::Context& context, host::Pd pd, std::uint64_t bytes, std::uint8_t access);
  // The same with existing memory.
  bool prepare(host::Context& context, host::Pd pd, std::uint64_t address, std::uint64_t bytes, std::uint8_t access);
  // Releases both; true when the device has forgotten the region. Call it until then.
  bool release(host::Context& context);
  bool is_new() const { return mr_ == nullptr; }
  std::uint64_t address() const { return address_; }
  std::uint32_t key() const { return mr_->lkey(); }
  host::Sge sge(std::uint64_t offset, std::uint32_t bytes) const { return {address_ + offset, bytes, mr_->lkey()}; }

 private:
  host::Mr* register_with(host::Context& context, host::Pd pd, std::uint64_t bytes, std::uint8_t access) const;

  Pages pages_;
  std::uint64_t address_ = 0, allocated_ = 0;  // allocated: octets that it owns
  bool releasing_ = false;
  host::Mr* mr_ = nullptr;
};

// The error of a completion, for Transfer::fail.
std::string completion_error(const host::Wc& wc, std::uint32_t message);

}  // namespace rnic::workload
