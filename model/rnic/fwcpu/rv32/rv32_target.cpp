// The firmware's image on the RV32 processor.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include "model/common/check.h"
#include "model/rnic/fwcpu/crash/call_frames.h"
#include "model/rnic/fwcpu/firmware_fault.h"
#include "model/rnic/fwcpu/firmware_target.h"
#include "model/rnic/fwcpu/rv32/iss.h"
#include "model/stats/registry.h"

namespace rnic {

using namespace fw::rv32;

namespace {

std::string image_of(const FwCpuConfig& config) {
  if (!config.image.empty()) return config.image;
  if (std::string built = built_rv32_image(); !built.empty()) return built;
  throw ConfigError(
      "rnic.fwcpu.image: there is no RV32 image beside this program; `scripts/build.sh release rnic_fw_rv32` builds "
      "it, "
      "or name one");
}

// In a dump.
constexpr std::size_t kMostCallers = 16;
// Within so many a program must be ready for events.
constexpr std::uint64_t kBootCycles = 100'000'000;

class Rv32Target final : public FirmwareTarget, private Iss::Registers {
 public:
  Rv32Target(ChipBus& bus, const fw::Settings& settings, const FwCpuConfig& config)
      : bus_(bus),
        settings_(settings),
        watchdog_cycles_(config.watchdog_cycles),
        image_(image_of(config)),
        memory_(bus.memory()),
        iss_(memory_, *this, config.rv32, kBootCycles) {
    const Layout mine = Layout::mine();
    const ByteSpan theirs = image_.object("rnic_layout", sizeof mine);
    if (theirs.empty() || std::memcmp(theirs.data(), &mine, sizeof mine) != 0) {
      image_.refuse("was built for another version of the chip");
    }
    boot();
  }

  void reset() override {
    memory_.clear();
    for (unsigned r = 1; r < 32; ++r) iss_.set(r, 0);
    event_number_ = 0;
    boot();
  }

  void on(const FirmwareEvent& event) override {
    std::visit([this](const auto& e) { std::memcpy(memory_.mailbox().event, &e, sizeof e); }, event);
    event_number_ = static_cast<std::uint32_t>(event.index());
    const bool timer = std::holds_alternative<fw::TimerExpired>(event);
    run([&] { return iss_.interrupt(timer ? kTimerCause : kExternalCause); });
  }

  // Each in the program's own terms: an unknown event, and invalid places.
  void fail(PlantedFault fault, const FirmwareEvent&) override {
    constexpr std::uint32_t kLoop = 0x6f, kLoopAt = kText.end() - 8, kZerosAt = kLoopAt + 4;
    // addi sp,sp,-16; sw ra,12(sp); jal ra,-8
    constexpr std::uint32_t kRecursion[] = {0xff010113, 0x00112623, 0xff9ff0ef},
                            kRecursionAt = kLoopAt - sizeof kRecursion;
    switch (fault) {
      case PlantedFault::kPanic:
        event_number_ = fw::Events::kSize;
        return run([&] { return iss_.interrupt(kExternalCause); });
      case PlantedFault::kWatchdog:
      case PlantedFault::kEndlessLoop:
        store_le32(memory_.at(kLoopAt, 4).data(), kLoop);
        return run([&] { return iss_.run(kLoopAt); });
      case PlantedFault::kIllegalInstruction:
        return run([&] { return iss_.run(kZerosAt); });
      case PlantedFault::kBusFault:
        return run([&] { return iss_.run(0); });
      case PlantedFault::kStackOverflow:
        for (std::size_t i = 0; i < std::size(kRecursion); ++i) {
          store_le32(memory_.at(kRecursionAt, sizeof kRecursion).data() + 4 * i, kRecursion[i]);
        }
        return run([&] { return iss_.run(kRecursionAt); });
      case PlantedFault::kNone:
        return;
    }
  }

  std::string dump() const override {
    CallFrames::Registers registers;
    for (unsigned r = 0; r < registers.size(); ++r) registers[r] = iss_.get(r);
    std::string text = places(registers);
    if (iss_.fault_address()) text += fmt::format("fault address {:08x}\n", *iss_.fault_address());
    text += fmt::format("stack: {} octets at most, of {}\n", memory_.stack_high_water(), kStack.bytes);
    for (unsigned r = 0; r < 32; ++r) {
      text += fmt::format("{:<4} {:08x}{}", fmt::format("x{}", r), registers[r], r % 4 == 3 ? "\n" : "   ");
    }
    return text;
  }

  Iss* processor() override { return &iss_; }

  std::vector<std::string> functions() const override {
    std::vector<std::string> names{"?"};
    for (const ElfImage::Function& f : functions_) names.push_back(f.name);
    return names;
  }
  std::uint32_t function_at(std::uint32_t pc) const override {
    const auto behind = std::upper_bound(functions_.begin(), functions_.end(), pc,
                                         [](std::uint32_t at, const ElfImage::Function& f) { return at < f.address; });
    if (behind == functions_.begin() || pc - std::prev(behind)->address >= std::prev(behind)->bytes) return 0;
    return static_cast<std::uint32_t>(behind - functions_.begin());
  }
  void follow(std::vector<CodePlace>* places) override { iss_.follow(places); }

  void register_stats(const StatsGroup& chip) const override {
    const StatsGroup group = chip.group("rv32");
    group.sum(
        "instructions", [this] { return static_cast<double>(iss_.instructions()); }, "instructions", "executed");
    group.histogram("handler_cycles", cycles_, "cycles", "firmware cycles of each event's handler");
    group.derived(
        "stack_high_water", [this] { return static_cast<double>(memory_.stack_high_water()); }, "octets",
        fmt::format("most that the stack has held since a reset, of {}", kStack.bytes));
  }

 private:
  void boot() {
    memory_.load(image_);
    memory_.mailbox().settings = settings_;
    iss_.set_watchdog(kBootCycles);
    try {
      iss_.run(image_.entry());
    } catch (const FirmwareFault& fault) {
      image_.refuse(fmt::format("does not start: {}, pc {:#x}", fault.what(), iss_.get(Iss::kPc)));
    }
    iss_.set_watchdog(watchdog_cycles_);
  }

  // pc, return register and callers, with function, file and line.
  std::string places(const CallFrames::Registers& registers) const {
    const auto word = [this](std::uint32_t at) {
      const MutableByteSpan octets = memory_.at(at, 4);
      return octets.empty() ? std::nullopt : std::optional(load_le32(octets.data()));
    };
    std::vector<std::uint32_t> list = CallFrames(image_.call_frames()).callers(registers, word, kMostCallers);
    list.insert(list.begin(), {registers[CallFrames::kPc], registers[CallFrames::kReturn]});
    // A call precedes its return address.
    std::vector<std::uint64_t> calls(list.begin(), list.end());
    for (std::size_t i = 1; i < calls.size(); ++i) --calls[i];
    const std::vector<std::string> lines = image_.lines(calls);
    std::string text;
    for (std::size_t i = 0; i < list.size(); ++i) {
      text += i == 0 ? "pc   " : i == 1 ? "ra   " : i == 2 ? "called from\n  " : "  ";
      text += fmt::format("{:08x}  {}{}{}\n", list[i], image_.place(list[i]), lines[i].empty() ? "" : "  ", lines[i]);
    }
    return text;
  }

  // The bus shows how far the program came, also if it ends in a fault.
  template <class F>
  void run(F f) {
    try {
      f();
    } catch (const FirmwareFault&) {
      bus_.advance_to(iss_.cycles());
      throw;
    }
    bus_.advance_to(iss_.cycles());
    cycles_.record(iss_.cycles());
  }

  std::uint32_t read(std::uint32_t offset) override {
    if (offset == kEvent) return event_number_;
    throw FirmwareFault(abi::FaultCause::kBusFault, fmt::format("there is no register {:#x} to read", offset));
  }
  void write(std::uint32_t offset, std::uint32_t value, std::uint64_t cycles) override {
    if (offset != kOperation) {
      throw FirmwareFault(abi::FaultCause::kBusFault, fmt::format("there is no register {:#x} to write", offset));
    }
    const bool known =
        fw::Operations::visit(value, memory_.mailbox().operation, [&](const auto& op) { bus_.write_at(cycles, op); });
    if (!known) throw FirmwareFault(abi::FaultCause::kPanic, fmt::format("there is no operation {}", value));
  }

  ChipBus& bus_;
  const fw::Settings settings_;
  const std::uint64_t watchdog_cycles_;
  const ElfImage image_;
  const std::vector<ElfImage::Function> functions_ = image_.functions();
  MemoryMap memory_;
  Iss iss_;
  std::uint32_t event_number_ = 0;
  Histogram cycles_;
};

// The shared library that this code is in; empty: it is in the program itself, which has no name in the list of
// objects.
std::string own_library() {
  Dl_info info;
  void* map = nullptr;
  const bool found =
      dladdr1(reinterpret_cast<const void*>(&built_rv32_image), &info, &map, RTLD_DL_LINKMAP) != 0 && map != nullptr;
  return found ? static_cast<const link_map*>(map)->l_name : "";
}

}  // namespace

// Of a build and of an installation, as seen from their folders of programs and of libraries.
std::string built_rv32_image() {
  namespace fs = std::filesystem;
  const std::string library = own_library();
  const fs::path folder =
      library.empty() ? fs::read_symlink("/proc/self/exe").parent_path() : fs::canonical(library).parent_path();
  std::vector<const char*> places = {"../firmware/rnic_fw.elf", "../share/rnicsim/rnic_fw.elf"};
  if (!library.empty())
    places = {"../../firmware/rnic_fw.elf", "../share/rnicsim/rnic_fw.elf", "../../share/rnicsim/rnic_fw.elf"};
  for (const char* place : places) {
    if (fs::exists(folder / place)) return (folder / place).lexically_normal().string();
  }
  return {};
}

std::unique_ptr<FirmwareTarget> make_rv32_target(ChipBus& bus, const fw::Settings& settings,
                                                 const FwCpuConfig& config) {
  return std::make_unique<Rv32Target>(bus, settings, config);
}

}  // namespace rnic
