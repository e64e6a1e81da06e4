// Events of a run as a comparison sees them: who, where and what, in numbers that mean the same in both runs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace rnic::diff {

// Scrambles a value, so that sums and chains of such numbers differ wherever their parts do (SplitMix64).
constexpr std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}
constexpr std::uint64_t mix(std::uint64_t chain, std::uint64_t value) { return mix(chain ^ mix(value)); }
std::uint64_t hash(std::string_view text);

// The owner of an event. Its lowest bit is set if it is a work request, and clear for a flow, a command and the like.
using Owner = std::uint64_t;
inline constexpr Owner kNoOwner = 2;
constexpr Owner owner_of(std::uint64_t hashed, bool is_work) { return (hashed | 5) ^ (is_work ? 0u : 1u); }
constexpr bool is_work(Owner owner) { return (owner & 1) != 0; }

// An event without its text.
struct Row {
  std::uint64_t at = 0;  // where its file has it, rising
  std::uint64_t ps = 0;
  Owner owner = kNoOwner;
  std::uint64_t content = 0;  // octets, words and receive request; no time, no PCIe tag, no address
  std::uint32_t source = 0;   // in the Vocabulary
  std::uint32_t offset = 0;   // of a segment's payload in its message, if both runs know it

  std::uint64_t key() const { return mix(mix(owner, source), offset); }
  std::uint64_t what() const { return mix(key(), content); }
};

// An event as text.
struct Told {
  std::uint64_t ps = 0;
  std::string node, place, kind, request, receive, words;
  std::optional<std::uint64_t> bytes, offset;
};

struct Source {
  std::string node, place, kind;
  std::uint32_t station = 0;  // number of node and place
  bool in[2] = {};            // has events in run A, in run B
  bool left_out = false;      // for one of the chips does not know it
};

// Numbers for nodes, places and kinds, the same for both runs.
class Vocabulary {
 public:
  std::uint32_t source(const std::string& node, const std::string& place, const std::string& kind, unsigned run);
  const Source& operator[](std::uint32_t source) const { return sources_[source]; }
  std::vector<Source>& sources() { return sources_; }
  const std::vector<Source>& sources() const { return sources_; }
  std::size_t stations() const { return stations_.size(); }

 private:
  std::vector<Source> sources_;
  std::map<std::tuple<std::string, std::string, std::string>, std::uint32_t> numbers_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> stations_;
};

// One run's events in time order. ConfigError, which names the file, for what no run writes.
class Events {
 public:
  virtual ~Events() = default;

  virtual bool has_offsets() const = 0;
  // Otherwise `offset` of all rows is 0, as the other run has none.
  virtual void use_offsets(bool use) = 0;
  virtual void rewind() = 0;
  // False after the last one.
  virtual bool next(Row& row) = 0;
  virtual Told tell(const Row& row) = 0;

  // The number that Wireshark shows for a frame of this sender.
  struct Frame {
    std::uint64_t number = 0;
    bool swallowed = false;  // by the cable
  };
  virtual std::optional<Frame> frame(const std::string& sender, std::uint64_t serial) = 0;
};

}  // namespace rnic::diff
