// The STags of a chip: a table with ports and a read latency. See stag_table.md.
#pragma once

#include <cstdint>

#include "model/abi/context_types.h"
#include "model/common/table.h"

namespace rnic {

constexpr std::uint32_t index_of(Stag s) { return s.v >> 8; }

// An entry; its index is that of the STag.
struct StagRow {
  StagContext stag;
  std::uint32_t windows = 0;  // bound to this region under its key; fewer than 2^21, as there are up to 2^20 entries

  constexpr bool has_key(Stag s) const { return stag.key == (s.v & 0xff); }
  constexpr bool has_windows(Stag region) const { return windows != 0 && has_key(region); }
  // A peer or this side may end this STag: not while windows are bound to it, and never a window of type 1.
  constexpr bool may_be_invalidated(Stag s) const { return stag.kind != StagKind::kWindow1 && !has_windows(s); }

  static constexpr const char* kMessage = "stag_row";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("stag", m.stag);
    v("windows", 21, m.windows);
  }
};

using StagTable = Table<StagRow>;

// Two ports: what is sent and what is received each need one.
struct StagTableConfig : TableConfig {
  constexpr StagTableConfig() { read_ports = 2; }
};

// A stage's way to what an STag of a peer names: the entry, and that of its region if it is a window, which is only as
// valid as its region. The region is asked for when the window is there; both are used in one cycle.
class NamedStag {
 public:
  NamedStag(Stage& owner, const char* name, const char* region_name)
      : entry_(owner, name), region_(owner, region_name) {}
  void bind_to(StagTable& table) {
    table.bind(entry_);
    table.bind(region_);
  }

  bool can_ask() { return entry_.can_ask(); }
  void ask(Stag s) { entry_.ask(index_of(s), s.v); }
  // Whether all that the oldest ask needs can be used in this cycle. Asks for a region; called in each cycle until
  // then.
  bool ready() {
    drop_forgotten(entry_, forgotten_);
    drop_forgotten(region_, forgotten_regions_);
    if (forgotten_ != 0 || !entry_.can_use()) return false;
    const std::uint32_t region = region_index();
    const bool here = asked_ && forgotten_regions_ == 0 && region_.can_use();
    if (here && region_.front().index != region) {  // the window is another one by now
      region_.drop();
      asked_ = false;
    }
    if (region == kNone || asked_) return asked_ ? region != kNone && here : true;
    if (region_.can_ask()) {
      region_.ask(region);
      asked_ = true;
    }
    return false;
  }
  // What the STag of the oldest ask names, or nullptr.
  const StagContext* named() const {
    const StagContext* c = named_entry();
    if (c == nullptr || c->kind == StagKind::kRegion) return c;
    return region_.ok() && region_.row().stag.names(c->region) ? c : nullptr;
  }
  void drop() {
    entry_.drop();
    if (asked_) region_.drop();
    asked_ = false;
  }
  // The oldest ask is not needed any more, whatever of it is there: its rows are dropped when they come, by ready(),
  // which is called in each cycle until then.
  void forget() {
    ++forgotten_;
    forgotten_regions_ += asked_;
    asked_ = false;
  }
  unsigned forgotten() const { return forgotten_ + forgotten_regions_; }
  // Whether ready() will drop a row in the next cycle without any that comes then.
  bool has_forgotten() const {
    return (forgotten_ != 0 && entry_.can_use()) || (forgotten_regions_ != 0 && region_.can_use());
  }
  // Of what the STag of the oldest ask names.
  bool may_be_invalidated() const { return entry_.row().may_be_invalidated(Stag{entry_.front().tag}); }
  void reset() {
    asked_ = false;
    forgotten_ = forgotten_regions_ = 0;
  }

  // For a twin, which asks for the region itself.
  StagTable::Reader& entry() { return entry_; }
  StagTable::Reader& region() { return region_; }

 private:
  static constexpr std::uint32_t kNone = ~0u;
  static void drop_forgotten(StagTable::Reader& reader, unsigned& asks) {
    if (asks == 0 || !reader.can_use()) return;
    reader.drop();
    --asks;
  }
  // The entry, if the STag is its own.
  const StagContext* named_entry() const {
    return entry_.ok() && entry_.row().stag.names(entry_.front().tag) ? &entry_.row().stag : nullptr;
  }
  std::uint32_t region_index() const {
    const StagContext* c = named_entry();
    return c != nullptr && c->kind != StagKind::kRegion ? index_of(Stag{c->region}) : kNone;
  }

  StagTable::Reader entry_, region_;
  bool asked_ = false;                              // for a region
  unsigned forgotten_ = 0, forgotten_regions_ = 0;  // asks, the oldest ones
};

}  // namespace rnic
