#include "model/system/scenario_assignment.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/common/check.h"
#include "model/common/cited.h"
#include "model/config/json_file.h"
#include "model/config/nearest.h"
#include "model/system/scenario.h"

namespace rnic {
namespace {

using nlohmann::json;

struct ListName {
  const char* key;
  const char* element;  // in messages
};
constexpr ListName kLists[] = {{"nodes", "node"},       {"connections", "connection"}, {"work", "work item"},
                               {"inject", "injection"}, {"programs", "program"},       {"checks", "check"}};
constexpr std::string_view kValues[] = {"seed", "transport", "setup.batch", "setup.rate"};  // beside the lists
constexpr unsigned kMistyped = 2;  // letters; the groups of settings differ by more

bool is_value(std::string_view path) {
  return std::find(std::begin(kValues), std::end(kValues), path) != std::end(kValues);
}

std::string_view first_word(std::string_view path) { return path.substr(0, path.find('.')); }

const ListName& nearest_list(std::string_view path) {
  const std::string_view word = first_word(path);
  return *std::min_element(std::begin(kLists), std::end(kLists), [word](const ListName& a, const ListName& b) {
    return edit_distance(word, a.key) < edit_distance(word, b.key);
  });
}

struct Element {
  std::string name;
  json* value;
  std::size_t index;
};

// Of all phases.
std::vector<Element> work_items(const Scenario& scenario, json& work) {
  std::vector<Element> items;
  for (std::size_t p = 0; p < scenario.plan.phases.size(); ++p) {
    const auto& phase = scenario.plan.phases[p];
    for (std::size_t i = 0; i < phase.size(); ++i) {
      items.push_back({phase[i].name, work[p].is_array() ? &work[p][i] : &work[p], items.size()});
    }
  }
  return items;
}

std::vector<Element> elements_of(std::string_view list, const Scenario& scenario, json& root) {
  if (list == "work") return work_items(scenario, root["work"]);
  std::vector<Element> elements;
  if (list == "inject") {
    for (const std::string& name : scenario.injection_names) {
      elements.push_back({name, &root["inject"][elements.size()], elements.size()});
    }
    return elements;
  }
  const auto add_all = [&](const auto& named) {
    json& values = root[std::string(list)];
    for (const auto& n : named) elements.push_back({n.name, &values[elements.size()], elements.size()});
  };
  if (list == "nodes") add_all(scenario.nodes);
  else if (list == "connections") add_all(scenario.plan.connections);
  else if (list == "programs") add_all(scenario.programs);
  else add_all(scenario.checks);
  return elements;
}

class Assigner {
 public:
  Assigner(const json& scenario_json, const Scenario& scenario) : scenario_(scenario), assigned_{scenario_json, {}} {
    assigned_.nodes.resize(scenario.nodes.size());
  }
  void put(const std::string& path, const Setting& setting);
  Assigned take() { return std::move(assigned_); }

 private:
  const Scenario& scenario_;
  Assigned assigned_;
};

// Text is JSON if it can be, so that numbers and words need no quotes.
json value_of(const std::string& path, const Setting& setting) {
  if (!setting.is_text) return setting.value;
  const auto& text = setting.value.get_ref<const std::string&>();
  const json value = parse_json(text, path);
  return value.is_discarded() ? json(text) : value;
}

[[noreturn]] void fail(const std::string& path, const Setting& setting, const std::string& reason) {
  throw ConfigError(fmt::format("{} ({}): {}", path, setting.origin, reason));
}

// A name may contain dots: the longest one with which the path begins.
Element find(const std::vector<Element>& elements, const ListName& list, const std::string& path,
             const Setting& setting) {
  const std::string_view rest = std::string_view(path).substr(std::min(path.size(), std::string(list.key).size() + 1));
  const Element* found = nullptr;
  std::vector<std::string> names;
  for (const Element& e : elements) {
    names.push_back(e.name);
    const bool fits =
        rest.substr(0, e.name.size()) == e.name && (rest.size() == e.name.size() || rest[e.name.size()] == '.');
    if (fits && (found == nullptr || e.name.size() > found->name.size())) found = &e;
  }
  if (names.empty()) fail(path, setting, fmt::format("the scenario has no {}", list.key));
  if (found != nullptr) return *found;
  const std::string word(first_word(rest));
  fail(path, setting,
       fmt::format("unknown {} '{}'; the nearest is '{}'", list.element, cited(word), cited(nearest(word, names))));
}

// Missing objects on the path are created.
void put_below(json& element, std::string_view keys, const std::string& path, const Setting& setting) {
  json* at = &element;
  for (std::size_t dot = keys.find('.'); dot != std::string_view::npos; dot = keys.find('.')) {
    const std::string key(keys.substr(0, dot));
    at = &(*at)[key];
    if (at->is_null()) *at = json::object();
    if (!at->is_object()) fail(path, setting, fmt::format("'{}' is {}, and has no keys", key, cited(at->dump())));
    keys.remove_prefix(dot + 1);
  }
  (*at)[std::string(keys)] = value_of(path, setting);
}

void Assigner::put(const std::string& path, const Setting& setting) {
  if (is_value(path)) return put_below(assigned_.json, path, path, setting);
  const ListName& list = nearest_list(path);
  if (first_word(path) != list.key) {
    const std::string meant = list.key + path.substr(first_word(path).size());
    fail(path, setting, fmt::format("unknown key; the nearest is {}", meant));
  }
  const Element element = find(elements_of(list.key, scenario_, assigned_.json), list, path, setting);
  const std::size_t name_end = std::string(list.key).size() + 1 + element.name.size();
  if (path.size() <= name_end) fail(path, setting, fmt::format("needs a key of the {}", list.element));
  const std::string below = path.substr(name_end + 1);
  const bool is_setting = list.key == std::string_view("nodes") && below.find('.') != std::string::npos;
  if (!is_setting) return put_below(*element.value, below, path, setting);
  // Other settings belong to the run.
  const std::string_view group = first_word(below);
  if (group != "rnic" && group != "host") {
    fail(path, setting, fmt::format("a node has the settings of rnic and host, none of {}", group));
  }
  if (scenario_.nodes[element.index].external) fail(path, setting, "has no settings, being an external peer");
  assigned_.nodes[element.index].put(
      below, {setting.value, setting.is_text, fmt::format("{}, node '{}'", setting.origin, element.name)});
}

}  // namespace

bool is_scenario_path(std::string_view path) {
  return is_value(path) || edit_distance(first_word(path), nearest_list(path).key) <= kMistyped;
}

Overlay scenario_values(const Overlay& overlay) { return overlay.select(is_scenario_path); }
Overlay settings_of_all(const Overlay& overlay) {
  return overlay.select([](std::string_view path) { return !is_scenario_path(path); });
}

Assigned assign(const json& scenario_json, const Scenario& scenario, const Overlay& values) {
  Assigner assigner(scenario_json, scenario);
  // In the order of their paths: a value before its members.
  for (const auto& [path, setting] : values.settings()) assigner.put(path, setting);
  return assigner.take();
}

json values_json(const Overlay& values) {
  json object = json::object();
  for (const auto& [path, setting] : values.settings()) object[path] = value_of(path, setting);
  return object;
}

std::string text_of(const Overlay& values) {
  std::string text;
  for (const auto& [path, setting] : values.settings()) {
    const std::string value = setting.is_text ? setting.value.get<std::string>() : setting.value.dump();
    text += fmt::format("{}{} = {} ({})", text.empty() ? "" : ", ", path, cited(value), setting.origin);
  }
  return text;
}

}  // namespace rnic
