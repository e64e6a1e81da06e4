#include "model/rnic/llp/sctp/outcome.h"

#include <algorithm>

namespace rnic::sctp {

using wire::SctpChunkType;
using wire::SctpWriter;

void Outcome::clear() {
  bytes_ = events_used_ = chunks_used_ = 0;
  timers_.fill(std::nullopt);
  rtt.reset();
  macs = 0;
}

// The chunk that ends an association comes last in a packet, and is never the one left out.
void Outcome::tell(const SetupEvent& event) {
  if (events_used_ < kMaxEvents) ++events_used_;
  events_[events_used_ - 1] = event;
}

void Outcome::pass(const wire::SctpChunk& chunk) {
  if (chunks_used_ < kMaxChunks) chunks_[chunks_used_++] = {chunk.type, chunk.flags, chunk.value};
}

// SctpWriter writes complete packets. So a chunk is written as a separate packet; unless it is the first, its header
// overwrites the end of the octets before it, which are then restored.
template <class Fill>
bool Outcome::append(const Header& to, Fill fill) {
  constexpr std::size_t kHeader = wire::SctpHeader::kBytes;
  const std::size_t begin = bytes_ == 0 ? 0 : bytes_ - kHeader;
  if (begin >= limit_) return false;
  std::array<std::uint8_t, kHeader> before;
  std::copy_n(octets_.begin() + begin, kHeader, before.begin());
  SctpWriter writer(MutableByteSpan(octets_.data() + begin, limit_ - begin), {to.port, to.peer_port, to.tag});
  fill(writer);
  const std::size_t written = writer.finish();
  if (bytes_ != 0) std::copy(before.begin(), before.end(), octets_.begin() + begin);
  if (written == 0) return false;
  bytes_ = begin + written;
  return true;
}

bool Outcome::chunk(const Header& to, SctpChunkType type, ByteSpan value, std::uint8_t flags) {
  return append(to, [&](SctpWriter& w) {
    w.begin(type, flags);
    w.put(value);
  });
}

bool Outcome::cause(const Header& to, SctpChunkType type, wire::SctpCause cause, ByteSpan information,
                    std::uint8_t flags) {
  return append(to, [&](SctpWriter& w) {
    w.begin(type, flags);
    w.item(static_cast<std::uint16_t>(cause), information);
  });
}

bool Outcome::init(const Header& to, SctpChunkType type, const wire::SctpInit& init, const SctpParameters& parameters) {
  return append(to, [&](SctpWriter& w) {
    w.begin(type);
    w.put(init);
    for (std::size_t i = 0; i < parameters.used; ++i) {
      w.item(static_cast<std::uint16_t>(parameters.list[i].type), parameters.list[i].value);
    }
  });
}

}  // namespace rnic::sctp
