// The capture of the cable and, on request, of the PCIe links; and the count of the cable's frames.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/cable/ethernet_link.h"
#include "model/common/ring.h"
#include "model/trace/pcapng.h"

namespace rnic {

// The two directions' clocks run ahead of each other, so frames come out of order; each waits until no earlier one can
// follow.
class WireCapture final : public FrameTap {
 public:
  // Seen from the station at end 0. Without a file it only counts. ConfigError if the file cannot be created.
  WireCapture(const std::string& station, const std::string& file);

  void frame(unsigned direction, const Frame& frame, std::uint64_t ps) override;
  // No earlier frame will follow.
  void advance(std::uint64_t now_ps);
  void close();

  std::uint64_t frames() const { return frames_; }
  bool has_file() const { return writer_ != nullptr; }
  bool is_read() const { return has_file() || listener_ != nullptr; }  // by anybody

  // One that never arrives: a packet of the interface "cable.lost", which has the whole frame behind an Ethernet header
  // of an EtherType of its own, so that nobody takes it for one that did. `ps`: where it would have. In any order.
  void swallowed(unsigned direction, const Frame& frame, std::uint64_t ps, std::string why);

  // Gets every frame in the order of the capture, file or no file.
  struct Captured {
    std::uint64_t number;  // of the packet in the capture, from 1 on
    unsigned direction;
    const Frame& frame;
    std::uint64_t ps;
    const std::string& swallowed;  // why; empty for one that arrived
  };
  using Listener = std::function<void(const Captured& captured)>;
  void listen(Listener listener) { listener_ = std::move(listener); }

  // A frame's comment; empty is no comment.
  using Comment = std::function<std::string(unsigned direction, const Frame& frame)>;
  void comment(Comment comment) { comment_ = std::move(comment); }

  // An interface for other packets, and their two directions. Packets of a direction come in the order of time.
  unsigned add_interface(const std::string& name, LinkType type);
  void packet(unsigned interface, Direction direction, std::uint64_t ps, std::vector<std::uint8_t> octets,
              std::string comment);

 private:
  struct Waiting {
    std::uint64_t ps = 0;
    Frame frame;
  };
  struct Swallowed {
    std::uint64_t ps;
    Frame frame;
    std::string why;
  };
  struct Packet {
    std::uint64_t ps;
    std::vector<std::uint8_t> octets;
    std::string comment;
  };
  struct Source {
    unsigned interface;
    Direction direction;
    std::deque<Packet> waiting;
  };
  void write_frame(unsigned direction);
  void write_swallowed(unsigned direction);
  void write_packet(Source& source);

  std::unique_ptr<PcapngWriter> writer_;
  unsigned interface_ = 0;
  Listener listener_;
  Comment comment_;
  std::uint64_t frames_ = 0, packets_ = 0;
  std::array<Ring<Waiting>, 2> waiting_;
  std::array<std::deque<Swallowed>, 2> swallowed_;
  std::optional<unsigned> lost_interface_;  // from its first packet on
  std::vector<Source> sources_;             // beside the cable
};

}  // namespace rnic
