#include "model/cli/run_arguments.h"

#include <fmt/format.h>

#include "model/common/check.h"
#include "model/system/scenario_assignment.h"

namespace rnic::cli {

namespace po = boost::program_options;

void RunArguments::add_outputs_to(po::options_description& options) {
  auto add = options.add_options();
  add("out,o", po::value(&into_.out_dir)->value_name("dir")->default_value(into_.out_dir),
      "folder for the outputs of the run");
  add("no-capture", "do not write wire.pcapng");
  outputs_.add_to(options);
}

void RunArguments::add_scenario_to(po::options_description& options, po::positional_options_description& positional) {
  options.add_options()("point", po::value<std::size_t>()->value_name("n"),
                        "of a sweep: run this point only, as a scenario without a sweep");
  config_.add_to(options, positional,
                 "overrides one setting of all nodes (rnicsim config --list), of one node "
                 "(nodes.a.rnic.fwcpu.max_ord=4), or a value of the scenario by the name of its connection, work item "
                 "or check (connections.c0.ord=8, work.write0.depth=32); may be repeated");
}

void RunArguments::read(const po::variables_map& given) {
  into_.capture = given.count("no-capture") == 0;
  outputs_.read("run", given);
  if (given.count("point") != 0) point_ = given["point"].as<std::size_t>();
}

std::string quoted(const std::string& word) {
  const char* const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + '\'';
}

Assignments::Assignments(const ConfigOptions& config) {
  Overlay all;
  for (const std::string& assignment : config.set) all.set(assignment);
  scenario = scenario_values(all);
  settings = settings_of_all(all);
}

Scenario point_of(const Scenario& scenario, std::size_t point) {
  if (point < scenario.sweep.points()) return at_point(scenario, point);
  throw ConfigError(fmt::format("run: --point {}: the sweep has points 0 to {}", point, scenario.sweep.points() - 1));
}

}  // namespace rnic::cli
