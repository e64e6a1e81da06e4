// A program of the model's host that speaks the protocol of a stock tool, as a scenario describes it.
#pragma once

#include <cstdint>
#include <string>

#include "model/host/driver/transport.h"

namespace rnic::consumer {

enum class Tool : std::uint8_t { kRping, kRdmaExample, kEcho };
// How a message of the echo goes and comes: by Send; by RDMA Write and a Send; the same, and the Send invalidates the
// STag that was written to; by RDMA Read of what a Send tells of.
enum class EchoOperation : std::uint8_t { kSend, kWrite, kWriteInvalidate, kRead };
enum class Part : std::uint8_t { kClient, kServer };

struct ProgramSpec {
  std::string name;
  Tool tool = Tool::kRping;
  Part part = Part::kClient;
  std::uint32_t peer_ip = 0;
  std::uint16_t port = 7174;
  std::uint32_t count = 5, size = 64;  // a server: as many as come, if count is 0; size is the most it takes
  EchoOperation operation = EchoOperation::kSend;  // the client's counts
  std::uint64_t start_us = 0;                      // when a client connects,
  bool start_on_ping = false;                      // or rather when the peer has sent an ICMP echo request
  bool crc = false, markers = false;               // asked for
  bool rtr = false;  // the ready-to-receive message is an RDMA Write (RFC 6581): a client's offer, a server's only kind
  bool reject = false;  // a server turns each request down
  host::Transport transport = host::Transport::kTcp;
};

}  // namespace rnic::consumer
