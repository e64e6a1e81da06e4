// The owners of the DMA requests of atomic_alu's twin, as pins carry no owner. Keeps the operations in flight, in the
// order of their start, to tell which of those at one address writes.
#pragma once

#include <algorithm>
#include <deque>
#include <optional>

#include "model/rnic/messages/requests.h"
#include "model/rnic/responder/atomic_operation.h"

namespace rnic::rtl {

class AtomicOwners {
 public:
  // A request is taken; it may still be refused.
  void take(const QueuedAtomic& request) { taken_ = request; }
  RequestId taken() const { return taken_.segment.owner; }
  // The taken request starts as the operation with this index.
  void start(std::uint32_t index, std::uint64_t address) { operations_.push_back({index, address, taken_}); }
  // Its operand has come from host memory. Without one, the result of the operation before it at the address is used.
  void read(std::uint32_t index, std::uint64_t operand) {
    if (Operation* const op = find(index)) op->operand = operand;
  }
  // The first operation at this address that writes and has not yet done so.
  RequestId write(std::uint64_t address) {
    const Operation* before = nullptr;
    for (Operation& op : operations_) {
      if (op.address != address) continue;
      if (!op.result) {
        execute_after(before, op);
        if (!op.result) return {};
        if (op.writes) return op.request.segment.owner;
      }
      before = &op;
    }
    return {};
  }
  RequestId answer(Qpn qpn, std::uint32_t request_id) const {
    const auto is_it = [&](const Operation& op) {
      return op.request.qpn == qpn && op.request.request.request_id == request_id;
    };
    const auto its = std::find_if(operations_.begin(), operations_.end(), is_it);
    return its == operations_.end() ? RequestId() : its->request.segment.owner;
  }
  // It is over. The next operation that waits for its result gets it.
  void release(std::uint32_t index) {
    const auto over =
        std::find_if(operations_.begin(), operations_.end(), [&](const Operation& op) { return op.index == index; });
    if (over == operations_.end()) return;
    if (!over->result) execute_after(nullptr, *over);
    const auto follows = [&](const Operation& op) { return op.address == over->address && !op.operand; };
    if (const auto next = std::find_if(over + 1, operations_.end(), follows); next != operations_.end()) {
      next->operand = over->result;
    }
    operations_.erase(over);
  }

 private:
  struct Operation {
    std::uint32_t index = 0;
    std::uint64_t address = 0;
    QueuedAtomic request;
    std::optional<std::uint64_t> operand{}, result{};
    bool writes = false;
  };
  Operation* find(std::uint32_t index) {
    const auto its =
        std::find_if(operations_.begin(), operations_.end(), [&](const Operation& op) { return op.index == index; });
    return its == operations_.end() ? nullptr : &*its;
  }
  static void execute_after(const Operation* before, Operation& op) {
    if (!op.operand && before != nullptr) op.operand = before->result;
    if (!op.operand) return;
    const AtomicResult result = execute(op.request.request, *op.operand);
    op.result = result.value;
    op.writes = result.writes;
  }

  QueuedAtomic taken_;
  std::deque<Operation> operations_;
};

}  // namespace rnic::rtl
