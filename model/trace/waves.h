// The waveform of a run: variables of selected scopes, by hierarchical name, within a time window.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/common/bytes.h"
#include "model/trace/wave_layout.h"
#include "model/trace/wave_sink.h"

namespace rnic {

struct WaveWindow {
  std::uint64_t from_ps = 0;
  std::uint64_t to_ps = std::numeric_limits<std::uint64_t>::max();  // exclusive
  std::vector<std::string> scopes;                                  // a scope is dumped with all below it; empty: all
  std::optional<std::uint64_t> marked_ps = {};                      // time of interest
};

class WaveId {
 public:
  bool dumped() const { return index_ != kNone; }

 private:
  friend class Waves;
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  std::size_t index_ = kNone;
};

// Changes may come in any order: clock domains run ahead of each other, and a link knows its future values. They wait
// here until advance() says that nothing earlier will come. Of two changes of a variable at the same time, the later
// call counts. A variable is x until its first change.
class Waves {
 public:
  Waves(std::unique_ptr<WaveSink> sink, WaveWindow window);
  ~Waves();

  // Declare all variables before begin(). The id of a scope that is not dumped may be used and costs a comparison.
  WaveId declare(const WaveVariable& variable);
  WaveId declare(const std::string& scope, const std::string& name, unsigned width) {
    return declare({scope, name, width, nullptr, {}, false});
  }
  WaveId declare_text(const std::string& scope, const std::string& name) {
    return declare({scope, name, kTextBits, nullptr, {}, true});
  }
  bool dumps(std::string_view scope) const;

  // The low `width` bits of a value.
  void change(WaveId id, std::uint64_t time_ps, std::uint64_t value) {
    if (id.dumped()) put(id.index_, time_ps, value);
  }
  // For a text; it is empty until its first change.
  void change(WaveId id, std::uint64_t time_ps, const std::string& text) {
    if (id.dumped()) put(id.index_, time_ps, number_of(text));
  }
  // For a variable of any width: octets, most significant first; missing ones are zero.
  void change(WaveId id, std::uint64_t time_ps, ByteSpan value);

  // Call once after all declarations. Throws ConfigError if no variable is in the scopes to be dumped.
  void begin();

  // For viewers, after close(): the variables in the file's order.
  WaveLayout layout() const;

  // Calls of change() before the window's end: the cost of observing.
  std::uint64_t changes() const { return sequence_; }

  // The earliest time of a change that may follow.
  std::uint64_t settled_ps() const { return settled_ps_; }

  // No change before this time may follow.
  void advance(std::uint64_t time_ps);

  // Writes the remaining changes; the waveform ends at `end_ps` or with its window. A window that the run did not reach
  // has the last values at its beginning. Throws OutputError if the file could not be written.
  void close(std::uint64_t end_ps);

 private:
  static constexpr unsigned kTextBits = 64;
  struct Variable {
    WaveVariable declared;
    std::size_t first_word;    // of its value, the least significant
    bool known = false;        // has changed
    bool shown_known = false;  // has a value in the file
    bool changed = false;
    bool moves = false;        // has changed in the file
    std::size_t position = 0;  // in the sink's list
  };
  struct Change {
    std::uint64_t time_ps, sequence;
    std::size_t variable, word;
    std::uint64_t value;
  };
  struct Later {
    bool operator()(const Change& a, const Change& b) const {
      return a.time_ps != b.time_ps ? a.time_ps > b.time_ps : a.sequence > b.sequence;
    }
  };

  std::uint64_t number_of(const std::string& text);
  void put(std::size_t variable, std::uint64_t time_ps, std::uint64_t value, std::size_t word = 0);
  void apply_until(std::uint64_t time_ps);
  void apply(const Change& change);
  void start_window();
  void show_changed(std::uint64_t time_ps);
  void show_time(std::uint64_t time_ps);
  bool is_shown(const Variable& variable) const;
  void show(Variable& variable);

  const std::unique_ptr<WaveSink> sink_;
  const WaveWindow window_;
  std::vector<Variable> variables_;
  std::vector<std::uint64_t> words_;                                      // the values, 64 bits each
  std::vector<std::uint64_t> shown_words_;                                // those in the file
  std::vector<std::string> texts_{""};                                    // the value of a text is its number here
  std::unordered_map<std::string, std::uint64_t> text_numbers_{{"", 0}};  // looked up, never iterated
  std::vector<Change> waiting_;                                           // a heap, earliest change first
  std::vector<std::size_t> changed_;                                      // variables
  std::string bits_;                                                      // of the value being shown
  std::uint64_t sequence_ = 0;
  std::uint64_t settled_ps_ = 0;  // everything before this time has been applied
  std::uint64_t shown_ps_ = 0;    // the last time in the file
  bool begun_ = false;            // the variables are in the file
  bool started_ = false;          // so are their values at the window's first instant
};

}  // namespace rnic
