// Hand-made captures with nanoseconds for the analysis, and access to its figures by name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "model/capture/analysis/analysis.h"
#include "model/capture/analysis/analysis_report.h"
#include "model/common/prng.h"
#include "testbench/unit/capture/capture_builder.h"

namespace rnic::capture {

struct Packet {
  std::uint64_t ns = 0;
  std::uint8_t flags = wire::TcpHeader::kAck;
  std::uint32_t seq = 0, ack = 0;
  std::size_t payload_bytes = 0;
  wire::TcpOptions options = {};
  std::uint16_t window = 1000, id = 0;
  bool ce = false;
};

class AnalysisBench : public testing::Test {
 protected:
  static constexpr std::uint8_t kSyn = wire::TcpHeader::kSyn, kAck = wire::TcpHeader::kAck;
  static constexpr std::size_t kMss = 1000;
  // Of the first octets.
  static constexpr std::uint32_t kClient = 1001, kServer = 5001;

  AnalysisBench() : bytes_(hex("4D3CB2A1 0200 0400 00000000 00000000 00000400 01000000")) {}
  ~AnalysisBench() override { std::filesystem::remove(path()); }

  void client(const Packet& packet) { add(packet, true); }
  void server(const Packet& packet) { add(packet, false); }

  // Full segments of the client, the n-th octet range counted from 0, and acknowledgements of the server for all
  // before.
  void data(std::uint64_t ns, unsigned n, std::uint16_t id = 0) {
    Packet packet;
    packet.ns = ns;
    packet.seq = kClient + static_cast<std::uint32_t>(n * kMss);
    packet.ack = kServer;
    packet.payload_bytes = kMss;
    packet.id = id;
    client(packet);
  }
  Packet ack_of(std::uint64_t ns, unsigned n) const {
    Packet packet;
    packet.ns = ns;
    packet.seq = kServer;
    packet.ack = kClient + static_cast<std::uint32_t>(n * kMss);
    return packet;
  }
  void acks(std::uint64_t ns, unsigned n) { server(ack_of(ns, n)); }
  // One block of SACK, of whole segments.
  void sacks(std::uint64_t ns, unsigned n, unsigned from, unsigned to) {
    Packet packet = ack_of(ns, n);
    packet.options.sack[0] = {kClient + static_cast<std::uint32_t>(from * kMss),
                              kClient + static_cast<std::uint32_t>(to * kMss)};
    packet.options.sack_blocks = 1;
    server(packet);
  }
  // A handshake that takes the server and the client so long after the tap.
  void connect(std::uint64_t server_ns = 100, std::uint64_t client_ns = 100, bool sack = true) {
    Packet syn;
    syn.flags = kSyn;
    syn.seq = kClient - 1;
    syn.options.mss = kMss;
    syn.options.sack_permitted = sack;
    client(syn);
    syn.ns = server_ns;
    syn.flags = kSyn | kAck;
    syn.seq = kServer - 1;
    syn.ack = kClient;
    server(syn);
    Packet third;
    third.ns = server_ns + client_ns;
    third.seq = kClient;
    third.ack = kServer;
    client(third);
  }
  void raw(std::uint64_t ns, const Bytes& frame) {
    std::uint8_t header[16] = {};
    store_le32(header, static_cast<std::uint32_t>(ns / 1'000'000'000));
    store_le32(header + 4, static_cast<std::uint32_t>(ns % 1'000'000'000));
    store_le32(header + 8, static_cast<std::uint32_t>(frame.size()));
    store_le32(header + 12, static_cast<std::uint32_t>(frame.size()));
    bytes_.insert(bytes_.end(), header, header + sizeof header);
    packets_.push_back(bytes_.size());
    bytes_.insert(bytes_.end(), frame.begin(), frame.end());
  }
  std::uint64_t frames() const { return packets_.size(); }  // so far

  // With `prng` after some octets of packets, but not their headers in the file, have changed.
  void analyze(AnalysisOptions options = {}, Prng* prng = nullptr) {
    Bytes file = bytes_;
    for (int i = 0; prng != nullptr && i < 10; ++i) {
      const std::size_t begin = packets_[prng->below(packets_.size())];
      file[begin + prng->below(54)] = static_cast<std::uint8_t>(prng->next());
    }
    std::ofstream(path(), std::ios::binary)
        .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
    options.trust_checksums = true;
    analysis_.emplace(options);
    analysis_->read(path());
    json_ = to_json(*analysis_, "x");
  }
  const nlohmann::ordered_json& found() const { return json_; }
  const nlohmann::ordered_json& direction(std::size_t side = 0, std::size_t connection = 0) const {
    return json_["connections"][connection]["directions"][side];
  }
  // An empty object if there is none.
  nlohmann::ordered_json figure(const std::string& name, std::size_t side = 0) const {
    for (const auto& f : direction(side)["figures"]) {
      if (f["name"] == name) return f;
    }
    return nlohmann::ordered_json::object();
  }
  // Of a figure with one sample.
  std::int64_t only(const std::string& name, std::size_t side = 0) const {
    const auto f = figure(name, side);
    EXPECT_EQ(f.value("count", 0), 1) << name;
    return f.value("max", std::int64_t{-1});
  }
  std::uint64_t resent(const std::string& how) const { return direction()["retransmissions"][how]; }
  std::uint64_t needless(const std::string& how) const { return direction()["retransmissions"]["needless"][how]; }

 private:
  static std::string path() {
    return (std::filesystem::temp_directory_path() / ("rnic_analysis_" + std::to_string(getpid()))).string();
  }
  void add(const Packet& p, bool from_client) {
    wire::TcpHeader tcp;
    tcp.src_port = from_client ? CaptureBuilder::kClientPort : CaptureBuilder::kServerPort;
    tcp.dst_port = from_client ? CaptureBuilder::kServerPort : CaptureBuilder::kClientPort;
    tcp.seq = p.seq;
    tcp.ack = p.ack;
    tcp.flags = p.flags;
    tcp.window = p.window;
    tcp.options = p.options;
    const Bytes segment = emitted(tcp, tcp.bytes()) + Bytes(p.payload_bytes);
    wire::Ipv4Header ip;
    ip.total_length = static_cast<std::uint16_t>(wire::Ipv4Header::kBytes + segment.size());
    ip.protocol = wire::kIpProtocolTcp;
    ip.identification = p.id;
    ip.tos = p.ce ? 3 : 0;
    ip.src = {from_client ? CaptureBuilder::kClient : CaptureBuilder::kServer};
    ip.dst = {from_client ? CaptureBuilder::kServer : CaptureBuilder::kClient};
    raw(p.ns, emitted(wire::EthernetHeader{}, wire::EthernetHeader::kBytes) + emitted(ip, wire::Ipv4Header::kBytes) +
                  segment);
  }

  Bytes bytes_;
  std::vector<std::size_t> packets_;  // where they begin
  std::optional<Analysis> analysis_;
  nlohmann::ordered_json json_;
};

}  // namespace rnic::capture
