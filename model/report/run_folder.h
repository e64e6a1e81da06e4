// Reads the folder of a run or a sweep for the page (report.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/config/describe.h"

namespace rnic::report {

bool is_sweep(const std::filesystem::path& folder);

// Throws ConfigError if there is no stats.json or a file cannot be read. Any other file may be missing, except the
// database if `requests` asks for requests by their ids.
nlohmann::ordered_json read_run(const std::filesystem::path& folder, const std::string& name,
                                const std::vector<std::string>& requests);

// sweep.json, and the parts of each point's stats.json that the page compares. Throws ConfigError.
nlohmann::ordered_json read_sweep_folder(const std::filesystem::path& folder, const std::string& name);

// Reads one sweep, or several runs; ConfigError for both together. `settings` are all existing settings, with their
// defaults; `requests` belong to a single run.
nlohmann::ordered_json read_folders(const std::vector<std::string>& folders, const std::vector<FieldInfo>& settings,
                                    const std::vector<std::string>& requests);

}  // namespace rnic::report
