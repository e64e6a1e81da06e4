// One chip with its host, a peer built by hand, and the cable between them.
#pragma once

#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "model/cable/ethernet_link.h"
#include "model/system/node.h"
#include "model/trace/pcapng.h"
#include "testbench/support/raw_peer.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {

inline constexpr std::uint32_t kChipIp = 0x0a000001, kPeerIp = 0x0a000002;
inline constexpr std::uint16_t kPort = 7471;

// Names in a test's hex: each stands for a number and its digits.
using Names = std::map<std::string, std::pair<std::uint64_t, int>>;
inline std::string with_names(std::string hex, const Names& names) {
  for (const auto& [name, value] : names) {
    for (std::size_t at; (at = hex.find(name)) != std::string::npos;) {
      char digits[17];
      std::snprintf(digits, sizeof digits, "%0*llx", value.second, static_cast<unsigned long long>(value.first));
      hex.replace(at, name.size(), digits);
    }
  }
  return hex;
}

// Writes the cable's frames into RNIC_CAPTURE_DIR, if that is set.
class Capture final : public FrameTap {
 public:
  explicit Capture(const std::string& name) {
    const char* dir = std::getenv("RNIC_CAPTURE_DIR");
    if (dir == nullptr) return;
    writer_ = std::make_unique<PcapngWriter>(std::string(dir) + "/" + name + ".pcapng");
    interface_ = writer_->add_interface("cable");
  }
  ~Capture() override {
    if (writer_) writer_->close();
  }
  void frame(unsigned direction, const Frame& frame, std::uint64_t ps) override {
    if (!writer_) return;
    writer_->write(interface_, ps, {frame.data(), frame.bytes},
                   direction == 0 ? Direction::kOutbound : Direction::kInbound);
  }

 private:
  std::unique_ptr<PcapngWriter> writer_;
  unsigned interface_ = 0;
};

// The chip is node "a". The subclass provides the host program, which listens on kPort.
class PeerBench : public testing::Test {
 protected:
  static constexpr wire::MacAddress kChipMac{{2, 0, 0, 0, 0, 1}}, kPeerMac{{2, 0, 0, 0, 0, 2}};

  explicit PeerBench(const std::string& capture_name, const NodeConfig& config = {})
      : node("a", config, {kChipMac, wire::Ipv4Address{kChipIp}, {{wire::Ipv4Address{kPeerIp}, kPeerMac}}}),
        capture(capture_name) {
    cable.attach(0, node.chip.mac_tx.ethernet, node.chip.mac_rx);
    cable.attach(1, peer.out, peer.in());
    cable.tap(capture);
    node.set_lookahead(0, 500'000);
  }
  void run(std::function<void()> script) {
    peer.run([this, script] {
      peer.wait_us(20);  // the host listens by then
      script();
    });
    sc_core::sc_start(sc_core::sc_time(20, sc_core::SC_MS), sc_core::SC_EXIT_ON_STARVATION);
    EXPECT_TRUE(peer.done()) << "the peer waits for ever";
  }

  // RFC 5044 section 7.1: a request of revision 1 that asks for markers and CRC.
  RawStream& connect() {
    RawStream& s = peer.connect();
    EXPECT_EQ(s.start(from_hex("4D504120494420526571204672616D65 C001 0000")),
              from_hex("4D504120494420526570204672616D65 C001 0000"));
    return s;
  }

  Node node;
  EthernetLink cable{"cable", {}};
  RawPeer peer{"peer", {{2, 0, 0, 0, 0, 2}, {2, 0, 0, 0, 0, 1}, kPeerIp, kChipIp, kPort, kPort}};
  Capture capture;
};

}  // namespace rnic::test
