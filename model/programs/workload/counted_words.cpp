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

void CountedWords::place(host::HostMemory& memory) {
  if (memory_ != nullptr) return;
  memory_ = &memory;
  address_ = memory.alloc(bytes(), 64);
}

std::string CountedWords::returned(std::uint32_t message, std::uint64_t original) {
  std::vector<bool>& seen = seen_[of_message(message)];
  if (original >= seen.size()) {
    return fmt::format("word {} was {} and is counted {} times only", of_message(message), original, seen.size());
  }
  if (seen[original]) return fmt::format("word {} was {} a second time", of_message(message), original);
  seen[original] = true;
  return --missing_ == 0 ? check_all() : "";
}

std::string CountedWords::check_all() const {
  for (std::uint32_t w = 0; w < words(); ++w) {
    const std::uint64_t value = load_le64(memory_->span(address_ + 8 * w, 8).data());
    if (value != seen_[w].size()) return fmt::format("word {} is {} instead of {}", w, value, seen_[w].size());
  }
  return {};
}

}  // namespace rnic::workload
