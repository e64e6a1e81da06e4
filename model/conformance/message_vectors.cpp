// DDP segments of every message. The vectors' fields do not name the message, so its opcode (with SE) is taken from
// the expected octets; all else is cut into a segment as the segmenter does, from the fields, and compared with all
// octets, and decoded and compared with all fields. The headers a Terminate returns are only in the octets; an Atomic
// Request has an identifier of its own, where the segmenter uses the MSN.
#include <stdexcept>

#include "model/conformance/json_fields.h"
#include "model/conformance/vector_kinds.h"
#include "model/rnic/tx/segment_cut.h"
#include "model/wire/ddp.h"
#include "model/wire/rdmap.h"
#include "model/wire/terminate.h"

namespace rnic::conformance {
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

// A decoded header that must be there, since the octets said so.
template <class Header>
Header need(const std::optional<Header>& header) {
  if (!header) throw std::invalid_argument("ulpdu_hex is too short for its opcode");
  return *header;
}

// --- encoding ---

// What the segmenter would be cutting, and its one work request.
struct Cut {
  OutboundMessage message;
  abi::Wqe wqe;
  ResponseSource source;
  Bytes payload;
};

Cut cut_from(const json& f, Opcode op) {
  Cut c;
  OutboundMessage& m = c.message;
  m.opcode = op;
  m.active = true;
  if (op == Opcode::kReadRequest) {
    c.wqe.num_sge = 1;
    c.wqe.sge[0] = {field<std::uint64_t>(f, "sink_to"), field<std::uint32_t>(f, "size"),
                    field<std::uint32_t>(f, "sink_stag")};
    c.wqe.rkey = field<std::uint32_t>(f, "src_stag");
    c.wqe.remote_address = field<std::uint64_t>(f, "src_to");
    m.bytes = c.wqe.sge[0].length;
  } else if (op == Opcode::kAtomicResponse) {
    c.source.address = field<std::uint64_t>(f, "original");
    m = response_message(AtomicWork{{}, {field<std::uint32_t>(f, "req_id"), c.source.address}});
  } else if (wire::is_immediate(op)) {
    const Bytes octets = hex_field(f, "imm_hex");
    if (octets.size() != wire::ImmediateData::kBytes) throw std::invalid_argument("imm_hex is not 8 octets");
    c.wqe.remote_address = load_be64(octets.data());
  } else {
    c.payload = hex_field(f, "payload_hex");
  }
  if (m.tagged()) {
    const bool write = op == Opcode::kWrite;
    m.stag = field<std::uint32_t>(f, write ? "stag" : "sink_stag");
    m.address = field<std::uint64_t>(f, write ? "to" : "sink_to");
  } else {
    m.stag = wire::invalidates(op) ? field<std::uint32_t>(f, "inval_stag") : 0;
    m.msn = field<std::uint32_t>(f, "msn", 1);
    m.done = field<std::uint32_t>(f, "mo", 0);
  }
  return c;
}

// The segment ends the message, or the message goes on behind a full MULPDU. Its payload is gathered from anywhere.
Bytes segment(Cut c, bool last) {
  OutboundMessage& m = c.message;
  const auto bytes = static_cast<std::uint32_t>(c.payload.size());
  if (!c.payload.empty()) {
    c.wqe.num_sge = 1;
    c.wqe.sge[0] = {0, m.done + bytes + !last, 0};
    m.bytes = c.wqe.sge[0].length;
    m.sge_done = m.done;
  }
  FetchedWqe f;
  f.wqe = c.wqe;
  TxContext qp;
  qp.flow = FlowId{0};
  qp.mulpdu = static_cast<std::uint16_t>(segment_header_bytes(m.opcode) + bytes);
  BufferPool pool(kFrameHeadroom + qp.mulpdu);
  const UlpduJob job = cut_segment(m, &f, Qpn{0}, qp, c.source, pool.take());
  const std::uint8_t* at = job.ulpdu.buf->bytes() + Ulpdu::kOffset;
  Bytes out(at, at + job.header_bytes);
  out.insert(out.end(), c.payload.begin(), c.payload.end());
  return out;
}

Bytes untagged_header(const json& f, Opcode op) {
  wire::DdpUntaggedHeader header;
  header.control = wire::DdpControl::pack(false, true, wire::kDdpVersion);
  header.rdmap = wire::RdmapControl::pack(op);
  header.qn = wire::queue_number(op);
  header.msn = field<std::uint32_t>(f, "msn", 1);
  Bytes out;
  append(out, header);
  return out;
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
  if (op != Opcode::kAtomicRequest && op != Opcode::kTerminate) return segment(cut_from(f, op), flag(f, "last", true));
  Bytes out = untagged_header(f, op);
  if (op == Opcode::kAtomicRequest) append(out, atomic_request_from(f));
  else append(out, terminate_from(f, expected.subspan(wire::DdpUntaggedHeader::kBytes)));
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

  const json decoded = wire::is_tagged(op) ? decoded_tagged(expected, op) : decoded_untagged(expected, op);
  std::vector<VectorField> known;
  for (const auto& [key, value] : decoded.items()) known.emplace_back(key.c_str());
  refuse_unknown_fields(fields, known, "fields.");

  Outcome outcome;
  outcome.compare("ulpdu_hex", to_hex(expected), to_hex(encoded(fields, op, expected)));
  if (vector.contains("ulpdu_length"))
    outcome.compare("ulpdu_length", integer_field(vector, "ulpdu_length"), expected.size());
  for (const auto& [key, value] : fields.items()) {
    const bool text = decoded[key].is_string();
    outcome.compare("decoded " + key, text ? json(to_hex(hex_field(fields, key))) : json(integer_field(fields, key)),
                    decoded[key]);
  }
  return outcome;
}

}  // namespace rnic::conformance
