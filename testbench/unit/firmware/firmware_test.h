// A firmware on a recording bus; CQ 0 and QP 5 exist already.
#pragma once

#include <memory>
#include <type_traits>

#include <gmock/gmock.h>

#include "firmware/app/firmware.h"
#include "testbench/unit/firmware/recording_bus.h"

namespace rnic::fw {
namespace test {

struct SmallCapacity {
  static constexpr std::uint32_t kQps = 16, kFlows = 16, kCqs = 8, kSrqs = 4, kStags = 32;
  static constexpr std::uint32_t kConnections = 4, kSessions = 2, kSetups = 3, kListeners = 2;
};

}  // namespace test

// Instantiated once for all tests, in recording_firmware.cpp.
extern template class ConnectionManager<test::RecordingBus, test::SmallCapacity>;
extern template class Firmware<test::RecordingBus, test::SmallCapacity>;

}  // namespace rnic::fw

namespace rnic::fw::test {

using testing::ElementsAre;
using testing::IsEmpty;

inline const std::string kReqKey = "4d504120494420526571204672616d65";
inline const std::string kRepKey = "4d504120494420526570204672616d65";

// Gets each flow's event with the life that the chip would name.
class TestedFirmware : public Firmware<RecordingBus, SmallCapacity> {
 public:
  TestedFirmware(RecordingBus& bus, const Settings& settings)
      : Firmware<RecordingBus, SmallCapacity>(bus, settings), recording_(bus) {}
  template <class Event>
  void on(Event event) {
    constexpr bool lost = std::is_same_v<Event, SctpLost>;
    if constexpr (lost || std::is_same_v<Event, SctpConnected> || std::is_same_v<Event, SctpControl> ||
                  std::is_same_v<Event, SctpAcked> || std::is_same_v<Event, SctpPeerClosed> ||
                  std::is_same_v<Event, SctpViolation> || std::is_same_v<Event, SctpStray> ||
                  std::is_same_v<Event, SctpMulpduChanged>) {
      std::uint16_t& life = recording_.lives[event.flow.v];
      event.life = lost ? life++ : life;
    }
    Firmware<RecordingBus, SmallCapacity>::on(event);
  }

 private:
  RecordingBus& recording_;
};

class FirmwareTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kQp = 5;

  explicit FirmwareTest(abi::Personality device = abi::Personality::kIetf) : FirmwareTest(settings_of(device)) {}
  explicit FirmwareTest(const Settings& s) : settings(s) {
    abi::Command cq = command(abi::CommandOp::kCreateCq, 0);
    cq.u.cq = {0x1000, 4};
    run(cq);
    create_qp(kQp);
    bus.take();
  }

  static abi::Command command(abi::CommandOp op, std::uint32_t id) {
    abi::Command c;
    c.op = op;
    c.id = id;
    return c;
  }
  void run(const abi::Command& c) { fw.on(HostCommand{c}); }
  void run(abi::Command c, const std::string& private_hex) {
    const Bytes data = hex(private_hex);
    bus.put_private_data(data);
    c.private_bytes = static_cast<std::uint16_t>(data.size());
    run(c);
  }
  void create_qp(std::uint32_t qpn) {
    abi::Command c = command(abi::CommandOp::kCreateQp, qpn);
    c.u.qp = {0x10000, 0x20000, 6, 5, 7, 0, 0, 0, {}};
    run(c);
  }
  static abi::Command connect(std::uint8_t flags, std::uint16_t ird = 16, std::uint16_t ord = 16) {
    abi::Command c = command(abi::CommandOp::kConnect, 0);
    c.cookie = 77;
    c.qpn = kQp;
    c.flags = flags;
    c.u.cm = {0x0a000001, 7000, 0, ird, ord, {}, 0, 0, 0, 0, 0, {}};
    return c;
  }
  static abi::Command accept(std::uint32_t id, std::uint16_t ird = 8, std::uint16_t ord = 8) {
    abi::Command c = command(abi::CommandOp::kAccept, id);
    c.qpn = kQp;
    c.u.cm.ird = ird;
    c.u.cm.ord = ord;
    return c;
  }
  void listen(std::uint8_t flags) {
    abi::Command c = command(abi::CommandOp::kListen, 0);
    c.flags = flags;
    c.u.cm.local_port = 7000;
    run(c);
  }
  // Octets of the stream, in the pieces that the firmware's reads request.
  void stream(std::uint32_t flow, const std::string& octets_hex) {
    Bytes left = hex(octets_hex);
    while (!left.empty() && bus.asked() <= left.size()) {
      const std::uint32_t n = bus.asked();
      bus.put_read_octets(Bytes(left.begin(), left.begin() + n));
      left.erase(left.begin(), left.begin() + n);
      fw.on(TcpStreamData{FlowId{flow}, n});
    }
    ASSERT_TRUE(left.empty()) << left.size() << " octets that nobody reads";
  }
  // A passive connection on flow 3 up to and including its request; returns the connection id.
  std::uint32_t request(const std::string& frame_hex) {
    fw.on(TcpAccepted{FlowId{3}, 0x0a000002, 40000, 7000, 1460});
    stream(3, frame_hex);
    return bus.events().back().id;
  }

  static Settings settings_of(abi::Personality device) {
    Settings s{16, 16, 8, 32, 32, 32, 10'000'000, 5'000'000, 4'000'000, 3'000'000, 4, 100};
    s.personality = device;
    s.crc = false;  // as the host requests
    return s;
  }

  Settings settings;
  RecordingBus bus{SmallCapacity::kSetups};
  TestedFirmware fw{bus, settings};
};

}  // namespace rnic::fw::test
