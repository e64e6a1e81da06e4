#include "model/why/pcie_load.h"

#include <algorithm>
#include <array>

namespace rnic::why {
namespace {

// Of a lane, with its 8b/10b or 128b/130b encoding (PCI Express Base Specification 5.0, sections 4.2.1 and 4.2.2).
constexpr std::array<double, 5> kPsPerOctet{4000, 2000, 65000.0 / 64, 32500.0 / 64, 16250.0 / 64};
constexpr std::uint64_t kFraming = 8, kCompletionHeader = 12, kRequestHeader = 16;

std::uint64_t wire_octets(const TlpRow& t) {
  const std::uint64_t data = t.type == TlpRow::Type::kRead ? 0 : (t.bytes + 3) / 4 * 4;
  return kFraming + (t.type == TlpRow::Type::kCompletion ? kCompletionHeader : kRequestHeader) + data;
}

}  // namespace

double pcie_share(const Rows& rows, const std::string& node, bool from_chip, const RequestRow& within,
                  std::uint64_t from_ps, std::uint64_t to_ps) {
  const std::uint64_t generation = rows.number_of(node, "rnic.pcie.link.generation");
  const std::uint64_t width = rows.number_of(node, "rnic.pcie.link.width");
  if (generation < 1 || generation > kPsPerOctet.size() || width == 0 || from_ps >= to_ps) return 0;
  const std::uint64_t dllps = rows.number_of(node, "rnic.pcie.link.dllp_bytes_per_tlp");
  std::uint64_t octets = 0;
  for (const TlpRow& t : rows.tlps(node, within.first_event, within.last_event)) {
    if (t.from_chip == from_chip && t.ps >= from_ps && t.ps < to_ps) octets += wire_octets(t) + dllps;
  }
  const double ps = static_cast<double>(octets) * kPsPerOctet[generation - 1] / static_cast<double>(width);
  return std::min(1.0, ps / static_cast<double>(to_ps - from_ps));
}

}  // namespace rnic::why
