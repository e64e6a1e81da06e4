#include "model/cable/inject/message_fields.h"

#include <initializer_list>

#include "model/common/check.h"
#include "model/wire/ddp.h"

namespace rnic::inject {
namespace {

using Fields = std::vector<Field>;

// Names the members of a header, which lists them in wire order (model/wire/fields.h); nullptr: not a separate field.
class Namer {
 public:
  Namer(Fields& into, std::size_t bit, std::initializer_list<const char*> names)
      : into_(into), bit_(bit), name_(names.begin()), end_(names.end()) {}
  template <class... T>
  void operator()(const T&... members) {
    (add(8 * sizeof members), ...);
  }
  bool complete() const { return name_ == end_; }

 private:
  void add(std::size_t bits) {
    if (*name_ != nullptr) into_.push_back({*name_, bit_, static_cast<unsigned>(bits)});
    ++name_;
    bit_ += bits;
  }
  Fields& into_;
  std::size_t bit_;
  const char* const* name_;
  const char* const* const end_;
};

template <class Header>
void add_header(Fields& into, std::size_t octet, std::initializer_list<const char*> names) {
  Namer namer(into, 8 * octet, names);
  const Header header;
  Header::fields(header, namer);
  RNIC_CHECK(namer.complete());
}

// RFC 5044 section 7.1.1, RFC 6581 section 9.
Fields startup_fields() {
  return {{"key", 0, 64},           {"markers", 128, 1},  {"crc", 129, 1},      {"rejected", 130, 1},
          {"enhanced", 131, 1},     {"reserved", 132, 4}, {"revision", 136, 8}, {"private_data_length", 144, 16},
          {"peer_to_peer", 160, 1}, {"rtr_send", 161, 1}, {"ird", 162, 14},     {"rtr_write", 176, 1},
          {"rtr_read", 177, 1},     {"ord", 178, 14}};
}

// Of every FPDU (RFC 5044 section 4), and the two control octets (RFC 5041 section 4, RFC 5040 section 4.1).
Fields segment_fields() {
  return {{"ulpdu_length", 0, 16, Field::Where::kLength},
          {"marker", 16, 16, Field::Where::kMarker},
          {"crc", 0, 32, Field::Where::kCrc},
          {"tagged", 0, 1},
          {"last", 1, 1},
          {"ddp_reserved", 2, 4},
          {"ddp_version", 6, 2},
          {"rdmap_version", 8, 2},
          {"rdmap_reserved", 10, 2},
          {"opcode", 12, 4}};
}

}  // namespace

const std::vector<std::string>& MessageKind::names() {
  static const std::vector<std::string> kNames{
      "mpa_request", "mpa_reply",       "write",          "read_request",       "read_response",
      "send",        "send_invalidate", "send_se",        "send_se_invalidate", "terminate",
      "immediate",   "immediate_se",    "atomic_request", "atomic_response"};
  return kNames;
}

std::vector<Field> fields_of(MessageKind kind) {
  if (kind.is_startup()) return startup_fields();
  Fields fields = segment_fields();
  const wire::Opcode op = kind.opcode();
  if (wire::is_tagged(op)) {
    add_header<wire::DdpTaggedHeader>(fields, 0, {nullptr, nullptr, "stag", "to"});
    return fields;
  }
  add_header<wire::DdpUntaggedHeader>(fields, 0, {nullptr, nullptr, "invalidate_stag", "qn", "msn", "mo"});
  constexpr std::size_t kPayload = wire::DdpUntaggedHeader::kBytes;
  if (op == wire::Opcode::kReadRequest) {
    add_header<wire::ReadRequest>(fields, kPayload, {"sink_stag", "sink_to", "size", "source_stag", "source_to"});
  } else if (op == wire::Opcode::kAtomicRequest) {
    add_header<wire::AtomicRequest>(
        fields, kPayload,
        {"atomic_operation", "request_id", "remote_stag", "remote_to", "data", "data_mask", "compare", "compare_mask"});
  } else if (op == wire::Opcode::kAtomicResponse) {
    add_header<wire::AtomicResponse>(fields, kPayload, {"request_id", "original"});
  } else if (wire::is_immediate(op)) {
    add_header<wire::ImmediateData>(fields, kPayload, {"data"});
  }
  return fields;
}

}  // namespace rnic::inject
