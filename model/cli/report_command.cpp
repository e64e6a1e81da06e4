#include "model/cli/report_command.h"

#include <ostream>

#include <fmt/format.h>

#include "model/cli/command.h"
#include "model/cli/options.h"
#include "model/cli/version.h"
#include "model/common/check.h"
#include "model/config/describe.h"
#include "model/report/page.h"
#include "model/report/run_folder.h"
#include "model/system/system_config.h"
#include "model/trace/output_file.h"

namespace rnic::cli {

namespace po = boost::program_options;

int report_command(const std::vector<std::string>& args, std::ostream& out, std::ostream&, const TwinSource*) {
  std::vector<std::string> folders;
  std::vector<std::string> requests;
  std::string file;
  po::options_description options("options");
  options.add_options()("help,h", "this text");
  options.add_options()("output,o", po::value(&file)->default_value("report.html")->value_name("file"),
                        "the page, which needs no other file and no network");
  options.add_options()("request", po::value(&requests)->value_name("id"),
                        "show this request's events, a.3.17 say, from the run.sqlite of --db; may be repeated");
  po::options_description all;
  all.add(options).add_options()("folder", po::value(&folders));
  const po::variables_map given = parse_options(args, all, po::positional_options_description().add("folder", -1));

  if (given.count("help") != 0) {
    out << "usage: rnicsim report DIR [DIR...] [-o file]\n\n"
           "A page of the run in DIR (its --out), of several runs side by side, or of a sweep.\n\n"
        << options;
    return kOk;
  }
  if (folders.empty()) throw ConfigError("report: which folder? give what --out of a run was");
  nlohmann::ordered_json data;
  data["program"] = fmt::format("rnicsim {}", version());
  data.update(report::read_folders(folders, list_system(), requests));
  const std::string page = report::page(data);
  write_file(file, page);
  out << fmt::format("file: {} ({} KiB)\n", file, (page.size() + 1023) / 1024);
  return kOk;
}

}  // namespace rnic::cli
