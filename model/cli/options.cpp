#include "model/cli/options.h"

#include <algorithm>

#include "model/common/check.h"
#include "model/common/cited.h"
#include "model/config/json_file.h"
#include "model/config/nearest.h"

namespace rnic::cli {

namespace po = boost::program_options;

namespace {

// The first option that the word abbreviates, otherwise the nearest.
std::string meant(const std::string& word, const po::options_description& options) {
  std::vector<std::string> names;
  for (const auto& option : options.options()) {
    names.push_back("--" + option->long_name());
    if (names.back().rfind(word, 0) == 0) return names.back();
  }
  return nearest(word, names);
}

}  // namespace

void ConfigOptions::add_to(po::options_description& options, po::positional_options_description& positional,
                           const char* meaning_of_set) {
  auto add = options.add_options();
  add("set", po::value(&set)->value_name("key=value"), meaning_of_set);
  add("scenario", po::value(&scenario)->value_name("file"), "scenario (JSON), also without --scenario");
  positional.add("scenario", 1);
}

nlohmann::json ConfigOptions::read_scenario() const {
  if (scenario.empty()) return nlohmann::json::object();
  nlohmann::json contents = read_json_file(scenario);
  if (!contents.is_object()) throw ConfigError(scenario + ": a scenario is an object, not " + contents.type_name());
  return contents;
}

Overlay ConfigOptions::overlay(const nlohmann::json& contents, const Overlay& node) const {
  Overlay file, command_line;
  if (contents.contains("config")) file = Overlay::from_json(contents["config"], scenario);
  for (const std::string& assignment : set) command_line.set(assignment);
  return file.with(node).with(command_line);
}

po::variables_map parse_options(const std::vector<std::string>& args, const po::options_description& options,
                                const po::positional_options_description& positional) {
  po::variables_map values;
  po::command_line_parser parser(args);
  parser.options(options).positional(positional);
  parser.style(po::command_line_style::default_style & ~po::command_line_style::allow_guessing);
  try {
    po::store(parser.run(), values);
  } catch (const po::unknown_option& e) {
    std::string name = e.get_option_name();  // with its dashes, and with its value if joined by '='
    name.resize(std::min(name.size(), name.find('=')));
    throw ConfigError("unknown option '" + cited(name) + "'; the nearest is '" + meant(name, options) + "'");
  }
  po::notify(values);
  return values;
}

}  // namespace rnic::cli
