// Makes frames of a station's segments.
#pragma once

#include <cstdint>

#include "model/common/buffer.h"
#include "model/rnic/boundary/frame.h"
#include "model/rnic/llp/link_address.h"
#include "model/rnic/llp/tcp/segment.h"
#include "model/rnic/messages/datapath.h"

namespace rnic::tcp {

class SegmentWriter {
 public:
  // Segments without a payload get blocks of `pool`.
  SegmentWriter(const LinkAddress& station, BufferPool& pool) : station_(station), pool_(pool) {}

  // Headers go in front of the payload, in its buffer, which the frame shares.
  Frame write(const llp::FlowKey& key, const wire::MacAddress& mac, SegmentFields fields, const BufferRef& buf,
              std::uint32_t payload_at, std::uint32_t payload_bytes) {
    fields.ip_id = ip_id_++;
    write_headers(station_, key, mac, fields, buf->bytes() + payload_at, payload_bytes);
    const std::uint32_t headers = header_bytes(fields);
    return {buf, payload_at - headers, headers + payload_bytes, true};
  }
  Frame write_bare(const llp::FlowKey& key, const wire::MacAddress& mac, const SegmentFields& fields) {
    return write(key, mac, fields, pool_.take(), kFrameHeadroom, 0);
  }
  // RST; with `ack` if there is something to acknowledge.
  Frame write_reset(const llp::FlowKey& key, const wire::MacAddress& mac, std::uint32_t seq, bool with_ack,
                    std::uint32_t ack) {
    SegmentFields fields;
    fields.seq = seq;
    fields.flags = wire::TcpHeader::kRst;
    if (with_ack) {
      fields.flags |= wire::TcpHeader::kAck;
      fields.ack = ack;
    }
    return write_bare(key, mac, fields);
  }

 private:
  const LinkAddress station_;
  BufferPool& pool_;
  std::uint16_t ip_id_ = 0;
};

}  // namespace rnic::tcp
