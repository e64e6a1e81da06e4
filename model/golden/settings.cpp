#include "model/golden/settings.h"

#include "model/common/check.h"
#include "model/config/json_file.h"
#include "model/golden/abi/rnic_golden.h"
#include "model/golden/status.h"

namespace rnic::golden {

nlohmann::json parse_settings(std::string_view text) {
  try {
    auto json = read_json_text(std::string(text), "settings");
    if (json.is_object()) return json;
  } catch (const ConfigError& error) {
    throw Error(RNIC_E_SETTINGS, error.what());
  }
  throw Error(RNIC_E_SETTINGS, "the settings are no JSON object");
}

}  // namespace rnic::golden
