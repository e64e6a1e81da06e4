#include "model/system/scenario_programs.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "model/system/key_reader.h"

namespace rnic {
namespace {

using consumer::Part;
using consumer::ProgramSpec;

// Some names say the role.
struct ToolName {
  const char* name;
  consumer::Tool tool;
  std::optional<Part> part;
  std::uint16_t port;
};
constexpr ToolName kToolNames[] = {
    {"rping", consumer::Tool::kRping, {}, 7174},
    {"rdma_client", consumer::Tool::kRdmaExample, Part::kClient, 7471},
    {"rdma_server", consumer::Tool::kRdmaExample, Part::kServer, 7471},
    {"echo", consumer::Tool::kEcho, {}, 7},
};

const ToolName& tool_of(const ScenarioValue& v) {
  std::vector<std::string> names;
  for (const ToolName& t : kToolNames) names.emplace_back(t.name);
  return kToolNames[v.word_of(names)];
}

void expect_over_sctp(const ScenarioValue& v, const ProgramSpec& p) {
  if (p.tool != consumer::Tool::kEcho) {
    v.at("program").fail("speaks with a stock tool, which has iWARP over TCP only: transport sctp is for echo");
  }
  if (p.markers) v.at("markers").fail("are MPA's: SCTP keeps the boundaries of messages");
}

ProgramSpec program(const ScenarioValue& v, std::size_t index, host::Transport transport) {
  expect_keys<ProgramSpec>(v);
  const ToolName& tool = tool_of(v.at("program"));
  if (tool.part) {
    for (const char* key : {"role", "count", "size"}) {
      if (v.has(key)) v.at(key).fail(fmt::format("{} has none to choose", tool.name));
    }
  } else {
    v.at("role");
  }
  ProgramSpec p;
  p.tool = tool.tool;
  p.port = tool.port;
  p.name = fmt::format("{}{}", tool.name, index);
  read_keys(v, p);
  p.transport = transport;
  if (transport == host::Transport::kSctp) expect_over_sctp(v, p);
  if (tool.part) p.part = *tool.part;
  const bool server = p.part == Part::kServer;
  if (server && !v.has("count")) p.count = 0;
  if (server && !v.has("size")) p.size = 65536;
  if (!server && p.count == 0) v.at("count").fail("must be 1 or more for a client");
  const bool chooses = p.tool == consumer::Tool::kEcho && !server;
  if (!chooses && v.has("op")) v.at("op").fail("is for a client of echo");
  for (const char* key : {"start_us", "start_on_ping"}) {
    if (server && v.has(key)) v.at(key).fail("is for a client");
  }
  if (!server && v.has("reject")) v.at("reject").fail("is for a server");
  return p;
}

}  // namespace

bool Scenario::has_external_peer() const {
  return std::any_of(nodes.begin(), nodes.end(), [](const ScenarioNode& n) { return n.external; });
}

std::vector<ProgramSpec> read_programs(const ScenarioValue& root, const std::vector<ScenarioNode>& nodes,
                                       host::Transport transport) {
  for (const char* key : {"connections", "work", "inject", "checks"}) {
    if (root.has(key)) root.at(key).fail("is for runs without an external peer, which have `programs`");
  }
  if (nodes.size() != 2 || nodes[0].external == nodes[1].external) {
    root.at("nodes").fail("an external peer is joined to exactly one modelled node");
  }
  std::vector<ProgramSpec> programs;
  for (const ScenarioValue& v : root.at("programs").elements()) {
    ProgramSpec p = program(v, programs.size(), transport);
    p.peer_ip = nodes[nodes[0].external ? 0 : 1].ip;
    for (const ProgramSpec& other : programs) {
      if (other.name == p.name) v.fail(fmt::format("the name '{}' is taken", p.name));
      if (other.part == consumer::Part::kServer && p.part == consumer::Part::kServer && other.port == p.port) {
        v.fail(fmt::format("'{}' listens on port {} already", other.name, p.port));
      }
    }
    programs.push_back(std::move(p));
  }
  if (programs.empty()) root.at("programs").fail("needs a program");
  return programs;
}

}  // namespace rnic
