// The values of stage and twin in a cycle, and the first difference between them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/common/message.h"
#include "model/common/request_id.h"
#include "model/common/stage.h"

namespace rnic::rtl {

// Everything that passes through the ports of both sides in a cycle. A message that neither has in this cycle is 0.
class Sides {
 public:
  explicit Sides(const Stage& stage) : block_(stage) {}

  std::string instance() const { return block_.name(); }
  Cycle now() const { return block_.clock().now(); }
  std::uint64_t period_ps() const { return block_.clock().period_ps(); }
  const std::vector<Signal>& signals() const { return signals_; }
  // In the order of the signals.
  const std::vector<std::uint64_t>& stage() const { return stage_; }
  const std::vector<std::uint64_t>& twin() const { return twin_; }

  // Returns the index of the first one.
  std::size_t add(const std::vector<Signal>& signals) {
    const std::size_t first = signals_.size();
    signals_.insert(signals_.end(), signals.begin(), signals.end());
    stage_.resize(signals_.size());
    twin_.resize(signals_.size());
    return first;
  }
  std::size_t add(std::string name, unsigned width) { return add({{std::move(name), width}}); }
  void set(std::size_t signal, std::uint64_t stage, std::uint64_t twin) {
    stage_[signal] = stage;
    twin_[signal] = twin;
  }
  std::uint64_t* stage_at(std::size_t signal) { return stage_.data() + signal; }
  std::uint64_t* twin_at(std::size_t signal) { return twin_.data() + signal; }

  // Called when all values of this cycle are set.
  void compare() {
    if (stage_ == twin_) return;
    for (std::size_t i = 0; i < signals_.size(); ++i) expect(signals_[i].name, stage_[i], twin_[i]);
  }
  // The same for a value that is on no port.
  void expect(const std::string& what, std::uint64_t stage, std::uint64_t twin) {
    if (stage == twin || !difference_.empty()) return;
    fail(what + ": the stage has " + std::to_string(stage) + ", the twin " + std::to_string(twin));
  }
  // For a violation by the RTL, whatever the stage does.
  void fail(const std::string& what) {
    if (!difference_.empty()) return;
    difference_ = std::string(block_.name()) + ", cycle " + std::to_string(now()) + ": " + what;
    parted_of_ = owner_;
  }
  // The owner of the octets that pass.
  void of_request(RequestId owner) { owner_ = owner; }

  // The first difference, for a reader; empty if there is none.
  const std::string& difference() const { return difference_; }
  RequestId parted_of() const { return parted_of_; }

 private:
  const Stage& block_;
  std::vector<Signal> signals_;
  std::vector<std::uint64_t> stage_, twin_;
  std::string difference_;
  RequestId owner_, parted_of_;
};

}  // namespace rnic::rtl
