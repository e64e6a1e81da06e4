// 64-bit words of host memory that atomics count up, each from 0.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/host/host_memory.h"

namespace rnic::workload {

// Every value that a word ever had is returned to exactly one atomic, and at the end the word is their number: what
// atomicity means, over all queue pairs that count.
class CountedWords {
 public:
  explicit CountedWords(std::uint32_t words) : seen_(words) {}

  // Message m counts word m modulo their number; each of `messages` is expected once.
  void expect(std::uint32_t messages);
  std::uint32_t of_message(std::uint32_t message) const { return message % words(); }
  std::uint64_t offset(std::uint32_t message) const { return std::uint64_t{8} * of_message(message); }

  // The host's memory, at the first call.
  void place(host::HostMemory& memory);
  std::uint64_t address() const { return address_; }
  std::uint64_t bytes() const { return 8 * seen_.size(); }

  // The value that a word had before a message counted it. What is wrong with it, or with the words after the last
  // message; empty if nothing.
  std::string returned(std::uint32_t message, std::uint64_t original);

 private:
  std::uint32_t words() const { return static_cast<std::uint32_t>(seen_.size()); }
  std::string check_all() const;

  std::vector<std::vector<bool>> seen_;  // by word, by value
  std::uint64_t missing_ = 0;            // messages
  host::HostMemory* memory_ = nullptr;
  std::uint64_t address_ = 0;
};

}  // namespace rnic::workload
