// Sends that go back and forth, one at a time: the responder answers each with a Send of the same size.
#pragma once

#include "model/programs/workload/role.h"

namespace rnic::workload {

class PingPong final : public Role {
 public:
  PingPong(Transfer& transfer, std::uint8_t index, bool requester) : Role(transfer, index), requester_(requester) {}
  RingNeeds needs() const override { return {2, kReceives}; }
  bool prepare(host::Context& context, host::Qp& qp, host::Pd pd) override;
  void completed(const host::Wc& wc, WrId id, std::uint64_t at_ps) override;
  void advance() override;
  bool done() const override { return received_ == item_.count && sent_ == item_.count && send_completed_ == sent_; }
  std::string waiting_for() const override;

 private:
  static constexpr std::uint32_t kReceives = 2;
  void post_receive();
  void send();
  void received(const host::Wc& wc, std::uint32_t message, std::uint64_t at_ps);

  const bool requester_;
  LocalMemory memory_{item_.pages};  // the Send's buffer, then those of the receives
  std::uint32_t stride_ = 0;
  std::uint32_t posted_ = 0, received_ = 0, sent_ = 0, send_completed_ = 0;
};

}  // namespace rnic::workload
