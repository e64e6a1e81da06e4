#include "model/rnic/register_owner.h"

#include "model/abi/rnic_regs.h"
#include "model/common/bytes.h"

namespace rnic {

void RegisterOwner::reset() {
  config_.reset();
  commands_ = events_ = {};
}

RequestId RegisterOwner::of(const pcie::Tlp& tlp) {
  if (tlp.type == pcie::TlpType::kCfgWr0) {
    if (config_.write(static_cast<std::uint32_t>(tlp.address), tlp.bytes, tlp.data())) reset();
    return {};
  }
  if (tlp.flow_class() != pcie::FlowClass::kPosted) return tlp.owner;
  const std::uint32_t value = load_le32(tlp.data());
  switch (tlp.address - config_.bar0()) {
    case regs::SqDoorbell::kOffset: {
      const Qpn qpn{regs::SqDoorbell::unpack(value).qpn};
      return contexts_.has(qpn) ? contexts_.queue_pair(qpn) : RequestId();
    }
    case regs::RqDoorbell::kOffset: {
      const Qpn qpn{regs::RqDoorbell::unpack(value).qpn};
      return contexts_.has(qpn) ? contexts_.queue_pair(qpn) : RequestId();
    }
    case regs::SrqDoorbell::kOffset: {
      const auto doorbell = regs::SrqDoorbell::unpack(value);
      return shared_receive(Srqn{doorbell.srqn}, doorbell.pi);
    }
    case regs::CqArm::kOffset: {
      const Cqn cqn{regs::CqArm::unpack(value).cqn};
      return contexts_.has(cqn) ? contexts_.completion_queue(cqn) : RequestId();
    }
    case regs::CmdqDoorbell::kOffset:
      return newest(RequestId::Kind::kCommand, commands_.advance(regs::CmdqDoorbell::unpack(value).pi, 16));
    case regs::EvqCi::kOffset:
      return newest(RequestId::Kind::kEvent, events_.advance(regs::EvqCi::unpack(value).ci, 16));
    case regs::Control::kOffset:  // a reset of the chip: its rings start from the beginning
      if (regs::Control::unpack(value).reset) commands_ = events_ = {};
      return {};
    default:
      return tlp.owner;
  }
}

// The newest request that it announces: a shared queue itself has no owner.
RequestId RegisterOwner::shared_receive(Srqn srqn, std::uint32_t producer) {
  const Rqn rqn(srqn);
  if (!contexts_.has(rqn)) return {};
  if (srqn.v >= shared_.size()) shared_.resize(srqn.v + 1);
  SharedQueue& q = shared_[srqn.v];
  if (const std::uint32_t epoch = contexts_.receive_ring(srqn).epoch; q.epoch != epoch) q = {epoch, {}};
  const std::uint64_t count = q.posted.advance(producer, 12);
  return count == 0 ? RequestId() : contexts_.request(rqn, count - 1);
}

RequestId RegisterOwner::newest(RequestId::Kind kind, std::uint64_t count) const {
  return count == 0 ? RequestId() : RequestId(contexts_.node(), kind, 0, 0, count - 1);
}

}  // namespace rnic
