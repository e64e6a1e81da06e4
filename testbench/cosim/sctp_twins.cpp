// The twins of crc_insert and crc_check also serve the second stages of their classes, under these stages' names.
#include "model/common/prng.h"
#include "model/rnic/rx/crc_check.h"
#include "model/rnic/tx/crc_insert.h"
#include "rtl-stubs/verilated/verilated_twins.h"
#include "testbench/support/fpdu_beats.h"
#include "testbench/support/mpa_reference.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

using testing::Contains;

class SctpTwins : public StageTest {
 protected:
  static inline const rtl::VerilatedTwins kSource;
  BufferPool pool{4096};
  Prng rng{7};

  template <class Block, class Config>
  std::uint64_t sealed_or_checked(const char* name) {
    Block block{name, clk};
    Source<FpduBeat> source = drive(block.in);
    Sink<FpduBeat> sink = collect(block.out, LinkConfig::pipeline(Config{}));
    EXPECT_THAT(kSource.names(), Contains(name));
    const TwinSource::Handle twin = kSource.make(name, block, {}, TwinMode::kLockstep);
    std::size_t beats = 0;
    for (std::size_t bytes : {1u, 62u, 200u, 1434u}) {
      MpaReference reference;
      const auto fpdu = cut_fpdu(pool, reference.fpdu(random_bytes(rng, bytes)), 64, false, 0);
      source.send(fpdu);
      beats += fpdu.size();
    }
    run_until_idle();
    EXPECT_EQ(twin->fault(), "");
    EXPECT_EQ(sink.size(), beats);
    for (const FpduBeat& beat : sink) {
      if (beat.last) BufferRef::adopt(beat.buf);
    }
    if constexpr (std::is_same_v<Block, CrcCheck>) return block.counters().good;
    else return block.counters().inserted;
  }
};
TEST_F(SctpTwins, OfCrcCheck) { EXPECT_EQ((sealed_or_checked<CrcCheck, CrcCheckConfig>("sctp_crc_check")), 4u); }
TEST_F(SctpTwins, OfCrcInsert) { EXPECT_EQ((sealed_or_checked<CrcInsert, CrcInsertConfig>("sctp_crc_insert")), 4u); }

}  // namespace
}  // namespace rnic::test
