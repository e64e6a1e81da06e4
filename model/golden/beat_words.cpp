#include "model/golden/beat_words.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "model/common/message.h"
#include "model/golden/abi/rnic_golden.h"
#include "model/golden/beats.h"
#include "model/golden/record.h"
#include "model/rnic/messages/dma.h"
#include "model/rnic/messages/terminate.h"
#include "model/wire/fpdu.h"

namespace rnic::golden {
namespace {

struct Words {
  std::array<std::uint32_t, kBitsWords> bits{};
  std::array<std::uint32_t, kOctetsWords> octets{};
};
constexpr std::uint32_t kMostBytes = 4 * kOctetsWords;                     // of a beat
constexpr std::uint32_t kMostOctets = wire::marked_fpdu_bytes(0, 0xffff);  // of a transaction

// Bits of a packed structure, whose first field is the most significant one.
std::uint64_t read_bits(const std::uint32_t* words, unsigned at, unsigned width) {
  std::uint64_t value = 0;
  for (unsigned i = width; i-- > 0;) value = value << 1 | (words[(at + i) / 32] >> (at + i) % 32 & 1);
  return value;
}
void write_bits(std::uint32_t* words, unsigned at, unsigned width, std::uint64_t value) {
  for (unsigned i = 0; i < width; ++i)
    words[(at + i) / 32] |= static_cast<std::uint32_t>(value >> i & 1) << (at + i) % 32;
}

class CountBits : public FieldVisitor<CountBits> {
 public:
  template <class T>
  void number(unsigned width, const T&) {
    bits += width;
  }
  unsigned bits = 0;
};
class ReadFields : public FieldVisitor<ReadFields> {
 public:
  ReadFields(const std::uint32_t* words, unsigned end) : words_(words), at_(end) {}
  template <class T>
  void number(unsigned width, T& number) {
    number = static_cast<T>(read_bits(words_, at_ -= width, width));
  }

 private:
  const std::uint32_t* const words_;
  unsigned at_;
};
class WriteFields : public FieldVisitor<WriteFields> {
 public:
  WriteFields(std::uint32_t* words, unsigned end) : words_(words), at_(end) {}
  template <class T>
  void number(unsigned width, const T& number) {
    write_bits(words_, at_ -= width, width, static_cast<std::uint64_t>(number));
  }

 private:
  std::uint32_t* const words_;
  unsigned at_;
};
template <class T>
unsigned bits_of(const T& message) {
  CountBits count;
  visit_fields(count, message);
  return count.bits;
}

// A structure of the C interface with memory of its own for what it points to.
class Structure {
 public:
  explicit Structure(const Shape& shape)
      : shape_(shape),
        image_((shape.layout->size + 7) / 8),
        octets_(shape.octets ? kMostOctets : 0),
        marks_(shape.marks ? kMostMarks : 0) {
    clear();
  }
  void* at() { return image_.data(); }
  void clear() {
    std::fill(image_.begin(), image_.end(), 0);
    const auto size = static_cast<std::uint32_t>(shape_.layout->size);
    std::memcpy(image_.data(), &size, sizeof size);
    if (shape_.octets) head<OctetsHead>([&](OctetsHead& h) { h.octets = octets_.data(), h.octets_room = kMostOctets; });
    if (shape_.marks) head<MarksHead>([&](MarksHead& h) { h.marks = marks_.data(), h.marks_room = kMostMarks; });
  }
  std::uint64_t value(const Member& member, unsigned element) const {
    std::uint64_t value = 0;
    std::memcpy(&value, octet(member, element), member.octets);
    return value;
  }
  void set(const Member& member, unsigned element, std::uint64_t value) {
    std::memcpy(const_cast<std::uint8_t*>(octet(member, element)), &value, member.octets);
  }
  std::uint32_t octets_n() {
    std::uint32_t n = 0;
    if (shape_.octets) head<OctetsHead>([&](const OctetsHead& h) { n = h.octets_n; });
    return n;
  }
  void set_octets_n(std::uint32_t n) {
    head<OctetsHead>([&](OctetsHead& h) { h.octets_n = n; });
  }
  std::uint8_t* octets() { return octets_.data(); }

 private:
  static constexpr std::uint32_t kMostMarks = kMostOctets / 512 + 2;

  template <class H, class Change>
  void head(Change change) {
    H head;
    std::memcpy(static_cast<void*>(&head), image_.data(), sizeof head);
    change(head);
    std::memcpy(image_.data(), static_cast<const void*>(&head), sizeof head);
  }
  const std::uint8_t* octet(const Member& member, unsigned element) const {
    return reinterpret_cast<const std::uint8_t*>(image_.data()) + member.offset + std::size_t{member.octets} * element;
  }

  const Shape& shape_;
  std::vector<std::uint64_t> image_;  // aligned as any structure
  std::vector<std::uint8_t> octets_;
  std::vector<Mark> marks_;
};

std::size_t octets_of(const FpduBeat& beat) { return std::size_t{4} * beat.words; }
std::size_t octets_of(const StreamBeat& beat) { return beat.bytes; }

// Gives what cut() of a port's words has made, one after the other.
class GivesBeats : public BeatWords {
 public:
  explicit GivesBeats(const Shape& shape) : structure_(shape) {}
  void* room() final {
    structure_.clear();
    return structure_.at();
  }
  bool next(std::uint32_t* bits, std::uint32_t* octets) final {
    if (left_.empty()) return false;
    std::copy(left_.front().bits.begin(), left_.front().bits.end(), bits);
    if (octets != nullptr) std::copy(left_.front().octets.begin(), left_.front().octets.end(), octets);
    left_.pop_front();
    return true;
  }

 protected:
  Structure structure_;
  std::deque<Words> left_;
};

// The beats of FPDUs and of segments.
template <class T>
class StreamWords final : public GivesBeats {
 public:
  StreamWords(const Shape& shape, unsigned beat_bytes)
      : GivesBeats(shape), beat_bytes_(beat_bytes), pool_(static_cast<std::uint32_t>(kFrameHeadroom + kMostOctets)) {}

  const void* join(const std::uint32_t* bits, const std::uint32_t* octets) override {
    T beat;
    ReadFields read(bits, bits_of(beat));
    visit_fields(read, beat);
    check(beat);
    std::uint8_t data[kMostBytes];
    std::memcpy(data, octets, octets_of(beat));
    beat.data = data;
    begun_ = !beat.last;
    if (!joined_.join(beat)) return nullptr;
    structure_.clear();
    store(joined_.transaction, structure_.at());
    return structure_.at();
  }
  void cut() override {
    typename Beats<T>::Transaction message;
    load(structure_.at(), message);
    Buffer* block = nullptr;
    Beats<T>::cut(message, beat_bytes_, pool_, [&](const T& beat) {
      block = beat.buf;
      Words& words = left_.emplace_back();
      WriteFields write(words.bits.data(), bits_of(beat));
      visit_fields(write, beat);
      std::memcpy(words.octets.data(), beat.data, octets_of(beat));
    });
    BufferRef::adopt(block);
  }

 private:
  void check(const T& beat) {
    std::string wrong;
    if (octets_of(beat) == 0 || octets_of(beat) > beat_bytes_)
      wrong = fmt::format("it has {} octets, of a datapath of {}", octets_of(beat), beat_bytes_);
    else if (!beat.last && octets_of(beat) != beat_bytes_) wrong = "it is not the last one, and not full";
    else if (beat.first == begun_)
      wrong = begun_ ? "it is a first one, but the one before was no last one" : "it is not a first one";
    if (wrong.empty()) return;
    begun_ = false;
    joined_ = {};
    fail_value(std::string(T::kMessage) + ": " + wrong);
  }

  const unsigned beat_bytes_;
  BufferPool pool_;
  Beats<T> joined_;
  bool begun_ = false;  // beats of a transaction have come, and not its last one
};

// A field on the pins: a member of the structure, its number of octets, or nothing there.
struct Pin {
  unsigned width;
  const Member* member = nullptr;
  unsigned element = 0;
  bool counts_octets = false;
};

// The pins of a structure whose fields are those of the message: messages of an array have their fields side by side,
// number 0 the least significant one.
std::vector<Pin> pins_of(const Layout& layout) {
  std::vector<Pin> pins;
  for (auto at = layout.members.begin(); at != layout.members.end();) {
    auto end = at + 1;
    while (at->count > 1 && end != layout.members.end() && end->count == at->count) ++end;
    for (unsigned element = at->count; element-- > 0;) {
      for (auto member = at; member != end; ++member) pins.push_back({member->width, &*member, element});
    }
    at = end;
  }
  return pins;
}
// Of one that has other fields than the message on the pins, whose octets it names.
template <class M>
std::vector<Pin> pins_by_name(const Shape& shape) {
  std::vector<Pin> pins;
  for (const Signal& signal : signals_of<M>()) {
    Pin& pin = pins.emplace_back(Pin{signal.width});
    pin.member = find_member(shape, signal.name);
    pin.counts_octets = pin.member == nullptr && signal.name == "bytes";
  }
  return pins;
}

// A message that is a beat of its own. Octets that it names are beside it; more than a beat's come in pieces, with the
// same fields.
class MessageWords final : public GivesBeats {
 public:
  MessageWords(const Shape& shape, std::vector<Pin> pins, unsigned piece)
      : GivesBeats(shape), shape_(shape), pins_(std::move(pins)), piece_(piece) {
    for (const Pin& pin : pins_) bits_ += pin.width;
  }

  const void* join(const std::uint32_t* bits, const std::uint32_t* octets) override {
    if (come_ == 0) structure_.clear();
    std::uint32_t all = shape_.octets ? kWord : 0;
    unsigned at = bits_;
    for (const Pin& pin : pins_) {
      const std::uint64_t value = read_bits(bits, at -= pin.width, pin.width);
      if (pin.member != nullptr) structure_.set(*pin.member, pin.element, value);
      if (pin.counts_octets) all = static_cast<std::uint32_t>(value);
    }
    if (!shape_.octets) return structure_.at();
    if (all > kMostOctets) fail_value(fmt::format("{}.bytes is {}, and at most {}", shape_.name, all, kMostOctets));
    const std::uint32_t piece = std::min(piece_, all - std::min(come_, all));
    std::memcpy(structure_.octets() + come_, octets, piece);
    come_ += piece;
    if (come_ < all) return nullptr;
    structure_.set_octets_n(all);
    come_ = 0;
    return structure_.at();
  }
  void cut() override {
    const std::uint32_t all = structure_.octets_n();
    std::uint32_t from = 0;
    do {
      Words& words = left_.emplace_back();
      unsigned at = bits_;
      for (const Pin& pin : pins_) {
        const std::uint64_t value = pin.counts_octets       ? all
                                    : pin.member != nullptr ? structure_.value(*pin.member, pin.element)
                                                            : 0;
        write_bits(words.bits.data(), at -= pin.width, pin.width, value);
      }
      const std::uint32_t piece = std::min(piece_, all - from);
      if (piece != 0) std::memcpy(words.octets.data(), structure_.octets() + from, piece);
      from += piece;
    } while (from < all);
  }

 private:
  static constexpr std::uint32_t kWord = 8;  // a read whose message does not say how much is one of an atomic

  const Shape& shape_;
  const std::vector<Pin> pins_;
  const std::uint32_t piece_;
  unsigned bits_ = 0;
  std::uint32_t come_ = 0;  // octets so far
};

}  // namespace

std::unique_ptr<BeatWords> beat_words(const Shape& shape, unsigned beat_bytes) {
  const std::string name = shape.name;
  if (name == "fpdu") return std::make_unique<StreamWords<FpduBeat>>(shape, beat_bytes);
  if (name == "segment") return std::make_unique<StreamWords<StreamBeat>>(shape, beat_bytes);
  if (name == Ulpdu::kMessage) return std::make_unique<MessageWords>(shape, pins_by_name<Ulpdu>(shape), beat_bytes);
  if (name == "dma_write")
    return std::make_unique<MessageWords>(shape, pins_by_name<DmaWriteRequest>(shape), kMostBytes);
  if (name == DmaReadDone::kMessage)
    return std::make_unique<MessageWords>(shape, pins_by_name<DmaReadDone>(shape), kMostBytes);
  if (name == TerminateMessage::kMessage)
    return std::make_unique<MessageWords>(shape, pins_by_name<TerminateMessage>(shape), kMostBytes);
  auto pins = pins_of(*shape.layout);
  if (shape.octets) pins.push_back({32, nullptr, 0, true});  // no pins have it: their number stands at the end
  return std::make_unique<MessageWords>(shape, std::move(pins), kMostBytes);
}

BeatWords& PortWords::of_port(std::uint32_t number, const Port& port, const std::uint32_t* octets,
                              unsigned beat_bytes) {
  if (octets == nullptr && port.shape->octets)
    throw Error(RNIC_E_NULL, std::string("the octets of the ") + port.message + " are null");
  auto& words = of_[number];
  if (!words) words = beat_words(*port.shape, beat_bytes);
  return *words;
}

}  // namespace rnic::golden
