// One chip with its host that outlives many sessions of a peer. After each session, nothing outside the granted memory
// has changed or was revealed, nothing of the session is left, and a stream beside it still works.
#pragma once

#include <array>
#include <map>
#include <string>
#include <unordered_set>

#include "model/stats/registry.h"
#include "testbench/fuzz/input.h"
#include "testbench/system/guard_bench.h"

namespace rnic::fuzz {

using test::Bytes;
using test::RawPeer;
using test::RawStream;

class ChipBench final : public test::GuardBench, private FrameTap {
 public:
  // A session, in the peer's process, with the given bench.
  using Session = void (*)(ChipBench&, Input);
  explicit ChipBench(Session session);
  // Plays a session and checks its effects. Throws Finding.
  void play(ByteSpan input);

  // Host memory in the middle of other memory, accessible in some ways during a session.
  struct Grant {
    std::uint64_t at, bytes;  // in the arena
    unsigned access;
    bool foreign;  // in another protection domain
    host::Mr* region = nullptr;
  };
  std::uint64_t base(const Grant& g) const { return g.access & abi::kZeroBased ? 0 : arena + g.at; }
  static constexpr std::uint32_t kArena = 16384, kReceives = 14336, kReceiveBytes = 128, kReceiveCount = 4;
  std::array<Grant, 4> grants{{
      {1024, 1000, abi::kLocalWrite | abi::kRemoteWrite | abi::kRemoteRead | abi::kRemoteAtomic, false},
      {4096, 512, abi::kLocalWrite | abi::kRemoteRead | abi::kZeroBased | abi::kRemoteInvalidate, false},
      {8192, 256, abi::kLocalWrite | abi::kRemoteWrite | abi::kZeroBased, false},
      {12288, 512, abi::kLocalWrite | abi::kRemoteWrite | abi::kRemoteRead | abi::kRemoteAtomic, true},
  }};
  std::uint64_t arena = 0;
  host::Qp* qp = nullptr;  // of this session

  // For the session's use.
  RawPeer& station() { return peer; }
  test::GuardHost& program() { return host; }
  host::Context& driver() { return node.context; }
  void on_host(std::function<void()> what) { in_host(std::move(what)); }

 private:
  void TestBody() override {}
  void frame(unsigned direction, const Frame& frame, std::uint64_t ps) override;
  void run_until_idle();
  void set_up();
  void begin_session();
  void end_session();
  void check_memory();
  void check_bystander();
  using InUse = std::map<std::string, double>;
  void find(const std::string& what) {
    if (finding_.empty()) finding_ = what;
  }

  const Session session_;
  StatsRegistry stats_;
  InUse at_rest_;
  ByteSpan input_;
  bool idle_ = false;
  std::string finding_;
  Bytes image_;                               // the arena before each session
  std::unordered_set<std::uint64_t> secret_;  // its words that no other node may see
  host::Pd domain_, foreign_;
  host::Mr* receives_ = nullptr;
  RawStream* bystander_ = nullptr;
  std::uint64_t bystander_page_ = 0, bystander_word_ = 0, refused_ = 0;
  std::uint32_t bystander_key_ = 0;
};

}  // namespace rnic::fuzz
