#include "model/rnic/fwcpu/rv32/memory_map.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "model/common/check.h"

namespace rnic {

using namespace fw::rv32;

namespace {

// The value of unwritten memory.
constexpr std::uint8_t kUnused = 0xa5;

}  // namespace

MemoryMap::MemoryMap(MutableByteSpan sram)
    : windows_{{{kText, text_, true, false},
                {kData, data_, false, true},
                {kStack, stack_, false, true},
                {kMailbox, mailbox_, false, true},
                {kSram, {sram.data(), kSram.bytes}, false, true}}} {
  RNIC_CHECK(sram.size() >= kSram.bytes);
  clear();
}

MutableByteSpan MemoryMap::at(std::uint32_t address, std::size_t bytes) const {
  for (const Window& w : windows_) {
    if (address >= w.at.base && std::uint64_t{address} + bytes <= std::uint64_t{w.at.base} + w.at.bytes) {
      return {w.octets.data() + (address - w.at.base), bytes};
    }
  }
  return {};
}

void MemoryMap::clear() {
  for (const PageMemory* memory : {&data_, &mailbox_}) std::memset(memory->data(), 0, memory->size());
  std::memset(stack_.data(), kUnused, stack_.size());
}

std::uint32_t MemoryMap::stack_high_water() const {
  const std::uint8_t *const begin = stack_.data(), *const end = begin + stack_.size();
  return static_cast<std::uint32_t>(end - std::find_if(begin, end, [](std::uint8_t o) { return o != kUnused; }));
}

void MemoryMap::load(const ElfImage& image) {
  for (const ElfImage::Segment& s : image.segments()) {
    const MutableByteSpan to = at(s.address, s.bytes);
    const bool loadable = !to.empty() && (kText.has(s.address) || kData.has(s.address));
    if (!loadable) image.refuse(fmt::format("has a segment at {:#x}, where no program can be", s.address));
    std::memcpy(to.data(), s.contents.data(), s.contents.size());
  }
}

}  // namespace rnic
