#include "model/golden/description.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "model/golden/abi/rnic_golden.h"
#include "model/golden/kinds.h"

namespace rnic::golden {
namespace {

using Json = nlohmann::ordered_json;

Json message_json(const Shape& shape) {
  Json members = Json::array();
  for (const Member& member : shape.layout->members) {
    members.push_back({{"name", member.name},
                       {"width", member.width},
                       {"octets", member.octets},
                       {"count", member.count},
                       {"offset", member.offset}});
  }
  return {{"name", shape.name},
          {"size", shape.layout->size},
          {"octets", shape.octets},
          {"marks", shape.marks},
          {"members", std::move(members)}};
}

// Each message once, in the order of the kinds that use them.
void add_messages(Json& to, const Bench& bench) {
  const auto add = [&to](const Shape& shape) {
    const bool known = std::any_of(to.begin(), to.end(), [&](const Json& m) { return m["name"] == shape.name; });
    if (!known) to.push_back(message_json(shape));
  };
  for (const Port& port : bench.ports()) add(*port.shape);
  for (const Table& table : bench.tables()) add(*table.shape);
}

Json kind_json(const Kind& kind, const Bench& bench) {
  Json settings = Json::array(), ports = settings, tables = settings, counters = settings;
  for (const FieldInfo& field : kind.settings()) {
    settings.push_back({{"key", field.key},
                        {"type", field.type},
                        {"default", nlohmann::json::parse(field.value)},
                        {"range", field.range},
                        {"unit", field.unit},
                        {"meaning", field.meaning}});
  }
  for (const Port& port : bench.ports()) {
    ports.push_back({{"name", port.name}, {"message", port.message}, {"direction", port.push ? "push" : "take"}});
  }
  for (const Table& table : bench.tables()) tables.push_back({{"name", table.name}, {"row", table.message}});
  for (const Counter& counter : bench.counters()) counters.push_back(counter.name);
  return {{"name", kind.name}, {"text", kind.text}, {"settings", settings},
          {"ports", ports},    {"tables", tables},  {"counters", counters}};
}

}  // namespace

const std::string& description() {
  static const std::string text = [] {
    Json all{{"abi", RNIC_GOLDEN_ABI}, {"kinds", Json::array()}, {"messages", Json::array()}};
    for (const Kind& kind : kinds()) {
      sc_core::Kernel kernel;
      const sc_core::Kernel::Scope entered(kernel);
      const BenchPtr bench = kind.make("{}");
      all["kinds"].push_back(kind_json(kind, *bench));
      add_messages(all["messages"], *bench);
    }
    return all.dump(1);
  }();
  return text;
}

}  // namespace rnic::golden
