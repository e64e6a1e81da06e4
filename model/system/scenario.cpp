#include "model/system/scenario.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include <arpa/inet.h>
#include <fmt/format.h>

#include "model/common/check.h"
#include "model/config/json_file.h"
#include "model/system/key_reader.h"
#include "model/system/scenario_assignment.h"
#include "model/system/scenario_inject.h"
#include "model/system/scenario_programs.h"
#include "model/system/scenario_value.h"

namespace rnic {
namespace {

using namespace workload;

constexpr std::size_t kLongestName = 64;

constexpr std::uint64_t kMaxOutstanding = 1024;  // entries of a completion queue

class ScenarioReader {
 public:
  // Messages about the JSON name its `source`.
  ScenarioReader(const nlohmann::json& json, const std::string& file, const std::string& source)
      : root_(json, "", source) {
    scenario_.file = file;
  }
  Scenario read();

 private:
  ScenarioNode node(const ScenarioValue& v);
  bool over_sctp() const { return scenario_.plan.transport == host::Transport::kSctp; }
  ConnectionSpec connection(const ScenarioValue& v, std::size_t index);
  void enhancement(const ScenarioValue& v, ConnectionSpec& c) const;
  SideSpec side(const ScenarioValue& v, SideSpec fallback, std::uint64_t max_private);
  WorkItem item(const ScenarioValue& v);
  static void window(const ScenarioValue& v, WorkItem& w);
  void churn(const ScenarioValue& v, WorkItem& w);
  SizeSpec size(const ScenarioValue& v);
  std::vector<unsigned> connections_of(const ScenarioValue& v);
  void check_phase(const ScenarioValue& v, const std::vector<WorkItem>& items);
  void injection(const ScenarioValue& v);
  void terminate_check(const ScenarioValue& v, ScenarioCheck& c);
  ScenarioCheck check(const ScenarioValue& v);
  unsigned index_of(const ScenarioValue& v, const char* what, const std::vector<std::string>& names);
  std::string fresh_name(const ScenarioValue& v, const std::string& name, std::vector<std::string>& names);

  const ScenarioValue root_;
  Scenario scenario_;
  std::vector<std::string> node_names_, connection_names_, work_names_, check_names_;
  std::set<std::pair<unsigned, unsigned>> ports_;  // node, port
};

unsigned ScenarioReader::index_of(const ScenarioValue& v, const char* what, const std::vector<std::string>& names) {
  const auto n = std::find(names.begin(), names.end(), v.string());
  if (n == names.end()) v.fail_unknown(what, v.string(), names);
  return static_cast<unsigned>(n - names.begin());
}

// Names are used in tables, in traces with one line per event, and in messages.
void expect_printable(const ScenarioValue& v, const std::string& name) {
  if (name.empty()) v.fail("its name is empty");
  if (name.size() > kLongestName) v.fail(fmt::format("its name is longer than {} octets", kLongestName));
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; };
  if (std::any_of(name.begin(), name.end(), is_control)) v.fail("its name has a control character");
}

// A node's names files and modules as well.
void expect_node_name(const ScenarioValue& v, const std::string& name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto may_be_in_it = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-'; };
  if (!name.empty() && is_letter(name[0]) && std::all_of(name.begin(), name.end(), may_be_in_it)) return;
  v.fail(fmt::format("a node's name is a letter and then letters, digits, _ and -, not {}", v.at("name").written()));
}

std::string ScenarioReader::fresh_name(const ScenarioValue& v, const std::string& name,
                                       std::vector<std::string>& names) {
  expect_printable(v, name);
  if (std::find(names.begin(), names.end(), name) != names.end()) v.fail(fmt::format("the name '{}' is taken", name));
  names.push_back(name);
  return name;
}

std::uint32_t parse_ip(const ScenarioValue& v) {
  in_addr address{};
  if (inet_pton(AF_INET, v.string().c_str(), &address) != 1) {
    v.fail(fmt::format("'{}' is not an IPv4 address", v.string()));
  }
  return ntohl(address.s_addr);
}

std::array<std::uint8_t, 6> parse_mac(const ScenarioValue& v) {
  std::array<std::uint8_t, 6> mac{};
  unsigned b[6];
  char rest;
  const int n =
      std::sscanf(v.string().c_str(), "%2x:%2x:%2x:%2x:%2x:%2x%c", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5], &rest);
  if (n != 6) v.fail(fmt::format("'{}' is not a MAC address", v.string()));
  if ((b[0] & 1) != 0) v.fail(fmt::format("'{}' is a group address", v.string()));
  std::copy(b, b + 6, mac.begin());
  return mac;
}

Scenario ScenarioReader::read() {
  expect_keys<Scenario>(root_);
  read_keys(root_, scenario_);
  read_keys(root_, scenario_.plan);
  expect_printable(root_, scenario_.name);
  if (root_.has("setup")) scenario_.plan.setup = expect_and_read<workload::SetupSpec>(root_.at("setup"));
  if (root_.has("config"))
    scenario_.config = Overlay::from_json(root_.at("config").json(), scenario_.file + ": config");
  if (root_.has("link")) {
    root_.at("link").is_object() ? void() : root_.at("link").fail("must be an object");
    const Overlay link = Overlay::from_json({{"link", root_.at("link").json()}}, scenario_.file + ": link");
    scenario_.config = scenario_.config.with(link);
  }
  for (const ScenarioValue& v : root_.at("nodes").elements()) scenario_.nodes.push_back(node(v));
  if (scenario_.nodes.size() < 2) root_.at("nodes").fail("needs two nodes or more");
  if (scenario_.has_external_peer()) {
    if (root_.has("sweep")) root_.at("sweep").fail("does not go with an external peer");
    scenario_.programs = read_programs(root_, scenario_.nodes, scenario_.plan.transport);
    return std::move(scenario_);
  }
  if (root_.has("programs")) root_.at("programs").fail("are for a run with an external peer");
  for (const ScenarioValue& v : root_.at("connections").elements()) {
    scenario_.plan.connections.push_back(connection(v, scenario_.plan.connections.size()));
  }
  if (scenario_.plan.connections.empty()) root_.at("connections").fail("needs a connection");
  for (const ScenarioValue& v : root_.at("work").elements()) {
    std::vector<WorkItem> phase;
    if (v.is_list()) {
      for (const ScenarioValue& w : v.elements()) phase.push_back(item(w));
    } else {
      phase.push_back(item(v));
    }
    check_phase(v, phase);
    scenario_.plan.phases.push_back(std::move(phase));
  }
  if (root_.has("inject")) {
    for (const ScenarioValue& v : root_.at("inject").elements()) injection(v);
  }
  if (root_.has("checks")) {
    for (const ScenarioValue& v : root_.at("checks").elements()) scenario_.checks.push_back(check(v));
  }
  if (root_.has("sweep")) scenario_.sweep = read_sweep(root_);
  else if (root_.has("columns")) root_.at("columns").fail("are for a sweep");
  return std::move(scenario_);
}

ScenarioNode ScenarioReader::node(const ScenarioValue& v) {
  auto n = expect_and_read<ScenarioNode>(v);
  fresh_name(v, n.name, node_names_);
  expect_node_name(v, n.name);
  // By default the n-th node is 10.0.0.n, 02:00:00:00:00:n.
  const auto number = static_cast<std::uint8_t>(node_names_.size());
  n.ip = v.has("ip") ? parse_ip(v.at("ip")) : 0x0a000000u + number;
  n.mac = v.has("mac") ? parse_mac(v.at("mac")) : std::array<std::uint8_t, 6>{2, 0, 0, 0, 0, number};
  for (const ScenarioNode& other : scenario_.nodes) {
    if (other.ip == n.ip) v.fail(fmt::format("has the IP address of node '{}'", other.name));
    if (other.mac == n.mac) v.fail(fmt::format("has the MAC address of node '{}'", other.name));
  }
  if (v.has("config")) {
    if (n.external) v.at("config").fail("is not for an external peer");
    n.config = Overlay::from_json(v.at("config").json(), fmt::format("{}: node '{}'", scenario_.file, n.name));
  }
  return n;
}

SideSpec ScenarioReader::side(const ScenarioValue& v, SideSpec s, std::uint64_t max_private) {
  read_keys(v, s);
  if (over_sctp()) {
    if (v.has("markers") && s.markers) v.at("markers").fail("are MPA's: SCTP keeps the boundaries of messages");
    if (v.has("crc") && !s.crc) v.at("crc").fail("cannot be false: each packet of SCTP has a CRC");
  }
  for (const char* key : {"max_retries", "keep_alive"}) {
    if (over_sctp() && v.has(key)) v.at(key).fail("is TCP's");
  }
  if (s.private_data.size() > max_private) {
    v.at("private_data").fail(fmt::format("has {} octets; at most {} fit", s.private_data.size(), max_private));
  }
  return s;
}

ConnectionSpec ScenarioReader::connection(const ScenarioValue& v, std::size_t index) {
  ConnectionSpec c;
  c.name = fmt::format("c{}", index);
  c = expect_and_read(v, std::move(c));
  fresh_name(v, c.name, connection_names_);
  c.from = index_of(v.at("from"), "node", node_names_);
  c.to = index_of(v.at("to"), "node", node_names_);
  if (c.from == c.to) v.fail("connects a node to itself");
  const unsigned ports = scenario_.plan.shares_port() ? 1 : c.qps;
  if (c.port + ports > 65536) v.fail("its ports go beyond 65535");
  for (unsigned q = 0; q < ports; ++q) {
    if (!ports_.insert({c.to, c.port + q}).second) {
      v.fail(fmt::format("port {} of node '{}' is taken", c.port + q, node_names_[c.to]));
    }
  }
  enhancement(v, c);
  if (c.rtr != Rtr::kNone && c.mpa_revision == 1) {
    v.at("rtr").fail(fmt::format("needs {} (RFC 6581)", over_sctp() ? "enhanced setup" : "mpa_revision 2"));
  }
  const std::uint64_t number = scenario_.plan.shares_port() && c.qps > 1 ? kRequestNumberBytes : 0;
  const std::uint64_t max_private = (c.mpa_revision == 2 ? 508 : 512) - number;  // RFC 6581 section 9
  const SideSpec both = side(v, {}, max_private);
  c.from_side = c.to_side = both;
  for (const auto& [key, which] : {std::pair{"from_side", &c.from_side}, std::pair{"to_side", &c.to_side}}) {
    if (!v.has(key)) continue;
    expect_keys<SideSpec>(v.at(key));
    *which = side(v.at(key), both, max_private);
  }
  return c;
}

// RFC 6581 enhances the startup of both transports; each has its own name for it.
void ScenarioReader::enhancement(const ScenarioValue& v, ConnectionSpec& c) const {
  if (!over_sctp()) {
    if (v.has("enhanced")) v.at("enhanced").fail("is for transport sctp; over TCP it is mpa_revision that says so");
    return;
  }
  if (v.has("mpa_revision")) v.at("mpa_revision").fail("is MPA's; with transport sctp it is enhanced that says so");
  if (v.has("enhanced")) c.mpa_revision = v.at("enhanced").boolean() ? 2 : 1;
}

SizeSpec ScenarioReader::size(const ScenarioValue& v) {
  SizeSpec s;
  if (!v.is_object()) {
    s.min = s.max = static_cast<std::uint32_t>(v.unsigned_in(0, keys::kMaxMessageBytes));
    return s;
  }
  s = expect_and_read<SizeSpec>(v);
  v.at("min").unsigned_in(s.law == SizeLaw::kUniform ? 0 : 1, keys::kMaxMessageBytes);
  v.at("max").unsigned_in(s.min, keys::kMaxMessageBytes);
  if (s.law == SizeLaw::kPowersOfTwo && (s.min & (s.min - 1)) != 0 && message_sizes(s, 1, 0)[0] > s.max) {
    v.fail("has no power of two");
  }
  return s;
}

std::vector<unsigned> ScenarioReader::connections_of(const ScenarioValue& v) {
  std::vector<unsigned> list;
  if (!v.has("connections")) {
    for (unsigned c = 0; c < connection_names_.size(); ++c) list.push_back(c);
    return list;
  }
  const ScenarioValue names = v.at("connections");
  if (!names.is_list()) return {index_of(names, "connection", connection_names_)};
  for (const ScenarioValue& name : names.elements()) {
    const unsigned c = index_of(name, "connection", connection_names_);
    if (std::find(list.begin(), list.end(), c) != list.end()) name.fail("is named twice");
    list.push_back(c);
  }
  if (list.empty()) names.fail("is empty");
  return list;
}

WorkItem ScenarioReader::item(const ScenarioValue& v) {
  auto w = expect_and_read<WorkItem>(v);
  if (w.name.empty() && !v.has("name")) w.name = fmt::format("{}{}", op_name(w.op), work_names_.size());
  fresh_name(v, w.name, work_names_);
  w.connections = connections_of(v);
  if (is_atomic(w.op)) {
    for (const char* key : {"size", "align", "pattern"}) {
      if (v.has(key)) v.at(key).fail("is not for atomics, which have eight octets");
    }
    w.size = {SizeLaw::kFixed, 8, 8};
  } else {
    if (v.has("words")) v.at("words").fail("is for atomics");
    const bool optional = w.op == Op::kConnect && !v.has("size");
    if (!optional) w.size = size(v.at("size"));
  }
  const bool ping = w.mode == Mode::kPingPong;
  if (ping && v.has("fence_every")) v.at("fence_every").fail("is not for pingpong");
  if (ping && v.has("depth")) v.at("depth").unsigned_in(1, 1);
  if (ping) w.depth = 1;
  window(v, w);
  if (v.has("signal_every")) v.at("signal_every").unsigned_in(1, w.depth);
  churn(v, w);
  if (ping && w.op != Op::kSend && w.op != Op::kWrite)
    v.at("mode").fail("pingpong works with ops 'send' and 'write' only");
  if (ping && w.op == Op::kWrite && w.size.min == 0) v.at("size").fail("must be 1 or more: pingpong awaits an octet");
  if (w.places != 0) {
    const bool shared = (w.op == Op::kWrite || w.op == Op::kRead) && !ping && w.size.law == SizeLaw::kFixed;
    if (!shared || w.size.min == 0) v.at("places").fail("is for Writes and Reads of one size, of 1 octet or more");
  }
  if (ping && w.direction == Direction::kBoth) v.at("mode").fail("pingpong has one direction");
  return w;
}

// Requests without a completion of their own could wait for others of the window.
void ScenarioReader::window(const ScenarioValue& v, WorkItem& w) {
  if (w.window == 0) return;
  if (is_atomic(w.op) || w.op == Op::kConnect || w.mode == Mode::kPingPong) {
    v.at("window").fail("is for Sends, Writes and Reads, but not in pingpong");
  }
  for (const char* key : {"depth", "signal_every"}) {
    if (v.has(key)) v.at(key).fail("is not for items with a window");
  }
  w.depth = w.window;
}

// Opening and closing connections.
void ScenarioReader::churn(const ScenarioValue& v, WorkItem& w) {
  if (w.op != Op::kConnect) {
    for (const char* key : {"interval_ns", "outcomes"}) {
      if (v.has(key)) v.at(key).fail("is for op 'connect'");
    }
    return;
  }
  for (const char* key : {"direction", "mode", "signal_every", "fence_every", "align"}) {
    if (v.has(key)) v.at(key).fail("is not for op 'connect'");
  }
  if (!v.has("outcomes")) return;
  w.outcomes.clear();
  for (const ScenarioValue& o : v.at("outcomes").elements()) {
    w.outcomes.push_back(key_value(o, key_spec<Outcome>("", one_of(keys::kOutcomes))));
  }
  if (w.outcomes.empty()) v.at("outcomes").fail("is empty");
}

// Receives complete in the order in which they were posted, so a queue pair can tell the messages of one item only.
void ScenarioReader::check_phase(const ScenarioValue& v, const std::vector<WorkItem>& items) {
  std::map<std::pair<unsigned, bool>, std::string> receivers;  // connection and side: who receives there
  std::map<std::pair<unsigned, bool>, std::uint64_t> outstanding;
  std::set<unsigned> churned;  // connections
  for (const WorkItem& w : items) {
    for (const unsigned c : w.connections) {
      if (w.op == Op::kConnect) {
        if (scenario_.plan.shares_port() && scenario_.plan.connections[c].qps > 1) {
          v.fail(fmt::format("op 'connect' over SCTP needs a connection of one queue pair, and '{}' has {}",
                             connection_names_[c], scenario_.plan.connections[c].qps));
        }
        if (churned.insert(c).second) continue;
        v.fail(fmt::format("two items would answer the requests at the port of connection '{}'", connection_names_[c]));
      }
      for (const bool reverse : {false, true}) {
        if (w.direction == (reverse ? Direction::kForward : Direction::kReverse)) continue;
        for (const bool at_from : {false, true}) {
          const bool receives = !is_answered(w.op) && (at_from == reverse || w.mode == Mode::kPingPong);
          if (receives && !receivers.emplace(std::pair{c, at_from}, w.name).second) {
            v.fail(
                fmt::format("'{}' and '{}' would both receive at one side of connection '{}'; reads and atomics "
                            "may run beside them",
                            receivers[{c, at_from}], w.name, connection_names_[c]));
          }
        }
        std::uint64_t& sum = outstanding[{c, reverse}];
        sum += (w.op == Op::kWriteImm ? 2 : 1) * w.depth + 16;  // with the final Send and credits
        if (sum > kMaxOutstanding) {
          v.fail(fmt::format("more than {} work requests outstanding on connection '{}'", kMaxOutstanding,
                             connection_names_[c]));
        }
      }
    }
  }
}

void ScenarioReader::injection(const ScenarioValue& v) {
  v.expect_object();
  const std::string name = v.get("name", fmt::format("inject{}", scenario_.injection_names.size()));
  const InjectionNames names{node_names_, connection_names_, work_names_};
  auto one = read_injection(v, fresh_name(v, name, scenario_.injection_names), names, scenario_.plan);
  if (one) scenario_.injections.push_back(*one);
}

// A connection that a Terminate is expected on may end before its work is done.
void ScenarioReader::terminate_check(const ScenarioValue& v, ScenarioCheck& c) {
  if (!v.has("connection") && connection_names_.size() > 1) v.fail("needs 'connection': there are several");
  if (v.has("connection")) c.connection = index_of(v.at("connection"), "connection", connection_names_);
  ConnectionSpec& connection = scenario_.plan.connections[c.connection];
  c.qp = static_cast<unsigned>(v.get("qp", 0, 0, connection.qps - 1));
  const unsigned sender = index_of(v.at("sender"), "node", node_names_);
  if (sender != connection.from && sender != connection.to) {
    v.at("sender").fail(fmt::format("is no end of connection '{}'", connection.name));
  }
  c.sent_by_from = sender == connection.from;
  c.cause = read_terminate_code(v.at("code"));
  connection.may_end = true;
  for (const std::vector<WorkItem>& items : scenario_.plan.phases) {
    for (const WorkItem& w : items) {
      if (w.window == 0 || std::count(w.connections.begin(), w.connections.end(), c.connection) == 0) continue;
      v.fail(fmt::format("the end of connection '{}' would stop the window of '{}'", connection.name, w.name));
    }
  }
}

ScenarioCheck ScenarioReader::check(const ScenarioValue& v) {
  auto c = expect_and_read<ScenarioCheck>(v);
  const bool of_terminate = c.kind == CheckKind::kTerminate;
  for (const char* key : {"connection", "qp", "sender", "code", "told"}) {
    if (v.has(key) && !of_terminate) v.at(key).fail("is for check 'terminate'");
  }
  for (const char* key : {"work", "value"}) {
    if (v.has(key) && of_terminate) v.at(key).fail("is not for check 'terminate'");
  }
  std::string name;
  if (of_terminate) {
    terminate_check(v, c);
    const std::string where =
        scenario_.plan.connections[c.connection].name + (c.qp == 0 ? "" : fmt::format("[{}]", c.qp));
    name = fmt::format("terminate {} on {}", terminate_code(c.cause), where);
  } else {
    if (v.has("work")) index_of(v.at("work"), "work", work_names_);
    if (c.kind != CheckKind::kData) v.at("value");
    else if (v.has("value")) v.at("value").fail("is not for check 'data'");
    name = v.at("check").string() + (c.work.empty() ? "" : " of " + c.work);
  }
  if (!v.has("name")) c.name = name;
  fresh_name(v, c.name, check_names_);
  return c;
}

}  // namespace

Scenario parse_scenario(const nlohmann::json& json, const std::string& file, const Overlay& assigned) {
  Scenario scenario = ScenarioReader(json, file, file).read();
  nlohmann::json effective = json;
  if (!assigned.settings().empty()) {
    const Assigned changed = assign(json, scenario, assigned);
    scenario.assigned = assigned;
    scenario = ScenarioReader(changed.json, file, scenario.source()).read();
    for (std::size_t n = 0; n < changed.nodes.size(); ++n) scenario.nodes[n].assigned = changed.nodes[n];
    scenario.assigned = assigned;
    effective = changed.json;
  }
  scenario.json = json;
  scenario.effective = std::move(effective);
  for (nlohmann::json* j : {&scenario.json, &scenario.effective}) {
    for (const char* key : {"sweep", "columns"}) j->erase(key);
  }
  return scenario;
}

Scenario at_point(const Scenario& scenario, std::size_t point) {
  const Overlay swept = scenario.sweep.settings(point);
  Scenario one = parse_scenario(scenario.json, scenario.file, scenario_values(swept).with(scenario.assigned));
  one.config = one.config.with(settings_of_all(swept));
  return one;
}

std::string Scenario::source() const {
  return assigned.settings().empty() ? file : fmt::format("{} with {}", file, text_of(assigned));
}

Overlay settings_of(const Scenario& scenario, const ScenarioNode& node, const Overlay& command_line) {
  return scenario.config.with(node.config).with(command_line).with(node.assigned);
}

Scenario read_scenario(const std::string& file, const Overlay& assigned) {
  return parse_scenario(read_json_file(file), file, assigned);
}

}  // namespace rnic
