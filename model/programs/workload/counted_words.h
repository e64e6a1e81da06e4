// 64-bit words of host memory that atomics count up, each from 0.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/host/driver/context.h"

namespace rnic::workload {

// Checks atomicity over all queue pairs that count: every value that a word ever had is returned to exactly one atomic,
// and at the end the word is the number of atomics. A response may arrive before the word is in host memory.
class CountedWords {
 public:
  explicit CountedWords(std::uint32_t words) : seen_(words) {}

  // Message m counts word m modulo the number of words; each of `messages` is expected once.
  void expect(std::uint32_t messages);
  std::uint32_t of_message(std::uint32_t message) const { return message % words(); }
  std::uint64_t offset(std::uint32_t message) const { return std::uint64_t{8} * of_message(message); }

  // Allocates the words in host memory. True at the first call: that program checks the words at the end.
  bool place(host::Context& context);
  std::uint64_t address() const { return address_; }
  std::uint64_t bytes() const { return 8 * seen_.size(); }

  // Checks the value that a word had before a message counted it. Returns the error, or an empty text.
  std::string returned(std::uint32_t message, std::uint64_t original);

  // Once all messages are answered: true if all words in memory are as expected. If not, the calling program, which
  // placed them, is called when the device writes there.
  bool settle(host::Core& program);
  // The word that is not as expected; empty if there is none.
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
