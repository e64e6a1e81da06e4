#include "model/system/system_config.h"

#include "model/config/describe.h"
#include "model/config/resolve.h"

namespace rnic {

SystemConfig resolve_system(const Overlay& overlay) { return resolve<SystemConfig>(overlay); }
nlohmann::ordered_json dump_system(const SystemConfig& config) { return dump_fields(config); }
std::vector<FieldInfo> list_system() { return list_fields<SystemConfig>(); }

}  // namespace rnic
