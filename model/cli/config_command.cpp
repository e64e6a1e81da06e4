#include "model/cli/config_command.h"

#include <ostream>
#include <utility>

#include "model/cli/command.h"
#include "model/cli/options.h"
#include "model/common/check.h"
#include "model/config/describe.h"
#include "model/system/key_table.h"
#include "model/system/system_config.h"

namespace rnic::cli {

namespace po = boost::program_options;

int config_command(const std::vector<std::string>& args, std::ostream& out, std::ostream&, const TwinSource*) {
  ConfigOptions config;
  po::options_description options("options");
  po::positional_options_description positional;
  options.add_options()("help,h", "this text");
  options.add_options()("list", "every setting with type, default, range, unit and meaning");
  options.add_options()("dump", "the settings in effect, as JSON");
  options.add_options()("keys", "the keys of a scenario file, as the tables of traces/README.md");
  config.add_to(options, positional);
  const po::variables_map given = parse_options(args, options, positional);

  if (given.count("help") != 0) {
    out << "usage: rnicsim config --list | --dump | --keys [--set key=value]... [scenario.json]\n\n" << options;
    return kOk;
  }
  if (given.count("list") + given.count("dump") + given.count("keys") != 1) {
    throw ConfigError("config: give one of --list, --dump and --keys");
  }
  if (given.count("keys") != 0) {
    const char* between = "";
    for (const KeyTable& table : key_tables()) {
      out << std::exchange(between, "\n") << "## " << table.element << "\n\n" << table.text;
    }
    return kOk;
  }
  const SystemConfig effective = resolve_system(config.overlay(config.read_scenario()));
  if (given.count("list") != 0) {
    write_list(out, list_system());
  } else {
    out << dump_system(effective).dump(2) << '\n';
  }
  return kOk;
}

}  // namespace rnic::cli
