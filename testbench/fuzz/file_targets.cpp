// Files from a user: captures, scenarios, settings, vectors, firmware.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "model/capture/replay/capture_recordings.h"
#include "model/capture/replay/script.h"
#include "model/cli/decode_command.h"
#include "model/conformance/bench_predictors.h"
#include "model/conformance/run_vectors.h"
#include "model/rnic/fwcpu/crash/call_frames.h"
#include "model/rnic/fwcpu/rv32/elf_image.h"
#include "model/rnic/fwcpu/rv32/memory_map.h"
#include "model/system/scenario.h"
#include "model/system/scenario_assignment.h"
#include "model/system/scenario_config.h"
#include "model/system/system_config.h"
#include "testbench/fuzz/input.h"
#include "testbench/fuzz/parsers.h"

namespace rnic::fuzz {

// pcap or pcapng.
void capture(ByteSpan octets) {
  const MemoryFile file(octets);
  std::ostringstream text, reason;
  const std::vector<std::string> ways[] = {{file.path()},
                                           {file.path(), "--json", "--ignore-checksums"},
                                           {file.path(), "--list", "--ignore-checksums"},
                                           {file.path(), "--list", "--json", "--filter", "msn=1"}};
  for (const auto& arguments : ways) {
    const int status = cli::decode_command(arguments, text, reason);
    require(status >= 0 && status <= 2 && (status != 2 || !reason.str().empty()), "decode: refused without a reason");
  }
  for (const replay::Side side : {replay::Side::kInitiator, replay::Side::kResponder}) {
    for (const bool partial : {false, true}) {
      is_taken([&] { replay::make_scripts(capture::read_recordings(file.path(), partial).list, side); });
    }
  }
}

void scenario(ByteSpan octets) {
  const MemoryFile file(octets);
  is_taken([&] {
    const Scenario s = read_scenario(file.path());
    evaluate(s.checks, {}, [](unsigned, unsigned, bool) { return std::nullopt; });
    const std::size_t points = s.sweep.empty() ? 0 : std::min<std::size_t>(s.sweep.points(), 4);
    for (std::size_t i = 0; i < points; ++i) resolve_system(at_point(s, i).config);
    resolve_system(s.config);
    for (const ScenarioNode& n : s.nodes) resolve_system(s.config.with(n.config));
  });
}

// Each line is an argument of --set: settings, and values of a scenario.
void settings(ByteSpan octets) {
  static const auto assigned_to = nlohmann::json::parse(R"({
    "name": "s", "nodes": [{"name": "a"}, {"name": "b"}], "connections": [{"from": "a", "to": "b"}],
    "work": [{"name": "w", "op": "write", "size": {"law": "uniform", "min": 1, "max": 64}}],
    "inject": [{"name": "i", "sender": "a", "message": "write", "field": "stag", "value": 1}],
    "checks": [{"check": "terminate", "sender": "b", "code": "1/1/00"}]})");
  std::istringstream lines(text_of(octets));
  is_taken([&] {
    Overlay overlay;
    for (std::string line; std::getline(lines, line);) overlay.set(line);
    const Scenario s = parse_scenario(assigned_to, "s.json", scenario_values(overlay));
    values_json(s.assigned).dump();
    dump_system(resolve_scenario(s, settings_of_all(overlay)).run).dump();
  });
}

void vectors(ByteSpan octets) {
  // Some contain stages of the chip, which a process can elaborate once.
  static const conformance::BenchPredictors stages;
  static const std::vector<conformance::VectorKind> kinds = conformance::vector_kinds(&stages);
  static std::string folder = std::filesystem::temp_directory_path() / "rnic_vectors.XXXXXX";
  static const bool made = ::mkdtemp(folder.data()) != nullptr;
  require(made, "no folder for vectors");
  std::ofstream(folder + "/v.json", std::ios::binary) << text_of(octets);
  std::ostringstream text;
  const int status = conformance::run_vectors(folder, text, kinds);
  require(status >= 0 && status <= 2 && !text.str().empty(), "vectors: refused without a reason");
  std::filesystem::remove(folder + "/v.json");
}

void elf(ByteSpan octets) {
  const MemoryFile file(octets);
  is_taken([&] {
    const ElfImage image(file.path());
    for (const ElfImage::Segment& s : image.segments()) {
      require(s.contents.size() <= s.bytes, "a segment has more contents than memory");
      image.place(s.address);
    }
    image.object("rnic_mailbox", 4);
    std::vector<std::uint8_t> sram((fw::rv32::kSram.bytes + 4095) / 4096 * 4096);
    MemoryMap memory(sram);
    memory.load(image);
    std::vector<std::uint64_t> places{image.entry()};
    CallFrames::Registers registers{};
    registers[CallFrames::kPc] = registers[CallFrames::kReturn] = image.entry();
    registers[CallFrames::kStackPointer] = fw::rv32::kStack.end() - 256;
    const auto word = [&](std::uint32_t at) {
      const MutableByteSpan found = memory.at(at, 4);
      return found.empty() ? std::nullopt : std::optional(load_le32(found.data()));
    };
    for (const std::uint32_t caller : CallFrames(image.call_frames()).callers(registers, word, 16)) {
      places.push_back(caller);
    }
    require(image.lines(places).size() == places.size(), "an address has no line, not even an empty one");
  });
}

}  // namespace rnic::fuzz
