// The state of a component as a waveform shows it: each describes its probes once (Part::describe), and they
// are read only while somebody watches.
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

  // The value in cycle `at`, when no later cycle has been executed yet than the one before it.
  std::function<std::uint64_t(Cycle at)> read;
  // The first cycle after `at` in which the value changes by itself; empty: only in the cycles of its stage.
  std::function<Cycle(Cycle at)> changes_after;
  // What a stage decides in a cycle is in its registers from the next one on. What it does in the cycle itself shows in
  // that one.
  bool in_cycle = false;
  // Somebody watches from now on, or no more: what is only kept then. Empty: nothing is.
  std::function<void(bool)> watched;
};

// A place in the hierarchy, given to a component so that it can describe its probes without knowing where it stands.
class ProbeGroup {
 public:
  ProbeGroup() = default;  // nobody watches: what is added is forgotten
  ProbeGroup(std::vector<Probe>& probes, std::string scope) : probes_(&probes), scope_(std::move(scope)) {}

  bool shown() const { return probes_ != nullptr; }
  ProbeGroup group(const std::string& name) const {
    return shown() ? ProbeGroup(*probes_, scope_ + '.' + name) : ProbeGroup();
  }
  // Of something that there are several of: "flow3".
  ProbeGroup group(const char* name, std::size_t number) const { return group(name + std::to_string(number)); }

  // Registers: `read` takes nothing.
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
