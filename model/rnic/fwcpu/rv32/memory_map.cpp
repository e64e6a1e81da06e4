#include "model/rnic/fwcpu/rv32/memory_map.h"

#include <cstring>

#include <fmt/format.h>

#include "model/common/check.h"

namespace rnic {

using namespace fw::rv32;

MemoryMap::MemoryMap(MutableByteSpan sram)
    : windows_{{{kText, text_, true, false},
                {kData, data_, false, true},
                {kMailbox, mailbox_, false, true},
                {kSram, {sram.data(), kSram.bytes}, false, true}}} {
  RNIC_CHECK(sram.size() >= kSram.bytes);
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
}

void MemoryMap::load(const ElfImage& image) {
  for (const ElfImage::Segment& s : image.segments()) {
    const MutableByteSpan to = at(s.address, s.bytes);
    const bool loadable = !to.empty() && (s.address >= kText.base);
    if (!loadable) image.refuse(fmt::format("has a segment at {:#x}, where no program can be", s.address));
    std::memcpy(to.data(), s.contents.data(), s.contents.size());
  }
}

}  // namespace rnic
