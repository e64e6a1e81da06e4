// Handles of librnic_golden for its tests.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "rnic_golden_messages.h"
#include "testbench/support/fpdu_beats.h"

namespace rnic::test {

struct Close {
  void operator()(rnic_stage* stage) const { rnic_stage_close(stage); }
};
using Stage = std::unique_ptr<rnic_stage, Close>;

inline Stage open(const char* kind, const std::string& settings = "{}") {
  rnic_stage* stage = nullptr;
  EXPECT_EQ(rnic_stage_open(RNIC_GOLDEN_ABI, kind, settings.c_str(), &stage), RNIC_OK) << rnic_stage_text(stage);
  return Stage(stage);
}

template <class M>
M sized() {
  M m{};
  m.size = sizeof m;
  return m;
}
template <class M>
M message(Bytes& octets) {
  M m = sized<M>();
  m.octets = octets.data();
  m.octets_n = static_cast<std::uint32_t>(octets.size());
  return m;
}

// An FPDU that was taken, with its memory.
struct Taken {
  Bytes octets = Bytes(70'000);
  std::vector<rnic_mark> marks = std::vector<rnic_mark>(200);
  rnic_fpdu fpdu{};
  Taken() {
    fpdu.size = sizeof fpdu;
    fpdu.octets = octets.data();
    fpdu.octets_room = static_cast<std::uint32_t>(octets.size());
    fpdu.marks = marks.data();
    fpdu.marks_room = static_cast<std::uint32_t>(marks.size());
  }
  Bytes bytes() const { return {octets.begin(), octets.begin() + fpdu.octets_n}; }
};

// What a port gives: all of it, each as its structure.
template <class M>
std::vector<M> drain(const Stage& stage, std::uint32_t port) {
  std::vector<M> all;
  for (M m = sized<M>(); rnic_stage_take(stage.get(), port, &m) == RNIC_OK; m = sized<M>()) all.push_back(m);
  EXPECT_STREQ(rnic_stage_text(stage.get()), "");
  return all;
}

// Of messages with octets.
template <class M>
struct WithOctets {
  M message;
  Bytes octets;
};
template <class M>
std::vector<WithOctets<M>> drain_octets(const Stage& stage, std::uint32_t port) {
  std::vector<WithOctets<M>> all;
  for (;;) {
    Bytes octets(70'000);
    M m = message<M>(octets);
    m.octets_room = m.octets_n;
    if (rnic_stage_take(stage.get(), port, &m) != RNIC_OK) break;
    octets.resize(m.octets_n);
    all.push_back({m, octets});
  }
  EXPECT_STREQ(rnic_stage_text(stage.get()), "");
  return all;
}

inline void set_row(const Stage& stage, const char* table, std::uint32_t index, const void* row) {
  ASSERT_EQ(rnic_stage_row(stage.get(), table, index, row), RNIC_OK) << rnic_stage_text(stage.get());
}
// It is refused, and the text has these words.
template <class M>
void refused(const Stage& stage, std::uint32_t port, const M& m, const char* words) {
  EXPECT_EQ(rnic_stage_push(stage.get(), port, &m), RNIC_E_VALUE) << words;
  EXPECT_THAT(rnic_stage_text(stage.get()), testing::HasSubstr(words));
}
template <class M>
void refused(const Stage& stage, const char* table, std::uint32_t index, const M& m, const char* words) {
  EXPECT_EQ(rnic_stage_row(stage.get(), table, index, &m), RNIC_E_VALUE) << words;
  EXPECT_THAT(rnic_stage_text(stage.get()), testing::HasSubstr(words));
}

// A QP in RDMA mode, in this use of its number.
inline rnic_qp_row qp_row(std::uint32_t epoch = 1) {
  rnic_qp_row row = sized<rnic_qp_row>();
  row.state = 1;
  row.valid = row.extensions = row.version = 1;
  row.mulpdu = 1442;
  row.ird = row.ord = 4;
  row.pd = 1;
  row.log_sq = row.log_rq = 4;
  row.epoch = epoch;
  row.first_msn = 1;
  return row;
}
// [address, address + length), contiguous on the bus at that address, in protection domain 1, with the key 0x5a.
inline rnic_stag_context region_row(std::uint64_t address, std::uint64_t length, std::uint8_t access) {
  rnic_stag_context row = sized<rnic_stag_context>();
  row.valid = 1;
  row.key = 0x5a;
  row.access = access;
  row.pd = 1;
  row.address = row.bus = address;
  row.length = length;
  return row;
}
inline constexpr std::uint8_t kLocalWrites = 1, kRemoteWrites = 2, kRemoteReads = 4, kRemoteAtomics = 8;
inline constexpr std::uint32_t stag_numbered(std::uint32_t index) { return index << 8 | 0x5a; }

}  // namespace rnic::test
