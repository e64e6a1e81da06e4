// Packet scripts: what a peer sends to the chip, what the chip must answer, and when. One line is one step:
//
//   # a comment
//   config initial_window 4          a key of TcpConfig; before the first step
//   handshake mss 1000, sackOK       the peer opens with these options; the chip enters RDMA mode
//   window 2000                      the peer announces this from now on; 65535 before
//   fpdu 1000 x4                     the segmenter has four FPDUs of 1000 octets to send
//   > PA 1:1001 ack 1                the chip's next segment: flags, octets, and what else to compare
//   +10 < A 1 ack 1001 win 65535 {sack 2001:3001}     10 us later the peer sends
//   +200 > PA 1:1001                 200 us later, and at most half a microsecond more, the chip does
//   icmp 1001 mtu 600                a router reports this for the chip's segment that begins with octet 1001
//   icmp 1001 type 3 code 1          the same with another message
//   delivered 3000                   the deframer has this number of octets, and their values are right
//   count tx.timeouts 1              a counter of tx, rx or connection
//   event emss_changed 960           the firmware's next event, and the EMSS that it reports
//   silence 50                       nothing leaves for 50 us
//
// Time counts from the previous step, in microseconds. The numbers of a direction count from its SYN, which is 0, so
// the first octet is 1. Flags are of F S R P A U E W (CWR); ect0, ect1 and ce are the ECN field. Options are given in
// wire order; without braces they are not compared, and * stands for any word. A segment that no line expects is a
// failure, and so is a segment without DF. Both directions carry counting octets, which are checked implicitly.
#pragma once

#include <memory>
#include <sstream>

#include "testbench/unit/rnic/llp/tcp/scripted_peer.h"

namespace rnic::test {

class PacketScript {
 public:
  explicit PacketScript(std::string text);
  void run();

  TcpChip& chip() { return *chip_; }

 private:
  using Words = std::vector<std::string>;
  struct Line {
    unsigned number = 0;
    std::uint64_t after_ps = 0;
    Words words;
    std::string options;  // between braces
    bool has_options = false;
  };
  void parse(const std::string& text);
  void step(const Line& line);
  void limits(const Line& line);
  void inject(const Line& line);
  void icmp(const Line& line);
  void put(const Bytes& octets);
  void expect(const Line& line);
  void expect_segment(const Line& line, const Seen& s);
  void handshake(const Line& line);
  void count(const Line& line);
  void event(const Line& line);
  void delivered(const Line& line);

  void run_to(std::uint64_t ps);
  bool wait_for_segment(std::uint64_t until_ps);
  void expect_nothing(const Line& line, std::uint64_t until_ps);
  std::string where(const Line& line) const;

  std::vector<Line> lines_;
  TcpConfig config_;
  ClockDomain clk_{"clk", {}};
  BufferPool pool_{2048};
  std::unique_ptr<TcpChip> chip_;
  RawSender peer_{"peer"};
  RawReceiver from_chip_{"from_chip"};
  std::size_t seen_ = 0, events_ = 0;
  std::uint64_t last_ps_ = 0;
  std::uint32_t peer_isn_ = 0xfffff000;  // sequence numbers wrap during the test
  std::uint32_t chip_isn_ = 0;
  bool chip_isn_known_ = false;
  std::uint16_t peer_window_ = 0xffff;
};

inline void run_script(const char* text) { PacketScript(text).run(); }

}  // namespace rnic::test
