// Requests to the DMA engines. An address is one on the bus, or an offset in the pages of a list, which the engine
// finds in the page table (page_lists.md).
#pragma once

#include <cstdint>

#include "model/abi/memory_piece.h"
#include "model/common/buffer.h"
#include "model/common/owners.h"
#include "model/common/trace_event.h"

namespace rnic {

// Reads `bytes` octets (1 to 64 KiB) from host memory to dst. The engine cuts at MRRS and 4 KiB boundaries; requests of
// one client are answered in any order, each once, when its last octet has arrived.
struct DmaReadRequest {
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
  std::uint8_t* dst = nullptr;
  BufferRef hold;            // keeps dst alive; empty when dst is on-chip memory
  std::uint32_t tag = 0;     // the client's, returned in the answer
  RequestId owner = {};      // on no pins
  PageList list = {};        // the address is in these pages, while
  std::uint32_t region = 0;  // this STag names a region that has them; or, without a list, on the bus

  static constexpr const char* kMessage = "dma_read_request";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("address", 64, m.address);
    v("bytes", 32, m.bytes);
    v("tag", 32, m.tag);
    v("page_list", PageList::kBits, m.list.v);
    v("region", 32, m.region);
  }
};
struct DmaReadDone {
  std::uint32_t tag = 0;
  bool ok = true;  // false: unsupported request, abort, poisoned data or completion timeout

  static constexpr const char* kMessage = "dma_read_done";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("tag", 32, m.tag);
    v("ok", 1, m.ok);
  }
};

// Writes octets from a buffer to host memory. Posted: writes of one client leave in order; `notify` requests an answer
// when the last TLP was handed to the PCIe link, after which nothing pushed later can overtake it.
struct DmaWriteRequest {
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
  BufferRef src;
  std::uint32_t src_offset = 0;
  std::uint32_t tag = 0;
  bool notify = false;
  PageList list = {};  // as for a read; the end of an STag waits for the writes that it allowed

  static constexpr const char* kMessage = "dma_write_request";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("address", 64, m.address);
    v("bytes", 32, m.bytes);
    v("src_offset", 32, m.src_offset);
    v("tag", 32, m.tag);
    v("notify", 1, m.notify);
    v("page_list", PageList::kBits, m.list.v);
  }
};
inline EventUse event_of(const DmaWriteRequest& w, const Owners&, TraceEvent& e) {
  e.bytes = w.bytes;
  e.request = w.src->owner();
  e.offset = w.src->offset();
  return EventUse::kEvent;
}
struct DmaWriteDone {
  std::uint32_t tag = 0;
  bool ok = true;  // false: octets of this request, or of one before it without an answer, have no page any more

  static constexpr const char* kMessage = "dma_write_done";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("tag", 32, m.tag);
    v("ok", 1, m.ok);
  }
};

}  // namespace rnic
