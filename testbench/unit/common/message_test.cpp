#include "model/common/message.h"

#include <gmock/gmock.h>

namespace rnic {
namespace {

using testing::ElementsAre;

enum class Colour : std::uint8_t { kRed, kBlue };

struct Part {
  std::uint32_t address = 0;
  bool ok = false;
  static constexpr const char* kMessage = "part";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("address", 32, m.address);
    v("ok", 1, m.ok);
  }
};

struct Whole {
  Qpn qpn;
  Colour colour = Colour::kRed;
  Part part;
  Part parts[2];
  std::array<std::uint8_t, 8> octets{};
  const void* buffer = nullptr;
  static constexpr const char* kMessage = "whole";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("qpn", m.qpn);
    v("colour", 2, m.colour);
    v("part", m.part);
    v.each("parts", m.parts);
    v.octets("octets", m.octets);
  }
};

struct Pointing {
  std::uint32_t length = 0;
  std::uint32_t first_word() const { return 0x01020304; }
  static constexpr const char* kMessage = "pointing";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("length", 32, m.length);
  }
};

Whole whole() {
  Whole w;
  w.qpn = Qpn{3};
  w.colour = Colour::kBlue;
  w.part = {7, true};
  w.parts[0] = {10, false};
  w.parts[1] = {11, true};
  w.octets = {1, 2, 3, 4, 5, 6, 7, 8};
  return w;
}

TEST(Message, SignalsAreNamedAsOnPins) {
  std::vector<std::string> names;
  std::vector<unsigned> widths;
  for (const Signal& s : signals_of<Whole>("in")) {
    names.push_back(s.name);
    widths.push_back(s.width);
  }
  EXPECT_THAT(names, ElementsAre("in.qpn", "in.colour", "in.part.address", "in.part.ok", "in.parts[1].address",
                                 "in.parts[1].ok", "in.parts[0].address", "in.parts[0].ok", "in.octets[0]",
                                 "in.octets[1]", "in.octets[2]", "in.octets[3]", "in.octets[4]", "in.octets[5]",
                                 "in.octets[6]", "in.octets[7]"));
  EXPECT_THAT(widths, ElementsAre(32, 2, 32, 1, 32, 1, 32, 1, 8, 8, 8, 8, 8, 8, 8, 8));
}

TEST(Message, ValuesComeInTheOrderOfTheSignals) {
  const Whole w = whole();
  std::vector<std::uint64_t> values(signals_of<Whole>().size());
  StoreFields store(values.data());
  visit_fields(store, w);
  EXPECT_THAT(values, ElementsAre(3, 1, 7, 1, 11, 1, 10, 0, 1, 2, 3, 4, 5, 6, 7, 8));
}

TEST(Message, DescribesItself) { EXPECT_EQ(describe(Part{7, true}), "part: address 7, ok 1"); }

// For messages held by pointer: includes the first octets that it points to.
TEST(Message, KindHasTheFirstWord) {
  const MessageKind kind = kind_of<Pointing>();
  EXPECT_STREQ(kind.name, "pointing");
  ASSERT_EQ(kind.signals.size(), 2u);
  EXPECT_EQ(kind.signals[1].name, "word0");
  const Pointing p{5};
  std::uint64_t values[2];
  kind.store(&p, values);
  EXPECT_THAT(values, ElementsAre(5, 0x01020304));
}

TEST(Message, WhatIsNoneHasNoSignals) {
  static_assert(!kIsMessage<int> && kIsMessage<Part>);
  EXPECT_TRUE(kind_of<int>().signals.empty());
}

}  // namespace
}  // namespace rnic
