// Contexts of queue pairs and shared receive queues and their home, for tests of a stage that uses them: on a chip with
// all rows, or with few.
#pragma once

#include "model/rnic/context/context_home.h"
#include "testbench/support/contexts.h"
#include "testbench/support/fake_dma.h"

namespace rnic::test {

inline constexpr QpCacheConfig kAllQps{}, kOneQp{{1, 1, CachePolicy::kLru, 1, 1}},
    kTwoQps{{2, 2, CachePolicy::kRandom, 2, 1}}, kTwoObjects{{2, 1, CachePolicy::kLru, 2, 0}, QpFetch::kObject};
inline const std::array<QpCacheConfig, 4> kQpCaches{kAllQps, kOneQp, kTwoQps, kTwoObjects};

struct HomedQps {
  static constexpr std::uint32_t kQps = 40;  // more than there are places, with the spare ones
  static constexpr std::uint64_t kRowBytes = 512;

  explicit HomedQps(const QpCacheConfig& cache, HomeKind kind = HomeKind::kHost)
      : clk(sc_core::sc_gen_unique_name("clock"), {}),
        contexts(clk, sizes(cache, kind)),
        home(sc_core::sc_gen_unique_name("context_home"), clk, contexts, of(kind)),
        firmware(sc_core::sc_gen_unique_name("firmware"), clk) {
    contexts.commit();
    if (contexts.home_pages() != 0) ops.send({HomeOp::Kind::kHomePage, 0, 0});
    for (std::uint32_t n = 0; n < kQps; ++n) write(n, rts_qp(n));
  }
  // As the firmware does.
  void write(std::uint32_t n, const QpContext& c) {
    if (contexts.tx_table.cached()) {
      HomeOp op{HomeOp::Kind::kWriteQp, n};
      op.qp = c;
      ops.send(op);
    } else {
      contexts.write(Qpn{n}, c);
      contexts.commit();
    }
  }
  void write(Srqn n, const SrqContext& c) {
    if (contexts.srq_table.cached()) {
      HomeOp op{HomeOp::Kind::kWriteSrq, n.v};
      op.srq = c;
      ops.send(op);
    } else {
      contexts.write(n, c);
      contexts.commit();
    }
  }
  // An octet of its home gets a wrong bit. That a row is there means that it will not be fetched.
  void damage(std::uint32_t n, std::uint32_t octet) { dma.memory[n * kRowBytes + octet] ^= 4; }
  void damage(Srqn n, std::uint32_t octet) { dma.memory[kQps * kRowBytes + n.v * 64 + octet] ^= 4; }

  ClockDomain clk;
  ContextStore contexts;
  ContextHome home;
  At firmware;
  Source<HomeOp> ops = drive(home.ops);
  Sink<HomeEvent> home_events = collect(home.events);
  FakeDma dma{home.read, home.read_done};
  FakeDmaWrite home_writes{home.write, home.write_done, dma.memory};

 private:
  static ContextStore::Sizes sizes(const QpCacheConfig& cache, HomeKind kind) {
    ContextStore::Sizes s{kQps, kQps, kQps, 16, 4, 64};
    s.qp_cache = cache;
    s.srq_cache = cache;
    s.home_in_host = kind == HomeKind::kHost;
    return s;
  }
  static ContextHomeConfig of(HomeKind kind) {
    ContextHomeConfig config;
    config.kind = kind;
    return config;
  }
};

}  // namespace rnic::test
