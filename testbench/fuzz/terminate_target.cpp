// A Terminate's payload, in RFC 5040's layout and in that of Linux siw.
#include <algorithm>

#include "model/capture/replay/terminate_reader.h"
#include "model/wire/terminate.h"
#include "testbench/fuzz/parsers.h"

namespace rnic::fuzz {

void terminate(ByteSpan octets) {
  const auto read = replay::read_terminate(octets);
  require(read.has_value() == (octets.size() >= wire::TerminateHeader::kControlBytes), "read without its control word");
  if (read) replay::cause_text(read->cause);
  const auto header = wire::TerminateHeader::parse(octets);
  if (!header) return;
  wire::to_string(header->cause);
  std::uint8_t out[wire::TerminateHeader::kMaxBytes];
  const std::size_t bytes = header->emit(out);
  require(bytes == header->bytes() && bytes <= sizeof out, "a Terminate cannot be sent as it was read");
  const auto again = wire::TerminateHeader::parse({out, bytes});
  const auto same = [](ByteSpan a, ByteSpan b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); };
  // A segment's length is sent only with its header.
  const bool with_segment = !header->ddp_header.empty();
  require(again && again->cause == header->cause &&
              (!with_segment || again->segment_length == header->segment_length) &&
              same(again->ddp_header, header->ddp_header) && same(again->read_request, header->read_request),
          "a Terminate is not what was sent");
}

}  // namespace rnic::fuzz
