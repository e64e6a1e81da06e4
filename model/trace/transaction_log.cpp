#include "model/trace/transaction_log.h"

#include <charconv>
#include <cstring>
#include <string_view>

namespace rnic {
namespace {

constexpr std::size_t kDigits = 20;  // of the largest number

// Appends to memory that is large enough. This is half the cost of a log.
class Appender {
 public:
  explicit Appender(char* to) : to_(to) {}
  void text(std::string_view text) {
    std::memcpy(to_, text.data(), text.size());
    to_ += text.size();
  }
  void number(std::uint64_t value, int base = 10) {
    if (value < 10) *to_++ = static_cast<char>('0' + value);
    else to_ = std::to_chars(to_, to_ + kDigits, value, base).ptr;
  }
  void tab() { *to_++ = '\t'; }
  void line_end() { *to_++ = '\n'; }
  char* end() const { return to_; }

 private:
  char* to_;
};

void add_tlp_words(Appender& line, const TraceEvent& e) {
  if (e.has_tag()) {
    line.text("tag ");
    line.number(e.tag());
  }
  if (e.has_tag() && e.has_address()) line.text(" ");
  if (e.has_address()) {
    line.text("address 0x");
    line.number(e.address(), 16);
  }
}

}  // namespace

std::string tlp_words(const TraceEvent& event) {
  char text[64];
  Appender words(text);
  add_tlp_words(words, event);
  return {text, words.end()};
}

TransactionLog::TransactionLog(const std::string& file, std::vector<std::string> nodes, EventWords words)
    : file_(file), nodes_(std::move(nodes)), words_(std::move(words)) {
  file_.write("time_ps\tnode\twhere\tkind\tflow\tqpn\tbytes\trequest\treceive\toffset\twords\n");
}

void TransactionLog::events(const std::vector<TimedEvent>& batch) {
  constexpr std::size_t kNumbersAndKind = 256, kPiece = 1 << 16;
  std::size_t used = 0;
  for (const TimedEvent& t : batch) {
    const TraceEvent& e = t.event;
    const std::string_view node = nodes_[t.node], where = e.where;
    const std::string words = is_tlp(e.kind) ? std::string() : words_(e);
    const std::size_t most = node.size() + where.size() + words.size() + kNumbersAndKind;
    if (text_.size() < used + most) text_.resize(used + most + kPiece);
    Appender line(text_.data() + used);
    line.number(t.ps);
    line.tab();
    line.text(node);
    line.tab();
    line.text(where);
    line.tab();
    line.text(to_string(e.kind));
    line.tab();
    for (const std::uint32_t n : {e.flow.v, e.qpn, e.bytes}) {
      if (n != TraceEvent::kNone) line.number(n);
      line.tab();
    }
    for (const RequestId id : {e.request, e.receive}) {
      if (id) line.text(id.text(nodes_));
      line.tab();
    }
    if (e.offset != TraceEvent::kNone) line.number(e.offset);
    line.tab();
    if (is_tlp(e.kind)) add_tlp_words(line, e);
    else line.text(words);
    line.line_end();
    used = static_cast<std::size_t>(line.end() - text_.data());
  }
  file_.write(ByteSpan(reinterpret_cast<const std::uint8_t*>(text_.data()), used));
}

}  // namespace rnic
