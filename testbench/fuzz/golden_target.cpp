// Callers of librnic_golden's C interface who do as they please, as far as their structures are where they say.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "rnic_golden_messages.h"
#include "testbench/fuzz/input.h"

namespace rnic::fuzz {
namespace {

// Of kinds without contexts, and of those with them.
constexpr const char* kSettings[] = {"{}", "{\"beat_bytes\": 16}", "{\"beat_bytes\": 128, \"flows\": 1}",
                                     "{\"pipeline_cycles\": 32}"};
constexpr const char* kSmall = "{\"qps\": 4, \"srqs\": 2, \"stags\": 8, \"pages\": 8, \"max_ird\": 2, \"max_ord\": 2}";
constexpr std::uint8_t kBoard = 126;  // and no stage
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

// What the library says of itself.
const nlohmann::json& described() {
  static const nlohmann::json all = [] {
    nlohmann::json made = nlohmann::json::parse(rnic_description());
    for (const nlohmann::json& m : made["messages"]) made["by_name"][m["name"].get<std::string>()] = m;
    return made;
  }();
  return all;
}

// A structure as its message has it, with members that mostly are small numbers that fit, and now and then any; its
// octets may be those of an FPDU with the right length field, or of an SCTP packet, with the right checksum.
class Message {
 public:
  Message(Input& in, const std::string& name) {
    const nlohmann::json& of = described()["by_name"][name];
    const auto size = of["size"].get<std::size_t>();
    memory_ = std::make_unique<Block<std::uint8_t>>(size);
    put(0, static_cast<std::uint32_t>(size));
    for (const nlohmann::json& member : of["members"]) fill(in, member);
    if (of["octets"].get<bool>()) add_octets(in, name == "sctp_packet_octets");
    if (of["marks"].get<bool>()) put(32, std::uint32_t{0});
  }
  void* get() const { return memory_->get(); }

 private:
  template <class T>
  void put(std::size_t at, T value) {
    std::memcpy(memory_->get() + at, &value, sizeof value);
  }
  void fill(Input& in, const nlohmann::json& member) {
    const unsigned width = member["width"], octets = member["octets"];
    for (std::size_t i = 0; i < std::min(member["count"].get<std::size_t>(), std::size_t{8}); ++i) {
      const std::uint8_t how = in.octet();
      std::uint64_t value = how < 192 ? how % 8 : how < 224 ? 256u * (how % 8) + 0x5a : in.number(octets);
      if (how != 255 && width < 64) value &= (std::uint64_t{1} << width) - 1;
      std::memcpy(memory_->get() + member["offset"].get<std::size_t>() + i * octets, &value, octets);
    }
  }
  void add_octets(Input& in, bool packet) {
    const std::uint8_t how = in.octet();
    const std::size_t n = how < 128 ? how : (how - 127) * std::size_t{12};
    octets_ = std::make_unique<Block<std::uint8_t>>(n);
    const ByteSpan content = in.take(std::min<std::size_t>(n, 64));
    std::copy(content.begin(), content.end(), octets_->get());
    if (n >= 8 && n % 4 == 0 && how % 8 == 0) store_be16(octets_->get(), static_cast<std::uint16_t>(n - 6));
    if (packet && n >= 12) seal(n);
    put(4, static_cast<std::uint32_t>(n));
    put(8, octets_->get());
    put(16, static_cast<std::uint32_t>(n));
  }
  void seal(std::size_t n) {
    store_le32(octets_->get() + 8, 0);
    std::uint32_t crc = 0;
    rnic_crc32c(&crc, octets_->get(), n);
    store_le32(octets_->get() + 8, crc);
  }
  std::unique_ptr<Block<std::uint8_t>> memory_, octets_;
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
void board(Input& in) {
  const nlohmann::json& kinds = described()["kinds"];
  const std::uint8_t how = in.octet();
  const nlohmann::json& kind = kinds[how % 32 % kinds.size()];
  const std::string settings = how & 128 ? text_of(in.take(in.octet())) : kSettings[how / 32 % 4];
  rnic_board* board = nullptr;
  const std::int32_t opened =
      rnic_board_open(RNIC_GOLDEN_ABI, kind["name"].get<std::string>().c_str(), settings.c_str(), &board);
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
        const nlohmann::json& tables = kind["tables"];
        if (port == 0 || tables.empty()) {
          const Structure row(in);
          is_result(rnic_board_row(board, port == 1 ? "streams" : "stream", in.octet(), row.get(), cycle), board);
          break;
        }
        const nlohmann::json& table = tables[in.octet() % tables.size()];
        const Message row(in, table["row"]);
        is_result(rnic_board_row(board, table["name"].get<std::string>().c_str(), in.octet() % 8, row.get(), cycle),
                  board);
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
      case 6: {
        const Structure message(in);
        is_result(rnic_board_accepted(board, port, message.get(), cycle), board);
        break;
      }
      default: {
        const std::uint32_t of = in.octet() % kind["ports"].size();
        const Message m(in, kind["ports"][of]["message"]);
        const bool push = kind["ports"][of]["direction"] == "push";
        is_result((push ? rnic_board_accepted : rnic_board_given)(board, of, m.get(), cycle), board);
      }
    }
  }
  rnic_board_close(board);
}

// One call with a message as on the pins: any bits, or few; of the octets' vector, any or none.
void beat_call(Input& in, rnic_stage* stage, const nlohmann::json& kind, std::uint32_t what) {
  Block<std::uint32_t> bits(64), octets(32);
  const ByteSpan fields = in.take(in.octet() % 64), content = in.take(in.octet() % 32);
  if (!fields.empty()) std::memcpy(bits.get(), fields.data(), fields.size());
  if (!content.empty()) std::memcpy(octets.get(), content.data(), content.size());
  const std::uint8_t of = in.octet();
  std::uint32_t* const given = of & 128 ? nullptr : octets.get();
  const std::uint32_t port = of % 128 % (kind["ports"].size() + 1);
  if (what == 1) return is_result(rnic_stage_push_beat(stage, port, bits.get(), given), stage);
  if (what == 2) return is_result(rnic_stage_take_beat(stage, port, bits.get(), given), stage);
  const nlohmann::json& tables = kind["tables"];
  const std::string table = tables.empty() ? "qp" : tables[of % tables.size()]["name"];
  is_result(rnic_stage_row_bits(stage, table.c_str(), in.octet() % 16, bits.get()), stage);
}

// One call with a structure that may be anything, or is as the kind wants it.
void call(Input& in, rnic_stage* stage, const nlohmann::json& kind, std::uint8_t how) {
  const nlohmann::json &ports = kind["ports"], &tables = kind["tables"];
  const std::uint32_t port = how / 8 % 4;
  switch (how % 8) {
    case 0:
      if (port != 0) return beat_call(in, stage, kind, port);
      is_result(rnic_stage_reset(stage), stage);
      break;
    case 1: {
      std::uint64_t value = 0;
      is_result(rnic_stage_counter(stage, text_of(in.take(in.octet() % 32)).c_str(), &value), stage);
      break;
    }
    case 2:
    case 3: {
      const Structure any(in);
      if (how % 8 == 3) return is_result(rnic_stage_take(stage, port, any.get()), stage);
      is_result(rnic_stage_row(stage, port == 0 ? "streams" : "stream", in.octet(), any.get()), stage);
      break;
    }
    case 4: {
      if (tables.empty()) break;
      const nlohmann::json& table = tables[in.octet() % tables.size()];
      const Message row(in, table["row"]);
      is_result(rnic_stage_row(stage, table["name"].get<std::string>().c_str(), in.octet() % 16, row.get()), stage);
      break;
    }
    case 5: {
      const Structure any(in);
      is_result(rnic_stage_push(stage, port, any.get()), stage);
      break;
    }
    default: {
      const std::uint32_t of = in.octet() % ports.size();
      const Message m(in, ports[of]["message"]);
      const bool push = ports[of]["direction"] == "push";
      is_result(push ? rnic_stage_push(stage, of, m.get()) : rnic_stage_take(stage, of, m.get()), stage);
    }
  }
}

}  // namespace

void golden(ByteSpan octets) {
  Input in(octets);
  rnic_stage* stage = nullptr;
  const nlohmann::json& kinds = described()["kinds"];
  const std::uint8_t how = in.octet();
  if (how == kBoard) return board(in);
  const nlohmann::json& kind = kinds[how % 32 % kinds.size()];
  std::string settings = kSettings[how / 32 % 4];
  const bool contexts = std::any_of(kind["tables"].begin(), kind["tables"].end(),
                                    [](const nlohmann::json& table) { return table["name"] == "qp"; });
  if (contexts && how < 128) settings = kSmall;
  if (how >= 128) settings = text_of(in.take(in.octet()));
  const std::int32_t opened = rnic_stage_open(
      RNIC_GOLDEN_ABI, how == 127 ? "crc" : kind["name"].get<std::string>().c_str(), settings.c_str(), &stage);
  is_result(opened, stage);
  for (int calls = 0; opened == RNIC_OK && !in.empty() && calls < 64; ++calls) call(in, stage, kind, in.octet());
  rnic_stage_close(stage);
}

const std::vector<Target>& targets() {
  static const std::vector<Target> all = {{"golden", golden}};
  return all;
}

}  // namespace rnic::fuzz
