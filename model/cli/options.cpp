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

Overlay ConfigOptions::overlay() const {
  Overlay overlay;
  if (!scenario.empty()) {
    const nlohmann::json file = read_json_file(scenario);
    if (!file.is_object()) throw ConfigError(scenario + ": a scenario is an object, not " + file.type_name());
    if (file.contains("config")) overlay = Overlay::from_json(file["config"], scenario);
  }
  for (const std::string& assignment : set) overlay.set(assignment);
  return overlay;
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
