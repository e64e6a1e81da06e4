// The users' settings by dotted path: from scenario files and --set options, each value with its origin.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

namespace rnic {

// One value as written. The type of the target gives a --set text its meaning.
struct Setting {
  nlohmann::json value;
  bool is_text = false;
  std::string origin;
};

class Overlay {
 public:
  // Objects nest, and a key may itself be a dotted path. Throws ConfigError if `object` is not an object.
  static Overlay from_json(const nlohmann::json& object, const std::string& origin);

  // "key=value" as given to --set. Throws ConfigError without a key or an equals sign.
  void set(std::string_view assignment);
  void put(const std::string& path, Setting setting) { settings_[path] = std::move(setting); }

  // This overlay under another one, whose values take precedence. A node's own settings are
  // base.with(node).with(command_line).
  Overlay with(const Overlay& upper) const;

  // The settings whose path satisfies `is_one`.
  Overlay select(const std::function<bool(std::string_view path)>& is_one) const;

  // Throws ConfigError unless every path lies in the given group ("rnic" for the settings of one node).
  void require_within(std::string_view group) const;

  const Setting* find(const std::string& path) const;
  const std::map<std::string, Setting>& settings() const { return settings_; }

 private:
  void add(const nlohmann::json& object, const std::string& prefix, const std::string& origin);
  std::map<std::string, Setting> settings_;
};

}  // namespace rnic
