// A scenario's description of a host program that speaks the protocol of a stock tool.
#pragma once

#include <cstdint>
#include <string>

#include "model/host/driver/transport.h"

namespace rnic::consumer {

enum class Tool : std::uint8_t { kRping, kRdmaExample, kEcho };
// How echo messages travel: by Send; by RDMA Write and a Send; the same, with the Send invalidating the STag of the
// Write; by RDMA Read of the buffer that a Send names.
enum class EchoOperation : std::uint8_t { kSend, kWrite, kWriteInvalidate, kRead };
enum class Part : std::uint8_t { kClient, kServer };

struct ProgramSpec {
  std::string name;
  Tool tool = Tool::kRping;
  Part part = Part::kClient;
  std::uint32_t peer_ip = 0;
  std::uint16_t port = 7174;
  std::uint32_t count = 5, size = 64;              // a server: no limit if count is 0; size is its maximum
  EchoOperation operation = EchoOperation::kSend;  // the client's applies
  std::uint64_t start_us = 0;                      // when a client connects
  bool start_on_ping = false;                      // instead: when the peer has sent an ICMP echo request
  bool crc = false, markers = false;               // requested
  bool rtr = false;  // the ready-to-receive message is an RDMA Write (RFC 6581): a client's offer, a server's only kind
  bool reject = false;  // a server rejects each request
  host::Transport transport = host::Transport::kTcp;
};

}  // namespace rnic::consumer
