#include "model/config/overlay.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/common/check.h"
#include "model/common/cited.h"

namespace rnic {
namespace {

// By the JSON library's rules, since it writes the text to stats.json.
bool is_utf8(std::string_view text) {
  try {
    return !nlohmann::json(std::string(text)).dump().empty();
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

// Messages name keys, and a null octet at the beginning of a key would end the message.
void check_key(std::string_view key, std::string_view origin) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20; };
  if (std::none_of(key.begin(), key.end(), is_control)) return;
  throw ConfigError(fmt::format("{}: a key with control characters: {}", origin, cited(nlohmann::json(key).dump())));
}

}  // namespace

Overlay Overlay::from_json(const nlohmann::json& object, const std::string& origin) {
  if (!object.is_object()) {
    throw ConfigError(fmt::format("{}: configuration must be an object, not {}", origin, object.type_name()));
  }
  Overlay overlay;
  overlay.add(object, "", origin);
  return overlay;
}

void Overlay::add(const nlohmann::json& object, const std::string& prefix, const std::string& origin) {
  for (const auto& [key, value] : object.items()) {
    check_key(key, origin);
    if (value.is_object()) {
      add(value, prefix + key + '.', origin);
    } else {
      settings_[prefix + key] = {value, false, origin};
    }
  }
}

void Overlay::set(std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == 0 || equals == std::string_view::npos) {
    throw ConfigError(fmt::format("--set {}: expected key=value", cited(assignment)));
  }
  if (!is_utf8(assignment)) {
    const std::string_view key = assignment.substr(0, equals);
    throw ConfigError(fmt::format("--set {}: is not UTF-8", is_utf8(key) ? cited(key) : "…"));
  }
  check_key(assignment.substr(0, equals), "--set");
  settings_[std::string(assignment.substr(0, equals))] = {std::string(assignment.substr(equals + 1)), true,
                                                          "command line"};
}

Overlay Overlay::with(const Overlay& upper) const {
  Overlay merged = *this;
  for (const auto& [path, setting] : upper.settings_) merged.settings_[path] = setting;
  return merged;
}

Overlay Overlay::select(const std::function<bool(std::string_view path)>& is_one) const {
  Overlay selected;
  for (const auto& [path, setting] : settings_) {
    if (is_one(path)) selected.settings_[path] = setting;
  }
  return selected;
}

void Overlay::require_within(std::string_view group) const {
  const std::string prefix = std::string(group) + '.';
  for (const auto& [path, setting] : settings_) {
    if (path.compare(0, prefix.size(), prefix) != 0) {
      throw ConfigError(
          fmt::format("{} ({}): only settings of '{}' may be given here", cited(path), setting.origin, group));
    }
  }
}

const Setting* Overlay::find(const std::string& path) const {
  const auto it = settings_.find(path);
  return it == settings_.end() ? nullptr : &it->second;
}

}  // namespace rnic
