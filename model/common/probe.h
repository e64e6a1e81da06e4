// The state of a component as a waveform shows it: each component describes its probes once (Part::describe), and they
// are read only while they are watched.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "model/common/cycle.h"
#include "model/common/value_words.h"

namespace rnic {

struct Probe {
  std::string scope;  // dotted
  std::string name;
  unsigned width = 1;                 // bits, at most 64
  std::string unit;                   // of a number
  const ValueWords* words = nullptr;  // of a state, which live as long as the probe; of a number, none

  // The value in cycle `at`, when the last executed cycle is the one before it.
  std::function<std::uint64_t(Cycle at)> read;
  // The first cycle after `at` in which the value changes without a call; empty: only in the cycles of its stage.
  std::function<Cycle(Cycle at)> changes_after;
  // What a stage decides in a cycle is in its registers from the next one on. What it does in the cycle itself shows in
  // that cycle.
  bool in_cycle = false;
  // Watching starts or stops: for state that is kept only while watched. Empty: there is none.
  std::function<void(bool)> watched;
};

// A place in the hierarchy, given to a component so that it can describe its probes without knowing its position.
class ProbeGroup {
 public:
  ProbeGroup() = default;  // not watched: added probes are dropped
  ProbeGroup(std::vector<Probe>& probes, std::string scope) : probes_(&probes), scope_(std::move(scope)) {}

  bool shown() const { return probes_ != nullptr; }
  ProbeGroup group(const std::string& name) const {
    return shown() ? ProbeGroup(*probes_, scope_ + '.' + name) : ProbeGroup();
  }
  // Of one of several: "flow3".
  ProbeGroup group(const char* name, std::size_t number) const { return group(name + std::to_string(number)); }

  // Registers: `read` has no argument.
  template <class Read>
  void number(const char* name, unsigned width, const char* unit, Read read) const {
    if (!shown()) return;
    add({scope_,
         name,
         width,
         unit,
         nullptr,
         [read](Cycle) { return static_cast<std::uint64_t>(read()); },
         {},
         false,
         {}});
  }
  template <class Read>
  void state(const char* name, const ValueWords& words, Read read) const {
    if (!shown()) return;
    add({scope_,
         name,
         width_of(words),
         "",
         &words,
         [read](Cycle) { return static_cast<std::uint64_t>(read()); },
         {},
         false,
         {}});
  }
  // Anything else; the scope is the group's.
  void add(Probe probe) const {
    if (!shown()) return;
    probe.scope = scope_;
    probes_->push_back(std::move(probe));
  }

  // Bits for the values of these words.
  static unsigned width_of(const ValueWords& words) {
    unsigned width = 1;
    while (words.size() > std::size_t{1} << width) ++width;
    return width;
  }

 private:
  std::vector<Probe>* probes_ = nullptr;
  std::string scope_;
};

}  // namespace rnic
