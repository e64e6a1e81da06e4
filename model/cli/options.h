// The options that all subcommands with a configuration share, and the common parser.
#pragma once

#include <string>
#include <vector>

#include <boost/program_options.hpp>

#include "model/config/overlay.h"

namespace rnic::cli {

// A scenario file and --set options. Later options override earlier ones, and all of them override the file.
struct ConfigOptions {
  std::string scenario;  // file name; empty without one
  std::vector<std::string> set;

  // Declares --set, and the scenario as the only positional argument.
  void add_to(boost::program_options::options_description& options,
              boost::program_options::positional_options_description& positional,
              const char* meaning_of_set = "overrides one setting; may be repeated");

  // The scenario's contents, an empty object without one. Throws ConfigError if it is not a JSON object.
  nlohmann::json read_scenario() const;

  // Settings of the scenario's object "config", overridden by those of one node, then by the command line. Throws
  // ConfigError.
  Overlay overlay(const nlohmann::json& contents, const Overlay& node = {}) const;
};

// Full names only, so that a new option can never change the meaning of an old command line. Throws ConfigError with
// the nearest option for an unknown one, boost::program_options::error for other mistakes.
boost::program_options::variables_map parse_options(
    const std::vector<std::string>& args, const boost::program_options::options_description& options,
    const boost::program_options::positional_options_description& positional);

}  // namespace rnic::cli
