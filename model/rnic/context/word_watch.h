// Words of host memory that the chip works on, and whether another part of the chip wrote to them meanwhile.
#pragma once

#include <cstdint>
#include <vector>

#include "model/abi/host_abi.h"
#include "model/common/registered.h"

namespace rnic {

// Hears of each write in its cycle, also while no word is watched.
class WriteObserver {
 public:
  virtual void written(std::uint64_t address, std::uint32_t bytes) = 0;

 protected:
  ~WriteObserver() = default;
};

// One entry for each operation that may be in flight, of abi::kAtomicBytes octets on the bus. Visible from the next
// cycle on.
class WordWatch final : public Committed {
 public:
  static constexpr unsigned kNoEntry = ~0u;
  WordWatch(ClockDomain& clk, unsigned entries) : clk_(clk), words_(entries) {}

  // From the end of this cycle on: a write of this cycle is on the bus before a read requested now. An operation that
  // takes over the value of `older` at the same word also takes over whether it is overwritten.
  void watch(unsigned entry, std::uint64_t address, unsigned older = kNoEntry) { stage({entry, older, address}); }
  void release(unsigned entry) { stage({entry, kNoEntry, kNone}); }
  // Memory is written, other than by the watchers.
  void written(std::uint64_t address, std::uint32_t bytes) {
    if (observer_ != nullptr) observer_->written(address, bytes);
    if (watched_ == 0) return;
    writes_.push_back({address, bytes});
    clk_.commit_later(*this);
  }
  // Whether the entry's word was written to since it is watched.
  bool overwritten(unsigned entry) const { return words_[entry].overwritten; }
  void reset() {
    words_.assign(words_.size(), {});
    changes_.clear();
    writes_.clear();
    watched_ = 0;
  }

  // nullptr: by nobody.
  void be_observed_by(WriteObserver* observer) { observer_ = observer; }

  void commit() override {
    for (const Write& w : writes_) {
      for (Word& word : words_) {
        word.overwritten |= word.address < w.address + w.bytes && w.address < word.address + abi::kAtomicBytes;
      }
    }
    for (const Change& c : changes_) {
      watched_ += int{c.address != kNone} - int{words_[c.entry].address != kNone};
      words_[c.entry] = {c.address, c.older != kNoEntry && words_[c.older].overwritten};
    }
    writes_.clear();
    changes_.clear();
  }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0} - abi::kAtomicBytes;
  struct Word {
    std::uint64_t address = kNone;
    bool overwritten = false;
  };
  struct Change {
    unsigned entry, older;
    std::uint64_t address;
  };
  struct Write {
    std::uint64_t address;
    std::uint32_t bytes;
  };
  void stage(const Change& change) {
    changes_.push_back(change);
    clk_.commit_later(*this);
  }

  ClockDomain& clk_;
  std::vector<Word> words_;
  std::vector<Change> changes_;
  std::vector<Write> writes_;
  int watched_ = 0;
  WriteObserver* observer_ = nullptr;
};

}  // namespace rnic
