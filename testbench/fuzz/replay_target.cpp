// Both streams of a captured connection, above TCP, and their replay. The input has records of a side: its octets or a
// DDP segment to be framed, and their time of arrival.
#include "model/capture/replay/script.h"
#include "testbench/fuzz/input.h"
#include "testbench/fuzz/parsers.h"
#include "testbench/support/mpa_reference.h"

namespace rnic::fuzz {
namespace {

test::Bytes startup(const char* key, std::uint8_t flags) {
  test::Bytes frame = test::from_hex(key);
  frame.insert(frame.end(), {flags, 1, 0, 0});
  return frame;
}

}  // namespace

void replay(ByteSpan octets) {
  Input in(octets);
  const std::uint8_t how = in.octet();
  rnic::replay::Recording recording;
  recording.name = "a > b";
  recording.ports = {40000, 7471};
  recording.refused = how & 1;
  test::MpaReference senders[] = {{false, (how & 2) != 0}, {false, (how & 2) != 0}};
  auto give = [&, order = rnic::replay::Order{0}](unsigned side, const test::Bytes& more) mutable {
    auto& stream = recording.streams[side];
    stream.octets.insert(stream.octets.end(), more.begin(), more.end());
    stream.arrivals.push_back({stream.octets.size(), ++order});
    stream.closed = order + 1;
  };
  if (how & 4) {  // a connection that is set up
    const std::uint8_t flags = how & 2 ? 0x40 : 0;
    give(0, startup("4D504120494420526571204672616D65", flags));
    give(1, startup("4D504120494420526570204672616D65", flags));
  }
  while (!in.empty()) {
    const std::uint8_t what = in.octet();
    const ByteSpan taken = in.take(in.octet());
    const test::Bytes record(taken.begin(), taken.end());
    give(what & 1, what & 2 ? record : senders[what & 1].fpdu(record));
  }
  for (const auto side : {rnic::replay::Side::kInitiator, rnic::replay::Side::kResponder}) {
    is_taken([&] {
      for (const auto& script : rnic::replay::make_scripts({recording}, side)) {
        for (const auto& step : script->steps)
          require(step.end <= script->fed.octets().size(), "a step beyond the stream");
        for (const auto& post : script->posts) {
          require(post.message < script->real.messages().size(), "a post of no message");
        }
        std::uint64_t bytes = 0;
        for (const auto& region : script->memory.regions) bytes += region.octets.size();
        require(bytes <= std::uint64_t{1} << 28, "a replay of more memory than a host has");
      }
    });
  }
}

}  // namespace rnic::fuzz
