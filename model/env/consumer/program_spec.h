// A program of the model's host that speaks the protocol of a stock tool, as a scenario describes it.
#pragma once

#include <cstdint>
#include <string>

namespace rnic::consumer {

enum class Tool : std::uint8_t { kRping };
enum class Part : std::uint8_t { kClient, kServer };

struct ProgramSpec {
  std::string name;
  Tool tool = Tool::kRping;
  Part part = Part::kClient;
  std::uint32_t peer_ip = 0;
  std::uint16_t port = 7174;
  std::uint32_t count = 5, size = 64;  // a server: as many as come, if count is 0; size is the most it takes
  std::uint64_t start_us = 0;          // when a client connects,
  bool start_on_ping = false;          // or rather when the peer has sent an ICMP echo request
  bool crc = false, reject = false;    // reject: a server turns each request down
};

}  // namespace rnic::consumer
