// What outputs and a debugger see of a device's firmware.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace rnic {

class Iss;

// Why firmware stopped for good, and its last event.
struct FirmwareStop {
  std::string reason, dump;
};

class FirmwareView {
 public:
  // Empty as long as it runs.
  virtual const std::optional<FirmwareStop>& fault() const = 0;
  // The newest entries of its log as lines, the oldest first.
  virtual std::vector<std::string> log() const = 0;
  // Null where it runs natively.
  virtual Iss* processor() const = 0;

 protected:
  ~FirmwareView() = default;
};

}  // namespace rnic
