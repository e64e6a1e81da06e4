// Linked queues whose nodes come from one shared pool: an empty queue costs 12 octets, and a push allocates only when
// the pool has never been this full before.
// As on-chip linked lists: indexes that survive growth, which the pointers of boost::intrusive do not.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "model/common/check.h"

namespace rnic {

inline constexpr std::uint32_t kNoNode = 0xffffffffu;

// The ends of one queue; its nodes are in a NodePool.
struct PooledQueue {
  std::uint32_t head = kNoNode, tail = kNoNode, size = 0;
  bool empty() const { return size == 0; }
};

template <class T>
class NodePool {
 public:
  void push(PooledQueue& q, T value) {
    std::uint32_t node = free_;
    if (node == kNoNode) {
      node = static_cast<std::uint32_t>(nodes_.size());
      nodes_.emplace_back();
    } else {
      free_ = nodes_[node].next;
    }
    nodes_[node].value = std::move(value);
    nodes_[node].next = kNoNode;
    if (q.empty()) q.head = node;
    else nodes_[q.tail].next = node;
    q.tail = node;
    ++q.size;
    ++in_use_;
  }
  T& front(const PooledQueue& q) {
    RNIC_CHECK(!q.empty());
    return nodes_[q.head].value;
  }
  const T& front(const PooledQueue& q) const {
    RNIC_CHECK(!q.empty());
    return nodes_[q.head].value;
  }
  T pop(PooledQueue& q) {
    RNIC_CHECK(!q.empty());
    const std::uint32_t node = q.head;
    q.head = nodes_[node].next;
    --q.size;
    --in_use_;
    nodes_[node].next = free_;
    free_ = node;
    return std::move(nodes_[node].value);
  }
  // Whether any of them satisfies the predicate.
  template <class F>
  bool any(const PooledQueue& q, F&& f) const {
    for (std::uint32_t left = q.size, node = q.head; left != 0; --left, node = nodes_[node].next) {
      if (f(nodes_[node].value)) return true;
    }
    return false;
  }
  void clear(PooledQueue& q) {
    while (!q.empty()) pop(q);
  }
  std::size_t in_use() const { return in_use_; }

 private:
  struct Node {
    T value{};
    std::uint32_t next = kNoNode;
  };
  std::vector<Node> nodes_;
  std::uint32_t free_ = kNoNode;
  std::size_t in_use_ = 0;
};

}  // namespace rnic
