// The ports of host memory: a caller answers what a stage reads, and takes what it writes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

#include "model/golden/beats.h"
#include "model/rnic/messages/dma.h"

namespace rnic::golden {

// A write with its octets. One that notifies is answered by a dma_write_done.
struct DmaWriteMessage : Payload {
  std::uint64_t address = 0;
  std::uint32_t tag = 0;
  bool notify = false;
  PageList list = {};  // 0: the address is on the bus; else it counts from the start of these pages

  static constexpr const char* kMessage = "dma_write";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("address", 64, m.address);
    v("tag", 32, m.tag);
    v("notify", 1, m.notify);
    v("page_list", PageList::kBits, m.list.v);
  }
};
template <>
struct Beats<DmaWriteRequest> {
  using Transaction = DmaWriteMessage;
  Transaction transaction;
  bool join(const DmaWriteRequest& write) {
    const std::uint8_t* const octets = write.src->bytes() + write.src_offset;
    transaction.octets.assign(octets, octets + write.bytes);
    transaction.address = write.address;
    transaction.tag = write.tag;
    transaction.notify = write.notify;
    transaction.list = write.list;
    return true;
  }
};

// The answer to a dma_read_request, with the octets unless the read has failed.
struct DmaReadMessage : Payload {
  std::uint32_t tag = 0;
  bool ok = true;

  static constexpr const char* kMessage = "dma_read_done";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("tag", 32, m.tag);
    v("ok", 1, m.ok);
  }
};
template <>
struct Beats<DmaReadDone> {
  using Transaction = DmaReadMessage;
  Transaction transaction;
  static void check(const Transaction&, unsigned) {}
  template <class Emit>
  static void cut(const Transaction& m, unsigned, BufferPool&, Emit emit) {
    emit({m.tag, m.ok});
  }
};

// Reads that a caller has, and has not answered.
class OpenReads {
 public:
  void given(const DmaReadRequest& read) { reads_[read.tag] = {read.dst, read.bytes}; }
  // Throws Error for what answers none of them. The octets go to where the read wants them.
  void answer(const DmaReadMessage& m);

 private:
  struct Read {
    std::uint8_t* to;
    std::uint32_t bytes;
  };
  std::map<std::uint32_t, Read> reads_;  // by tag
};

// Writes that want an answer, which comes in their order.
class OpenWrites {
 public:
  void given(const DmaWriteRequest& write) { open_ += write.notify; }
  void answer(const DmaWriteDone& m);

 private:
  std::uint64_t open_ = 0;
};

}  // namespace rnic::golden
