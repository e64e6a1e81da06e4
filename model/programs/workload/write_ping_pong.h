// RDMA Writes that go back and forth, one at a time: a program that finds one in its memory answers with one of the
// same size. No completion reports the peer's Writes. The program polls the last octet, but the octets of a Write are
// placed in any order (RFC 5040 section 5.5), so each octet is set to the complement of its expected value first.
#pragma once

#include <vector>

#include "model/programs/workload/role.h"

namespace rnic::workload {

class WritePingPong final : public Role {
 public:
  WritePingPong(Transfer& transfer, std::uint8_t index, bool requester)
      : Role(transfer, index), requester_(requester) {}
  RingNeeds needs() const override { return {kSources, 0}; }
  bool prepare(host::Context& context, host::Qp& qp, host::Pd pd) override;
  void completed(const host::Wc& wc, WrId id, std::uint64_t at_ps) override;
  void advance() override;
  bool done() const override { return received_ == item_.count && sent_ == item_.count && completed_ == sent_; }
  std::string waiting_for() const override;

 private:
  // Maximum number of unacknowledged Writes, each with its own buffer: the answer does not wait for the ACK.
  static constexpr std::uint32_t kSources = 2;
  const PayloadGenerator& incoming() const { return requester_ ? transfer_.reply : transfer_.payload; }
  // Messages end at the region's end, so the last octet is always at the same address.
  std::uint64_t sink(std::size_t size) const { return memory_.address() + stride_ - size; }
  void expect_next();
  bool arrived();
  bool is_whole() const;
  void receive();
  void send();

  const bool requester_;
  LocalMemory memory_{item_.pages};  // the region that the peer writes to, then the sources
  std::uint32_t stride_ = 0;
  host::Watch* written_ = nullptr;
  std::vector<std::uint8_t> awaited_;
  std::uint32_t received_ = 0, sent_ = 0, completed_ = 0;
};

}  // namespace rnic::workload
