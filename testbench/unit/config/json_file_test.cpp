// Files that are read back: every way in which a value can differ from its shape, and the place that the message names.
#include "model/config/json_file.h"

#include <cstdio>
#include <fstream>

#include <gmock/gmock.h>

#include "model/common/check.h"
#include "model/common/cited.h"

namespace rnic {
namespace {

using nlohmann::ordered_json;

std::string error_of(const std::string& text, const char* shape, std::size_t line = 1) try {
  const auto read = ReadBack::line("f", line, text, JsonShape(shape));
  return read ? "no error" : "cut off";
} catch (const ConfigError& error) {
  return error.what();
}

struct Case {
  const char *shape, *value, *reason;
};

TEST(JsonShape, KnowsEachKind) {
  constexpr const char* kGood = "no error";
  for (const Case& c : std::vector<Case>{
           {R"("text")", R"("x")", kGood},
           {R"("text")", "5", "f: line 1: must be text, not 5"},
           {R"("text")", "null", "f: line 1: must be text, not null"},
           {R"("text?")", "null", kGood},
           {R"("text?")", "false", "f: line 1: must be text, not false"},
           {R"("flag")", "true", kGood},
           {R"("flag")", "1", "f: line 1: must be true or false, not 1"},
           {R"("number")", "-1.5", kGood},
           {R"("number")", R"("1")", R"(f: line 1: must be a number, not "1")"},
           {R"("number")", "1e999", "f: line 1: number overflow parsing '1e999'"},
           {R"("number?")", "true", "f: line 1: must be a number, not true"},
           {R"("count")", "18446744073709551615", kGood},
           {R"("count")", "18446744073709551616", "f: line 1: must be a natural number, not 1.8446744073709552e+19"},
           {R"("count")", "-1", "f: line 1: must be a natural number, not -1"},
           {R"("count")", "1.0", "f: line 1: must be a natural number, not 1.0"},
           {R"("0..127")", "127", kGood},
           {R"("0..127")", "128", "f: line 1: must be an integer from 0 to 127, not 128"},
           {R"("0..127")", "4294967296", "f: line 1: must be an integer from 0 to 127, not 4294967296"},
           {R"("3..7")", "2", "f: line 1: must be an integer from 3 to 7, not 2"},
           {R"("any")", R"([{"a": null}])", kGood},
           {R"(["count"])", "[]", kGood},
           {R"(["count"])", "{}", "f: line 1: must be a list, not {}"},
           {R"(["count"])", "[1, [2]]", "f: line 1: [1]: must be a natural number, not [2]"},
           {R"(["text", "number?"])", R"(["a", null])", kGood},
           {R"(["text", "number?"])", R"(["a"])", R"(f: line 1: must be a list of 2, not ["a"])"},
           {R"(["text", "number?"])", "[]", "f: line 1: must be a list of 2, not []"},
           {R"({"a!": "count"})", R"({"b": {}})", "f: line 1: needs 'a'"},
           {R"({"a": "count"})", R"({"b": {}})", kGood},
           {R"({"a": "count"})", "[]", "f: line 1: must be an object, not []"},
           {R"({"a": "count", "*": "text"})", R"({"a": 1, "b": "x"})", kGood},
           {R"({"a!": "count", "*": "text"})", R"({"a": 1, "b": 2})", "f: line 1: b: must be text, not 2"},
           {R"("settings")", R"({"a": {"b": 1, "c": "x"}})", kGood},
           {R"("settings")", R"({"a": {"b": null}})", "f: line 1: a.b: must be an object of settings, not null"},
           {R"("statistics")", R"({"a": {"b": {"value": null, "unit": "x", "description": "y"}}})", kGood},
           {R"("statistics")", R"({"a": {"b": {"value": "7", "unit": "x"}}})",
            R"(f: line 1: a.b.value: must be a number, not "7")"},
           {R"("statistics")", R"({"a": {"value": 7, "unit": {}, "description": "y"}})",
            "f: line 1: a.unit: must be text, not {}"},
           {R"("statistics")", R"({"a": {"b": 7}})", "f: line 1: a.b: must be an object of statistics, not 7"}}) {
    EXPECT_EQ(error_of(c.value, c.shape), c.reason) << c.shape << ' ' << c.value;
  }
}

TEST(ReadBack, NamesLineAndPath) {
  constexpr const char* kShape = R"({"a": [{"b": "count"}], "c": "text"})";
  EXPECT_EQ(error_of("{\n  \"a\": [\n    {\"b\": 1},\n    {\n      \"b\": -1\n    }\n  ]\n}", kShape),
            "f: line 5: a[1].b: must be a natural number, not -1");
  EXPECT_EQ(error_of("{\"a\": [],\n\"c\":\n7\n}", kShape, 10), "f: line 12: c: must be text, not 7");
  EXPECT_EQ(error_of("{\"x\\\"\\n]\": {\"c\": 1},\n\"c\": 1\n}", kShape), "f: line 2: c: must be text, not 1");
  EXPECT_EQ(error_of("{\"c\": \"a\", \n \"c\" \"b\"}", kShape, 3),
            "f: line 4: syntax error while parsing object separator - unexpected string literal; expected ':'");
}

TEST(ReadBack, ALineThatWasCutOffIsNoError) {
  const std::string whole = R"({"id": "b", "ok": true, "n": -1.5e-3, "l": [null, "é\u00e9"]})";
  for (std::size_t n = 0; n < whole.size(); ++n) EXPECT_EQ(error_of(whole.substr(0, n), R"("any")"), "cut off") << n;
  EXPECT_EQ(error_of(whole, R"("any")"), "no error");
  EXPECT_THAT(error_of(whole + "{", R"("any")"), ::testing::HasSubstr("expected end of input"));
}

TEST(ReadBack, AFileThatEndsTooEarlyIsAnError) {
  const std::string file = ::testing::TempDir() + "read_back.json";
  std::ofstream(file) << "{\n\"a\": ";
  try {
    ReadBack(file, JsonShape(R"("any")"));
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.what(), file + ": line 2: ends too early");
  }
  std::ofstream(file) << R"({"a": [3, 1]})";
  EXPECT_EQ(ReadBack(file, JsonShape(R"({"a!": ["count"]})")).value["a"], ordered_json({3, 1}));
  std::remove(file.c_str());
}

TEST(ReadBack, DepthIsLimited) {
  EXPECT_EQ(error_of(std::string(100000, '['), R"("any")"), "f: nested more than 64 deep");
}

TEST(Cited, LongTextsAreCutBetweenCharacters) {
  EXPECT_EQ(cited("abc", 3), "abc");
  EXPECT_EQ(cited("abcd", 3), "abc…");
  EXPECT_EQ(cited("abé", 3), "ab…");
  EXPECT_EQ(shortened("0123456789", 10), "0123456789");
  EXPECT_EQ(shortened("0123456789x", 10), "01234…6789x");
  EXPECT_LT(error_of('"' + std::string(1 << 20, 'x') + '"', R"("count")").size(), 200u);
}

}  // namespace
}  // namespace rnic
