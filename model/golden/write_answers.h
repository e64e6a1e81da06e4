// Answers to the writes of a device for a predictor whose writes have another order.
#pragma once

#include <cstdint>
#include <map>

#include "model/golden/abi/rnic_golden_messages.h"
#include "model/golden/bench.h"
#include "model/golden/record.h"

namespace rnic::golden {

// Both answers come in the order of the writes: those of the device, and those of the predictor.
class WriteAnswers {
 public:
  explicit WriteAnswers(const Port& port) : port_(port) {}
  void give() { ++given_; }
  bool are_open() const { return come_ < given_; }  // of what the device has given
  // The next one to the device.
  void come(const Record& done) {
    answers_[come_++] = done.value(*find_member(done.shape(), "ok")) != 0;
    tell();
  }
  // The predictor's write with this number is the device's with that one.
  void match(std::uint64_t predicted, std::uint64_t given) {
    given_of_[predicted] = given;
    tell();
  }
  // Whether one has come that the predictor has not got: it waits for that of a write before.
  bool wait() const { return !answers_.empty(); }

 private:
  void tell() {
    for (auto write = given_of_.find(told_); write != given_of_.end(); write = given_of_.find(told_)) {
      const auto answer = answers_.find(write->second);
      if (answer == answers_.end()) return;
      rnic_dma_write_done done{};
      done.size = sizeof done;
      done.ok = answer->second;
      port_.push(&done);
      given_of_.erase(write);
      answers_.erase(answer);
      ++told_;
    }
  }

  const Port& port_;
  std::map<std::uint64_t, bool> answers_;            // by number of the device's write
  std::map<std::uint64_t, std::uint64_t> given_of_;  // by number of the predictor's write: the device's
  std::uint64_t given_ = 0, come_ = 0, told_ = 0;
};

}  // namespace rnic::golden
