// Random attacks on random regions and windows: a reference that knows nothing of the model decides which ones succeed.
// RNIC_ATTACKS: the least number of attacks in each test; without it there is one round of streams.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>

#include "model/common/prng.h"
#include "testbench/system/guard_bench.h"

namespace rnic::test {
namespace {

constexpr unsigned kAtomicRights = abi::kRemoteRead | abi::kRemoteWrite | abi::kRemoteAtomic;
constexpr std::uint32_t kArena = 4096, kReceives = 4, kReceiveBytes = 16;

// Memory as its owner has opened it, and its expected contents.
class Reference {
 public:
  struct Grant {
    std::uint32_t stag = 0;
    std::uint64_t address = 0, length = 0;
    unsigned access = 0;
    std::uint32_t domain = 0;
    int stream = -1;  // for a window of type 2: the one stream it serves
    bool window = false;
    std::uint32_t region = 0;  // for a window
    bool peers_may_end = false;
    bool valid = true;
    std::uint64_t base() const { return access & abi::kZeroBased ? 0 : address; }
  };
  struct Stream {
    int number = 0;
    std::uint32_t domain = 0;
  };
  std::vector<Grant> grants;

  Grant* find(std::uint32_t stag) {
    for (Grant& g : grants) {
      if (g.stag == stag && g.valid && (!g.window || find(g.region) != nullptr)) return &g;
    }
    return nullptr;
  }
  static bool serves(const Grant& g, const Stream& s) {
    return g.stream >= 0 ? g.stream == s.number : g.domain == s.domain;
  }

  // Four hex digits of the Terminate's cause, or nullptr if the access is allowed. `rights`: all rights that it needs.
  const char* check(std::uint32_t stag, std::uint64_t to, std::uint64_t bytes, const Stream& s, unsigned rights,
                    bool tagged) {
    if (bytes == 0) return nullptr;
    const Grant* g = find(stag);
    if (g == nullptr) return tagged ? "1100" : "0100";
    if (!serves(*g, s)) return tagged ? "1102" : "0103";
    if ((g->access & rights) != rights) return tagged ? "1100" : "0102";
    if (to != 0 && bytes >= 0 - to) return tagged ? "1103" : "0104";  // 2^64 - TO octets are left
    const bool inside = to >= g->base() && to - g->base() <= g->length && bytes <= g->length - (to - g->base());
    if (!inside) return tagged ? "1101" : "0101";
    return nullptr;
  }
  const char* check_invalidate(std::uint32_t stag, const Stream& s) {
    const Grant* g = find(stag);
    if (g == nullptr) return "0209";
    const bool has_windows = std::any_of(grants.begin(), grants.end(),
                                         [&](const Grant& w) { return w.window && w.valid && w.region == stag; });
    return serves(*g, s) && g->peers_may_end && !has_windows ? nullptr : "0109";
  }
  std::uint64_t address_of(std::uint32_t stag, std::uint64_t to) {
    return find(stag)->address + (to - find(stag)->base());
  }
};

// Every other time few entries of STags are on the chip, and their home is in host memory.
NodeConfig config_of(std::uint64_t seed) {
  NodeConfig config;
  if (seed % 2 == 0) config.rnic.context.cache.stag = {1, 1, CachePolicy::kLru, 2, 1};
  const QpFetch fetch = seed % 8 == 0 ? QpFetch::kHalf : QpFetch::kObject;
  if (seed % 4 == 0) config.rnic.context.cache.qp = {{1, 1, CachePolicy::kLru, 2, 1}, fetch};
  return config;
}

class Protection : public GuardBench, public testing::WithParamInterface<std::uint64_t> {
 protected:
  using Grant = Reference::Grant;

  Protection() : GuardBench(config_of(GetParam())) {}

  std::uint64_t any(std::initializer_list<std::uint64_t> values) { return values.begin()[prng.below(values.size())]; }
  unsigned some_rights() {
    const unsigned remote = static_cast<unsigned>(prng.below(8)) << 1;  // write, read, atomic
    return remote | abi::kLocalWrite;
  }
  // A part of the arena, often a small one.
  std::pair<std::uint64_t, std::uint64_t> some_place() {
    const std::uint64_t length = any({1, 8, 24, 64, 500, 1500});
    return {arena + prng.below(kArena - length), length};
  }
  void add(std::uint32_t stag, std::pair<std::uint64_t, std::uint64_t> place, unsigned access, std::uint32_t domain) {
    Grant g;
    g.stag = stag;
    g.address = place.first;
    g.length = place.second;
    g.access = access;
    g.domain = domain;
    reference.grants.push_back(g);
  }
  void create_regions() {
    for (unsigned i = 0; i < 8; ++i) {
      const std::uint32_t d = i % 2;
      const auto place = some_place();
      const unsigned access = some_rights() | (prng.below(3) == 0 ? abi::kZeroBased : 0);
      const bool may_end = prng.below(4) == 0;
      regions.push_back(
          &region(domains[d], place.first, place.second, access | (may_end ? abi::kRemoteInvalidate : 0)));
      add(regions.back()->rkey(), place, access, d);
      reference.grants.back().peers_may_end = may_end;
    }
    for (std::uint32_t d = 0; d < 2; ++d) {  // regions with windows
      const std::pair place{arena + 64 * d, std::uint64_t{2048}};
      const unsigned access = abi::kLocalWrite | abi::kRemoteRead | abi::kMwBind;
      regions.push_back(&region(domains[d], place.first, place.second, access));
      wide.push_back(regions.back()->rkey());
      add(wide[d], place, access, d);
    }
    for (std::uint32_t d = 0; d < 2; ++d) {
      regions.push_back(&region(domains[d], arena + kArena, 4096, abi::kLocalWrite));
      receive_keys.push_back(regions.back()->lkey());
      add(receive_keys[d], {arena + kArena, 4096}, abi::kLocalWrite, d);
    }
    add(bystanders, {arena, 64}, abi::kLocalWrite | abi::kRemoteWrite, kOfBystander);
  }
  // Ends a round: removes its queue pairs and all it has opened.
  void end_round() {
    in_host([this] {
      for (host::Qp* qp : qps) node.context.destroy_qp(*qp);
    });
    peer.wait_us(50);
    for (auto* ended : {&windows, &regions}) {
      in_host([&] {
        for (host::Mr* mr : *ended) node.context.dereg_mr(*mr);
      });
      EXPECT_TRUE(await([&] {
        return std::all_of(ended->begin(), ended->end(), [](const host::Mr* mr) { return mr->destroyed(); });
      }));
      ended->clear();
    }
    qps.clear(), wide.clear(), receive_keys.clear(), reference.grants.clear();
    host.events.clear();
  }
  // On the stream's own QP: a region by fast registration and a window of each type.
  void open_more(host::Qp& qp, Reference::Stream s) {
    host.completions.clear();
    host::Mr& fast = entry(domains[s.domain]);
    regions.push_back(&fast);
    const auto place = some_place();
    host::SendWr wr;
    wr.opcode = abi::WrOpcode::kRegMr;
    wr.rkey = fast.inc_rkey();
    const unsigned access = some_rights() | (prng.below(2) == 0 ? abi::kZeroBased : 0);
    wr.registration = {place.first, place.second, 0, access};
    carry_out(qp, wr, next_id++);
    add(wr.rkey, place, access, s.domain);
    reference.grants.back().peers_may_end = true;
    for (unsigned type = 1; type <= 2; ++type) {
      host::Mr& mw = window(domains[s.domain], type);
      windows.push_back(&mw);
      const Grant region = *reference.find(wide[s.domain]);
      const std::uint64_t length = any({1, 8, 64, 300});
      const std::pair part{region.address + prng.below(region.length - length), length};
      wr.opcode = abi::WrOpcode::kBindMw;
      wr.rkey = mw.inc_rkey();
      const unsigned rights = (some_rights() & ~abi::kLocalWrite) | (prng.below(2) == 0 ? abi::kZeroBased : 0);
      wr.registration = {part.first, part.second, region.stag, rights};
      carry_out(qp, wr, next_id++);
      add(wr.rkey, part, rights, s.domain);
      Grant& g = reference.grants.back();
      g.window = true;
      g.region = region.stag;
      g.stream = type == 2 ? s.number : -1;
      g.peers_may_end = type == 2;
    }
  }

  // A place that an attacker would try.
  struct Target {
    std::uint32_t stag;
    std::uint64_t to;
  };
  // A target open to this access, if there is one: its first octets, its last ones or others.
  std::optional<Target> right_target(std::uint64_t bytes, Reference::Stream s, unsigned rights) {
    std::vector<Target> open;
    for (const Grant& g : reference.grants) {
      if (reference.find(g.stag) != &g || g.length < bytes) continue;
      for (const std::uint64_t to :
           {g.base(), g.base() + g.length - bytes, g.base() + prng.below(g.length - bytes + 1)}) {
        const bool aligned = !(rights & abi::kRemoteAtomic) || (g.address + (to - g.base())) % 8 == 0;
        if (aligned && reference.check(g.stag, to, bytes, s, rights, true) == nullptr) open.push_back({g.stag, to});
      }
    }
    if (open.empty()) return {};
    return open[prng.below(open.size())];
  }
  Target some_target(std::uint64_t bytes, Reference::Stream s, unsigned rights) {
    if (prng.below(4) != 0 && rights != 0) {
      if (const std::optional<Target> right = right_target(bytes, s, rights)) return *right;
    }
    const Grant* g = &reference.grants[prng.below(reference.grants.size())];
    for (unsigned i = 0; i < 3 && !(g->valid && Reference::serves(*g, s)); ++i) {  // prefers those that nearly fit
      g = &reference.grants[prng.below(reference.grants.size())];
    }
    const std::uint64_t b = g->base(), end = b + g->length;
    const std::uint64_t inside = b + prng.below(g->length);
    const std::uint64_t to = any({b, b, inside, inside, end - bytes, end - bytes, end - bytes + 1, end, b - 1, b + 8,
                                  (b + 7) & ~7ull, 0 - bytes, 1 - bytes, ~0ull, prng.next()});
    const std::uint64_t stag =
        any({g->stag, g->stag, g->stag, g->stag, g->stag, g->stag, g->stag, g->stag, g->stag ^ (1u << prng.below(8)),
             g->stag ^ (0x100u << prng.below(10)), prng.next()});
    return {static_cast<std::uint32_t>(stag), to};
  }
  Bytes some_octets(std::size_t n) {
    Bytes b(n);
    for (auto& octet : b) octet = static_cast<std::uint8_t>(prng.next());
    return b;
  }
  std::uint8_t* shadow(std::uint64_t address) { return &expected[address - arena]; }

  // Sends one message and notes its changes; returns the cause of the expected Terminate, or nullptr.
  const char* attack(RawStream& stream, Reference::Stream s) {
    const std::uint64_t n = any({0, 1, 3, 8, 8, 64, 300});
    switch (prng.below(8)) {
      case 0:
      case 1:
      case 2:
        return write(stream, s, n);
      case 3:
      case 4:
        return read(stream, s, static_cast<std::uint32_t>(n));
      case 5:
      case 6:
        return atomic(stream, s);
      default:
        return invalidate(stream, s);
    }
  }
  const char* write(RawStream& stream, Reference::Stream s, std::uint64_t n) {
    const Target t = some_target(n, s, abi::kRemoteWrite);
    const Bytes payload = some_octets(n);
    failing = tagged("C140", t.stag, t.to, payload);
    stream.send_ulpdu(failing);
    const char* cause = reference.check(t.stag, t.to, n, s, abi::kRemoteWrite, true);
    if (cause == nullptr && n != 0)
      std::copy(payload.begin(), payload.end(), shadow(reference.address_of(t.stag, t.to)));
    return cause;
  }
  const char* read(RawStream& stream, Reference::Stream s, std::uint32_t n) {
    const Target t = some_target(n, s, abi::kRemoteRead);
    const std::uint64_t sink_to = prng.next();
    failing = read_request(msn_read++, 0x5678, sink_to, n, t.stag, t.to);
    stream.send_ulpdu(failing);
    const char* cause = reference.check(t.stag, t.to, n, s, abi::kRemoteRead, false);
    if (cause != nullptr) return cause;
    const std::uint8_t* from = n == 0 ? nullptr : shadow(reference.address_of(t.stag, t.to));
    EXPECT_EQ(stream.receive(), tagged("C142", 0x5678, sink_to, Bytes(from, from + n)));
    return nullptr;
  }
  // FetchAdd of one.
  const char* atomic(RawStream& stream, Reference::Stream s) {
    const Target t = some_target(8, s, kAtomicRights);
    const std::uint32_t id = static_cast<std::uint32_t>(prng.next());
    failing = untagged("414A", 0, 1, msn_read++,
                       octets("", std::uint32_t{0}, id, t.stag, t.to, std::uint64_t{1}, std::uint64_t{0},
                              std::uint64_t{0}, ~std::uint64_t{0}));
    stream.send_ulpdu(failing);
    if (const char* cause = reference.check(t.stag, t.to, 8, s, kAtomicRights, false)) return cause;
    const std::uint64_t address = reference.address_of(t.stag, t.to);
    if (address % 8 != 0) return "0207";
    std::uint64_t value = 0;
    for (unsigned i = 8; i-- != 0;) value = value << 8 | shadow(address)[i];
    EXPECT_EQ(stream.receive(), untagged("414B", 0, 3, msn_response++, octets("", id, value)));
    for (unsigned i = 0; i < 8; ++i) shadow(address)[i] = static_cast<std::uint8_t>((value + 1) >> 8 * i);
    return nullptr;
  }
  const char* invalidate(RawStream& stream, Reference::Stream s) {
    const Target t = some_target(0, s, 0);
    const Bytes payload = some_octets(kReceiveBytes);
    failing = untagged("4144", t.stag, 0, msn_send, payload);
    stream.send_ulpdu(failing);
    if (msn_send > kReceives) return "1202";
    if (const char* cause = reference.check_invalidate(t.stag, s)) return cause;
    reference.find(t.stag)->valid = false;
    const std::uint64_t slot = (static_cast<std::uint64_t>(s.number) * kReceives + msn_send - 1) * kReceiveBytes;
    std::copy(payload.begin(), payload.end(), &expected[kArena + slot]);
    ++msn_send;
    return nullptr;
  }

  void attack_stream(int number) {
    const Reference::Stream s{number, static_cast<std::uint32_t>(prng.below(2))};
    host::Qp& qp = queue_pair(domains[s.domain]);
    qps.push_back(&qp);
    for (unsigned i = 0; i < kReceives; ++i) {
      const std::uint64_t slot = (static_cast<std::uint64_t>(number) * kReceives + i) * kReceiveBytes;
      post_receive(qp, 0, arena + kArena + slot, kReceiveBytes, receive_keys[s.domain]);
    }
    RawStream& stream = connect(qp);
    open_more(qp, s);
    msn_read = msn_send = msn_response = 1;
    const char* cause = nullptr;
    for (unsigned i = 0; i < 20 && cause == nullptr; ++i, ++attacks) cause = attack(stream, s);
    streams_that_broke += cause != nullptr;
    if (cause != nullptr) {
      ++refusals[cause];
      EXPECT_EQ(stream.receive(), terminate(cause, failing)) << "stream " << number << ", " << cause;
      stream.send_ulpdu(tagged("C140", wide[0], arena, some_octets(4)));  // too late
      EXPECT_TRUE(stream.receive_fin());
      EXPECT_EQ(stream.unread(), 0u);
      stream.send_fin();
    } else {
      stream.send_rst();
    }
    peer.wait_us(20);
  }

  Prng prng{mix64(GetParam())};
  Reference reference;
  std::vector<host::Pd> domains;
  static constexpr std::uint32_t kOfBystander = 2;  // the bystander's domain
  std::vector<std::uint32_t> wide, receive_keys;
  std::uint32_t bystanders = 0;  // the STag of the bystander's region
  std::vector<host::Mr*> regions, windows;
  std::vector<host::Qp*> qps;
  std::uint64_t arena = 0;
  Bytes expected, failing;
  std::uint32_t msn_read = 1, msn_send = 1, msn_response = 1;
  std::uint64_t next_id = 1000;
  unsigned attacks = 0;
  int streams_that_broke = 0;
  std::map<std::string, unsigned> refusals;
};
INSTANTIATE_TEST_SUITE_P(Seed, Protection, testing::Range<std::uint64_t>(1, 25));

TEST_P(Protection, NothingOutsideWhatIsOpenChanges) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  constexpr int kStreams = 32;  // in a round
  const char* const wanted = std::getenv("RNIC_ATTACKS");
  const unsigned long least = wanted != nullptr ? std::strtoul(wanted, nullptr, 10) : 1;
  const auto script = [&] {
    peer.wait_us(20);
    open();
    arena = memory(2 * kArena);
    for (std::uint32_t d = 0; d < 2; ++d) domains.push_back(domain());
    const host::Pd own = domain();
    const std::uint64_t page = memory(64);
    bystanders = region(own, page, 64, abi::kLocalWrite | abi::kRemoteWrite).rkey();
    host::Qp& untouched = queue_pair(own);
    RawStream& bystander = connect(untouched);
    expected = octets_at(arena, 2 * kArena);
    int streams = 0;
    while (attacks < least) {
      create_regions();
      for (int i = 0; i < kStreams; ++i, ++streams) {
        attack_stream(i);
        const Bytes now = octets_at(arena, 2 * kArena);
        const auto differs = std::mismatch(now.begin(), now.end(), expected.begin());
        ASSERT_EQ(now, expected) << "first at octet " << differs.first - now.begin() << " after stream " << streams;
        const Bytes word = octets("", prng.next());
        bystander.send_ulpdu(tagged("C140", bystanders, page + 8, word));
        peer.wait_us(5);
        ASSERT_EQ(octets_at(page + 8, 8), word);
        EXPECT_EQ(untouched.state(), host::QpState::kRts);
      }
      end_round();
      peer.forget_streams(bystander);
      ASSERT_FALSE(HasFailure());
    }
    EXPECT_EQ(node.root_complex.counters().refused_reads + node.root_complex.counters().refused_writes, 0u);
    EXPECT_GE(attacks, 3u * kStreams / 2);
    EXPECT_GE(streams_that_broke, streams / 2);
    EXPECT_GE(refusals.size(), 5u);
    RecordProperty("attacks", static_cast<int>(attacks));
    std::cout << attacks << " attacks in " << streams << " streams, " << streams_that_broke << " refused\n";
    for (const auto& [cause, count] : refusals) RecordProperty(cause, static_cast<int>(count));
  };
  run(script, wanted != nullptr ? 1'000'000 : 50);
}

}  // namespace
}  // namespace rnic::test
