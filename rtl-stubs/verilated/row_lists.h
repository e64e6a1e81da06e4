// Beside a Verilated twin: the elements of the lists in its rows.
#pragma once

#include <cstdint>
#include <vector>

#include "model/common/ids.h"
#include "model/common/node_pool.h"
#include "model/common/ring.h"

namespace rnic::rtl {

// By queue pair; a list is of one use of its number.
template <class T>
class RowLists {
 public:
  explicit RowLists(std::size_t qps) : lists_(qps) {}
  std::uint32_t size(Qpn qpn) const { return static_cast<std::uint32_t>(lists_.at(qpn.v).elements.size()); }
  bool empty(Qpn qpn) const { return size(qpn) == 0; }
  const T& front(Qpn qpn) const { return lists_.at(qpn.v).elements.front(); }
  // As the row has it, whose ends only the stage's own pool gives a meaning.
  PooledQueue of(Qpn qpn) const { return {0, 0, size(qpn)}; }
  // In this use of the number; one of an earlier use is gone.
  Ring<T>& begin(Qpn qpn, std::uint32_t epoch) {
    List& list = lists_.at(qpn.v);
    if (list.epoch != epoch) list.elements = {};
    list.epoch = epoch;
    return list.elements;
  }

 private:
  struct List {
    std::uint32_t epoch = 0;
    Ring<T> elements;
  };
  std::vector<List> lists_;
};

}  // namespace rnic::rtl
