// The interface of a waveform file format.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/common/value_words.h"

namespace rnic {

struct WaveVariable {
  std::string scope;  // dotted
  std::string name;
  unsigned width = 1;                 // bits
  const ValueWords* words = nullptr;  // of a state or an enumeration; must outlive the sink
  std::string unit;                   // of a number
  bool is_text = false;               // `width` does not count
};

// Call declare() once; then, for each time in rising order, time() and value() of each change; then close().
class WaveSink {
 public:
  virtual ~WaveSink() = default;
  // Variables are ordered by scope, so that each scope is opened once.
  virtual void declare(const std::vector<WaveVariable>& variables) = 0;
  virtual void time(std::uint64_t ps) = 0;
  // Most significant bit first, 0, 1 or x for each bit. `variable` is the index in declare()'s list.
  virtual void value(std::size_t variable, std::string_view bits) = 0;
  // Of one that is a text.
  virtual void text(std::size_t variable, std::string_view text) = 0;
  // Throws OutputError if the file could not be written.
  virtual void close() = 0;
};

// The extension, .fst or .vcd, selects the format. Throws ConfigError for any other, or if the file cannot be created.
std::unique_ptr<WaveSink> open_wave_sink(const std::string& file);

// The scopes to leave and enter between two variables: "a.b.c" to "a.d" leaves 2 and enters "d".
struct ScopeStep {
  unsigned leave = 0;
  std::vector<std::string> enter;
};
ScopeStep scope_step(std::string_view from, std::string_view to);

}  // namespace rnic
