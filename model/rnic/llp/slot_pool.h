// Records of flows' lists in one flat array that grows on demand and never shrinks: empty lists cost nothing, and there
// is no allocation once the array is large enough. As in on-chip linked lists the links are indexes, which
// boost::intrusive does not have.
#pragma once

#include <cstdint>
#include <vector>

#include "model/common/memory.h"
#include "model/common/pool.h"

namespace rnic::llp {

inline constexpr std::uint32_t kNil = 0xffffff;  // of 24 bits, as all links have

// T has a member `std::uint32_t next`. References die with the next take().
template <class T>
class SlotPool final : public PoolBase {
 public:
  // One of no size: its owner bounds the records.
  SlotPool() : PoolBase({}, 0) {}
  // `bits`: of a record without its link.
  explicit SlotPool(const PoolSize& size, unsigned bits = bits_of<T>())
      : PoolBase(size, bits + index_bits(size.entries)) {}
  // Every list is forgotten with it.
  void reset() {
    slots_.clear();
    free_ = kNil;
    all_given_back();
  }
  std::uint32_t take() {
    if (free_ == kNil) check_room(slots_.size());
    taken();
    if (free_ == kNil) {
      slots_.emplace_back();
      return static_cast<std::uint32_t>(slots_.size() - 1);
    }
    const std::uint32_t i = free_;
    free_ = slots_[i].next;
    slots_[i].next = kNil;
    return i;
  }
  // Returns the record's successor.
  std::uint32_t give_back(std::uint32_t i) {
    const std::uint32_t next = slots_[i].next;
    slots_[i] = T{};
    slots_[i].next = free_;
    free_ = i;
    given_back();
    return next;
  }
  // A list whose owner is lost, from its head on. Returns how many there were.
  unsigned give_back_from(std::uint32_t head) {
    unsigned records = 0;
    for (; head != kNil; ++records) head = give_back(head);
    return records;
  }
  T& operator[](std::uint32_t i) { return slots_[i]; }
  const T& operator[](std::uint32_t i) const { return slots_[i]; }

 private:
  std::vector<T> slots_;
  std::uint32_t free_ = kNil;
};

// One flow's list of records.
struct SlotList {
  std::uint32_t head = kNil, tail = kNil;

  static constexpr const char* kMessage = "slot_list";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("head", 24, m.head);
    v("tail", 24, m.tail);
  }

  bool empty() const { return head == kNil; }
  template <class T>
  void append(SlotPool<T>& pool, std::uint32_t slot) {
    if (empty()) head = slot;
    else pool[tail].next = slot;
    tail = slot;
  }
  // `before` kNil: at the front.
  template <class T>
  void insert_after(SlotPool<T>& pool, std::uint32_t before, std::uint32_t slot) {
    if (before == tail) return append(pool, slot);
    std::uint32_t& link = before == kNil ? head : pool[before].next;
    pool[slot].next = link;
    link = slot;
  }
  template <class T>
  void drop_front(SlotPool<T>& pool) {
    head = pool.give_back(head);
    if (head == kNil) tail = kNil;
  }
  // Returns how many there were.
  template <class T>
  unsigned clear(SlotPool<T>& pool) {
    unsigned slots = 0;
    for (; !empty(); ++slots) drop_front(pool);
    return slots;
  }
};

}  // namespace rnic::llp
