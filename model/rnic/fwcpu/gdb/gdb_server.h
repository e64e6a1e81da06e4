// Waits on the loopback interface for one debugger, and carries its octets.
#pragma once

#include <cstdint>

#include "model/rnic/fwcpu/gdb/gdb_session.h"

namespace rnic {

class GdbServer final : public DebugChannel {
 public:
  // Listens; port 0 lets the system choose. ConfigError if the port cannot be had.
  explicit GdbServer(std::uint16_t port);
  ~GdbServer() override;
  GdbServer(const GdbServer&) = delete;
  GdbServer& operator=(const GdbServer&) = delete;

  std::uint16_t port() const { return port_; }
  void accept();  // waits for the debugger

  void send(std::string_view octets) override;
  bool receive(std::string& octets, bool wait) override;

 private:
  int listener_ = -1, socket_ = -1;
  std::uint16_t port_ = 0;
};

}  // namespace rnic
