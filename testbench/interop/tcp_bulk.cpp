// A stream of octets each way between the chip's TCP, without RDMA on it, and a live peer's TCP.
//
// usage: tcp_bulk OUT [key=value...]     keys: bulk.*, link.*, external.* and tcp.*, as `Settings` lists them
//
// Sends the octets of test::counting_bytes() and leaves the received octets in OUT/received.bin, beside wire.pcapng and
// stats.json. Exit status: 0 all was sent and acknowledged and the expected number of octets arrived, 1 not,
// 2 a setting is wrong.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <systemc>

#include <nlohmann/json.hpp>

#include "model/cable/cable.h"
#include "model/common/description.h"
#include "model/config/resolve.h"
#include "model/external/external_peer.h"
#include "model/external/netdev.h"
#include "model/rnic/llp/link_address.h"
#include "model/stats/report.h"
#include "model/system/stats_report.h"
#include "model/system/wire_capture.h"
#include "testbench/unit/rnic/llp/tcp/tcp_chip.h"

namespace rnic::test {
namespace {

constexpr std::uint32_t kOurs = 0x0a000001, kPeer = 0x0a000002;
constexpr wire::MacAddress kOurMac{{2, 0, 0, 0, 0, 1}}, kStandIn{{2, 0, 0, 0, 0, 2}};
constexpr std::uint64_t kSlicePs = 100'000'000, kUs = 1'000'000;

struct BulkConfig {
  bool listen = false;
  unsigned port = 5001;
  std::uint64_t start_us = 1000;
  unsigned segments = 1000, segment_bytes = 1448;
  std::uint64_t expected_bytes = 0;
  std::uint64_t max_time_us = 60'000'000;
  template <class V>
  static void fields(V& v) {
    v("listen", &BulkConfig::listen, "wait for the peer to connect");
    v("port", &BulkConfig::port, "of whoever listens", in_range(1, 65535));
    v("start_us", &BulkConfig::start_us, "when to connect", unit("us"));
    v("segments", &BulkConfig::segments, "to send");
    v("segment_bytes", &BulkConfig::segment_bytes, "of each, a multiple of 4", in_range(4, 1460), unit("octets"));
    v("expected_bytes", &BulkConfig::expected_bytes, "that the peer sends", unit("octets"));
    v("max_time_us", &BulkConfig::max_time_us, "simulated time that it may take", unit("us"));
  }
};

struct Settings {
  BulkConfig bulk;
  EthernetLinkConfig link;
  external::ExternalConfig external;
  TcpConfig tcp;
  template <class V>
  static void fields(V& v) {
    v.group("bulk", &Settings::bulk);
    v.group("link", &Settings::link);
    v.group("external", &Settings::external);
    v.group("tcp", &Settings::tcp);
  }
};

class Bulk {
 public:
  Bulk(const Settings& settings, const std::filesystem::path& out) : settings_(settings), out_(out) {
    cable_.join(0, netdev_.before({chip_.mac_tx.ethernet, chip_.mac_rx}));
    cable_.join(1, wire_.ports()[0]);
    cable_.tap(capture_);
    chip_.firmware.on_event = [this](const LlpEvent& e) { take(e); };
    const BulkConfig& b = settings_.bulk;
    const auto port = static_cast<std::uint16_t>(b.port);
    if (b.listen) chip_.firmware.listen(port);
    else chip_.firmware.open(kPeer, port, 0, b.start_us * kUs / clk_.period_ps());
  }

  bool run() {
    const std::uint64_t limit_ps = settings_.bulk.max_time_us * kUs;
    while (!gone_ && !peer_->gone() && now_ps() < limit_ps) {
      peer_->advance(now_ps() + kSlicePs, wire_);
      capture_.advance(now_ps());
      if (complete() && !closing_) {
        closing_ = true;
        done_ps_ = now_ps();
        chip_.firmware.close(flow_);
      }
    }
    // The peer may still send, at least to itself.
    const std::uint64_t linger_ps = now_ps() + settings_.external.linger_us * kUs;
    while (!peer_->gone() && now_ps() < linger_ps) peer_->advance(now_ps() + kSlicePs, wire_);
    return complete();
  }

  void write_outputs() {
    capture_.close();
    const Bytes& got = chip_.deframer.stream[flow_.v];
    std::ofstream(out_ / "received.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(got.data()), static_cast<std::streamsize>(got.size()));
    StatsRegistry stats;
    const StatsGroup root(stats);
    root.group("a.rnic.tcp_tx").counters(chip_.tcp_tx.counters());
    root.group("a.rnic.tcp_rx").counters(chip_.tcp_rx.counters());
    cable_.describe(Description(root));
    const nlohmann::ordered_json j{{"sim_time_ps", now_ps()},      {"done_ps", done_ps_},
                                   {"begun_ps", begun_ps_},        {"frames", capture_.frames()},
                                   {"received", got.size()},       {"acknowledged", chip_.segmenter.wqes[flow_.v]},
                                   {"stats", rnic::to_json(stats)}};
    std::ofstream(out_ / "stats.json") << j.dump(2) << '\n';
  }

 private:
  static std::uint64_t now_ps() { return static_cast<std::uint64_t>(sc_core::sc_time_stamp().value()); }
  bool complete() {
    return begun_ && chip_.segmenter.wqes[flow_.v] == settings_.bulk.segments &&
           chip_.deframer.stream[flow_.v].size() >= settings_.bulk.expected_bytes;
  }
  // TCP takes each of our segments to be an FPDU: in RDMA mode the firmware does not read the stream.
  void take(const LlpEvent& e) {
    switch (e.kind()) {
      case TcpEvents::kAccepted:
      case TcpEvents::kConnected:
        begun_ = true;
        begun_ps_ = now_ps();
        flow_ = e.flow();
        chip_.segmenter.send(flow_, settings_.bulk.segments, settings_.bulk.segment_bytes);
        return chip_.firmware.enter_rdma(flow_);
      case TcpEvents::kOpenFailed:
      case TcpEvents::kReset:
      case TcpEvents::kClosed:
        gone_ = true;
        return;
      default:
        return;
    }
  }

  const Settings settings_;
  const std::filesystem::path out_;
  const LinkAddress station_{kOurMac, {kOurs}, {{{kPeer}, kStandIn}}};
  ClockDomain clk_{"clk", {4000}};
  BufferPool pool_{2048};
  TcpChip chip_{"a", clk_, settings_.tcp, station_, pool_};
  external::Netdev netdev_{"netdev", station_};
  external::WireEnd wire_{"wire", [this](ByteSpan frame) { peer_->deliver(frame); }};
  Cable cable_{"cable", settings_.link, 1};
  WireCapture capture_{"a", (out_ / "wire.pcapng").string()};
  std::unique_ptr<external::ExternalPeer> peer_ = external::open_external_peer(settings_.external);
  FlowId flow_;
  bool begun_ = false, closing_ = false, gone_ = false;
  std::uint64_t begun_ps_ = 0, done_ps_ = 0;
};

}  // namespace
}  // namespace rnic::test

int sc_main(int argc, char* argv[]) {
  using namespace rnic;
  try {
    if (argc < 2) throw ConfigError("usage: tcp_bulk OUT [key=value...]");
    Overlay overlay;
    for (int i = 2; i < argc; ++i) overlay.set(argv[i]);
    std::filesystem::create_directories(argv[1]);
    test::Bulk bulk(resolve<test::Settings>(overlay), argv[1]);
    const bool complete = bulk.run();
    bulk.write_outputs();
    const bool in_order = !testing::UnitTest::GetInstance()->ad_hoc_test_result().Failed();  // the deframer checks it
    return complete && in_order ? 0 : 1;
  } catch (const ConfigError& e) {
    std::cerr << "tcp_bulk: " << e.what() << '\n';
    return 2;
  } catch (const external::PeerError& e) {
    std::cerr << "tcp_bulk: the peer: " << e.what() << '\n';
    return 1;
  }
}
