#include "model/system/scenario_programs.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace rnic {
namespace {

using consumer::Part;
using consumer::ProgramSpec;

constexpr std::uint32_t kMaxBytes = 1 << 20;  // of a message
constexpr std::uint64_t kMaxStartUs = 3'600'000'000;

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

ProgramSpec program(const ScenarioValue& v, std::size_t index) {
  v.expect_keys({"name", "program", "role", "port", "op", "count", "size", "start_us", "start_on_ping", "crc",
                 "markers", "rtr", "reject"});
  const ToolName& tool = tool_of(v.at("program"));
  ProgramSpec p;
  p.tool = tool.tool;
  p.port = tool.port;
  if (tool.part) {
    for (const char* key : {"role", "count", "size"}) {
      if (v.has(key)) v.at(key).fail(fmt::format("{} has none to choose", tool.name));
    }
  }
  p.part = tool.part ? *tool.part : static_cast<Part>(v.at("role").word_of({"client", "server"}));
  p.name = v.get("name", fmt::format("{}{}", tool.name, index));
  p.port = static_cast<std::uint16_t>(v.get("port", p.port, 1, 65535));
  const bool server = p.part == Part::kServer;
  const bool chooses = p.tool == consumer::Tool::kEcho && p.part == Part::kClient;
  if (!chooses && v.has("op")) v.at("op").fail("is for a client of echo");
  p.operation = v.get("op", p.operation, {"send", "write", "write_inv", "read"});
  p.count = static_cast<std::uint32_t>(v.get("count", server ? 0 : p.count, server ? 0 : 1, 10'000'000));
  p.size = static_cast<std::uint32_t>(v.get("size", server ? 65536 : p.size, 64, kMaxBytes));
  p.crc = v.get("crc", p.crc);
  p.markers = v.get("markers", p.markers);
  for (const char* key : {"start_us", "start_on_ping", "rtr"}) {
    if (server && v.has(key)) v.at(key).fail("is for a client");
  }
  if (!server && v.has("reject")) v.at("reject").fail("is for a server");
  p.start_us = v.get("start_us", p.start_us, 0, kMaxStartUs);
  p.start_on_ping = v.get("start_on_ping", p.start_on_ping);
  p.rtr = v.get("rtr", p.rtr);
  p.reject = v.get("reject", p.reject);
  return p;
}

}  // namespace

bool Scenario::has_external_peer() const {
  return std::any_of(nodes.begin(), nodes.end(), [](const ScenarioNode& n) { return n.external; });
}

std::vector<ProgramSpec> read_programs(const ScenarioValue& root, const std::vector<ScenarioNode>& nodes) {
  for (const char* key : {"connections", "work", "inject", "checks"}) {
    if (root.has(key)) root.at(key).fail("is for runs without an external peer, which have `programs`");
  }
  if (nodes.size() != 2 || nodes[0].external == nodes[1].external) {
    root.at("nodes").fail("an external peer is joined to exactly one modelled node");
  }
  std::vector<ProgramSpec> programs;
  for (const ScenarioValue& v : root.at("programs").elements()) {
    ProgramSpec p = program(v, programs.size());
    p.peer_ip = nodes[nodes[0].external ? 0 : 1].ip;
    for (const ProgramSpec& other : programs) {
      if (other.name == p.name) v.fail(fmt::format("the name '{}' is taken", p.name));
      if (other.part == Part::kServer && p.part == Part::kServer && other.port == p.port) {
        v.fail(fmt::format("'{}' listens on port {} already", other.name, p.port));
      }
    }
    programs.push_back(std::move(p));
  }
  if (programs.empty()) root.at("programs").fail("needs a program");
  return programs;
}

}  // namespace rnic
