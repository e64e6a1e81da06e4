#include "model/common/crc32c.h"

#include <limits>

#include <isa-l/crc.h>

#include "model/common/check.h"

namespace rnic {

std::uint32_t crc32c_update(std::uint32_t state, ByteSpan bytes) {
  RNIC_CHECK(bytes.size() <= std::size_t{std::numeric_limits<int>::max()});
  // The library takes a pointer to mutable octets but only reads.
  return crc32_iscsi(const_cast<std::uint8_t*>(bytes.data()), static_cast<int>(bytes.size()), state);
}

}  // namespace rnic
