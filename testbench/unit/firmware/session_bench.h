// A firmware on a recording bus, and SCTP's events for it.
#pragma once

#include "testbench/unit/firmware/firmware_test.h"

namespace rnic::fw::test {

class SessionTest : public FirmwareTest {
 protected:
  static constexpr std::uint32_t kConn = 0x80000000;  // the first connection id
  static constexpr std::uint16_t kMulpdu = 1434;

  using FirmwareTest::FirmwareTest;

  static abi::Command over_sctp(abi::Command c) {
    c.u.cm.options |= abi::kCmSctp;
    return c;
  }
  void listen_sctp(std::uint8_t flags, std::uint16_t backlog = 0) {
    abi::Command c = over_sctp(command(abi::CommandOp::kListen, 0));
    c.flags = flags;
    c.u.cm.local_port = 7000;
    c.u.cm.backlog = backlog;
    run(c);
    bus.take();
  }
  // A control message, from its function code on.
  void message(std::uint32_t flow, const std::string& octets_hex) {
    const Bytes octets = hex(octets_hex);
    bus.put_message(octets);
    fw.on(SctpControl{FlowId{flow}, 0x0a000002, 40000, 7000, kMulpdu, static_cast<std::uint16_t>(octets.size())});
  }
  void acked(std::uint32_t flow) { fw.on(SctpAcked{FlowId{flow}}); }

  // The active side, on flow 9, up to its Initiate.
  void initiate(std::uint8_t flags, const std::string& private_hex = "") {
    run(over_sctp(connect(flags)), private_hex);
    fw.on(SctpConnected{FlowId{9}, kConn, 41000, kMulpdu});
    bus.take();
  }
  // Sessions that are open: on flow 9, active, and on flow 8, passive.
  void establish_active() {
    initiate(0);
    message(9, "0002");
    acked(9);
    bus.take();
  }
  void establish_passive() {
    listen_sctp(0);
    message(8, "0001");
    run(accept(kConn));
    acked(8);
    bus.take();
  }
  std::vector<std::string> taken() { return bus.take(); }
};

}  // namespace rnic::fw::test
