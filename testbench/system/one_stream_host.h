// A host program with one queue pair and memory for atomics; it keeps the driver's reports in order.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "testbench/system/peer_bench.h"
#include "testbench/system/session_host.h"

namespace rnic::test {

// Accepts one connection, with receives of no octets posted. The peer's first Send starts its own work.
class OneStreamHost final : public SessionHost {
 public:
  static constexpr std::uint32_t kRegion = 4096, kReceives = 8;

  using SessionHost::SessionHost;
  std::uint16_t ird = 16, ord = 16;
  std::function<void()> work;                                        // once, at the first receive's completion
  std::function<void(const host::Wc&)> on_complete;                  // for each completion, when the program sees it
  host::Mr *fast = nullptr, *window1 = nullptr, *window2 = nullptr;  // without memory yet

  // The region's n-th 64-bit word, in host byte order.
  std::uint64_t word(unsigned n) const { return load_le64(node_.memory.span(address_ + 8 * n, 8).data()); }
  void set_word(unsigned n, std::uint64_t value) { store_le64(node_.memory.span(address_ + 8 * n, 8).data(), value); }
  std::uint64_t address(unsigned n) const { return address_ + 8 * n; }
  std::uint32_t region_key() const { return all_->lkey(); }
  abi::Sge sge(unsigned n, std::uint32_t bytes = 8) const { return {address(n), bytes, all_->lkey()}; }
  void post(const host::SendWr& wr) { EXPECT_EQ(qp->post_send(wr), 0); }
  unsigned completed(abi::WcOpcode opcode) const {
    unsigned n = 0;
    for (const host::Wc& wc : completions) n += wc.opcode == opcode && wc.status == abi::WcStatus::kSuccess;
    return n;
  }
  std::optional<abi::WcStatus> status(std::uint64_t wr_id) const {
    for (const host::Wc& wc : completions) {
      if (wc.wr_id == wr_id) return wc.status;
    }
    return {};
  }
  // {ALL} has every right. {ODD} begins four octets after a 64-bit boundary, and its offsets count from 0.
  std::string resolved(std::string hex) const {
    return with_names(std::move(hex), {{"{ALL}", {all_->rkey(), 8}},
                                       {"{LKEY}", {all_->lkey(), 8}},
                                       {"{ODD}", {odd_->rkey(), 8}},
                                       {"{FAST}", {fast->rkey(), 8}},
                                       {"{MW1}", {window1->rkey(), 8}},
                                       {"{MW2}", {window2->rkey(), 8}},
                                       {"{W0}", {address(0), 16}},
                                       {"{W1}", {address(1), 16}},
                                       {"{W2}", {address(2), 16}},
                                       {"{W3}", {address(3), 16}}});
  }

 private:
  void begin() override {
    if (session_.listens()) return;
    for (unsigned i = 0; i < kReceives; ++i) EXPECT_EQ(qp->post_recv({1000 + i, 0, {}}), 0);
    session_.listen(kPort, abi::kCmCrc | abi::kCmMarkers | abi::kCmEnhanced);
  }
  void take(const host::Wc& wc) override {
    completions.push_back(wc);
    if (on_complete) on_complete(wc);
  }
  void run() override {
    if (!work || completions.empty() || qp->state() != host::QpState::kRts) return;
    work();
    work = nullptr;
  }
  void make() override {
    session_.make_cq(512);
    address_ = node_.memory.alloc(kRegion);
    const unsigned every = abi::kLocalWrite | abi::kRemoteWrite | abi::kRemoteRead | abi::kRemoteAtomic | abi::kMwBind;
    all_ = &session_.region(address_, kRegion, every);
    odd_ = &session_.region(address_ + 4, kRegion - 4, every | abi::kZeroBased);
    fast = &session_.entry();
    window1 = &session_.window(1);
    window2 = &session_.window(2);
  }
  void take(host::CmEvent event) override {
    if (event.type == host::CmEventType::kConnectRequest) {
      host::ConnParam param;
      param.responder_resources = ird;
      param.initiator_depth = ord;
      session_.accept(event.connection, param);
      return;
    }
    events.push_back(std::move(event));
  }

  host::Mr *all_ = nullptr, *odd_ = nullptr;
  std::uint64_t address_ = 0;
};

class OneStreamBench : public PeerBench {
 protected:
  explicit OneStreamBench(const NodeConfig& config = {})
      : PeerBench(testing::UnitTest::GetInstance()->current_test_info()->name(), config) {}
  Bytes octets(const std::string& hex) const { return from_hex(host.resolved(hex)); }
  void send(const std::string& hex) { stream->send_ulpdu(octets(hex)); }
  // Connects, runs the script, and closes.
  void converse(std::function<void()> script) {
    run([this, script] {
      stream = &connect();
      script();
      EXPECT_EQ(stream->unread(), 0u);
    });
  }
  // A Send of no octets: the chip may send from now on, and the program starts its work. Its receive request is wr_id
  // 1000.
  void start_work() { send("4143 00000000 00000000 00000001 00000000"); }

  OneStreamHost host{node};
  RawStream* stream = nullptr;
};

}  // namespace rnic::test
