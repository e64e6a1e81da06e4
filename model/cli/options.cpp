#include "model/cli/options.h"

#include "model/common/check.h"

namespace rnic::cli {

namespace po = boost::program_options;

void ConfigOptions::add_to(po::options_description& options, po::positional_options_description& positional) {
  auto add = options.add_options();
  add("set", po::value(&set)->value_name("key=value"), "overrides one setting; may be repeated");
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
  po::store(parser.run(), values);
  po::notify(values);
  return values;
}

}  // namespace rnic::cli
