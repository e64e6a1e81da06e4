#include "model/golden/run/option_words.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/common/cited.h"
#include "model/config/nearest.h"
#include "model/golden/abi/rnic_golden.h"
#include "model/golden/status.h"

namespace rnic::golden {
namespace {

// A file or a scenario of the caller's is not an option, nor is help.
bool is_option(const std::string& name) { return name != "scenario"; }

void require_option(const std::string& name, const boost::program_options::options_description& options) {
  if (is_option(name) && options.find_nothrow(name, false) != nullptr) return;
  std::vector<std::string> names;
  for (const auto& option : options.options()) {
    if (is_option(option->long_name())) names.push_back(option->long_name());
  }
  throw Error(RNIC_E_NAME, fmt::format("no option \"{}\"; the nearest is \"{}\"", cited(name), nearest(name, names)));
}

[[noreturn]] void fail(const std::string& name, const nlohmann::json& value, const char* instead) {
  throw Error(RNIC_E_SETTINGS,
              fmt::format("the option \"{}\" has {} where {} is expected", cited(name), value.type_name(), instead));
}

std::string text_of(const std::string& name, const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number() || value.is_boolean()) return value.dump();
  fail(name, value, "a text, a number, true or false");
}

void add_words(const std::string& name, const nlohmann::json& value, std::vector<std::string>& words) {
  const std::string option = "--" + name;
  if (value.is_boolean()) {
    if (value.get<bool>()) words.push_back(option);
  } else if (value.is_array()) {
    for (const nlohmann::json& one : value) words.push_back(option + "=" + text_of(name, one));
  } else if (value.is_object() && name == "set") {
    for (const auto& [key, assigned] : value.items())
      words.push_back(option + "=" + key + "=" + text_of(key, assigned));
  } else {
    words.push_back(option + "=" + text_of(name, value));
  }
}

}  // namespace

std::vector<std::string> option_words(const nlohmann::json& json,
                                      const boost::program_options::options_description& options) {
  if (!json.is_object()) {
    throw Error(RNIC_E_SETTINGS, fmt::format("the options are an object, not {}", json.type_name()));
  }
  std::vector<std::string> words;
  for (const auto& [name, value] : json.items()) {
    require_option(name, options);
    add_words(name, value, words);
  }
  return words;
}

}  // namespace rnic::golden
