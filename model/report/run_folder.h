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

// The figures of a run. Throws ConfigError if there is no stats.json or a file cannot be read. Any other file may be
// missing.
nlohmann::ordered_json read_run(const std::filesystem::path& folder, const std::string& name);

// What only the page of a single run shows: the firmware's log, the capture, and requests and causes of the database.
// ConfigError if a file cannot be read, or `requests` asks for some and there is no database.
void add_story(nlohmann::ordered_json& run, const std::filesystem::path& folder,
               const std::vector<std::string>& requests);

// sweep.json, and the parts of each point's stats.json that the page compares. Throws ConfigError.
nlohmann::ordered_json read_sweep_folder(const std::filesystem::path& folder, const std::string& name);

// Reads one sweep, or several runs; ConfigError for both together. `settings` are all existing settings, with their
// defaults; `requests` belong to a single run.
nlohmann::ordered_json read_folders(const std::vector<std::string>& folders, const std::vector<FieldInfo>& settings,
                                    const std::vector<std::string>& requests);

}  // namespace rnic::report
