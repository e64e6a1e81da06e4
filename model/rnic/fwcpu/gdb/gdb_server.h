// Waits on the loopback interface for one debugger, and carries its octets.
#pragma once

#include <cstdint>
#include <functional>

#include "model/rnic/fwcpu/gdb/gdb_session.h"

namespace rnic {

class GdbServer final : public DebugChannel {
 public:
  // Listens; port 0 lets the system choose. ConfigError if the port is not available. Waiting ends when `stop` says so.
  explicit GdbServer(std::uint16_t port, std::function<bool()> stop = {});
  ~GdbServer() override;
  GdbServer(const GdbServer&) = delete;
  GdbServer& operator=(const GdbServer&) = delete;

  std::uint16_t port() const { return port_; }
  bool accept();  // waits for the debugger

  void send(std::string_view octets) override;
  bool receive(std::string& octets, bool wait) override;

 private:
  bool wait_for(int descriptor) const;

  const std::function<bool()> stop_;
  int listener_ = -1, socket_ = -1;
  std::uint16_t port_ = 0;
};

}  // namespace rnic
