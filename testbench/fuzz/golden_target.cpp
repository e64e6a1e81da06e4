// Callers of librnic_golden's C interface who do as they please, as far as their structures are where they say.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "rnic_golden_messages.h"
#include "testbench/fuzz/input.h"

namespace rnic::fuzz {
namespace {

constexpr const char* kKinds[] = {"mpa_framer", "marker_inserter", "crc_insert",  "mpa_deframer",
                                  "crc_check",  "mpa_transmit",    "mpa_receive", "crc"};
constexpr const char* kSettings[] = {"{}", "{\"beat_bytes\": 16}", "{\"beat_bytes\": 128, \"flows\": 1}",
                                     "{\"pipeline_cycles\": 32}"};
constexpr std::size_t kMostOctets = 66'000, kMostMarks = 200;

// Memory of just its size, so that a sanitizer sees what is read or written beyond it.
template <class T>
class Block {
 public:
  explicit Block(std::size_t n) : memory_(n == 0 ? nullptr : new T[n]()) {}
  T* get() const { return memory_.get(); }

 private:
  std::unique_ptr<T[]> memory_;
};

// A structure of any size, with members of any value; its pointers are null, or there is as much as it says.
class Structure {
 public:
  explicit Structure(Input& in) {
    constexpr std::size_t kSizes[] = {0, 4, 16, 31, 32, 48, 55, 56, 64, 70'000};
    const std::uint8_t how = in.octet();
    size_ = kSizes[how % 10];
    memory_ = std::make_unique<Block<std::uint8_t>>(std::max<std::size_t>(size_, 64));
    std::uint8_t* const at = memory_->get();
    const ByteSpan members = in.take(size_ <= 64 ? size_ : 0);
    std::copy(members.begin(), members.end(), at);
    put(0, static_cast<std::uint32_t>(size_));
    if (size_ < 24) return;
    if (how & 16) tame(at + 20);
    const bool null = how & 32;
    const std::size_t octets = in.number(2) % 2048 * (how & 64 ? 32 : 1);
    octets_ = std::make_unique<Block<std::uint8_t>>(std::min(octets, kMostOctets));
    put(4, static_cast<std::uint32_t>(std::min(octets, kMostOctets)));
    put(8, null ? nullptr : octets_->get());
    put(16, static_cast<std::uint32_t>(std::min(octets, kMostOctets)));
    const ByteSpan content = in.take(std::min<std::size_t>(octets, 64));
    if (!content.empty() && octets_->get() != nullptr) std::copy(content.begin(), content.end(), octets_->get());
    if (size_ < 56) return;
    const std::size_t marks = how & 128 ? in.octet() % kMostMarks : 0;
    marks_ = std::make_unique<Block<rnic_mark>>(marks);
    for (std::size_t i = 0; i < marks; ++i)
      marks_->get()[i].word = static_cast<std::uint32_t>(i * 16 + in.octet() % 16);
    put(20, static_cast<std::uint32_t>(marks));
    put(24, null ? nullptr : marks_->get());
    put(32, static_cast<std::uint32_t>(marks));
  }
  void* get() const { return memory_->get(); }

 private:
  template <class T>
  void put(std::size_t at, T value) {
    if (at + sizeof value <= std::max<std::size_t>(size_, 64)) std::memcpy(memory_->get() + at, &value, sizeof value);
  }
  // Flags that are flags.
  static void tame(std::uint8_t* at) {
    for (int i = 0; i < 44; ++i) at[i] &= 1;
  }

  std::size_t size_;
  std::unique_ptr<Block<std::uint8_t>> memory_, octets_;
  std::unique_ptr<Block<rnic_mark>> marks_;
};

// Each call has a result that is one, and says why if it is an error. A check of ours that fails is a finding.
void is_result(std::int32_t status, const rnic_stage* stage) {
  require(std::strncmp(rnic_status_name(status), "RNIC_", 5) == 0, "a result without a name");
  require(status != RNIC_E_BROKEN, "a check of the library has failed");
  require((status < 0) == (*rnic_stage_text(stage) != 0), "an error without a text, or a text without one");
}

void is_result(std::int32_t status, const rnic_board* board) {
  require(std::strncmp(rnic_status_name(status), "RNIC_", 5) == 0, "a result without a name");
  require(status != RNIC_E_BROKEN, "a check of the library has failed");
  require((status < 0) == (*rnic_board_text(board) != 0), "an error without a text, or a text without one");
}

// A board's cycles go on, or are any number.
void board(Input& in, std::uint8_t how) {
  rnic_board* board = nullptr;
  const std::string settings = how & 128 ? text_of(in.take(in.octet())) : kSettings[how / 8 % 4];
  const std::int32_t opened = rnic_board_open(RNIC_GOLDEN_ABI, kKinds[how % 8], settings.c_str(), &board);
  is_result(opened, board);
  std::uint64_t cycle = 0;
  for (int calls = 0; opened == RNIC_OK && !in.empty() && calls < 64; ++calls) {
    const std::uint8_t call = in.octet();
    const std::uint32_t port = call / 8 % 4;
    if (call & 128) cycle = in.number(8);
    else cycle += call / 32 % 4;
    switch (call % 8) {
      case 0:
        is_result(rnic_board_reset(board, cycle), board);
        break;
      case 1:
        is_result(rnic_board_stalled(board, port, in.number(2), cycle), board);
        break;
      case 2: {
        const Structure row(in);
        is_result(rnic_board_row(board, port == 0 ? "streams" : "stream", in.octet(), row.get(), cycle), board);
        break;
      }
      case 3:
        is_result(rnic_board_end(board, cycle), board);
        require(*rnic_board_report(board) == '{', "a report that is none");
        break;
      case 4:
      case 5: {
        const Structure message(in);
        is_result(rnic_board_given(board, port, message.get(), cycle), board);
        break;
      }
      default: {
        const Structure message(in);
        is_result(rnic_board_accepted(board, port, message.get(), cycle), board);
      }
    }
  }
  rnic_board_close(board);
}

}  // namespace

void golden(ByteSpan octets) {
  Input in(octets);
  rnic_stage* stage = nullptr;
  const std::uint8_t how = in.octet();
  if (how & 64) return board(in, how);
  const std::string settings = how & 128 ? text_of(in.take(in.octet())) : kSettings[how / 8 % 4];
  const std::int32_t opened = rnic_stage_open(RNIC_GOLDEN_ABI, kKinds[how % 8], settings.c_str(), &stage);
  is_result(opened, stage);
  for (int calls = 0; opened == RNIC_OK && !in.empty() && calls < 64; ++calls) {
    const std::uint8_t call = in.octet();
    const std::uint32_t port = call / 8 % 4;
    switch (call % 8) {
      case 0:
        is_result(rnic_stage_reset(stage), stage);
        break;
      case 1: {
        std::uint64_t value = 0;
        is_result(rnic_stage_counter(stage, text_of(in.take(in.octet() % 32)).c_str(), &value), stage);
        break;
      }
      case 2: {
        const Structure row(in);
        is_result(rnic_stage_row(stage, port == 0 ? "streams" : "stream", in.octet(), row.get()), stage);
        break;
      }
      case 3:
      case 4: {
        const Structure message(in);
        is_result(rnic_stage_take(stage, port, message.get()), stage);
        break;
      }
      default: {
        const Structure message(in);
        is_result(rnic_stage_push(stage, port, message.get()), stage);
      }
    }
  }
  rnic_stage_close(stage);
}

const std::vector<Target>& targets() {
  static const std::vector<Target> all = {{"golden", golden}};
  return all;
}

}  // namespace rnic::fuzz
