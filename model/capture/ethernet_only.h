// A capture as a stream that libpcap reads, without a pcapng file's interfaces of other link types: libpcap refuses a
// file in which there are two.
#pragma once

#include <cstdint>
#include <cstdio>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/common/bytes.h"

namespace rnic::capture {

class EthernetOnly final {
 public:
  // Of pcapng, each section's interfaces get new numbers, and packets and statistics of others are left out; what is no
  // block passes as it is, and so do files of another format. Takes the file.
  explicit EthernetOnly(std::FILE* file) : file_(file) {}
  EthernetOnly(const EthernetOnly&) = delete;
  EthernetOnly& operator=(const EthernetOnly&) = delete;

  // To be closed before this object goes. Nothing where the system has no memory for it.
  std::FILE* open();

  std::uint64_t skipped_interfaces() const { return skipped_interfaces_; }
  std::uint64_t skipped_packets() const { return skipped_packets_; }
  // Where in the file an octet of the stream lies. Places are asked for in their order.
  std::uint64_t place_of(std::uint64_t position);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::size_t read(std::uint8_t* into, std::size_t size);
  bool next_block();
  bool take(std::size_t size);
  bool passes();
  bool passes_interface();
  bool passes_packet(bool is_packet, std::size_t number_bytes);
  std::uint32_t number(std::size_t at, std::size_t bytes = 4) const;

  const std::unique_ptr<std::FILE, Close> file_;
  bool begins_ = true, is_raw_ = false, is_big_endian_ = false;
  std::vector<std::uint8_t> block_;  // the one being read
  std::size_t given_ = 0;            // octets of it
  std::uint64_t delivered_ = 0, left_out_ = 0;
  std::deque<std::pair<std::uint64_t, std::uint64_t>> gaps_;  // from this place of the stream on, so much was left out
  std::uint64_t gap_ = 0;
  std::vector<int> interfaces_;  // of the section: new numbers, or -1
  int kept_ = 0;
  std::uint64_t skipped_interfaces_ = 0, skipped_packets_ = 0;
};

}  // namespace rnic::capture
