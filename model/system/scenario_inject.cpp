#include "model/system/scenario_inject.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include <fmt/format.h>

#include "model/system/key_reader.h"

namespace rnic {
namespace {

using inject::Change;
using inject::Field;
using inject::Injection;
using workload::RequestFault;
using workload::WorkItem;

unsigned index_in(const ScenarioValue& v, const char* what, const std::vector<std::string>& names) {
  const auto n = std::find(names.begin(), names.end(), v.string());
  if (n == names.end()) v.fail_unknown(what, v.string(), names);
  return static_cast<unsigned>(n - names.begin());
}

// "value" replaces the old one, "add" is added to it; either a number or hexadecimal text.
void read_value(const ScenarioValue& v, unsigned bits, Change& change) {
  if (v.has("value") == v.has("add")) v.fail("needs either 'value' or 'add'");
  change.relative = v.has("add");
  const ScenarioValue value = v.at(change.relative ? "add" : "value");
  const std::uint64_t most = bits == 64 ? UINT64_MAX : (std::uint64_t{1} << bits) - 1;
  if (change.relative) change.value = static_cast<std::uint64_t>(value.integer());
  else change.value = value.unsigned_or_hex(most);
}

Field field_of(const ScenarioValue& v, inject::MessageKind message) {
  const std::vector<Field> fields = inject::fields_of(message);
  const auto f =
      std::find_if(fields.begin(), fields.end(), [&](const Field& known) { return known.name == v.string(); });
  if (f != fields.end()) return *f;
  std::vector<std::string> names;
  names.reserve(fields.size());
  for (const Field& known : fields) names.push_back(known.name);
  v.fail_unknown(fmt::format("field of {}", message.name()), v.string(), names);
}

// Fields of MPA's framing or of TCP.
void expect_over_sctp(const ScenarioValue& v, const Injection& i) {
  if (i.message.is_startup()) v.at("message").fail("is a startup frame of MPA: transport sctp has none");
  if (v.has("close_after")) v.at("close_after").fail("is a FIN of TCP: transport sctp has none");
  if (i.change.field && i.change.field->where != Field::Where::kMessage) {
    v.at("field").fail("is of an FPDU: transport sctp has none");
  }
}

Injection message_injection(const ScenarioValue& v, const InjectionNames& names, const workload::Plan& plan) {
  auto i = expect_and_read<Injection>(v);
  if (!v.has("connection") && plan.connections.size() > 1) v.fail("needs 'connection': there are several");
  const unsigned connection = v.has("connection") ? index_in(v.at("connection"), "connection", names.connections) : 0;
  const workload::ConnectionSpec& c = plan.connections[connection];
  i.node = index_in(v.at("sender"), "node", names.nodes);
  if (i.node != c.from && i.node != c.to) v.at("sender").fail(fmt::format("is no end of connection '{}'", c.name));
  i.by_listener = i.node == c.to;
  i.port = plan.port_of(c, static_cast<unsigned>(v.get("qp", 0, 0, c.qps - 1)));
  if (plan.shares_port() && c.qps > 1) v.fail("changes a message over SCTP only on a connection of one queue pair");
  i.message = inject::MessageKind::of(v.at("message").word_of(inject::MessageKind::names()));
  if (i.message.is_startup()) {
    for (const char* key : {"number", "segment", "close_after"}) {
      if (v.has(key)) v.at(key).fail("is not for a startup frame, of which a connection has one");
    }
    const bool requests = i.message == inject::MessageKind(wire::MpaFrameKind::kRequest);
    if (requests == i.by_listener) v.at("message").fail(fmt::format("is not sent by '{}'", names.nodes[i.node]));
  }
  const bool over_sctp = plan.transport == host::Transport::kSctp;
  const int changes = v.has("field") + v.has("octet") + v.has("close_after");
  if (changes != 1) v.fail("needs one of 'field', 'octet' and 'close_after'");
  if (v.has("close_after")) {
    if (over_sctp) expect_over_sctp(v, i);
    for (const char* key : {"value", "add"}) {
      if (v.has(key)) v.at(key).fail("does not go with 'close_after'");
    }
    return i;
  }
  if (v.has("field")) i.change.field = field_of(v.at("field"), i.message);
  if (over_sctp) expect_over_sctp(v, i);
  read_value(v, i.change.field ? i.change.field->bits : 8, i.change);
  return i;
}

void request_injection(const ScenarioValue& v, const InjectionNames& names, workload::Plan& plan) {
  auto fault = expect_and_read<RequestFault>(v);
  unsigned index = index_in(v.at("work"), "work", names.work);
  auto phase = plan.phases.begin();
  for (; index >= phase->size(); ++phase) index -= static_cast<unsigned>(phase->size());
  WorkItem& item = (*phase)[index];
  if (item.op == workload::Op::kConnect || item.mode == workload::Mode::kPingPong) {
    v.at("work").fail("has no requests that can be changed: it is of op 'connect' or mode 'pingpong'");
  }
  fault.receive = v.has("receive");
  if (fault.receive == v.has("request")) v.fail("needs either 'request' or 'receive'");
  const char* const number = fault.receive ? "receive" : "request";
  fault.request = static_cast<std::uint32_t>(v.at(number).unsigned_in(0, item.count - 1));
  if (v.has("right") + v.has("length") + v.has("lkey") + v.has("posted") != 1) {
    v.fail("needs one of 'right', 'length', 'lkey' and 'posted'");
  }
  const bool of_receive = v.has("lkey") || v.has("posted");
  if (fault.receive && !(of_receive && item.op == workload::Op::kSend)) {
    v.at("receive").fail("is a receive of Sends, with 'lkey' or 'posted'");
  }
  if (v.has("posted") && !fault.receive) v.at("posted").fail("is for a receive");
  if (v.has("posted") && fault.posted) v.at("posted").fail("must be false");
  if (fault.length && workload::is_atomic(item.op)) {
    v.at("length").fail("is not for atomics, which have eight octets");
  }
  item.faults.push_back(fault);
}

}  // namespace

std::optional<Injection> read_injection(const ScenarioValue& v, const std::string& name, const InjectionNames& names,
                                        workload::Plan& plan) {
  if (v.has("work")) {
    request_injection(v, names, plan);
    return std::nullopt;
  }
  Injection injection = message_injection(v, names, plan);
  injection.name = name;
  return injection;
}

wire::TerminateCause read_terminate_code(const ScenarioValue& v) {
  unsigned layer = 0, type = 0, code = 0;
  char rest;
  const bool read = std::sscanf(v.string().c_str(), "%1x/%1x/%2x%c", &layer, &type, &code, &rest) == 3;
  const wire::TerminateCause cause{static_cast<wire::Layer>(layer), static_cast<std::uint8_t>(type),
                                   static_cast<std::uint8_t>(code)};
  if (!read || wire::to_string(cause) == std::string_view("unknown")) {
    v.fail(fmt::format("'{}' is no code that a document defines, such as 1/1/00", v.string()));
  }
  return cause;
}

std::string terminate_code(const wire::TerminateCause& c) {
  return fmt::format("{}/{}/{:02x}", static_cast<unsigned>(c.layer), c.etype, c.code);
}

}  // namespace rnic
