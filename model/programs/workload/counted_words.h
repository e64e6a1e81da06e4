// 64-bit words of host memory that atomics count up, each from 0.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/host/driver/context.h"

namespace rnic::workload {

// Every value that a word ever had is returned to exactly one atomic, and at the end the word is their number: what
// atomicity means, over all queue pairs that count. An answer may be there before the word is in the host's memory.
class CountedWords {
 public:
  explicit CountedWords(std::uint32_t words) : seen_(words) {}

  // Message m counts word m modulo their number; each of `messages` is expected once.
  void expect(std::uint32_t messages);
  std::uint32_t of_message(std::uint32_t message) const { return message % words(); }
  std::uint64_t offset(std::uint32_t message) const { return std::uint64_t{8} * of_message(message); }

  // In the host's memory. True at the first call, for the program that looks at the words in the end.
  bool place(host::Context& context);
  std::uint64_t address() const { return address_; }
  std::uint64_t bytes() const { return 8 * seen_.size(); }

  // The value that a word had before a message counted it. What is wrong with it; empty if nothing.
  std::string returned(std::uint32_t message, std::uint64_t original);

  // Once all messages were answered: whether all words are in memory as they have to be. If not, the program that
  // placed them, which asks, is called when the device writes there.
  bool settle(host::Core& program);
  // Which one is not as it has to be; empty if there is none.
  std::string unsettled() const;

 private:
  std::uint32_t words() const { return static_cast<std::uint32_t>(seen_.size()); }
  std::vector<std::vector<bool>> seen_;  // by word, by value
  std::uint64_t missing_ = 0;            // messages
  host::HostMemory* memory_ = nullptr;
  host::Watch* written_ = nullptr;
  std::uint64_t address_ = 0;
};

}  // namespace rnic::workload
