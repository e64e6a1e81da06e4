// Waveforms: the file's contents (VCD literally, FST through GTKWave's own reader), window, scopes, order of calls.
#include "model/trace/waves.h"

#include <array>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>

#include <fstapi.h>
#include <gmock/gmock.h>
#include <sys/resource.h>

#include "model/common/check.h"

namespace rnic {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

std::string temp_file(const char* name) { return ::testing::TempDir() + "rnic_waves_" + name; }

std::string contents(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const ConfigError& e) {
    return e.what();
  } catch (const OutputError& e) {
    return e.what();
  }
  return "no error";
}

// Writes the waveform of `drive`, and returns the file's name.
template <class F>
std::string dump(const std::string& file, WaveWindow window, F drive) {
  Waves waves(open_wave_sink(file), std::move(window));
  drive(waves);
  return file;
}

// A small chip: two stages, a bit and two vectors, changes at 0, 4 and 8 ns.
void drive_chip(Waves& waves) {
  const WaveId state = waves.declare("node0.tx", "state", 4);
  const WaveId valid = waves.declare("node0.rx.crc_check", "valid", 1);
  const WaveId data = waves.declare("node0.rx.crc_check", "data", 68);
  waves.begin();
  waves.change(valid, 0, 0);
  waves.change(state, 4000, 0xa);
  waves.change(valid, 4000, 1);
  const std::uint8_t wide[] = {0x0f, 0x80, 0, 0, 0, 0, 0, 0, 1};
  waves.change(data, 8000, wide);
  waves.change(valid, 8000, 1);  // no change
  waves.close(12000);
}

void drive_text(Waves& waves) {
  const WaveId event = waves.declare_text("cable.a_to_b", "event");
  waves.begin();
  waves.change(event, 1000, std::string("lost 1\\"));
  waves.change(event, 2000, std::string());
  waves.close(3000);
}

const std::string kWide =
    "1111"
    "1000000000000000000000000000000000000000000000000000000000000001";
const std::string kUnknown(68, 'x');

// The declarations of the chip's file.
const std::string kVcdHeader =
    "$version rnicsim $end\n"
    "$timescale 1 ps $end\n"
    "$scope module node0 $end\n"
    "$scope module rx $end\n"
    "$scope module crc_check $end\n"
    "$var wire 1 ! valid $end\n"
    "$var wire 68 \" data [67:0] $end\n"
    "$upscope $end\n"
    "$upscope $end\n"
    "$scope module tx $end\n"
    "$var wire 4 # state [3:0] $end\n"
    "$upscope $end\n"
    "$upscope $end\n"
    "$enddefinitions $end\n";

TEST(Vcd, FileIsScopesVariablesAndChanges) {
  const std::string file = dump(temp_file("all.vcd"), {}, drive_chip);
  EXPECT_EQ(contents(file), kVcdHeader + "#0\nbxxxx #\n0!\nb" + kUnknown + " \"\n" + "#4000\nb1010 #\n1!\n" +
                                "#8000\nb" + kWide + " \"\n#12000\n");
  std::remove(file.c_str());
}

TEST(Vcd, WindowBeginsWithTheValuesOfItsFirstInstant) {
  const std::string file = dump(temp_file("from.vcd"), {5000, 8001, {}}, drive_chip);
  EXPECT_EQ(contents(file), kVcdHeader + "#5000\nb1010 #\n1!\nb" + kUnknown + " \"\n#8000\nb" + kWide + " \"\n#8001\n");
  dump(file, {4000, 8000, {}}, drive_chip);
  EXPECT_EQ(contents(file), kVcdHeader + "#4000\nb1010 #\n1!\nb" + kUnknown + " \"\n#8000\n");
  dump(file, {9000, 99000, {}}, drive_chip);
  EXPECT_EQ(contents(file), kVcdHeader + "#9000\nb1010 #\n1!\nb" + kWide + " \"\n#12000\n");
  dump(file, {50000, 99000, {}}, drive_chip);
  EXPECT_EQ(contents(file), kVcdHeader + "#50000\nb1010 #\n1!\nb" + kWide + " \"\n")
      << "the run ended before the window";
  std::remove(file.c_str());
}

// What is not printable, and the blank, is an octal number.
TEST(Vcd, TextsHaveNoBlanks) {
  const std::string file = dump(temp_file("text.vcd"), {}, drive_text);
  EXPECT_EQ(contents(file).substr(contents(file).find("$var")),
            "$var string 1 ! event $end\n$upscope $end\n$upscope $end\n$enddefinitions $end\n#0\ns "
            "!\n#1000\nslost\\0401\\134 !\n"
            "#2000\ns !\n#3000\n");
  std::remove(file.c_str());
}

TEST(Vcd, HasMoreThanNinetyFourIdentifiers) {
  const std::string file = dump(temp_file("many.vcd"), {}, [](Waves& waves) {
    for (int i = 0; i < 96; ++i) waves.declare("top", "v" + std::to_string(i), 1);
    waves.begin();
    waves.close(0);
  });
  EXPECT_THAT(contents(file),
              HasSubstr("$var wire 1 ~ v93 $end\n$var wire 1 !\" v94 $end\n$var wire 1 \"\" v95 $end\n"));
  std::remove(file.c_str());
}

TEST(Waves, ScopesAreDumpedWithAllBelowThem) {
  const std::string file = temp_file("scopes.vcd");
  const auto declared = [&](std::vector<std::string> scopes) {
    std::vector<bool> dumped;
    dump(file, {0, 1, std::move(scopes)}, [&](Waves& waves) {
      for (const char* scope : {"node0", "node0.rx", "node0.rx.crc_check", "node0.rx2", "node1.rx"}) {
        dumped.push_back(waves.declare(scope, "v", 1).dumped());
        EXPECT_EQ(waves.dumps(scope), dumped.back());
      }
    });
    return dumped;
  };
  EXPECT_THAT(declared({}), ElementsAre(true, true, true, true, true));
  EXPECT_THAT(declared({"node0.rx"}), ElementsAre(false, true, true, false, false));
  EXPECT_THAT(declared({"node1", "node0.rx2"}), ElementsAre(false, false, false, true, true));
  std::remove(file.c_str());
}

TEST(Waves, ChangeOfAVariableThatIsNotDumpedIsIgnored) {
  const std::string file = dump(temp_file("ignored.vcd"), {0, 100, {"other"}}, [](Waves& waves) {
    const WaveId id = waves.declare("node0", "v", 1);
    waves.declare("other", "v", 1);
    waves.begin();
    waves.change(id, 3, 1);
    waves.change(id, 4, ByteSpan{});
    waves.close(5);
  });
  EXPECT_THAT(contents(file), ::testing::EndsWith("$enddefinitions $end\n#0\nx!\n#5\n"));
  std::remove(file.c_str());
}

TEST(Waves, OrderOfCallsDoesNotCountButForOneVariableAtOneTime) {
  const std::string file = temp_file("order.vcd");
  const auto with = [&](const std::vector<std::array<unsigned, 3>>& changes) {  // variable, time, value
    return contents(dump(file, {}, [&](Waves& waves) {
      const WaveId id[] = {waves.declare("t", "a", 8), waves.declare("t", "b", 8)};
      waves.begin();
      for (const auto& c : changes) waves.change(id[c[0]], c[1], c[2]);
      waves.close(9);
    }));
  };
  const std::string expected = with({{0, 1, 5}, {1, 1, 6}, {0, 2, 7}, {1, 2, 8}});
  EXPECT_THAT(expected, HasSubstr("#1\nb00000101 !\nb00000110 \"\n#2\nb00000111 !\nb00001000 \"\n#9\n"));
  EXPECT_EQ(with({{1, 2, 8}, {0, 2, 7}, {1, 1, 6}, {0, 1, 5}}), expected);
  EXPECT_EQ(with({{0, 1, 9}, {1, 1, 6}, {0, 2, 7}, {1, 2, 8}, {0, 1, 5}}), expected) << "the later call counts";
  EXPECT_NE(with({{0, 1, 5}, {1, 1, 6}, {0, 2, 7}, {1, 2, 8}, {0, 1, 9}}), expected);
  std::remove(file.c_str());
}

TEST(Waves, AdvanceSettlesThePast) {
  const std::string file = dump(temp_file("advance.vcd"), {}, [](Waves& waves) {
    const WaveId id = waves.declare("t", "a", 1);
    waves.begin();
    waves.change(id, 10, 1);
    waves.advance(10);
    waves.change(id, 10, 0);  // the present is not complete yet
    waves.advance(11);
    EXPECT_THROW(waves.change(id, 10, 1), InternalError);
    EXPECT_THROW(waves.declare("t", "b", 1), InternalError);
    waves.close(11);
  });
  EXPECT_THAT(contents(file), HasSubstr("#0\nx!\n#10\n0!\n#11\n"));
  std::remove(file.c_str());
}

TEST(Waves, MistakesOfTheUserAreReported) {
  EXPECT_EQ(error_of([] { open_wave_sink("run.lxt"); }), "run.lxt: a waveform file ends in .fst or .vcd");
  EXPECT_EQ(error_of([] { open_wave_sink(".vcd"); }), ".vcd: a waveform file ends in .fst or .vcd");
  EXPECT_EQ(error_of([] { open_wave_sink("/no/such/x.fst"); }), "/no/such/x.fst: cannot be created");
  EXPECT_EQ(error_of([] { open_wave_sink("/no/such/x.vcd"); }),
            "/no/such/x.vcd: cannot be created: No such file or directory");
  const std::string file = temp_file("window.vcd");
  EXPECT_EQ(error_of([&] {
              Waves(open_wave_sink(file), {7, 7, {}});
            }),
            "the window of a waveform ends before it begins");
  std::remove(file.c_str());
}

TEST(Vcd, FullDiskIsReported) {
  // Has the right extension, and leads to a place that takes no data.
  const std::string file = temp_file("full.vcd");
  std::remove(file.c_str());
  ASSERT_EQ(symlink("/dev/full", file.c_str()), 0);
  EXPECT_EQ(error_of([&] { dump(file, {}, drive_chip); }), file + ": cannot be written: No space left on device");
  std::remove(file.c_str());
}

// Results of GTKWave's reader library: times and values of every variable by its full name.
struct FstContents {
  std::vector<std::string> names;  // by handle
  std::vector<std::string> changes;
  std::uint64_t start = 0, end = 0;
  int timescale = 0;
};

FstContents read_fst(const std::string& file) {
  FstContents found;
  void* const reader = fstReaderOpen(file.c_str());
  if (reader == nullptr) {
    ADD_FAILURE() << file << " is not readable";
    return found;
  }
  found.start = fstReaderGetStartTime(reader);
  found.end = fstReaderGetEndTime(reader);
  found.timescale = fstReaderGetTimescale(reader);
  while (const fstHier* h = fstReaderIterateHier(reader)) {
    if (h->htyp == FST_HT_SCOPE) {
      fstReaderPushScope(reader, h->u.scope.name, nullptr);
    } else if (h->htyp == FST_HT_UPSCOPE) {
      fstReaderPopScope(reader);
    } else if (h->htyp == FST_HT_VAR) {
      found.names.push_back(fstReaderGetCurrentFlatScope(reader) + std::string(".") + h->u.var.name + '/' +
                            std::to_string(h->u.var.length));
    }
  }
  fstReaderSetFacProcessMaskAll(reader);
  const auto on_change = [](void* context, std::uint64_t time, fstHandle handle, const unsigned char* value) {
    auto* const out = static_cast<std::vector<std::string>*>(context);
    out->push_back(std::to_string(time) + ' ' + std::to_string(handle) + '=' + reinterpret_cast<const char*>(value));
  };
  fstReaderIterBlocks(reader, on_change, &found.changes, nullptr);
  fstReaderClose(reader);
  return found;
}

TEST(Fst, ReaderFindsScopesVariablesAndChanges) {
  const std::string file = dump(temp_file("all.fst"), {}, drive_chip);
  const FstContents fst = read_fst(file);
  EXPECT_THAT(fst.names, ElementsAre("node0.rx.crc_check.valid/1", "node0.rx.crc_check.data/68", "node0.tx.state/4"));
  EXPECT_THAT(fst.changes, UnorderedElementsAre("0 1=0", "0 2=" + kUnknown, "0 3=xxxx", "4000 1=1", "4000 3=1010",
                                                "8000 2=" + kWide));
  EXPECT_EQ(fst.timescale, -12);
  EXPECT_EQ(fst.start, 0u);
  EXPECT_EQ(fst.end, 12000u);
  std::remove(file.c_str());
}

// One table for all variables with the same words and width; each refers to it.
TEST(Fst, StatesHaveWords) {
  static const ValueWords kWords{"idle", "", "at work"};
  const std::string file = dump(temp_file("words.fst"), {}, [](Waves& waves) {
    const WaveId a = waves.declare({"node0", "a", 2, &kWords, {}, false});
    waves.declare({"node0", "b", 2, &kWords, {}, false});
    waves.declare("node0", "c", 2);
    waves.begin();
    waves.change(a, 0, 2);
    waves.close(1000);
  });
  void* const reader = fstReaderOpen(file.c_str());
  ASSERT_NE(reader, nullptr);
  std::vector<std::string> words;
  std::string order;
  while (const fstHier* h = fstReaderIterateHier(reader)) {
    if (h->htyp == FST_HT_VAR) order += h->u.var.name;
    if (h->htyp != FST_HT_ATTRBEGIN || h->u.attr.typ != FST_AT_MISC || h->u.attr.subtype != FST_MT_ENUMTABLE) continue;
    if (h->u.attr.name_length == 0) {
      order += "->" + std::to_string(h->u.attr.arg) + ' ';
      continue;
    }
    fstETab* const table = fstUtilityExtractEnumTableFromString(h->u.attr.name);
    ASSERT_NE(table, nullptr);
    for (std::uint32_t k = 0; k < table->elem_count; ++k) {
      words.push_back(table->val_arr[k] + std::string(" ") + table->literal_arr[k]);
    }
    fstUtilityFreeEnumTable(table);
  }
  fstReaderClose(reader);
  std::remove(file.c_str());
  EXPECT_THAT(words, ElementsAre("00 idle", "10 at work"));
  EXPECT_EQ(order, "->1 a->1 bc");
}

TEST(Fst, TextsAreWhole) {
  const std::string file = dump(temp_file("text.fst"), {}, drive_text);
  void* const reader = fstReaderOpen(file.c_str());
  ASSERT_NE(reader, nullptr);
  fstReaderSetFacProcessMaskAll(reader);
  std::vector<std::string> changes;
  const auto on_text = [](void* context, std::uint64_t time, fstHandle, const unsigned char* value,
                          std::uint32_t size) {
    static_cast<std::vector<std::string>*>(context)->push_back(std::to_string(time) + ' ' +
                                                               std::string(reinterpret_cast<const char*>(value), size));
  };
  fstReaderIterBlocks2(
      reader, [](void*, std::uint64_t, fstHandle, const unsigned char*) {}, on_text, &changes, nullptr);
  fstReaderClose(reader);
  EXPECT_THAT(changes, ElementsAre("0 ", "1000 lost 1\\", "2000 "));
  std::remove(file.c_str());
}

TEST(Fst, WindowBeginsWithTheValuesOfItsFirstInstant) {
  const std::string file = dump(temp_file("window.fst"), {5000, 9000, {"node0.rx"}}, drive_chip);
  const FstContents fst = read_fst(file);
  EXPECT_THAT(fst.names, ElementsAre("node0.rx.crc_check.valid/1", "node0.rx.crc_check.data/68"));
  EXPECT_THAT(fst.changes, UnorderedElementsAre("5000 1=1", "5000 2=" + kUnknown, "8000 2=" + kWide));
  EXPECT_EQ(fst.start, 5000u);
  EXPECT_EQ(fst.end, 9000u);
  std::remove(file.c_str());
}

TEST(Fst, FileOfARunThatEndedEarlyIsReadable) {
  const std::string file = dump(temp_file("early.fst"), {50000, 99000, {}}, drive_chip);
  EXPECT_THAT(read_fst(file).changes, UnorderedElementsAre("50000 1=1", "50000 2=" + kWide, "50000 3=1010"));
  dump(file, {}, [](Waves& waves) {
    waves.change(waves.declare("t", "a", 1), 0, 1);
    waves.begin();
    waves.close(0);
  });
  EXPECT_THAT(read_fst(file).changes, ElementsAre("0 1=1"));
  std::remove(file.c_str());
}

TEST(Fst, SameRunIsTheSameFile) {
  const std::string a = dump(temp_file("a.fst"), {}, drive_chip), b = dump(temp_file("b.fst"), {}, drive_chip);
  EXPECT_EQ(contents(a), contents(b));
  std::remove(a.c_str());
  std::remove(b.c_str());
}

TEST(Fst, FileThatCannotBeWrittenCompletelyIsReported) {
  std::signal(SIGXFSZ, SIG_IGN);
  const std::string file = temp_file("short.fst");
  const auto drive_long = [](Waves& waves) {
    const WaveId id = waves.declare("t", "a", 64);
    waves.begin();
    std::uint64_t noise = 1;
    for (std::uint64_t t = 0; t < 20000; ++t) waves.change(id, t, noise = noise * 6364136223846793005u + 1);
    waves.close(20000);
  };
  dump(file, {}, drive_long);
  const std::size_t bytes = contents(file).size();
  for (const rlim_t limit : {bytes - 1, bytes / 2, std::size_t{4096}}) {
    const rlimit rl{limit, RLIM_INFINITY};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &rl), 0);
    EXPECT_EQ(error_of([&] { dump(file, {}, drive_long); }), file + ": cannot be written completely; is the disk full?")
        << "at " << limit << " of " << bytes << " octets";
  }
  const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};  // otherwise coverage data would be cut short at exit
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &unlimited), 0);
  std::remove(file.c_str());
}

}  // namespace
}  // namespace rnic
