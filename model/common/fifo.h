// A first-in, first-out memory with as much room as follows from the settings. See pool.md.
#pragma once

#include <cstddef>
#include <utility>

#include "model/common/memory.h"
#include "model/common/pool.h"
#include "model/common/ring.h"

namespace rnic {

template <class T>
class Fifo final : public PoolBase {
 public:
  explicit Fifo(const PoolSize& size, unsigned bits = bits_of<T>()) : PoolBase(size, bits) {}
  void reset() {
    ring_.clear();
    all_given_back();
  }

  bool empty() const { return ring_.empty(); }
  std::size_t size() const { return ring_.size(); }
  const T& front() const { return ring_.front(); }
  void push(T item) {
    check_room(ring_.size());
    taken();
    ring_.push(std::move(item));
  }
  T pop() {
    T item = ring_.pop();
    given_back();
    return item;
  }
  template <class F>
  bool any(F&& f) const {
    return ring_.any(std::forward<F>(f));
  }

 private:
  Ring<T> ring_;
};

}  // namespace rnic
