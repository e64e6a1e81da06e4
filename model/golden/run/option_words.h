// The options of a run as JSON: the words of a command line.
#pragma once

#include <string>
#include <vector>

#include <boost/program_options.hpp>
#include <nlohmann/json_fwd.hpp>

namespace rnic::golden {

// {"trace": "t.tsv", "breakdown": true, "set": {"seed": 1}} is --trace=t.tsv --breakdown --set=seed=1. Throws Error:
// RNIC_E_NAME for a name that is none of `options`, RNIC_E_SETTINGS for a value that no option has.
std::vector<std::string> option_words(const nlohmann::json& json,
                                      const boost::program_options::options_description& options);

}  // namespace rnic::golden
