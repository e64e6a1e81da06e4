// sctp_tx and sctp_rx, each with its CRC engine.
#pragma once

#include <algorithm>
#include <vector>

#include "model/common/sctp_checksum.h"
#include "model/rnic/llp/sctp/packet.h"
#include "model/rnic/llp/sctp/sctp_rx.h"
#include "model/rnic/llp/sctp/sctp_tx.h"
#include "model/rnic/rx/crc_check.h"
#include "model/rnic/tx/crc_insert.h"
#include "testbench/support/fpdu_beats.h"
#include "testbench/support/mpa_reference.h"
#include "testbench/support/sizes.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {

inline constexpr wire::MacAddress kMac{{2, 0, 0, 0, 0, 0xa}}, kPeerMac{{2, 0, 0, 0, 0, 0xb}};
inline constexpr std::uint32_t kIp = 0x0a000001, kPeerIp = 0x0a000002;
// A Send with a checksum computed elsewhere.
inline const char* const kExample =
    "A028A029 2B1C3D4E C4FE4D6E 00070028 000003E9 00000000 00000010 0001 4143 00000000 00000000 00000001 00000000 "
    "DEADBEEF";

// Beats of a packet and the word that follows it.
inline Cycle beats(std::size_t octets) { return (octets + 4 + 63) / 64; }

// Packets with sizes around a beat and a frame, in whole words as SCTP's are.
inline std::vector<Bytes> packets_of_all_sizes(unsigned beat_bytes) {
  std::vector<Bytes> packets;
  for (const std::size_t n : sizes(beat_bytes, 1468)) {
    const std::size_t octets = 12 + std::min<std::size_t>((n + 3) / 4 * 4, 1468);
    packets.push_back(counting(octets, static_cast<std::uint8_t>(packets.size())));
    store_crc32c(&packets.back()[kSctpChecksumOffset], sctp_checksum(packets.back()));
  }
  return packets;
}

class SctpTxTest : public StageTest {
 protected:
  explicit SctpTxTest(unsigned beat_bytes = 64) : dut("dut", clk, {beat_bytes}, {kMac, {kIp}, {}, 1}) {}
  CrcInsertConfig crc;
  BufferPool pool{2048};
  SctpTx dut;
  CrcInsert insert{"insert", clk};
  Netlist net{"net", clk};
  Source<SctpPacket> source = drive(dut.in);
  Sink<Frame> sink = collect(dut.out);
  void SetUp() override {
    net.connect(dut.to_crc, insert.in, "to_crc");
    net.connect(insert.out, dut.sealed, "sealed", LinkConfig::pipeline(crc));
  }
  void send(Bytes packet, bool again = false) {
    SctpPacket p;
    p.buf = pool.take();
    p.offset = kFrameHeadroom;
    p.bytes = static_cast<std::uint16_t>(packet.size());
    p.peer_ip = kPeerIp;
    p.peer_mac = kPeerMac;
    p.resend = again ? Resend::kFast : Resend::kNo;
    std::copy(packet.begin(), packet.end(), p.data());
    source.send(p);
  }
};

class SctpRxTest : public StageTest {
 protected:
  explicit SctpRxTest(unsigned beat_bytes = 64) : dut("dut", clk, {beat_bytes}, {kMac, {kIp}, {}, 1}, pool) {}
  CrcCheckConfig crc;
  BufferPool frames{4096}, pool{kFrameHeadroom + 1500 + 64};
  SctpRx dut;
  CrcCheck check{"check", clk};
  Netlist net{"net", clk};
  Source<Frame> source = drive(dut.in);
  Sink<SctpPacket> sink = collect(dut.out);
  void SetUp() override {
    net.connect(dut.to_crc, check.in, "to_crc");
    net.connect(check.out, dut.checked, "checked", LinkConfig::pipeline(crc));
  }
  // A frame from the peer, written at fixed offsets.
  Bytes frame_of(const Bytes& packet) {
    Bytes f = from_hex("02000000000A 02000000000B 0800 4500 0000 0000 4000 4084 0000 0A000002 0A000001");
    store_be16(&f[16], static_cast<std::uint16_t>(20 + packet.size()));
    sum_header(f);
    f.insert(f.end(), packet.begin(), packet.end());
    return f;
  }
  static void sum_header(Bytes& f) {
    store_be16(&f[24], 0);
    std::uint32_t sum = 0;
    for (std::size_t i = 14; i < 34; i += 2) sum += load_be16(&f[i]);
    store_be16(&f[24], static_cast<std::uint16_t>(~((sum & 0xffff) + (sum >> 16))));
  }
  static Bytes sealed(Bytes packet) {
    store_crc32c(&packet[kSctpChecksumOffset], sctp_checksum(packet));
    return packet;
  }
  void send(const Bytes& frame) {
    Frame f;
    f.buf = frames.take();
    f.bytes = static_cast<std::uint32_t>(frame.size());
    std::copy(frame.begin(), frame.end(), f.buf->bytes());
    source.send(f);
  }
};

}  // namespace rnic::test
