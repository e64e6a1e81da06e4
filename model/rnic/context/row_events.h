// What happens to objects, on its way to their rows of a table: the events of a row stay in their order, those of
// others pass one whose row is fetched.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "model/common/ids.h"
#include "model/common/table.h"

namespace rnic {

// `T` is a row about an object that `Id` numbers; `Event` is a variant.
template <class T, class Event, class Id = Qpn>
class RowEvents {
 public:
  static constexpr unsigned kPlaces = 16, kMaxPlaces = 64;

  RowEvents(Stage& owner, const char* name, unsigned places = kPlaces)
      : row_(owner, name, places, RowOrder::kAsTheyCome), places_(places), free_(all()) {}
  void bind_to(Table<T>& table) { table.bind(row_); }

  bool can_take() { return free_ != 0 && row_.can_ask(); }
  // `epoch`: the use of the number that it is about.
  template <class E>
  void take(Id id, std::uint32_t epoch, E&& event) {
    const auto place = static_cast<unsigned>(__builtin_ctzll(free_));
    free_ &= free_ - 1;
    places_[place].id = id;
    places_[place].epoch = epoch;
    places_[place].event = std::forward<E>(event);
    row_.ask(id.v, place);
  }
  // Whether one that is about that object has not been dropped.
  bool about(Id id) const {
    for (std::uint64_t left = free_ ^ all(); left != 0; left &= left - 1) {
      if (places_[static_cast<unsigned>(__builtin_ctzll(left))].id == id) return true;
    }
    return false;
  }

  // The oldest one whose row is there.
  bool ready() const { return row_.can_use(); }
  Id id() const { return Id{row_.front().index}; }
  bool ok() const { return row_.ok(); }  // false: the row is lost
  const T& row() const { return row_.row(); }
  std::uint32_t epoch() const { return places_[row_.front().tag].epoch; }
  Event& front() { return places_[row_.front().tag].event; }
  void drop() {
    front() = Event{};  // what it holds is free
    free_ |= std::uint64_t{1} << row_.front().tag;
    row_.drop();
  }
  void reset() {
    places_.assign(places_.size(), {});
    free_ = all();
  }

  // For a twin, which has places of its own.
  typename Table<T>::Reader& rows() { return row_; }

 private:
  std::uint64_t all() const { return ~std::uint64_t{0} >> (kMaxPlaces - places_.size()); }
  struct Place {
    Id id;
    std::uint32_t epoch = 0;
    Event event;
  };
  typename Table<T>::Reader row_;
  std::vector<Place> places_;
  std::uint64_t free_;
};

}  // namespace rnic
