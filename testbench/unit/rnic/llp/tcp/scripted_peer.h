// One chip against a scripted peer: frames are written octet by octet, without the model's wire code.
#pragma once

#include "testbench/unit/rnic/llp/tcp/tcp_chip.h"

namespace rnic::test {

inline std::uint16_t fold(std::uint32_t sum) {
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(sum);
}
inline std::uint32_t sum_words(const Bytes& b, std::size_t from, std::size_t to) {
  std::uint32_t sum = 0;
  for (std::size_t i = from; i < to; i += 2) sum += static_cast<std::uint32_t>(b[i] << 8 | (i + 1 < to ? b[i + 1] : 0));
  return sum;
}

// A segment from the peer at 10.0.0.1:4000 to port 5000 of 10.0.0.2.
struct PeerSegment {
  std::string flags;  // of F S R P A U E W (CWR)
  std::uint32_t seq = 0, ack = 0;
  Bytes payload = {};
  std::uint16_t window = 0xffff;
  std::uint16_t peer_port = 4000;
  Bytes options = {};  // a multiple of 4
  std::uint8_t tos = 0;

  Bytes frame() const {
    Bytes f = {2, 0, 0, 0, 0, 0xb, 2, 0, 0, 0, 0, 0xa, 8, 0, 0x45, tos};
    const auto put = [&f](std::uint32_t v, int octets) {
      for (int i = octets - 1; i >= 0; --i) f.push_back(static_cast<std::uint8_t>(v >> (8 * i)));
    };
    put(static_cast<std::uint32_t>(40 + options.size() + payload.size()), 2);
    for (std::uint8_t octet : {0, 1, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2}) f.push_back(octet);
    const std::uint16_t ip_sum = static_cast<std::uint16_t>(~fold(sum_words(f, 14, 34)));
    f[24] = static_cast<std::uint8_t>(ip_sum >> 8);
    f[25] = static_cast<std::uint8_t>(ip_sum);
    put(peer_port, 2), put(5000, 2), put(seq, 4), put(ack, 4),
        put(0x50 + static_cast<std::uint32_t>(options.size()) * 4, 1);
    unsigned bits = 0;
    for (char c : flags) bits |= 1u << std::string("FSRPAUEW").find(c);
    put(bits, 1), put(window, 2), put(0, 4);
    f.insert(f.end(), options.begin(), options.end());
    f.insert(f.end(), payload.begin(), payload.end());
    const std::uint32_t pseudo =
        sum_words(f, 26, 34) + 6 + static_cast<std::uint32_t>(20 + options.size() + payload.size());
    const std::uint16_t tcp_sum = static_cast<std::uint16_t>(~fold(pseudo + sum_words(f, 34, f.size())));
    f[50] = static_cast<std::uint8_t>(tcp_sum >> 8);
    f[51] = static_cast<std::uint8_t>(tcp_sum);
    return f;
  }
};

class ScriptedPeerTest : public StageTest {
 protected:
  static TcpConfig config() {
    TcpConfig c;
    c.max_flows = 4;
    return c;
  }
  ScriptedPeerTest() : chip("b", clk, config(), {kMacB, {kIpB}, {{{kIpA}, kMacA}}}, pool) {
    chip.mac_tx.ethernet.socket.bind(from_chip.socket);
    peer.out.socket.bind(chip.mac_rx.socket);
  }
  // Sends a frame now and runs until the chip has nothing more to do.
  void send(const Bytes& octets) {
    Frame f;
    f.buf = pool.take();
    f.bytes = static_cast<std::uint32_t>(octets.size());
    std::copy(octets.begin(), octets.end(), f.buf->bytes());
    peer.out.send(f, static_cast<std::uint64_t>(sc_core::sc_time_stamp().value()) + 4000);
    run_us(10);
  }
  void send(const PeerSegment& s) { send(s.frame()); }
  void run_us(unsigned us) { sc_core::sc_start(sc_core::sc_time(us, sc_core::SC_US)); }

  // The chip listens and accepts; `seq` and `ack` are the peer's next octet and the chip's.
  void establish() {
    chip.firmware.listen(5000);
    run_us(1);
    send(PeerSegment{"S", seq - 1});
    ASSERT_EQ(answers.seen.size(), 1u);
    ack = answers.seen[0].seq() + 1;
    send(PeerSegment{"A", seq, ack});
    answers.seen.clear();
  }

  BufferPool pool{2048};
  TcpChip chip;
  RawSender peer{"peer"};
  RawReceiver from_chip{"from_chip"};
  Recorder& answers = from_chip.got;
  std::uint32_t seq = 0xffffff80, ack = 0;  // sequence numbers wrap during the test
};

}  // namespace rnic::test
