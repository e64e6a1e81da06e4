// The command line.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace far_end {

enum class Operation : std::uint8_t { kSend, kWrite, kWriteInvalidate, kRead };

struct Options {
  bool linux_sctp = false;  // instead of libusrsctp
  bool connect = false;
  // libusrsctp's wire.
  std::string wire, pcap;
  bool wire_listen = false;
  unsigned lose_ppm = 0, spoil_cookies = 0;
  std::uint64_t seed = 1;
  // Addresses and the association.
  std::uint32_t ip = 0x0A000002, peer = 0x0A000001;
  std::uint16_t port = 7174, local_port = 41000;
  unsigned mtu = 1500, rto_ms = 1000, rto_min_ms = 200;
  std::uint32_t adaptation = 1;
  std::chrono::seconds patience{60};
  unsigned linger_ms = 2000;
  unsigned delay_ms = 0;
  bool ping = false, probe = false;
  // The session.
  std::uint16_t stream = 0;
  bool plain = false;
  unsigned ird = 16, ord = 16;
  unsigned rtr = 0;  // kinds that we request or agree to, as in Terms
  std::string private_data, reject;
  // The work in the session.
  std::string tool = "echo";
  Operation op = Operation::kWrite;
  std::uint32_t count = 16, size = 65536;
  std::uint32_t abort_after = 0, restart_after = 0;
  bool bad_stag = false, bad_write = false, leave = false;
};

// Throws std::invalid_argument with the mistake.
Options parse_options(int argc, char** argv);
extern const char* const kUsage;

}  // namespace far_end
