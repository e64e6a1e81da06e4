#include "model/capture/replay/terminate_comparison.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/capture/replay/terminate_reader.h"
#include "model/wire/ddp.h"

namespace rnic::replay {

using wire::TerminateCause;

namespace {

// Codes of siw that differ from the documents'.
struct CodeChoice {
  TerminateCause real, model;
  const char* why;
};
constexpr CodeChoice kCodeChoices[] = {
    {wire::ddp::kInvalidMsnNoBuffer, wire::ddp::kMessageTooLong, "RDMAP-7.3-04, choices.md 14"},
    {wire::rdma::kCatastrophicStream, wire::ddp::kInvalidMsnNoBuffer, "choices.md 13"},
    {wire::ddp::kLocalCatastrophic, wire::ddp::kToWrap, "DDP-7.1-10, DDP-7.2-05"},
    {{wire::Layer::kRdma, wire::rdma::kLocalCatastrophicType, 0xff}, wire::rdma::kLocalCatastrophic, "choices.md 8"},
};

// The real side refused a Read's sink for another cause; the replay can only end the sink's STag.
bool stands_for_sink(const TerminateCause& real, const TerminateCause& model) {
  return (real == wire::ddp::kBaseOrBounds || real == wire::ddp::kStagNotAssociated) &&
         model == wire::ddp::kInvalidStag;
}

std::string why_code(const Script& script, const TerminateCause& real, const TerminateCause& model) {
  if (script.memory.ends_sink && stands_for_sink(real, model)) {
    return "RDMAP-5.2-07: siw looks at a Read's sink when the response comes, the model when the Read starts, so the "
           "replay ends the sink's STag in between";
  }
  for (const CodeChoice& c : kCodeChoices) {
    if (c.real == real && c.model == model) return c.why;
  }
  return "";
}

// The segment that a Terminate is about, as the peer sent it.
struct Failing {
  std::vector<std::uint8_t> ddp_header, read_request;
  std::size_t ulpdu = 0, payload = 0;
};

Failing failing_segment(const Script& script) {
  Failing f;
  if (!script.memory.failing) return f;
  const DdpSegment& s = script.fed.segments()[*script.memory.failing];
  const std::size_t header = s.header.tagged ? wire::DdpTaggedHeader::kBytes : wire::DdpUntaggedHeader::kBytes;
  const ByteSpan at = ByteSpan(script.fed.octets()).subspan(s.payload_at - header, header);
  const ByteSpan payload = script.fed.payload(s);
  f.ddp_header.assign(at.begin(), at.end());
  if (s.header.opcode == wire::Opcode::kReadRequest) f.read_request.assign(payload.begin(), payload.end());
  f.ulpdu = header + payload.size();
  f.payload = payload.size();
  return f;
}

// siw ignores an Invalidate that it cannot execute; the documents end the stream.
bool refuses_invalidate(const TerminateCause& cause) {
  return cause == wire::rdma::kUnknownStagCannotBeInvalidated || cause == wire::rdma::kForeignStagCannotBeInvalidated;
}

// siw closes without a Terminate if a Read's source wraps, or if its peer's stream ends within an FPDU.
std::string why_alone(const Script& script, const ReadTerminate& model) {
  if (refuses_invalidate(model.cause)) return "RDMAP-9.2-04, RDMAP-9.2-05: siw ignores an Invalidate that it cannot do";
  const auto read = wire::ReadRequest::parse(model.read_request);
  const auto& fed = script.fed.segments();
  const bool asked = std::any_of(fed.begin(), fed.end(), [&](const DdpSegment& s) {
    const ByteSpan request = script.fed.payload(s);
    return s.header.opcode == wire::Opcode::kReadRequest &&
           std::equal(request.begin(), request.end(), model.read_request.begin(), model.read_request.end());
  });
  if (model.cause == wire::rdma::kToWrap && asked && read && read->size != 0 && wraps(read->src_to, read->size)) {
    return "RDMAP-9.2-10: siw closes without a Terminate where a Read's source wraps";
  }
  if (model.cause == wire::mpa::kConnectionLost && script.fed.rest() != 0) {
    return "MPA-8-01: siw closes without a Terminate where its peer's stream ends in the middle of an FPDU";
  }
  return "";
}

void compare_fields(const Script& script, const ReadTerminate& real, const ReadTerminate& model,
                    std::vector<Difference>& out) {
  const Failing failing = failing_segment(script);
  if (real.swapped != model.swapped) {
    out.push_back({"Terminate, layout of the control word", real.swapped ? "nibbles and flags mirrored" : "RFC 5040",
                   model.swapped ? "nibbles and flags mirrored" : "RFC 5040",
                   model.swapped ? "" : "RDMAP-6.8-01; siw's bit-fields are right on big-endian machines only"});
  }
  if (real.cause != model.cause) {
    out.push_back({"Terminate, cause", cause_text(real.cause), cause_text(model.cause),
                   why_code(script, real.cause, model.cause)});
  }
  if (real.segment_length != model.segment_length) {
    const auto text = [](const std::optional<std::uint16_t>& n) { return n ? fmt::format("{}", *n) : "none"; };
    const bool whole = model.segment_length && *model.segment_length == failing.ulpdu && real.segment_length;
    out.push_back({"Terminate, DDP segment length", text(real.segment_length), text(model.segment_length),
                   whole ? "DDP-7.1-12, choices.md 12: siw reports the payload alone" : ""});
  }
  if (real.ddp_header != model.ddp_header) {
    const bool right = !model.ddp_header.empty() && model.ddp_header == failing.ddp_header;
    out.push_back({"Terminate, DDP header", hex_text(real.ddp_header), hex_text(model.ddp_header),
                   right ? "DDP-7.1-12: the header of the failing segment, as it was sent" : ""});
  }
  if (real.read_request != model.read_request) {
    const bool right = !model.read_request.empty() && model.read_request == failing.read_request;
    out.push_back({"Terminate, Read Request header", hex_text(real.read_request), hex_text(model.read_request),
                   right ? "RDMAP-6.8-06: the header of the failing Read Request, as it was sent" : ""});
  }
}

}  // namespace

std::vector<Difference> compare_terminates(const Script& script, const Message* real, const Message* model) {
  std::vector<Difference> out;
  const auto r = real == nullptr ? std::nullopt : read_terminate(real->payload);
  const auto m = model == nullptr ? std::nullopt : read_terminate(model->payload);
  const auto text = [](const std::optional<ReadTerminate>& t) { return t ? cause_text(t->cause) : "none"; };
  if (r && m) {
    compare_fields(script, *r, *m, out);
  } else {
    out.push_back({"Terminate", text(r), text(m), m && !r ? why_alone(script, *m) : ""});
  }
  return out;
}

}  // namespace rnic::replay
