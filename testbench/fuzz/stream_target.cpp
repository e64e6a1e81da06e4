// One direction of a TCP stream with MPA: the start-up frame and FPDUs, as `decode` and `replay` read them. Also DDP
// segments alone, in correct FPDUs.
#include <algorithm>

#include "model/capture/iwarp_stream.h"
#include "model/capture/replay/message_reader.h"
#include "model/wire/ddp.h"
#include "model/wire/rdmap.h"
#include "testbench/fuzz/input.h"
#include "testbench/fuzz/parsers.h"
#include "testbench/support/mpa_reference.h"

namespace rnic::fuzz {
namespace {

struct Reading {
  Reading(wire::MpaFrameKind kind, bool markers, bool crc, ByteSpan octets, std::size_t piece)
      : stream(kind, "a", undecoded) {
    for (std::size_t at = 0; at < octets.size(); at += piece) {
      stream.push(octets.subspan(at, piece), {at});
      if (stream.phase() == capture::IwarpStream::Phase::kNegotiating) stream.enter_rdma(markers, crc);
    }
    stream.finish();
  }
  capture::UndecodedList undecoded;
  capture::IwarpStream stream;
};

// Of each piece the capture kept the first half: nothing is read twice or invented.
void read_cut(wire::MpaFrameKind kind, bool markers, bool crc, ByteSpan octets, std::size_t piece) {
  capture::UndecodedList undecoded;
  std::size_t seen = 0;
  capture::IwarpStream stream(kind, "a", undecoded, [&](const capture::SeenFpdu& fpdu) {
    seen += wire::kUlpduLengthBytes;
    require(fpdu.first.offset <= fpdu.last.offset, "an FPDU ends before it begins");
  });
  for (std::size_t at = 0; at < octets.size(); at += piece) {
    const ByteSpan whole = octets.subspan(at, piece);
    stream.push(whole.subspan(0, (whole.size() + 1) / 2), {at});
    if (stream.phase() == capture::IwarpStream::Phase::kNegotiating) stream.enter_rdma(markers, crc);
    if (whole.size() / 2 != 0) stream.skip(whole.size() / 2);
  }
  stream.finish();
  require(seen <= octets.size(), "more FPDUs than there is room for");
}

void read_messages(wire::MpaFrameKind kind, bool crc, ByteSpan octets, std::size_t piece) {
  replay::MessageReader reader(kind);
  reader.expect_crc(crc);
  for (std::size_t at = 0; at < octets.size(); at += piece) reader.push(octets.subspan(at, piece));
  for (const replay::DdpSegment& s : reader.segments()) {
    require(s.payload_at + s.payload_bytes <= s.end && s.end <= octets.size(), "a segment ends behind its FPDU");
  }
  for (const replay::Message& m : reader.messages()) replay::describe(m);
  require(reader.whole_messages() <= reader.messages().size(), "more messages are whole than there are");
  require(reader.rest() <= octets.size(), "more is left than there was");
}

// The header encoded again from its fields: the same octets, if no reserved bit is set.
template <class View>
void check_view(ByteSpan ulpdu) {
  const auto view = View::parse(ulpdu);
  if (!view) return;
  std::uint8_t header[View::kHeaderBytes];
  require(view->header.emit(header) == sizeof header && std::equal(header, header + sizeof header, ulpdu.begin()),
          "a DDP header is not what was read");
  require(view->payload.size() + sizeof header == ulpdu.size(), "a DDP header leaves another payload");
}
template <class Header>
void check_header(ByteSpan payload) {
  const auto header = Header::parse(payload);
  std::uint8_t octets[Header::kBytes];
  require(
      !header || (header->emit(octets) == sizeof octets && std::equal(octets, octets + sizeof octets, payload.begin())),
      "an RDMAP header is not what was read");
}

}  // namespace

void stream(ByteSpan octets) {
  Input in(octets);
  const std::uint8_t how = in.octet();
  const std::size_t piece = std::size_t{in.octet()} + 1;
  const auto kind = how & 1 ? wire::MpaFrameKind::kRequest : wire::MpaFrameKind::kReply;
  const bool markers = how & 2, crc = how & 4;
  const ByteSpan all = in.rest();
  const Reading whole(kind, markers, crc, all, all.size() + 1), pieces(kind, markers, crc, all, piece);
  require(whole.stream.counts().by_opcode == pieces.stream.counts().by_opcode &&
              whole.stream.phase() == pieces.stream.phase() && whole.undecoded.size() == pieces.undecoded.size(),
          "a stream in pieces is another");
  if (!markers) read_messages(kind, crc, all, piece);
  read_cut(kind, markers, crc, all, piece);
}

// Segments of at most 255 octets, each after its length.
void ddp(ByteSpan octets) {
  Input in(octets);
  const std::uint8_t how = in.octet();
  test::MpaReference sender{(how & 1) != 0, (how & 2) != 0};
  test::Bytes wire = test::from_hex("4D504120494420526571204672616D65");
  wire.insert(wire.end(), {static_cast<std::uint8_t>((sender.markers ? 0x80 : 0) | (sender.crc ? 0x40 : 0)), 1, 0, 0});
  std::size_t segments = 0;
  for (; !in.empty(); ++segments) {
    const std::size_t bytes = in.octet();
    const ByteSpan ulpdu = in.take(bytes);
    check_view<wire::DdpTaggedView>(ulpdu);
    check_view<wire::DdpUntaggedView>(ulpdu);
    const ByteSpan payload = ulpdu.subspan(wire::DdpUntaggedHeader::kBytes);
    check_header<wire::ReadRequest>(payload);
    check_header<wire::AtomicRequest>(payload);
    check_header<wire::AtomicResponse>(payload);
    check_header<wire::ImmediateData>(payload);
    const test::Bytes fpdu = sender.fpdu({ulpdu.begin(), ulpdu.end()});
    wire.insert(wire.end(), fpdu.begin(), fpdu.end());
  }
  const Reading reading(wire::MpaFrameKind::kRequest, sender.markers, sender.crc, wire, wire.size());
  require(reading.stream.counts().crc.bad == 0, "a right CRC is taken for wrong");
  std::uint64_t counted = 0;
  for (const auto& [opcode, count] : reading.stream.counts().by_opcode) counted += count;
  require(counted <= segments, "more segments than there were");
  if (!sender.markers) read_messages(wire::MpaFrameKind::kRequest, sender.crc, wire, wire.size());
}

}  // namespace rnic::fuzz
