#include "model/programs/workload/counted_words.h"

#include <fmt/format.h>

#include "model/common/bytes.h"

namespace rnic::workload {

void CountedWords::expect(std::uint32_t messages) {
  for (std::uint32_t w = 0; w < words(); ++w) {
    const std::uint32_t more = messages / words() + (w < messages % words());
    seen_[w].resize(seen_[w].size() + more);
  }
  missing_ += messages;
}

bool CountedWords::place(host::Context& context) {
  if (memory_ != nullptr) return false;
  memory_ = &context.memory();
  address_ = memory_->alloc(bytes(), 64);
  written_ = &context.watch(address_, bytes());
  written_->poll_behind(bytes());
  return true;
}

std::string CountedWords::returned(std::uint32_t message, std::uint64_t original) {
  std::vector<bool>& seen = seen_[of_message(message)];
  if (original >= seen.size()) {
    return fmt::format("word {} was {} and is counted {} times only", of_message(message), original, seen.size());
  }
  if (seen[original]) return fmt::format("word {} was {} a second time", of_message(message), original);
  seen[original] = true;
  --missing_;
  return {};
}

bool CountedWords::settle(host::Core& program) {
  if (missing_ != 0) return true;
  if (written_->fresh()) program.wake_poller();
  else if (unsettled().empty()) return true;
  written_->poll_behind(0);
  return false;
}

std::string CountedWords::unsettled() const {
  for (std::uint32_t w = 0; w < words(); ++w) {
    const std::uint64_t value = load_le64(memory_->span(address_ + 8 * w, 8).data());
    if (value != seen_[w].size()) return fmt::format("word {} is {} instead of {}", w, value, seen_[w].size());
  }
  return {};
}

}  // namespace rnic::workload
