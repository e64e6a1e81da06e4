#include "model/rnic/tx/crc_insert.h"

#include "model/common/crc32c.h"
#include "model/common/description.h"

namespace rnic {

template class Passes<FpduBeat, CrcInsert>;

CrcInsert::CrcInsert(sc_core::sc_module_name nm, ClockDomain& clk) : Passes(nm, clk) {}

// The tree takes one beat per cycle; the register is not visible before the FPDU's last one.
void CrcInsert::seal(const FpduBeat& last) {
  count(last);
  if (!last.crc_on) return;
  std::uint8_t* const field = last.data + 4u * (last.words - 1u);
  store_crc32c(field, crc32c({fpdu_, static_cast<std::size_t>(field - fpdu_)}));
}

void CrcInsert::describe(const Description& d) {
  d.counters(counters_);
  d.use(UseKind::kTransmit, "transmit datapath, {node}", 40,
        [this] { return static_cast<double>(out->pushed() * clock().period_ps()); });
}

}  // namespace rnic
