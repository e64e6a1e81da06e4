// Messages as they are on the pins of RTL, for simulators: a packed structure (rnic_stream_pkg, rnic_messages_pkg) as
// words of 32 bits, the least significant first, and a beat's octets in a vector beside it, octet i in bits 8*i+7 to
// 8*i.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "model/golden/bench.h"

namespace rnic::golden {

// The sizes of the vectors: any message's fields, and the octets of the widest beat.
inline constexpr unsigned kBitsWords = 64, kOctetsWords = 32;

// One port of a handle, or a table. A transaction of several beats is collected, and given beat by beat. All throw
// Error.
class BeatWords {
 public:
  virtual ~BeatWords() = default;

  // Takes the next beat. The transaction's structure with its last one, which stays until the next call; else nullptr.
  // After an error the beats so far are forgotten.
  virtual const void* join(const std::uint32_t* bits, const std::uint32_t* octets) = 0;

  // A structure with room for any transaction of the port; what it was filled with is given by next(), which returns
  // false if nothing is left.
  virtual void* room() = 0;
  virtual void cut() = 0;
  virtual bool next(std::uint32_t* bits, std::uint32_t* octets) = 0;
};
std::unique_ptr<BeatWords> beat_words(const Shape& shape, unsigned beat_bytes);

// Those of a handle's ports, each made when it is used first.
class PortWords {
 public:
  void clear() { of_.clear(); }
  // `octets` may be null where the port's messages have none.
  BeatWords& of_port(std::uint32_t number, const Port& port, const std::uint32_t* octets, unsigned beat_bytes);

 private:
  std::map<std::uint32_t, std::unique_ptr<BeatWords>> of_;
};

}  // namespace rnic::golden
