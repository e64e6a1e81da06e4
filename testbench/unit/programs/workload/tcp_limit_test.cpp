#include "model/programs/workload/tcp_limit.h"

#include <gtest/gtest.h>

namespace rnic::workload {
namespace {

using tcp::CongestionAlgorithm;

constexpr CongestionAlgorithm kNewReno = CongestionAlgorithm::kNewReno, kCubic = CongestionAlgorithm::kCubic;
const WireParams k100G{100, 1500, 0};
constexpr std::uint64_t kMs = 1'000'000;

// RFC 9438 section 5.1, table 1 (round trip of 100 ms: 0.1 s): packets by NewReno, which RFC 5681 describes, and CUBIC.
TEST(TcpLimit, MeanWindowsAreThoseOfRfc9438) {
  struct Row {
    double loss, aimd, cubic;
  };
  for (const Row& r : {Row{1e-2, 12, 12}, Row{1e-3, 38, 38}, Row{1e-4, 120, 187}, Row{1e-5, 379, 1054},
                       Row{1e-6, 1200, 5926}, Row{1e-7, 3795, 33325}, Row{1e-8, 12001, 187400}}) {
    EXPECT_NEAR(mean_window({kNewReno, r.loss, 100 * kMs, 0}), r.aimd, 0.03 * r.aimd) << r.loss;
    EXPECT_NEAR(mean_window({kCubic, r.loss, 100 * kMs, 0}), r.cubic, 0.03 * r.cubic) << r.loss;
    EXPECT_DOUBLE_EQ(mean_window({CongestionAlgorithm::kDctcp, r.loss, 100 * kMs, 0}),
                     mean_window({kNewReno, r.loss, 100 * kMs, 0}));
  }
}

// 1538 octet times a segment: 8.127 segments a us at 100 Gb/s. A window of 146000 octets is 100 segments.
TEST(TcpLimit, TheShareIsThatOfTheWindowInARoundTrip) {
  EXPECT_DOUBLE_EQ(tcp_share({kNewReno, 0, 1 * kMs, 146'000}, k100G, 1), 100 * 12.304 / 100'000);
  EXPECT_DOUBLE_EQ(tcp_share({kNewReno, 0, 1 * kMs, 146'000}, k100G, 8), 8 * 100 * 12.304 / 100'000);
  EXPECT_DOUBLE_EQ(tcp_share({kNewReno, 0, 1 * kMs, 146'000}, {100, 1500, 12}, 1), 146'000 / 1448.0 * 12.304 / 100'000);
  EXPECT_DOUBLE_EQ(tcp_share({kNewReno, 0.015, 1 * kMs, 146'000}, k100G, 1), 10 * 12.304 / 100'000);
}

TEST(TcpLimit, TheWireIsTheMost) {
  EXPECT_EQ(tcp_share({kNewReno, 0, 10'000, 146'000}, k100G, 1), 1);
  EXPECT_EQ(tcp_share({kNewReno, 0, 0, 146'000}, k100G, 1), 1);
}

}  // namespace
}  // namespace rnic::workload
