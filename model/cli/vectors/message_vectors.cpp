// DDP segments of every message. The vectors' fields do not name the message, so its opcode (with SE) is taken from
// the expected octets; all else is encoded from the fields and compared with all octets, and decoded and compared with
// all fields. The headers a Terminate returns are only in the octets.
#include <stdexcept>

#include "model/cli/vectors/json_fields.h"
#include "model/cli/vectors/vector_kinds.h"
#include "model/wire/ddp.h"
#include "model/wire/rdmap.h"
#include "model/wire/terminate.h"

namespace rnic::cli {
namespace {

using nlohmann::json;
using wire::Opcode;
using Bytes = std::vector<std::uint8_t>;

template <class Header>
void append(Bytes& out, const Header& header) {
  std::uint8_t buffer[64];
  const std::size_t size = header.emit(buffer);
  out.insert(out.end(), buffer, buffer + size);
}

void append_octets(Bytes& out, ByteSpan octets) { out.insert(out.end(), octets.begin(), octets.end()); }

// A decoded header that must be there, since the octets said so.
template <class Header>
Header need(const std::optional<Header>& header) {
  if (!header) throw std::invalid_argument("ulpdu_hex is too short for its opcode");
  return *header;
}

// --- encoding ---

void append_tagged(Bytes& out, const json& f, Opcode op) {
  const bool write = op == Opcode::kWrite;
  wire::DdpTaggedHeader header;
  header.control = wire::DdpControl::pack(true, flag(f, "last", true), wire::kDdpVersion);
  header.rdmap = wire::RdmapControl::pack(op);
  header.stag = field<std::uint32_t>(f, write ? "stag" : "sink_stag");
  header.to = field<std::uint64_t>(f, write ? "to" : "sink_to");
  append(out, header);
  append_octets(out, hex_field(f, "payload_hex"));
}

void append_untagged_header(Bytes& out, const json& f, Opcode op) {
  wire::DdpUntaggedHeader header;
  header.control = wire::DdpControl::pack(false, flag(f, "last", true), wire::kDdpVersion);
  header.rdmap = wire::RdmapControl::pack(op);
  header.invalidate_stag = wire::invalidates(op) ? field<std::uint32_t>(f, "inval_stag") : 0;
  header.qn = wire::queue_number(op);
  header.msn = field<std::uint32_t>(f, "msn", 1);
  header.mo = field<std::uint32_t>(f, "mo", 0);
  append(out, header);
}

wire::ReadRequest read_request_from(const json& f) {
  return {field<std::uint32_t>(f, "sink_stag"), field<std::uint64_t>(f, "sink_to"), field<std::uint32_t>(f, "size"),
          field<std::uint32_t>(f, "src_stag"), field<std::uint64_t>(f, "src_to")};
}

wire::AtomicRequest atomic_request_from(const json& f) {
  const auto value = [&](const char* key) { return field<std::uint64_t>(f, key); };
  const auto aop = static_cast<wire::AtomicOpcode>(field<std::uint8_t>(f, "aop"));
  wire::AtomicRequest request =
      aop == wire::AtomicOpcode::kFetchAdd
          ? wire::AtomicRequest::fetch_add(value("add"), value("mask"))
          : wire::AtomicRequest::cmp_swap(value("swap"), value("swap_mask"), value("compare"), value("compare_mask"));
  request.request_id = field<std::uint32_t>(f, "req_id");
  request.stag = field<std::uint32_t>(f, "stag");
  request.to = field<std::uint64_t>(f, "to");
  return request;
}

wire::TerminateHeader terminate_from(const json& f, ByteSpan payload) {
  const wire::TerminateHeader returned = need(wire::TerminateHeader::parse(payload));
  wire::TerminateHeader header;
  header.cause = {static_cast<wire::Layer>(field<std::uint8_t>(f, "layer")), field<std::uint8_t>(f, "etype"),
                  field<std::uint8_t>(f, "code")};
  if (flag(f, "m", false)) header.segment_length = field<std::uint16_t>(f, "segment_length");
  if (flag(f, "d", false)) header.ddp_header = returned.ddp_header;
  if (flag(f, "r", false)) header.read_request = returned.read_request;
  return header;
}

Bytes encoded(const json& f, Opcode op, ByteSpan expected) {
  Bytes out;
  if (wire::is_tagged(op)) {
    append_tagged(out, f, op);
    return out;
  }
  append_untagged_header(out, f, op);
  switch (op) {
    case Opcode::kReadRequest:
      append(out, read_request_from(f));
      break;
    case Opcode::kAtomicRequest:
      append(out, atomic_request_from(f));
      break;
    case Opcode::kAtomicResponse:
      append(out, wire::AtomicResponse{field<std::uint32_t>(f, "req_id"), field<std::uint64_t>(f, "original")});
      break;
    case Opcode::kTerminate:
      append(out, terminate_from(f, expected.subspan(wire::DdpUntaggedHeader::kBytes)));
      break;
    default:
      append_octets(out, hex_field(f, wire::is_immediate(op) ? "imm_hex" : "payload_hex"));
      break;
  }
  return out;
}

// --- decoding: every field that the vector gives ---

json decoded_tagged(ByteSpan ulpdu, Opcode op) {
  const auto view = need(wire::DdpTaggedView::parse(ulpdu));
  const bool write = op == Opcode::kWrite;
  return {{write ? "stag" : "sink_stag", view.header.stag},
          {write ? "to" : "sink_to", view.header.to},
          {"last", int{view.header.last()}},
          {"payload_hex", to_hex(view.payload)}};
}

json decoded_atomic(const wire::AtomicRequest& r) {
  json f = {{"aop", static_cast<int>(r.opcode())}, {"req_id", r.request_id}, {"stag", r.stag}, {"to", r.to}};
  if (r.opcode() == wire::AtomicOpcode::kFetchAdd) {
    f.update({{"add", r.data}, {"mask", r.data_mask}});
  } else {
    f.update({{"swap", r.data}, {"swap_mask", r.data_mask}, {"compare", r.compare}, {"compare_mask", r.compare_mask}});
  }
  return f;
}

json decoded_terminate(const wire::TerminateHeader& t) {
  json f = {{"layer", static_cast<int>(t.cause.layer)},
            {"etype", t.cause.etype},
            {"code", t.cause.code},
            {"m", int{t.segment_length.has_value()}},
            {"d", int{!t.ddp_header.empty()}},
            {"r", int{!t.read_request.empty()}}};
  if (t.segment_length) f["segment_length"] = *t.segment_length;
  return f;
}

json decoded_untagged(ByteSpan ulpdu, Opcode op) {
  const auto view = need(wire::DdpUntaggedView::parse(ulpdu));
  json f;
  switch (op) {
    case Opcode::kReadRequest: {
      const auto r = need(wire::ReadRequest::parse(view.payload));
      f = {{"sink_stag", r.sink_stag},
           {"sink_to", r.sink_to},
           {"size", r.size},
           {"src_stag", r.src_stag},
           {"src_to", r.src_to}};
      break;
    }
    case Opcode::kAtomicRequest:
      f = decoded_atomic(need(wire::AtomicRequest::parse(view.payload)));
      break;
    case Opcode::kAtomicResponse: {
      const auto r = need(wire::AtomicResponse::parse(view.payload));
      f = {{"req_id", r.request_id}, {"original", r.original}};
      break;
    }
    case Opcode::kTerminate:
      f = decoded_terminate(need(wire::TerminateHeader::parse(view.payload)));
      break;
    default:
      f = {{wire::is_immediate(op) ? "imm_hex" : "payload_hex", to_hex(view.payload)}};
      break;
  }
  f["msn"] = view.header.msn;
  f["mo"] = view.header.mo;
  f["last"] = int{view.header.last()};
  if (wire::invalidates(op)) f["inval_stag"] = view.header.invalidate_stag;
  return f;
}

}  // namespace

Outcome check_message(const json& vector) {
  const Bytes expected = hex_field(vector, "ulpdu_hex");
  const json& fields = vector.at("fields");
  if (expected.size() < 2) throw std::invalid_argument("ulpdu_hex is too short");
  const Opcode op = wire::RdmapControl::opcode(expected[1]);
  if (!wire::is_assigned(op)) throw std::invalid_argument("ulpdu_hex has an unassigned opcode");

  Outcome outcome;
  outcome.compare("ulpdu_hex", to_hex(expected), to_hex(encoded(fields, op, expected)));
  if (vector.contains("ulpdu_length"))
    outcome.compare("ulpdu_length", integer_field(vector, "ulpdu_length"), expected.size());
  const json decoded = wire::is_tagged(op) ? decoded_tagged(expected, op) : decoded_untagged(expected, op);
  for (const auto& [key, value] : fields.items()) {
    if (!decoded.contains(key)) throw std::invalid_argument("field " + key + " is not one of this message");
    const bool text = decoded[key].is_string();
    outcome.compare("decoded " + key, text ? json(to_hex(hex_field(fields, key))) : json(integer_field(fields, key)),
                    decoded[key]);
  }
  return outcome;
}

}  // namespace rnic::cli
