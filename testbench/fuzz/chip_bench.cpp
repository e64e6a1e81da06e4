#include "testbench/fuzz/chip_bench.h"

#include <algorithm>

#include "model/common/description.h"
#include "testbench/support/in_use.h"

namespace rnic::fuzz {
namespace {

// Anything that a peer leaves half done ends within a session's time limit.
constexpr std::uint32_t kTimeoutUs = 100;
constexpr unsigned kPatienceUs = 5000;
constexpr unsigned kLongestMs = 100;

NodeConfig impatient() {
  NodeConfig c;
  c.rnic.fwcpu.request_timeout_us = c.rnic.fwcpu.reply_timeout_us = kTimeoutUs;
  c.rnic.fwcpu.first_fpdu_timeout_us = c.rnic.fwcpu.close_timeout_us = kTimeoutUs;
  c.rnic.fwcpu.log_level = 0;
  c.rnic.tcp.time_wait_us = 20;
  c.rnic.tcp.rto_initial_us = c.rnic.tcp.rto_min_us = 50;
  c.rnic.tcp.rto_max_us = 200;
  c.rnic.tcp.max_retries = c.rnic.tcp.syn_retries = 3;
  c.host.memory.size_mib = 16;
  return c;
}

std::uint64_t word_at(const std::uint8_t* octets) { return load_le64(octets); }

}  // namespace

ChipBench::ChipBench(Session session) : GuardBench(impatient()), session_(session) {
  const Description d(StatsGroup(stats_, "node"));
  node.chip.describe(d.part("rnic"));
  node.context.describe(d.part("driver"));
  cable.tap(*this);
  peer.run([this] {
    set_up();
    for (;;) {
      idle_ = true;
      sc_core::sc_pause();
      peer.wait_us(1);
      idle_ = false;
      begin_session();
      session_(*this, Input(input_));
      end_session();
    }
  });
  run_until_idle();
  at_rest_ = test::in_use(stats_, "node");
}

void ChipBench::play(ByteSpan input) {
  input_ = input;
  run_until_idle();
  if (!finding_.empty()) throw Finding(std::exchange(finding_, ""));
}

void ChipBench::run_until_idle() {
  sc_core::sc_start(sc_core::sc_time(kLongestMs, sc_core::SC_MS));
  if (!idle_) throw Finding("the session has no end");
}

void ChipBench::set_up() {
  peer.wait_us(20);
  open();
  domain_ = domain();
  foreign_ = domain();
  arena = memory(kArena);
  image_ = octets_at(arena, kArena);
  for (std::size_t i = 0; i < kArena; i += 8) store_le64(&image_[i], mix64(arena + i));
  for (std::size_t i = 0; i < kArena; i += 8) {
    const auto told = [&](const Grant& g) { return i + 8 > g.at && i < g.at + g.bytes; };
    if (!told(grants[0]) && !told(grants[1])) secret_.insert(word_at(&image_[i]));
  }
  const host::Pd own = domain();
  bystander_page_ = memory(64);
  bystander_key_ = region(own, bystander_page_, 64, abi::kLocalWrite | abi::kRemoteWrite).rkey();
  bystander_ = &connect(queue_pair(own));
  peer.lenient = true;
  peer.wait_us(100);
}

void ChipBench::begin_session() {
  const MutableByteSpan octets = node.memory.span(arena, kArena);
  std::copy(image_.begin(), image_.end(), octets.data());
  refused_ = node.root_complex.counters().refused_writes + node.root_complex.counters().refused_reads;
  host.events.clear();
  host.completions.clear();
  host.accepting.clear();
  for (Grant& g : grants) g.region = &region(g.foreign ? foreign_ : domain_, arena + g.at, g.bytes, g.access);
  receives_ = &region(domain_, arena + kReceives, kReceiveCount * kReceiveBytes, abi::kLocalWrite);
  qp = &queue_pair(domain_);
  for (unsigned i = 0; i < kReceiveCount; ++i) {
    post_receive(*qp, i, arena + kReceives + i * kReceiveBytes, kReceiveBytes, receives_->lkey());
  }
}

void ChipBench::end_session() {
  peer.bend = nullptr;
  host.accepting.clear();
  in_host([this] {
    node.context.destroy_qp(*qp);
    for (Grant& g : grants) node.context.dereg_mr(*g.region);
    node.context.dereg_mr(*receives_);
  });
  check_memory();
  for (unsigned us = 0; us < kPatienceUs && test::in_use(stats_, "node") != at_rest_; us += 20) peer.wait_us(20);
  for (const auto& [figure, count] : test::in_use(stats_, "node")) {
    const double before = at_rest_.at(figure);
    if (count != before) find(figure + ": " + std::to_string(count) + " are left, not " + std::to_string(before));
  }
  peer.forget_streams(*bystander_);
  check_bystander();
}

void ChipBench::check_memory() {
  const Bytes now = octets_at(arena, kArena);
  for (std::size_t i = 0; i < kArena; ++i) {
    const auto open = [&](const Grant& g) {
      return !g.foreign && (g.access & abi::kRemoteWrite) && i >= g.at && i < g.at + g.bytes;
    };
    const bool received = i >= kReceives && i < kReceives + kReceiveCount * kReceiveBytes;
    if (now[i] == image_[i] || received || std::any_of(grants.begin(), grants.end(), open)) continue;
    return find("octet " + std::to_string(i) + " of the arena has changed, which nobody may write");
  }
  const std::uint64_t refused =
      node.root_complex.counters().refused_writes + node.root_complex.counters().refused_reads;
  if (refused != refused_) find("the chip has asked for memory that does not exist");
}

void ChipBench::check_bystander() {
  const Bytes word = test::octets("", ++bystander_word_);
  bystander_->send_ulpdu(test::tagged("C140", bystander_key_, bystander_page_ + 8, word));
  if (!await([&] { return octets_at(bystander_page_ + 8, 8) == word; })) find("the stream beside it has ended");
}

void ChipBench::frame(unsigned direction, const Frame& frame, std::uint64_t) {
  if (direction != 0 || frame.bytes < 8 || secret_.empty()) return;
  for (std::size_t i = 0; i + 8 <= frame.bytes; ++i) {
    if (secret_.count(word_at(frame.data() + i)) == 0) continue;
    find("memory that nobody may read was sent");
  }
}

}  // namespace rnic::fuzz
