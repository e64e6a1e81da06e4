#include "model/rnic/llp/sctp/sctp_tx.h"

#include <cstring>

#include "model/common/description.h"
#include "model/common/sctp_checksum.h"
#include "model/rnic/llp/sctp/packet.h"

namespace rnic {

template class Collects<FpduBeat, CollectsAll<FpduBeat>>;

SctpTx::SctpTx(sc_core::sc_module_name nm, ClockDomain& clk, const DatapathConfig& datapath, const LinkAddress& station)
    : Stage(nm, clk), station_(station), emission_(datapath) {}

void SctpTx::reset() {
  emission_.reset();
  leaving_ = {};
  sealed.reset();
}

// A packet begins right after the previous one; a frame leaves in the cycle of its last sealed beat.
Wake SctpTx::tick() {
  if (emission_.free(now()) && in->can_pop()) start(in->pop());
  emission_.push(*to_crc, now(), horizon());
  sealed.collect(now());
  const bool room = out->can_push();
  if (room && sealed.beat_at() <= now()) finish();
  sealed.collect(horizon());

  const Cycle begin = emission_.done() && in->can_pop() ? emission_.free_from() : kNever;
  const Cycle end = room || sealed.beat_at() > now() ? sealed.beat_at() : kNever;
  return Wake::at_cycle(std::max(std::min({begin, emission_.next(*to_crc), end}), now() + 1));
}

// The checksum precedes the data that it covers, so its octets are 0 here, and a word after the packet gets the CRC.
void SctpTx::start(SctpPacket packet) {
  sctp::write_lower_headers(station_, packet, ip_id_++);
  std::uint8_t* const data = packet.data();
  std::memset(data + kSctpChecksumOffset, 0, kSctpChecksumBytes);
  std::memset(data + packet.bytes, 0, kSctpChecksumBytes);
  leaving_.push({packet.offset, packet.bytes, packet.resend});
  emission_.start(std::move(packet.buf), data, packet.bytes / 4u + 1, FlowId{0});
}

void SctpTx::finish() {
  const FpduBeat last = sealed.take_last();
  BufferRef buf = BufferRef::adopt(last.buf);
  const Leaving packet = leaving_.pop();
  std::memcpy(buf->bytes() + packet.offset + kSctpChecksumOffset, last.data + 4u * (last.words - 1u),
              kSctpChecksumBytes);
  ++counters_.packets;
  counters_.bytes += packet.bytes;
  counters_.retransmissions += packet.resend != Resend::kNo;
  out->push({std::move(buf), packet.offset - sctp::kLowerHeaderBytes, packet.bytes + sctp::kLowerHeaderBytes, true,
             packet.resend});
}

void SctpTx::describe(const Description& d) {
  d.counters(counters_);
  d.series("sctp_tx.packets", 70, counters_, &SctpTxCounters::packets);
  d.series("sctp_tx.retransmissions", 80, counters_, &SctpTxCounters::retransmissions);
}

}  // namespace rnic
