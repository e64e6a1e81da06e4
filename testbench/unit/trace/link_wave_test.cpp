// A link in the waveform, cycle by cycle against the observations of its two ends.
#include "model/trace/link_wave.h"

#include <cstdio>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>

#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

struct Beat {
  std::uint8_t tag = 0;
  bool last = false;

  static constexpr const char* kMessage = "beat";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("tag", 8, m.tag);
    v("last", 1, m.last);
  }
};

class LinkWaveTest : public StageTest {
 protected:
  // The values of valid, ready and credit in each cycle, read back from the file, and those of tag while valid.
  struct Trace {
    std::string valid, ready, credit;
    std::vector<unsigned> tags;
  };
  LinkWaveTest() {
    source.out(link);
    sink.in(link);
    link.observe(wave);
    waves.begin();
  }
  ~LinkWaveTest() override { std::remove(file.c_str()); }

  Trace trace(Cycle cycles) {
    waves.close(cycles * clk.period_ps());
    return read(file);
  }
  Trace read(const std::string& from) const {
    std::ifstream in(from);
    std::string word, now[4] = {"x", "x", "x", "x"};
    Trace t;
    Cycle cycle = 0;
    while (in >> word && word != "$enddefinitions") {
    }
    in >> word;  // its $end
    while (in >> word) {
      if (word[0] == '#') {
        for (const Cycle until = std::stoull(word.substr(1)) / clk.period_ps(); cycle < until; ++cycle) {
          t.valid += now[0];
          t.ready += now[1];
          t.credit += now[2];
          if (now[0] == "1") t.tags.push_back(static_cast<unsigned>(std::stoul(now[3], nullptr, 2)));
        }
      } else if (word[0] == 'b') {
        now[3] = word.substr(1);
        in >> word;
      } else if (word.back() != '%') {
        now[word.back() - '!'] = word.substr(0, 1);
      }
    }
    return t;
  }

  // A separate file for each test, as tests run concurrently.
  const std::string file =
      testing::TempDir() + "rnic_link_wave_" + testing::UnitTest::GetInstance()->current_test_info()->name() + ".vcd";
  Waves waves{open_wave_sink(file), {}};
  Link<Beat> link{"top.link", clk, {2, 3, 2}};
  LinkWave wave{waves, link, clk.period_ps()};
  Source<Beat> source{"source", clk};
  Sink<Beat> sink{"sink", clk};
};

// Depth 2, three cycles forward, two cycles back: a beat pushed in cycle 0 is taken in cycle 3, and its credit is back
// in 5.
TEST_F(LinkWaveTest, ShowsValidReadyAndCreditInTheirCycles) {
  source.send({{1, false}, {2, false}, {3, true}});
  run_until_idle();
  EXPECT_THAT(source.cycles(), testing::ElementsAre(0, 1, 5));
  EXPECT_THAT(sink.cycles(), testing::ElementsAre(3, 4, 8));
  const Trace t = trace(11);
  EXPECT_EQ(t.valid, "00011000100");
  EXPECT_EQ(t.ready, "00011000100");
  EXPECT_EQ(t.credit, "11000111111");
  EXPECT_THAT(t.tags, testing::ElementsAre(1, 2, 3));
}

// The link holds two beats; the first one would be visible in cycle 6.
TEST_F(LinkWaveTest, AResetTakesEverythingBack) {
  source.send_at(3, {{1}, {2}, {3}});
  sc_core::sc_start(sc_core::sc_time::from_value(6 * clk.period_ps()));
  const Cycle at = clk.now();
  ASSERT_EQ(at, 5u);
  link.reset();
  const Trace t = trace(12);
  EXPECT_EQ(t.valid, "000000000000");
  EXPECT_EQ(t.ready, "000000000000");
  EXPECT_EQ(t.credit.substr(at + 1), std::string(11 - at, '1'));
  EXPECT_EQ(t.credit[at], '0');
}

TEST_F(LinkWaveTest, BeatStaysUntilItIsTaken) {
  sink.pause(every(4, 3));
  source.send({{1, false}, {2, true}});
  run_until_idle();
  const Trace t = trace(12);
  std::string ready(12, '0');
  for (const Cycle c : sink.cycles()) ready[c] = '1';
  EXPECT_EQ(t.ready, ready);
  EXPECT_EQ(t.valid,
            std::string("000") + std::string(sink.cycles()[1] - 2, '1') + std::string(11 - sink.cycles()[1], '0'));
  EXPECT_EQ(t.tags.front(), 1u);
  EXPECT_EQ(t.tags.back(), 2u);
}

// Under random pauses at both ends, in any order of calls, the pins show what happened.
TEST_F(LinkWaveTest, TransfersAreWhereTheEndsSawThem) {
  clk.shuffle(11);
  source.pause(at_random(1, 30));
  sink.pause(at_random(2, 40));
  std::vector<Beat> beats(200);
  for (std::size_t i = 0; i < beats.size(); ++i) beats[i].tag = static_cast<std::uint8_t>(i);
  source.send(beats);
  run_until_idle();
  const Trace t = trace(sink.cycles().back() + 3);

  std::vector<Cycle> taken;
  std::vector<unsigned> tags;
  std::size_t valid = 0;
  for (Cycle c = 0; c < t.ready.size(); ++c) {
    if (t.ready[c] == '1') {
      taken.push_back(c);
      ASSERT_EQ(t.valid[c], '1') << c;
      tags.push_back(t.tags[valid]);
    }
    valid += t.valid[c] == '1';
  }
  EXPECT_EQ(taken, sink.cycles());
  ASSERT_EQ(tags.size(), beats.size());
  for (std::size_t i = 0; i < beats.size(); ++i) EXPECT_EQ(tags[i], beats[i].tag) << i;
  for (const Cycle c : source.cycles()) EXPECT_EQ(t.credit[c], '1') << c;
}

// An observer that joins late shows from then on the same as one from the beginning.
TEST_F(LinkWaveTest, ObserverJoinsInMidRun) {
  source.pause(at_random(1, 30));
  sink.pause(at_random(2, 40));
  std::vector<Beat> beats(60);
  for (std::size_t i = 0; i < beats.size(); ++i) beats[i].tag = static_cast<std::uint8_t>(i);
  source.send(beats);
  struct Late {
    std::string file;
    Waves waves;
    LinkWave wave;
    Cycle from = 0;
    Late(unsigned n, LinkBase& link, std::uint64_t period_ps)
        : file(testing::TempDir() + "rnic_link_wave_late_" + std::to_string(n) + ".vcd"),
          waves(open_wave_sink(file), {}),
          wave(waves, link, period_ps) {
      waves.begin();
    }
  };
  std::vector<std::unique_ptr<Late>> lates;
  for (unsigned n = 0; n < 100; ++n) {
    lates.push_back(std::make_unique<Late>(n, link, clk.period_ps()));
    Late& late = *lates.back();
    late.from = clk.next();
    ASSERT_TRUE(link.is_settled(late.from));
    late.wave.join(late.from);
    sc_core::sc_start(sc_core::sc_time::from_value(clk.period_ps()));
  }
  run_until_idle();
  const Cycle end = sink.cycles().back() + 3;
  const Trace whole = trace(end);
  ASSERT_GT(end, 80u);
  for (const auto& late : lates) {
    late->waves.close(end * clk.period_ps());
    const Trace t = read(late->file);
    std::remove(late->file.c_str());
    EXPECT_EQ(t.valid.substr(late->from), whole.valid.substr(late->from)) << late->from;
    EXPECT_EQ(t.ready.substr(late->from), whole.ready.substr(late->from)) << late->from;
    EXPECT_EQ(t.credit.substr(late->from), whole.credit.substr(late->from)) << late->from;
    EXPECT_TRUE(std::equal(t.tags.rbegin(), t.tags.rend(), whole.tags.rbegin())) << late->from;
  }
}

TEST_F(LinkWaveTest, OneThatHasLeftHearsNothing) {
  wave.leave();
  source.send({{1, false}, {2, false}});
  run_until_idle();
  EXPECT_EQ(waves.changes(), 3u);  // from the declaration
}

// A pipeline takes the credit on entry and shows the beat when it leaves.
TEST_F(LinkWaveTest, ReservedSlotTakesCreditAndShowsNothing) {
  struct Pipeline final : Stage {
    PushPort<Beat> out{*this, "out"};
    Pipeline(sc_core::sc_module_name nm, ClockDomain& c) : Stage(nm, c) { wake(0); }
    Wake tick() override {
      if (now() < 2) {
        out->reserve();
        return Wake::at_cycle(now() == 1 ? 6 : 1);
      }
      out->reserved() = {static_cast<std::uint8_t>(now()), false};
      out->fill(1);
      return now() == 6 ? Wake::next_cycle() : Wake::on_traffic();
    }
  };
  Link<Beat> piped("top.piped", clk, {2, 1, 1});
  const std::string piped_file = testing::TempDir() + "rnic_link_wave_piped.vcd";
  Waves piped_waves(open_wave_sink(piped_file), {});
  LinkWave piped_wave(piped_waves, piped, 1);
  piped_waves.begin();
  piped.observe(piped_wave);
  Pipeline pipeline("pipeline", clk);
  Sink<Beat> end("end", clk);
  pipeline.out(piped);
  end.in(piped);
  run_until_idle();
  EXPECT_THAT(end.cycles(), testing::ElementsAre(7, 8));
  piped_waves.close(10);
  std::ifstream in(piped_file);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  // ! valid, " ready, # credit, $ tag, % last
  EXPECT_THAT(text, testing::EndsWith("#0\n0!\n0\"\n1#\nbxxxxxxxx $\nx%\n"
                                      "#2\n0#\n"
                                      "#7\n1!\n1\"\nb00000110 $\n0%\n"
                                      "#8\n1#\nb00000111 $\n"
                                      "#9\n0!\n0\"\n#10\n"));
  std::remove(piped_file.c_str());
}

// A message that names its owner.
struct Owned {
  RequestId owner;
  static constexpr const char* kMessage = "owned";
  template <class V, class M>
  static void fields(V&, M&) {}
};

class NoOwners final : public Owners {
 public:
  bool has(Qpn) const override { return false; }
  RequestId request(Qpn, std::uint64_t) const override { return {}; }
  RequestId request(Rqn, std::uint64_t) const override { return {}; }
  RequestId receive_request(Qpn, std::uint64_t) const override { return {}; }
  RequestId queue_pair(Qpn) const override { return {}; }
  std::optional<Qpn> qp_of(FlowId) const override { return std::nullopt; }
};

using LinkWaveOwners = StageTest;
TEST_F(LinkWaveOwners, EachBeatShowsItsOwner) {
  const std::string file = testing::TempDir() + "rnic_link_wave_owners.vcd";
  const NoOwners none;
  const WaveOwners owners{none, {"a", "b"}};
  Link<Owned> owned("top.owned", clk, {2, 3, 2});
  Waves waves(open_wave_sink(file), {});
  LinkWave wave(waves, owned, clk.period_ps(), &owners);
  waves.begin();
  Cycle cycle = 2;
  for (const RequestId id :
       {RequestId(1, RequestId::Kind::kSend, 3, 0, 17), RequestId(), RequestId(2, RequestId::Kind::kFlow, 0, 1, 0)}) {
    const Owned beat{id};
    wave.filled(&beat, cycle, cycle + 1);
    wave.popped(cycle + 1, kNever);
    cycle += 2;
  }
  waves.close(10 * clk.period_ps());
  std::ifstream in(file);
  std::vector<std::string> texts;
  for (std::string line; std::getline(in, line);) {
    if (line[0] == '#' || line[0] == 's') texts.push_back(line.substr(0, line.find(' ')));
  }
  const auto at = [this](Cycle c) { return '#' + std::to_string(c * clk.period_ps()); };
  EXPECT_THAT(texts, testing::ElementsAre("#0", "s", at(3), "sa.3.17", at(4), at(5), "s", at(6), at(7), "sb.flow0#1.0",
                                          at(8), at(10)));
  std::remove(file.c_str());
}

}  // namespace
}  // namespace rnic::test
