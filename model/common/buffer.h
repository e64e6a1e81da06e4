// Pooled, reference-counted blocks that packet bytes live in. Stages pass references; payload is not copied per stage.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "model/common/check.h"
#include "model/common/request_id.h"

namespace rnic {

class BufferPool;
struct BufferStore;

// A block of a pool. Beats carry a bare pointer; exactly one reference travels with the beats of a packet and belongs
// to the consumer of the beat marked last (BufferRef::adopt).
class Buffer {
 public:
  std::uint8_t* bytes() { return bytes_; }
  const std::uint8_t* bytes() const { return bytes_; }
  std::uint32_t capacity() const { return capacity_; }
  // The owner of these octets.
  RequestId owner() const { return owner_; }
  void belong_to(RequestId owner) { owner_ = owner; }
  // Of a segment: where its payload begins in its message, or in the response; kNowhere: they are no segment. For
  // observers.
  static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};
  std::uint32_t offset() const { return offset_; }
  void begin_at(std::uint32_t offset) { offset_ = offset; }

 private:
  friend struct BufferStore;
  friend class BufferPool;
  friend class BufferRef;
  BufferStore* store_ = nullptr;
  std::uint8_t* bytes_ = nullptr;
  std::uint32_t capacity_ = 0;
  std::uint32_t refs_ = 0, offset_ = kNowhere;
  RequestId owner_;
};

// What a pool owns. It outlives the pool while there are references: packets in flight at the end of a run may be
// destroyed after their sender. Bare pointers in beats do not count, as no one uses them any more.
struct BufferStore {
  static constexpr std::uint32_t kSlabBlocks = 32;

  const std::uint32_t block_bytes;
  std::uint32_t in_use = 0;      // blocks
  std::uint32_t references = 0;  // BufferRefs
  bool orphan = false;           // the pool is gone
  std::vector<Buffer*> free{};
  std::vector<std::unique_ptr<std::uint8_t[]>> memory{};
  std::vector<std::unique_ptr<Buffer[]>> headers{};

  void grow() {
    auto slab = std::make_unique<std::uint8_t[]>(std::size_t{block_bytes} * kSlabBlocks);
    auto blocks = std::make_unique<Buffer[]>(kSlabBlocks);
    for (std::uint32_t i = kSlabBlocks; i-- > 0;) {
      blocks[i].store_ = this;
      blocks[i].bytes_ = slab.get() + std::size_t{block_bytes} * i;
      blocks[i].capacity_ = block_bytes;
      free.push_back(&blocks[i]);
    }
    memory.push_back(std::move(slab));
    headers.push_back(std::move(blocks));
  }
  void drop(Buffer* buffer) {
    if (--buffer->refs_ == 0) {
      --in_use;
      free.push_back(buffer);
    }
    if (--references == 0 && orphan) delete this;
  }
};

// Blocks of one size, allocated in slabs on demand and kept until the pool and all references are gone. Their
// references travel in beats, which no Boost pool counts.
class BufferPool {
 public:
  explicit BufferPool(std::uint32_t block_bytes) : store_(new BufferStore{block_bytes}) { RNIC_CHECK(block_bytes > 0); }
  ~BufferPool() {
    if (store_->references == 0) delete store_;
    else store_->orphan = true;
  }
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  inline class BufferRef take(RequestId owner = {});
  // For the same octets, or some of them, in another form.
  inline BufferRef take_like(const Buffer* other);

  std::uint32_t block_bytes() const { return store_->block_bytes; }
  std::uint32_t in_use() const { return store_->in_use; }  // blocks in use: 0 when all packets are gone

 private:
  BufferStore* const store_;
};

// Shares ownership of a block. Not for threads: the simulation has one.
class BufferRef {
 public:
  BufferRef() = default;
  BufferRef(const BufferRef& o) : buffer_(o.buffer_) {
    if (buffer_ == nullptr) return;
    ++buffer_->refs_;
    ++buffer_->store_->references;
  }
  BufferRef(BufferRef&& o) noexcept : buffer_(std::exchange(o.buffer_, nullptr)) {}
  BufferRef& operator=(BufferRef o) noexcept {
    std::swap(buffer_, o.buffer_);
    return *this;
  }
  ~BufferRef() {
    if (buffer_ != nullptr) buffer_->store_->drop(buffer_);
  }

  // Takes over the reference that travelled with a packet's beats; release() returns it to such a stream.
  static BufferRef adopt(Buffer* buffer) {
    BufferRef ref;
    ref.buffer_ = buffer;
    if (buffer != nullptr) ++buffer->store_->references;
    return ref;
  }
  Buffer* release() {
    if (buffer_ != nullptr) --buffer_->store_->references;
    return std::exchange(buffer_, nullptr);
  }

  explicit operator bool() const { return buffer_ != nullptr; }
  Buffer* get() const { return buffer_; }
  Buffer* operator->() const { return buffer_; }
  bool shared() const { return buffer_ != nullptr && buffer_->refs_ > 1; }

 private:
  friend class BufferPool;
  Buffer* buffer_ = nullptr;
};

inline BufferRef BufferPool::take(RequestId owner) {
  if (store_->free.empty()) store_->grow();
  Buffer* buffer = store_->free.back();
  store_->free.pop_back();
  buffer->refs_ = 1;
  buffer->owner_ = owner;
  buffer->offset_ = Buffer::kNowhere;
  ++store_->in_use;
  return BufferRef::adopt(buffer);
}

inline BufferRef BufferPool::take_like(const Buffer* other) {
  BufferRef buffer = take(other->owner());
  buffer->begin_at(other->offset());
  return buffer;
}

}  // namespace rnic
