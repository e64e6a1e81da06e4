#include "model/config/resolve.h"

#include "model/common/cited.h"
#include "model/config/nearest.h"

namespace rnic {

void fail_on_unknown_keys(const Overlay& overlay, std::string_view path, const std::vector<std::string>& known) {
  const auto within = [](const std::string& key, std::string_view group) {
    return group.empty() || key == group ||
           (key.size() > group.size() && key.compare(0, group.size(), group) == 0 && key[group.size()] == '.');
  };
  for (const auto& [key, setting] : overlay.settings()) {
    if (!within(key, path)) continue;
    bool is_group = false;
    bool is_key = false;
    for (const std::string& k : known) {
      is_key |= k == key;
      is_group |= k != key && within(k, key);
    }
    if (is_key) continue;
    if (is_group) fail_setting(key, setting, "is a group of settings, not a value");
    throw ConfigError(
        fmt::format("{} ({}): unknown setting; the nearest is {}", cited(key), setting.origin, nearest(key, known)));
  }
}

}  // namespace rnic
