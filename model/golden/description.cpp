#include "model/golden/description.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "model/golden/abi/rnic_golden.h"
#include "model/golden/enumerations.h"
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

Json& enumeration_json(Json& to, const std::string& name) {
  const auto known = std::find_if(to.begin(), to.end(), [&](const Json& e) { return e["name"] == name; });
  if (known != to.end()) return *known;
  to.push_back({{"name", name}, {"members", Json::array()}, {"values", Json::object()}});
  return to.back();
}

void add_enumerations(Json& to, const Shape& shape) {
  for (const Member& member : shape.layout->members) {
    if (member.words == nullptr) continue;
    Json& enumeration = enumeration_json(to, member.enumeration);
    const std::string name = std::string(shape.name) + "." + member.name;
    Json& members = enumeration["members"];
    if (std::find(members.begin(), members.end(), name) == members.end()) members.push_back(name);
    for (std::size_t number = 0; number < member.words->size(); ++number) {
      if (const std::string& word = (*member.words)[number]; !word.empty()) enumeration["values"][word] = number;
    }
  }
}

void add_meant_numbers(Json& to) {
  for (const MeantNumbers& numbers : meant_numbers()) {
    Json& enumeration = enumeration_json(to, numbers.name);
    enumeration["members"] = numbers.members;
    for (const MeantNumbers::Value& value : numbers.values) enumeration["values"][value.word] = value.number;
  }
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
    Json all{{"abi", RNIC_GOLDEN_ABI},
             {"kinds", Json::array()},
             {"messages", Json::array()},
             {"enumerations", Json::array()}};
    for (const Kind& kind : kinds()) {
      sc_core::Kernel kernel;
      const sc_core::Kernel::Scope entered(kernel);
      const BenchPtr bench = kind.make("{}");
      all["kinds"].push_back(kind_json(kind, *bench));
      add_messages(all["messages"], *bench);
      for (const Port& port : bench->ports()) add_enumerations(all["enumerations"], *port.shape);
      for (const Table& table : bench->tables()) add_enumerations(all["enumerations"], *table.shape);
    }
    add_meant_numbers(all["enumerations"]);
    return all.dump(1);
  }();
  return text;
}

}  // namespace rnic::golden
