// The queue pairs of the segments that come in at one input of ddp_placement: their rows of the receive table, and the
// segments that are parked until theirs are there. See ddp_placement.md.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "model/rnic/context/rx_table.h"
#include "model/rnic/messages/datapath.h"

namespace rnic {

// A segment with its last beat.
struct WholeFpdu {
  FpduBeat last;
  const std::uint8_t* octets = nullptr;  // from its length field on
};

// One segment arrives at a time. The oldest one whose row is there is judged next, and those of a queue pair are in
// the order in which they came.
class SegmentQp {
 public:
  static constexpr unsigned kMostParked = 63;

  SegmentQp(Stage& owner, const char* name) : row_(owner, name, kPlaces, RowOrder::kAsTheyCome) {}
  void bind_to(RxTable& table) { table.bind(row_); }

  // The header of the arriving segment is here.
  bool begun() const { return begun_; }
  void begin(Qpn qpn) {
    places_[arriving_].qpn = qpn;
    begun_ = asks_ = true;
  }
  void ask() {
    if (!asks_ || !row_.can_ask()) return;
    row_.ask(places_[arriving_].qpn.v, arriving_);
    asks_ = false;
  }

  // Whether the row of the arriving segment is fetched, as far as that is known.
  bool is_missed() const { return begun_ && !asks_ && !there() && row_.awaits_fetch(arriving_); }
  bool has_parked() const { return parked_ != 0; }
  unsigned parked() const { return static_cast<unsigned>(__builtin_popcountll(parked_)); }
  void park(const WholeFpdu& fpdu) {
    places_[arriving_].fpdu = fpdu;
    places_[arriving_].buf = BufferRef::adopt(fpdu.last.buf);
    parked_ |= std::uint64_t{1} << arriving_;
    arriving_ = static_cast<unsigned>(__builtin_ctzll(~parked_));
    begun_ = false;
  }

  // The segment that is judged next: a parked one whose row is there, or that which arrives.
  bool there() const { return row_.can_use(); }
  bool is_parked() const { return has_parked() && there() && row_.front().tag != arriving_; }
  unsigned place() const { return is_parked() ? row_.front().tag : arriving_; }
  Qpn qpn() const { return places_[place()].qpn; }
  const WholeFpdu& fpdu() const { return places_[place()].fpdu; }  // of a parked one
  // Whether there is such a queue pair, and its row is not lost.
  bool ok() const { return row_.ok(); }
  const RxRow& row() const { return row_.row(); }
  // It is judged.
  void end() {
    row_.drop();
    begun_ = false;
  }
  BufferRef end_parked() {
    const unsigned place = row_.front().tag;
    parked_ &= ~(std::uint64_t{1} << place);
    row_.drop();
    return std::move(places_[place].buf);
  }

  void reset() {
    places_ = {};
    parked_ = 0;
    arriving_ = 0;
    begun_ = asks_ = false;
  }

  // For a twin, which asks itself.
  RxTable::Reader& rows() { return row_; }

 private:
  static constexpr unsigned kPlaces = kMostParked + 1;
  struct Place {
    Qpn qpn;
    WholeFpdu fpdu;  // if it is parked
    BufferRef buf;   // of the FPDU's octets
  };
  RxTable::Reader row_;
  std::array<Place, kPlaces> places_;
  unsigned arriving_ = 0;     // the place of the segment that arrives
  std::uint64_t parked_ = 0;  // a bit for each place
  bool begun_ = false, asks_ = false;
};

}  // namespace rnic
