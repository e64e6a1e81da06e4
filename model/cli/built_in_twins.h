// The SystemVerilog twins that a program brings along.
#pragma once

namespace rnic {
class TwinSource;
}

namespace rnic::cli {

// nullptr in rnicsim; those of rtl-stubs in rnicsim_rtl.
const TwinSource* built_in_twins();

}  // namespace rnic::cli
