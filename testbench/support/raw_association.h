// A station that speaks SCTP and DDP stream sessions chunk by chunk, by the text of RFC 9260 and RFC 5043 and without
// the model's wire code, so that it can break any rule. It opens associations to one chip. The wire loses nothing.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include <gmock/gmock.h>

#include "model/rnic/boundary/ethernet_socket.h"
#include "testbench/support/mpa_reference.h"

namespace rnic::test {

class RawAssociations final : public sc_core::sc_module, private EthernetTarget {
 public:
  struct Addresses {
    Bytes mac, chip_mac;  // 6 octets
    std::uint32_t ip = 0, chip_ip = 0;
    std::uint16_t chip_port = 0;  // to connect to
  };
  EthernetInitiator out{"out"};
  RawAssociations(sc_core::sc_module_name nm, Addresses addresses);
  EthernetTarget& in() { return *this; }

  // The peer's actions, in a process of their own.
  void run(std::function<void()> script) { script_ = std::move(script); }
  bool done() const { return done_; }

  // To be called in the script. Opens another association, from another port, up to the COOKIE ACK, and forgets all
  // received from the previous one.
  void open();
  // Chunks in one packet.
  void send(const std::vector<Bytes>& chunks);
  // A DATA chunk with the association's next TSN, on stream 0, and with the session's next DDP-SSN.
  Bytes control(std::uint16_t code, const Bytes& private_data = {});  // PPID 17
  Bytes segment(const Bytes& ddp_segment);                            // PPID 16
  Bytes abort() const { return {6, 0, 0, 4}; }
  Bytes shutdown() const;  // acknowledges everything received
  // The function codes of the chip's control messages, in order of arrival. They are acknowledged at once.
  std::vector<std::uint16_t> codes;
  bool aborted = false;
  void wait_us(unsigned us) { sc_core::wait(sc_core::sc_time(us, sc_core::SC_US)); }
  // Waits until the condition holds or 1 ms has passed; returns the condition.
  bool wait_for(const std::function<bool()>& condition);

 private:
  void on_frame(const Frame& frame, std::uint64_t at_ps) override;
  void take_frames();
  void play();
  void dispatch(const Bytes& frame);
  void on_chunk(const Bytes& chunk);
  Bytes data(std::uint32_t ppid, const Bytes& user_data);
  void send_tagged(std::uint32_t tag, const std::vector<Bytes>& chunks);

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

  std::uint16_t port_ = 42000;
  std::uint32_t tag_ = 0x5a5a0000, chip_tag_ = 0, tsn_ = 0, chip_tsn_ = 0;
  std::uint16_t ssn_ = 0;
  Bytes cookie_;
  bool up_ = false;
};

}  // namespace rnic::test
