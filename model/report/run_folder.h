// What a run, or a sweep, left in its folder, as the page reads it (report.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/config/describe.h"

namespace rnic::report {

bool is_sweep(const std::filesystem::path& folder);

// Throws ConfigError if there is no stats.json or a file cannot be read; every other file may be missing, but for the
// database where requests are to be shown, by their ids.
nlohmann::ordered_json read_run(const std::filesystem::path& folder, const std::string& name,
                                const std::vector<std::string>& requests);

// sweep.json, and of each point's stats.json what the page compares. Throws ConfigError.
nlohmann::ordered_json read_sweep_folder(const std::filesystem::path& folder, const std::string& name);

// Of one sweep, or of runs; ConfigError where there are both. `settings` are all that there are, with their defaults;
// `requests` are of a single run.
nlohmann::ordered_json read_folders(const std::vector<std::string>& folders, const std::vector<FieldInfo>& settings,
                                    const std::vector<std::string>& requests);

}  // namespace rnic::report
