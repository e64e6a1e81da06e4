#include "model/rnic/llp/sctp/sctp_rx.h"

#include <cstring>

#include "model/common/description.h"
#include "model/common/sctp_checksum.h"

namespace rnic {

SctpRx::SctpRx(sc_core::sc_module_name nm, ClockDomain& clk, const DatapathConfig& datapath, const LinkAddress& station,
               BufferPool& pool)
    : Stage(nm, clk), station_(station), pool_(pool), emission_(datapath) {}

void SctpRx::reset() {
  emission_.reset();
  fragments_.reset();
  report_.reset();
  entered_ = {};
  checked.reset();
}

// A packet begins right after the previous one; it leaves in the cycle of its last checked beat.
Wake SctpRx::tick() {
  if (emission_.free(now()) && !report_ && in->can_pop()) take(in->pop());
  emission_.push(*to_crc, now(), horizon());
  checked.collect(now());
  const bool room = out->can_push();
  if (room && checked.beat_at() <= now()) {
    finish();
  } else if (room && report_) {
    out->push(std::move(*report_));
    report_.reset();
  }
  checked.collect(horizon());

  const Cycle begin = report_ && room ? now() + 1 : emission_.done() && in->can_pop() ? emission_.free_from() : kNever;
  const Cycle end = room || checked.beat_at() > now() ? checked.beat_at() : kNever;
  return Wake::at_cycle(std::max(std::min({begin, emission_.next(*to_crc), end}), now() + 1));
}

// The frame is shared and stays as it is; the packet is copied, as it leaves the packet buffer, with 0 in its checksum
// field and the checksum appended, where the CRC engine compares.
void SctpRx::take(const Frame& frame) {
  sctp::ReceivedPacket packet;
  switch (sctp::read_packet({frame.data(), frame.bytes}, station_.ip, fragments_, packet)) {
    case sctp::PacketFault::kNone:
      break;
    case sctp::PacketFault::kIpv4Header:
      return drop(frame, counters_.bad_ipv4, "no valid packet");
    case sctp::PacketFault::kNotForUs:
      return drop(frame, counters_.not_for_us, "another station's");
    case sctp::PacketFault::kFragment:
      ++counters_.fragments;
      return;
    case sctp::PacketFault::kPathMtu:
      return report(packet.too_long);
    case sctp::PacketFault::kShape:
      return drop(frame, counters_.bad_shape, "no valid packet");
  }
  const auto bytes = static_cast<std::uint32_t>(packet.octets.size());
  const std::uint32_t block = kFrameHeadroom + bytes + kSctpChecksumBytes;
  if (block > large_.block_bytes()) return drop(frame, counters_.bad_shape, "longer than a block");
  BufferRef buf = (block > pool_.block_bytes() ? large_ : pool_).take_like(frame.buf.get());
  std::uint8_t* const data = buf->bytes() + kFrameHeadroom;
  std::memcpy(data, packet.octets.data(), bytes);
  std::memcpy(data + bytes, data + kSctpChecksumOffset, kSctpChecksumBytes);
  std::memset(data + kSctpChecksumOffset, 0, kSctpChecksumBytes);
  entered_.push({static_cast<std::uint16_t>(bytes), packet.peer_ip, packet.peer_mac});
  emission_.start(std::move(buf), data, bytes / 4 + 1, FlowId{0});
}

// Ports and tag of the packet that was too long, from the start of its common header.
void SctpRx::report(const wire::FragmentationNeeded& told) {
  ++counters_.path_mtu_reports;
  SctpPacket p;
  p.buf = pool_.take();
  p.offset = kFrameHeadroom;
  p.bytes = wire::FragmentationNeeded::kQuotedPayload;
  p.peer_ip = told.dst.v;
  p.path_mtu = std::max<std::uint16_t>(1, told.next_hop_mtu);
  store_be16(p.data(), told.src_port);
  store_be16(p.data() + 2, told.dst_port);
  store_be32(p.data() + 4, told.word);
  report_ = std::move(p);
}

void SctpRx::drop(const Frame& frame, std::uint64_t& counter, const char* why) {
  ++counter;
  drops(now(), frame.buf->owner(), frame.bytes, why);
}

void SctpRx::finish() {
  const FpduBeat last = checked.take_last();
  BufferRef buf = BufferRef::adopt(last.buf);
  const Entered packet = entered_.pop();
  if (!last.crc_ok) {
    ++counters_.bad_checksum;
    return drops(now(), buf->owner(), packet.bytes, "SCTP checksum wrong");
  }
  ++counters_.packets;
  counters_.bytes += packet.bytes;
  out->push({std::move(buf), kFrameHeadroom, packet.bytes, packet.peer_ip, packet.peer_mac});
}

void SctpRx::describe(const Description& d) {
  d.counters(counters_);
  d.drops(drops);
}

}  // namespace rnic
