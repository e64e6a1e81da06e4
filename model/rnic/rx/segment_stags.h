// What the segment that comes in at one input of ddp_placement needs of the table of STags. See ddp_placement.md.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "model/abi/host_abi.h"
#include "model/rnic/context/stag_table.h"

namespace rnic {

// Rows are asked for ahead, when it is not certain yet that they will be needed, and stay until the segment is judged.
// Those that were asked for in vain are dropped when they come.
class SegmentStags {
 public:
  // The entries of a scatter list that a segment's payload goes to, in order.
  struct List {
    std::array<std::uint32_t, abi::kMaxSge> index{};  // of the table
    unsigned size = 0;
    bool operator==(const List& other) const {
      return size == other.size && std::equal(index.begin(), index.begin() + size, other.index.begin());
    }
  };

  SegmentStags(Stage& owner, const char* named_name, const char* region_name, const char* scattered_name)
      : named(owner, named_name, region_name), scattered(owner, scattered_name, 0, RowOrder::kAsAsked, abi::kMaxSge) {}
  void bind_to(StagTable& table) {
    named.bind_to(table);
    table.bind(scattered);
  }

  // In each cycle, before the others: rows that come. Whether there may be more of them in the next one.
  bool take_rows() {
    if (at_rest_) return false;
    const unsigned before = named.forgotten();
    named_there_ = named.ready();
    if (scattered.can_use()) take_scattered();
    at_rest_ = !begun_ && forgotten_ == 0 && named.forgotten() == 0;
    return named.forgotten() != before || scattered.can_use();
  }

  // The header of a segment is here.
  bool begun() const { return begun_; }
  void begin() {
    begun_ = true;
    at_rest_ = false;
  }
  // It names this STag, to write to or to end it.
  void name(Stag stag) {
    stag_ = stag;
    names_ = true;
  }
  // Its payload goes there. What was asked for is no use if that was something else.
  void need(const List& list) {
    if (list == list_) return;
    forget_list();
    list_ = list;
  }
  // Whether all of this can be used.
  bool there() const { return (!names_ || (asked_named_ && named_there_)) && scattered.kept() == list_.size; }
  // The n-th entry of the list.
  const StagContext* at(unsigned n) const { return scattered.ok_kept(n) ? &scattered.row_kept(n).stag : nullptr; }
  // The segment is judged.
  void end() {
    if (asked_named_) named.forget();
    forget_list();
    list_.size = 0;
    begun_ = names_ = asked_named_ = false;
  }

  // In each cycle, after the others: asks for one row of each kind. Whether there are more, or one is to be dropped
  // that was here when it was forgotten, and so calls nobody.
  bool ask() {
    if (names_ && !asked_named_ && named.can_ask()) {
      named.ask(stag_);
      asked_named_ = true;
    }
    if (asked_ != list_.size && scattered.can_ask()) scattered.ask(list_.index[asked_++]);
    return asked_ != list_.size || named.has_forgotten();
  }

  void reset() {
    named.reset();
    list_.size = asked_ = forgotten_ = 0;
    begun_ = names_ = asked_named_ = false;
    at_rest_ = true;
  }

  NamedStag named;
  StagTable::Reader scattered;

 private:
  void take_scattered() {
    if (forgotten_ == 0) return scattered.keep();
    scattered.drop();
    --forgotten_;
  }
  void forget_list() {
    forgotten_ += asked_ - static_cast<unsigned>(scattered.kept());
    scattered.release();
    asked_ = 0;
  }

  bool at_rest_ = true;  // nothing is on its way
  bool begun_ = false;
  bool names_ = false, asked_named_ = false, named_there_ = false;
  Stag stag_;  // that it names
  List list_;
  unsigned asked_ = 0;      // of list_
  unsigned forgotten_ = 0;  // entries that were asked for in vain and have not come yet
};

}  // namespace rnic
