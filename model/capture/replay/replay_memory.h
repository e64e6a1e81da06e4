// The real side's memory in the model's host: the same regions under STags and addresses of the model's own.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/capture/replay/script.h"
#include "model/host/driver/context.h"

namespace rnic::replay {

class ReplayMemory {
 public:
  // Registers the regions of the plan; called from a program. ConfigError if the device has too few STags.
  ReplayMemory(const Script& script, host::Context& context, host::Pd pd, host::Pd foreign);

  bool ready() const;
  bool failed() const;

  // The fed stream with the model's STags and addresses instead of the real side's, and CRCs that fit.
  std::vector<std::uint8_t> translated();
  // A message of the model as the real side would have said it: the sink of a Read, the headers in a Terminate.
  Message translated_back(Message message) const;
  // Where the Read that is this message of the real side puts its data.
  host::Sge sink(std::size_t message, const wire::ReadRequest& read) const;
  // False while the device has not done it yet: to be called again. Only a program can ask the device for something, so
  // that is left to advance().
  bool apply(const MemoryChange& change);
  void advance();
  // The first wrong octet of each region at the end.
  std::vector<std::string> misplaced() const;

 private:
  struct Registered {
    host::Mr* mr;
    std::uint64_t address;
  };
  struct Place {
    std::uint32_t stag;
    std::uint64_t to;
  };
  Place to_model(std::uint32_t stag, unsigned generation, std::uint64_t to, std::uint64_t bytes) const;
  Place to_real(std::uint32_t stag, std::uint64_t to) const;
  void translate(std::size_t segment, std::vector<std::uint8_t>& octets);

  const Script& script_;
  host::Context& context_;
  std::vector<Registered> regions_;
  std::map<std::uint32_t, std::uint32_t> unknown_;  // STags that stand for ones that the real side did not have
  std::set<std::uint64_t> wrapping_;                // tagged offsets that are the real side's own, for they wrap
  host::Mr* to_end_ = nullptr;                      // for the program to deregister
  bool ended_ = false;                              // it has asked for that
};

}  // namespace rnic::replay
