// Linked queues whose nodes come from one shared pool: an empty queue costs 12 octets, and a push allocates only when
// the pool has never been this full before. See pool.md.
// As on-chip linked lists: indexes that survive growth, which the pointers of boost::intrusive do not.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "model/common/check.h"
#include "model/common/memory.h"
#include "model/common/pool.h"

namespace rnic {

inline constexpr std::uint32_t kNoNode = 0xffffffffu;

// The ends of one queue; its nodes are in a NodePool.
struct PooledQueue {
  std::uint32_t head = 0, tail = 0, size = 0;
  bool empty() const { return size == 0; }

  static constexpr const char* kMessage = "pooled_queue";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("head", 24, m.head);
    v("tail", 24, m.tail);
    v("size", 16, m.size);
  }
};

// The one element of a queue that has at most one.
struct PooledItem {
  std::uint32_t node = 0;  // its number, from 1 on
  bool empty() const { return node == 0; }

  static constexpr const char* kMessage = "pooled_item";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("node", 25, m.node);
  }
};

template <class T>
class NodePool final : public PoolBase {
 public:
  // `bits`: of an element without its link. In a list where each number is at most once, it is nothing but its link.
  explicit NodePool(const PoolSize& size, unsigned bits = bits_of<T>())
      : PoolBase(size, bits + index_bits(size.entries)) {}
  // Every queue is forgotten with it.
  void reset() {
    nodes_.clear();
    free_ = kNoNode;
    all_given_back();
  }
  void push(PooledQueue& q, T value) {
    const std::uint32_t node = take(std::move(value));
    if (q.empty()) q.head = node;
    else nodes_[q.tail].next = node;
    q.tail = node;
    ++q.size;
  }
  // Instead of what is there.
  void put(PooledItem& item, T value) {
    clear(item);
    item.node = take(std::move(value)) + 1;
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
    if (--q.size == 0) q = {};
    else q.head = nodes_[node].next;
    return give_back(node);
  }
  const T& at(const PooledItem& item) const {
    RNIC_CHECK(!item.empty());
    return nodes_[item.node - 1].value;
  }
  T pop(PooledItem& item) {
    RNIC_CHECK(!item.empty());
    return give_back(std::exchange(item.node, 0) - 1);
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
  void clear(PooledItem& item) {
    if (!item.empty()) pop(item);
  }

 private:
  struct Node {
    T value{};
    std::uint32_t next = kNoNode;
  };
  std::uint32_t take(T value) {
    std::uint32_t node = free_;
    if (node == kNoNode) {
      check_room(nodes_.size());
      node = static_cast<std::uint32_t>(nodes_.size());
      nodes_.emplace_back();
    } else {
      free_ = nodes_[node].next;
    }
    nodes_[node].value = std::move(value);
    nodes_[node].next = kNoNode;
    taken();
    return node;
  }
  T give_back(std::uint32_t node) {
    nodes_[node].next = free_;
    free_ = node;
    given_back();
    return std::move(nodes_[node].value);
  }
  std::vector<Node> nodes_;
  std::uint32_t free_ = kNoNode;
};

}  // namespace rnic
