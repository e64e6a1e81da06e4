#include "model/rnic/fwcpu/crash/source_lines.h"

#include <algorithm>
#include <utility>

#include "model/rnic/fwcpu/crash/dwarf_reader.h"

namespace rnic {
namespace {

// Section 7.5.6, and 7.22 for the columns of a file table.
enum LineForm : std::uint64_t {
  kFormData2 = 0x05,
  kFormData4,
  kFormData8,
  kFormString,
  kFormBlock,
  kFormData1 = 0x0b,
  kFormStrp = 0x0e,
  kFormUdata,
  kFormData16 = 0x1e,
  kFormLineStrp
};
enum LineColumn : std::uint64_t { kColumnPath = 1, kColumnFolder };

struct SourceFile {
  std::string path;
  std::uint64_t folder = 0;
};

// A unit's header: how to read its program, and its files.
class LineHeader {
 public:
  unsigned version = 0, step = 1, line_range = 1, first_special = 1;
  int line_base = 0;
  std::vector<std::uint8_t> arguments;  // of each standard opcode

  // False for an unknown version. `unit` is after the length; what it has left is the line number program.
  bool read(DwarfReader& unit, const LineSections& sections) {
    version = unit.u16();
    if (version < 2 || version > 5) return false;
    if (version == 5) unit.skip(2);  // sizes of addresses and segment selectors
    DwarfReader head = unit.piece(unit.u32());
    step = head.u8();
    if (version >= 4) head.skip(1);  // VLIW machines
    head.skip(1);                    // default_is_stmt
    line_base = static_cast<std::int8_t>(head.u8());
    line_range = head.u8();
    first_special = head.u8();
    if (line_range == 0 || first_special == 0) return false;
    for (unsigned i = 1; i < first_special; ++i) arguments.push_back(head.u8());
    if (version == 5) {
      folders_ = table(head, sections);
      files_ = table(head, sections);
    } else {
      read_old_tables(head);
    }
    return unit.good();
  }

  // "folder/file" by its number in the program.
  std::string file(std::uint64_t number) const {
    if (number >= files_.size()) return "?";
    const SourceFile& f = files_[number];
    const std::string folder = f.folder < folders_.size() ? folders_[f.folder].path : "";
    std::string path = folder.empty() || f.path[0] == '/' ? f.path : folder + '/' + f.path;
    while (path.compare(0, 3, "../") == 0) path.erase(0, 3);  // some compilers start from the build folder
    return path;
  }

 private:
  static SourceFile entry(DwarfReader& head, const LineSections& sections,
                          const std::vector<std::pair<std::uint64_t, std::uint64_t>>& columns) {
    SourceFile f;
    for (const auto& [column, form] : columns) {
      std::string text;
      std::uint64_t number = 0;
      switch (form) {
        case kFormString:
          text = head.text();
          break;
        case kFormStrp:
          text = DwarfReader(sections.str.subspan(head.u32())).text();
          break;
        case kFormLineStrp:
          text = DwarfReader(sections.line_str.subspan(head.u32())).text();
          break;
        case kFormData1:
          number = head.u8();
          break;
        case kFormData2:
          number = head.u16();
          break;
        case kFormData4:
          number = head.u32();
          break;
        case kFormData8:
          head.skip(8);
          break;
        case kFormUdata:
          number = head.unsigned_leb();
          break;
        case kFormBlock:
          head.skip(head.unsigned_leb());
          break;
        case kFormData16:
          head.skip(16);
          break;
        default:  // of an unknown length
          head.skip(UINT64_MAX);
      }
      if (column == kColumnPath) f.path = text;
      if (column == kColumnFolder) f.folder = number;
    }
    return f;
  }

  static std::vector<SourceFile> table(DwarfReader& head, const LineSections& sections) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> columns(head.u8());
    for (auto& [column, form] : columns) {
      column = head.unsigned_leb();
      form = head.unsigned_leb();
    }
    std::vector<SourceFile> entries;
    for (std::uint64_t n = head.unsigned_leb(); n != 0 && !columns.empty() && !head.at_end(); --n) {
      entries.push_back(entry(head, sections, columns));
    }
    return entries;
  }

  // Before version 5 tables begin with number 1, and folder 0 is where the compiler ran.
  void read_old_tables(DwarfReader& head) {
    folders_.emplace_back();
    files_.emplace_back();
    while (head.good()) {
      std::string path = head.text();
      if (path.empty()) break;
      folders_.push_back({std::move(path)});
    }
    while (head.good()) {
      std::string path = head.text();
      if (path.empty()) break;
      const std::uint64_t folder = head.unsigned_leb();
      head.unsigned_leb();  // time
      head.unsigned_leb();  // size
      files_.push_back({std::move(path), folder});
    }
  }

  std::vector<SourceFile> folders_, files_;
};

// A line holds from its address to that of the next line of its sequence.
struct LineRow {
  std::uint64_t address = 0, file = 1;
  std::int64_t line = 1;
};

// Calls f(row, address of the next row) for each.
template <class F>
void run_lines(const LineHeader& head, DwarfReader& program, F f) {
  enum Standard : std::uint8_t {
    kExtended,
    kCopy,
    kAdvancePc,
    kAdvanceLine,
    kSetFile,
    kConstAddPc = 8,
    kFixedAdvancePc
  };
  enum Extended : std::uint8_t { kEndSequence = 1, kSetAddress };
  LineRow now, before;
  bool has_before = false, left_out = false;
  const auto put = [&](bool ends) {
    if (!has_before) left_out = now.address == 0;  // by the linker, as it is never called
    else if (!left_out) f(before, now.address);
    before = now;
    has_before = !ends;
    if (ends) now = LineRow();
  };
  const auto advance = [&](unsigned special) { now.address += std::uint64_t{special / head.line_range} * head.step; };
  while (!program.at_end()) {
    const std::uint8_t op = program.u8();
    if (op >= head.first_special) {
      const unsigned special = op - head.first_special;
      advance(special);
      now.line += head.line_base + static_cast<int>(special % head.line_range);
      put(false);
      continue;
    }
    switch (op) {
      case kExtended: {
        const std::uint64_t bytes = program.unsigned_leb();
        DwarfReader extended = program.piece(bytes);
        const std::uint8_t what = extended.u8();
        if (what == kEndSequence) put(true);
        if (what == kSetAddress && bytes <= 9) now.address = extended.number(static_cast<unsigned>(bytes - 1));
        break;
      }
      case kCopy:
        put(false);
        break;
      case kAdvancePc:
        now.address += program.unsigned_leb() * head.step;
        break;
      case kAdvanceLine:
        now.line += program.signed_leb();
        break;
      case kSetFile:
        now.file = program.unsigned_leb();
        break;
      case kConstAddPc:
        advance(255 - head.first_special);
        break;
      case kFixedAdvancePc:
        now.address += program.u16();
        break;
      default:
        for (unsigned n = head.arguments[op - 1]; n != 0; --n) program.unsigned_leb();
    }
  }
}

}  // namespace

std::vector<std::string> source_lines(const LineSections& sections, const std::vector<std::uint64_t>& addresses) {
  std::vector<std::string> lines(addresses.size());
  for (DwarfReader units(sections.line); !units.at_end();) {
    DwarfReader unit = units.piece(units.u32());
    LineHeader head;
    if (!head.read(unit, sections)) continue;
    run_lines(head, unit, [&](const LineRow& row, std::uint64_t end) {
      for (std::size_t i = 0; i < addresses.size(); ++i) {
        if (row.address > addresses[i] || addresses[i] >= end) continue;
        lines[i] = head.file(row.file) + ':' + std::to_string(row.line);
      }
    });
  }
  return lines;
}

}  // namespace rnic
