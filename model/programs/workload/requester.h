// Keeps `depth` Sends, RDMA Writes (also with immediate data) or RDMA Reads outstanding until `count` are complete, or
// as many as its window admits.
#pragma once

#include <array>
#include <vector>

#include "model/programs/workload/role.h"
#include "model/programs/workload/window.h"

namespace rnic::workload {

// Local buffers are slots, reused when their request is complete. A Write transfer ends with a zero-length Send: its
// delivery shows the responder that all Writes before it are placed (RFC 5040 section 5.5).
class Requester final : public Role, public Window::Member {
 public:
  // `window`: nullptr if the item has none.
  Requester(Transfer& transfer, std::uint8_t index, Window* window) : Role(transfer, index), window_(window) {
    if (window_ != nullptr) window_->add(*this);
  }
  RingNeeds needs() const override { return {(item_.op == Op::kWriteImm ? 2 : 1) * item_.depth + 1, 0}; }
  bool prepare(host::Context& context, host::Qp& qp, host::Pd pd) override;
  void completed(const host::Wc& wc, WrId id, std::uint64_t at_ps) override;
  void advance() override;
  bool done() const override { return transfer_.completed == item_.count && (item_.op != Op::kWrite || ended_); }
  std::string waiting_for() const override;
  void admit(std::uint64_t at_ps) override;

 private:
  bool with_credits() const { return uses_receives(item_.op) && item_.count > transfer_.receives; }
  bool may_post() const;
  bool is_admitted() const;
  void take_credits();
  host::SendWr request(std::uint32_t message);
  std::uint64_t slot(std::uint32_t message) const { return message % slots_ * std::uint64_t{stride_}; }
  void post_end();

  Window* const window_;
  host::Core* core_ = nullptr;
  std::vector<std::uint64_t> admitted_ps_;  // messages, by the window: from when on
  LocalMemory buffers_{item_.pages}, credit_{item_.pages};
  std::array<host::Watch*, Transfer::kCreditWords> credits_{};
  std::uint32_t credits_taken_ = 0;
  std::uint64_t allowed_ = 0;  // messages for which there are receives
  std::uint32_t slots_ = 0, stride_ = 0;
  std::uint32_t next_ = 0;
  bool end_posted_ = false, ended_ = false;
};

}  // namespace rnic::workload
