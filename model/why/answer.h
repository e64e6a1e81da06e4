// A symptom of a run, its first cause and the way from one to the other, in rows and words; see why.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rnic::why {

// A chain ends here, and nowhere else.
enum class End : std::uint8_t { kCable, kInjected, kProgram, kSetting, kPeer, kStart, kNotRecorded };
const char* to_string(End end);

struct Cause {
  End end = End::kNotRecorded;
  std::string kind;  // of its event: lost, corrupted, injected, …; of a setting or program, what is used up
  std::string text;  // the rest in words
  std::optional<std::uint64_t> frame;  // as Wireshark counts
  std::string setting;                 // its key, if there is one
};

// A step on the way, in the order of time.
struct Step {
  std::uint64_t ps = 0;
  std::string node, text;
  std::optional<std::uint64_t> frame;
  std::vector<std::pair<std::string, std::uint64_t>> state{};  // what mattered then: windows, octets in flight
};

struct Wait {
  std::string name;
  std::uint64_t ps = 0;
};

enum class Symptom : std::uint8_t {
  kStalled,
  kCheck,
  kTerminate,
  kStartup,
  kSlow,
  kSlowInTurn,
  kSetUp,
  kResent,
  kReduced,
  kLostConnection,
  kThroughput
};
const char* to_string(Symptom symptom);

struct Answer {
  Symptom symptom{};
  std::string node, request, text;  // a request's text; what is wrong, in words
  std::uint64_t from_ps = 0, to_ps = 0;
  std::optional<Cause> cause;  // none: it is not slower than others, or than its parts must be
  std::vector<Step> chain;
  std::vector<Wait> waits;                // of a slow request: they add up to its time
  std::vector<Cause> also;                // of the same rank as `cause`
  std::vector<std::string> not_recorded;  // what a rule would have needed, and the option that writes it
};

inline double in_us(std::uint64_t ps) { return static_cast<double>(ps) / 1e6; }

}  // namespace rnic::why
