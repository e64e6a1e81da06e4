// A first-in, first-out queue in one block of memory that grows on demand and never shrinks. Every frame and TLP passes
// one: boost::circular_buffer takes a tenth more instructions and does not grow.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "model/common/check.h"

namespace rnic {

template <class T>
class Ring {
 public:
  Ring() = default;
  explicit Ring(std::size_t slots) : slots_(slots) {}  // room from the beginning on: a power of two

  bool empty() const { return used_ == 0; }
  std::size_t size() const { return used_; }
  T& front() { return slots_[head_]; }
  const T& front() const { return slots_[head_]; }
  T& at(std::size_t i) { return slots_[(head_ + i) & (slots_.size() - 1)]; }
  const T& at(std::size_t i) const { return slots_[(head_ + i) & (slots_.size() - 1)]; }  // from the front
  T& back() { return slots_[(head_ + used_ - 1) & (slots_.size() - 1)]; }
  void push(T item) { add() = std::move(item); }
  // The slot after the newest item, to be filled: it still has its old contents.
  T& add() {
    if (used_ == slots_.size()) grow();
    return slots_[(head_ + used_++) & (slots_.size() - 1)];
  }
  template <class F>
  bool any(F&& f) const {
    for (std::size_t i = 0; i < used_; ++i) {
      if (f(slots_[(head_ + i) & (slots_.size() - 1)])) return true;
    }
    return false;
  }
  T pop() {
    RNIC_CHECK(used_ != 0);
    T item = std::move(slots_[head_]);
    drop();
    return item;
  }
  void clear() {
    while (!empty()) pop();
  }
  // The former front(), which is no longer needed.
  void drop() {
    head_ = (head_ + 1) & (slots_.size() - 1);
    --used_;
  }

 private:
  void grow() {
    std::vector<T> larger(slots_.empty() ? 16 : slots_.size() * 2);
    for (std::size_t i = 0; i < used_; ++i) larger[i] = std::move(slots_[(head_ + i) & (slots_.size() - 1)]);
    slots_ = std::move(larger);
    head_ = 0;
  }
  std::vector<T> slots_;  // a power of two
  std::size_t head_ = 0, used_ = 0;
};

}  // namespace rnic
