// Pooled, reference-counted blocks that packet bytes live in. Stages pass references; payload is not copied per stage.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "model/common/check.h"

namespace rnic {

class BufferPool;

// A block of a pool. Beats carry a bare pointer; exactly one reference travels with the beats of a packet and belongs
// to whoever consumes the one marked last (BufferRef::adopt).
class Buffer {
 public:
  std::uint8_t* bytes() { return bytes_; }
  const std::uint8_t* bytes() const { return bytes_; }
  std::uint32_t capacity() const { return capacity_; }

 private:
  friend class BufferPool;
  friend class BufferRef;
  BufferPool* pool_ = nullptr;
  std::uint8_t* bytes_ = nullptr;
  std::uint32_t capacity_ = 0;
  std::uint32_t refs_ = 0;
};

// Blocks of one size, allocated in slabs as the need grows and kept until the pool dies.
class BufferPool {
 public:
  explicit BufferPool(std::uint32_t block_bytes) : block_bytes_(block_bytes) { RNIC_CHECK(block_bytes > 0); }
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  inline class BufferRef take();

  std::uint32_t block_bytes() const { return block_bytes_; }
  std::uint32_t in_use() const { return in_use_; }  // blocks somebody holds: 0 when all packets are gone

 private:
  friend class BufferRef;
  static constexpr std::uint32_t kSlabBlocks = 32;
  void grow() {
    auto memory = std::make_unique<std::uint8_t[]>(std::size_t{block_bytes_} * kSlabBlocks);
    auto headers = std::make_unique<Buffer[]>(kSlabBlocks);
    for (std::uint32_t i = kSlabBlocks; i-- > 0;) {
      headers[i].pool_ = this;
      headers[i].bytes_ = memory.get() + std::size_t{block_bytes_} * i;
      headers[i].capacity_ = block_bytes_;
      free_.push_back(&headers[i]);
    }
    memory_.push_back(std::move(memory));
    headers_.push_back(std::move(headers));
  }

  const std::uint32_t block_bytes_;
  std::uint32_t in_use_ = 0;
  std::vector<Buffer*> free_;
  std::vector<std::unique_ptr<std::uint8_t[]>> memory_;
  std::vector<std::unique_ptr<Buffer[]>> headers_;
};

// Shares ownership of a block. Not for threads: the simulation has one.
class BufferRef {
 public:
  BufferRef() = default;
  BufferRef(const BufferRef& o) : buffer_(o.buffer_) {
    if (buffer_ != nullptr) ++buffer_->refs_;
  }
  BufferRef(BufferRef&& o) noexcept : buffer_(std::exchange(o.buffer_, nullptr)) {}
  BufferRef& operator=(BufferRef o) noexcept {
    std::swap(buffer_, o.buffer_);
    return *this;
  }
  ~BufferRef() {
    if (buffer_ == nullptr || --buffer_->refs_ != 0) return;
    --buffer_->pool_->in_use_;
    buffer_->pool_->free_.push_back(buffer_);
  }

  // Takes over the reference that travelled with a packet's beats, and gives it back to such a stream.
  static BufferRef adopt(Buffer* buffer) {
    BufferRef ref;
    ref.buffer_ = buffer;
    return ref;
  }
  Buffer* release() { return std::exchange(buffer_, nullptr); }

  explicit operator bool() const { return buffer_ != nullptr; }
  Buffer* get() const { return buffer_; }
  Buffer* operator->() const { return buffer_; }
  bool shared() const { return buffer_ != nullptr && buffer_->refs_ > 1; }

 private:
  friend class BufferPool;
  Buffer* buffer_ = nullptr;
};

inline BufferRef BufferPool::take() {
  if (free_.empty()) grow();
  Buffer* buffer = free_.back();
  free_.pop_back();
  buffer->refs_ = 1;
  ++in_use_;
  return BufferRef::adopt(buffer);
}

}  // namespace rnic
