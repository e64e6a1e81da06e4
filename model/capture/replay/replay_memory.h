// The real side's memory in the model's host: the same regions under the model's own STags and addresses.
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

  // The fed stream with the model's STags and addresses instead of the real side's, and with matching CRCs.
  std::vector<std::uint8_t> translated();
  // A message of the model with the real side's STags and offsets in a Read's sink or a Terminate's headers.
  Message translated_back(Message message) const;
  // Where the Read of this message of the real side puts its data.
  host::Sge sink(std::size_t message, const wire::ReadRequest& read) const;
  // False until the device has done it: call again. Only a program can post requests to the device, so advance() does.
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
  std::map<std::uint32_t, std::uint32_t> unknown_;  // stand-ins for STags that the real side did not have
  std::set<std::uint64_t> wrapping_;                // tagged offsets that wrap and so are not translated
  host::Mr* to_end_ = nullptr;                      // to be deregistered by the program
  bool ended_ = false;                              // the program has posted that
};

}  // namespace rnic::replay
