// A station that speaks TCP, MPA and DDP octet by octet, by the text of the RFCs and without the model's wire code, so
// that it can break any rule. It opens connections to one chip and accepts the chip's.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "model/rnic/boundary/ethernet_socket.h"
#include "testbench/support/mpa_reference.h"

namespace rnic::test {

class RawPeer;

// One TCP connection. The calls block the script until the chip has answered; the wire loses nothing.
class RawStream final {
 public:
  RawStream(RawPeer& peer, std::uint16_t port, std::uint16_t chip_port);

  // Sends the start-up frame (RFC 5044 section 7.1) and returns the reply: 20 octets and private data. The two frames
  // decide the framing.
  Bytes start(const Bytes& request);
  // The same for a request that the chip need not answer. Without an answer it is empty, and no FPDUs can be received.
  Bytes try_start(const Bytes& request);
  // The other way round: returns the chip's request and sends our reply.
  Bytes answer(const Bytes& reply);

  // Sends stream octets as they are, in segments of at most 1460.
  void send(const Bytes& octets);
  // Sends them in one segment with our FIN.
  void send_last(const Bytes& octets);
  // Sends only the second of two segments, out of order: the chip keeps it until send() has brought the first. Another
  // send() of the second moves our own sequence number past it; the chip drops the duplicate.
  void send_ahead(const Bytes& first, const Bytes& second);
  // Our direction's next FPDU, to be sent as it is or corrupted.
  Bytes fpdu(const Bytes& ulpdu);
  // From the start of the last FPDU made to the first marker inside it.
  std::size_t octets_to_marker() const { return marker_at_; }
  void send_ulpdu(const Bytes& ulpdu) { send(fpdu(ulpdu)); }

  // The chip's next ULPDU, whose CRC and markers must be right. Empty if the stream ended or 1 ms passed first.
  Bytes receive();
  // Waits for the chip's FIN; false if 1 ms passed first.
  bool receive_fin();
  // Octets received after the ULPDUs that were taken.
  std::size_t unread() const { return received_.size(); }
  bool was_reset() const { return reset_; }
  void send_fin();
  void send_rst();
  // Sends RST with the sequence number that the chip expects, whatever was lost or corrupted on the way there.
  void abort();
  bool negotiated() const { return negotiated_; }

 private:
  friend class RawPeer;
  void on_segment(const Bytes& frame);
  void transmit(unsigned flags, const Bytes& payload);
  bool take(std::size_t octets, Bytes& out);
  bool take_frame(Bytes& frame);
  void agree(const Bytes& ours, const Bytes& chips);

  RawPeer& peer_;
  const std::uint16_t port_, chip_port_;
  std::uint32_t seq_, ack_ = 0, chips_ack_;
  bool open_ = false, fin_ = false, reset_ = false, negotiated_ = false;
  Bytes received_;
  std::size_t marker_at_ = 0;
  MpaReference to_chip_, from_chip_;
};

class RawPeer final : public sc_core::sc_module, private EthernetTarget {
 public:
  struct Addresses {
    Bytes mac, chip_mac;  // 6 octets
    std::uint32_t ip = 0, chip_ip = 0;
    std::uint16_t chip_port = 0;  // to connect to
    std::uint16_t port = 0;       // that we listen on; 0: none
  };
  EthernetInitiator out{"out"};
  RawPeer(sc_core::sc_module_name nm, Addresses addresses);
  EthernetTarget& in() { return *this; }

  // The peer's actions, in a process of their own.
  void run(std::function<void()> script) { script_ = std::move(script); }
  bool done() const { return done_; }
  // To be called in the script.
  RawStream& connect();
  RawStream& accept();  // the chip's next connection
  // The same where the chip may not answer.
  RawStream* try_connect();
  // Sends any frame. set_checksums() corrects the checksums of IPv4 and TCP.
  void send_frame(const Bytes& octets);
  static void set_checksums(Bytes& frame);
  // Gets a stream's next frame just before it is sent, and may change it.
  std::function<void(Bytes& frame)> bend;
  // For tests in which the wire or this station is unreliable. Data that the chip retransmits is acknowledged again,
  // and segments that belong to none of our streams are reset, as RFC 9293 section 3.10.7.1 asks.
  bool lenient = false;
  // All streams but this one have ended.
  void forget_streams(const RawStream& kept);
  void wait_us(unsigned us) { sc_core::wait(sc_core::sc_time(us, sc_core::SC_US)); }
  // Waits until the condition holds or 1 ms has passed; returns the condition.
  bool wait_for(const std::function<bool()>& condition);

 private:
  friend class RawStream;
  void on_frame(const Frame& frame, std::uint64_t at_ps) override;
  void take_frames();
  void play();
  void transmit(const RawStream& stream, std::uint32_t seq, std::uint32_t ack, unsigned flags, const Bytes& payload);
  RawStream& stream(std::uint16_t port, std::uint16_t chip_port);
  void refuse(const Bytes& frame);
  void dispatch(const Bytes& frame);

  const Addresses addresses_;
  BufferPool pool_{2048};
  std::function<void()> script_;
  bool done_ = false;
  struct Arrival {
    std::uint64_t ps;
    Bytes octets;
  };
  std::deque<Arrival> arrivals_;
  sc_core::sc_event_queue arrived_;
  sc_core::sc_event changed_;
  std::vector<std::unique_ptr<RawStream>> streams_;
  std::uint16_t next_port_ = 41000;
  std::size_t accepted_ = 0;  // connections that the chip opened
  std::vector<RawStream*> of_the_chip_;
};

}  // namespace rnic::test
