#include "model/diff/log_events.h"

#include <charconv>

#include "model/common/check.h"
#include "model/diff/words.h"

namespace rnic::diff {
namespace {

constexpr std::string_view kNames[] = {"time_ps", "node",    "where",  "kind", "bytes",
                                       "request", "receive", "offset", "words"};

bool is_tlp(std::string_view kind) { return kind.substr(0, 4) == "tlp_"; }

// Work requests are "a.3.17", "a.rq3.0" and "a.srq1.5".
Owner owner_by(std::string_view request) {
  if (request.empty()) return kNoOwner;
  std::string_view place = request.substr(request.find('.') + 1);
  for (const std::string_view word : {"rq", "srq"}) {
    if (place.substr(0, word.size()) == word) place.remove_prefix(word.size());
  }
  return owner_of(hash(request), !place.empty() && place.front() >= '0' && place.front() <= '9');
}

}  // namespace

LogEvents::LogEvents(const std::string& file, Vocabulary& vocabulary, unsigned run) : file_(file) {
  rewind();
  while (read_line()) {
    split();
    source_of_line(&vocabulary, run);
  }
  rewind();
}

void LogEvents::fail(const std::string& why) const {
  throw ConfigError(file_ + ": line " + std::to_string(number_) + ": " + why);
}

void LogEvents::rewind() {
  in_ = std::ifstream(file_, std::ios::binary);
  if (!in_) throw ConfigError(file_ + ": cannot be read");
  block_.clear();
  used_ = offset_ = next_ = number_ = last_ps_ = 0;
  in_line_ = 0;
  read_head();
}

void LogEvents::read_head() {
  if (!read_line()) line_ = {};
  split();
  columns_.fill(kNone);
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    for (std::size_t column = 0; column < kColumns; ++column) {
      if (fields_[i] == kNames[column]) columns_[column] = i;
    }
  }
  in_line_ = fields_.size();
  for (std::size_t column = 0; column < kColumns; ++column) {
    if (columns_[column] != kNone) continue;
    throw ConfigError(file_ + ": is no event log of this version of rnicsim: no column " + std::string(kNames[column]) +
                      "; rnicsim run … --trace " + file_ + " writes one");
  }
}

bool LogEvents::read_line() {
  std::size_t end = 0;
  while ((end = block_.find('\n', used_)) == std::string::npos) {
    block_.erase(0, used_);
    used_ = 0;
    const std::size_t had = block_.size();
    if (had > kBlock) fail("is too long for a log");
    block_.resize(had + kBlock);
    in_.read(block_.data() + had, kBlock);
    block_.resize(had + static_cast<std::size_t>(in_.gcount()));
    if (block_.size() > had) continue;
    ++number_;
    if (in_.bad()) fail("cannot be read");
    if (!block_.empty()) fail("has no end: the log was cut");
    return false;
  }
  ++number_;
  offset_ = next_;
  line_ = std::string_view(block_).substr(used_, end - used_);
  used_ = end + 1;
  next_ += line_.size() + 1;
  return true;
}

void LogEvents::split() {
  fields_.clear();
  std::string_view rest = line_;
  for (std::size_t tab; (tab = rest.find('\t')) != std::string_view::npos; rest.remove_prefix(tab + 1)) {
    fields_.push_back(rest.substr(0, tab));
  }
  fields_.push_back(rest);
  if (in_line_ != 0 && fields_.size() != in_line_) {
    fail("has " + std::to_string(fields_.size()) + " columns, and the first line " + std::to_string(in_line_));
  }
}

std::uint64_t LogEvents::natural(Column column) const {
  const std::string_view digits = field(column);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    fail(std::string(kNames[column]) + ": must be a natural number");
  }
  return value;
}

// The first reading, with a vocabulary, makes the sources known.
std::uint32_t LogEvents::source_of_line(Vocabulary* vocabulary, unsigned run) {
  std::string key;
  for (const Column column : {kNode, kWhere, kKind}) key.append(field(column)).push_back('\t');
  if (const auto known = sources_.find(key); known != sources_.end()) return known->second;
  if (vocabulary == nullptr) fail("has changed");
  const std::uint32_t source =
      vocabulary->source(std::string(field(kNode)), std::string(field(kWhere)), std::string(field(kKind)), run);
  sources_.emplace(std::move(key), source);
  return source;
}

bool LogEvents::next(Row& row) {
  if (!read_line()) return false;
  split();
  row.at = offset_;
  row.ps = natural(kTime);
  if (row.ps < last_ps_) fail("goes back in time");
  last_ps_ = row.ps;
  row.source = source_of_line(nullptr, 0);
  row.owner = owner_by(field(kRequest));
  const std::uint64_t bytes = field(kBytes).empty() ? UINT64_MAX : natural(kBytes);
  const std::uint64_t words = is_tlp(field(kKind)) ? 0 : hash(without_time(field(kWords)));
  row.offset = uses_offsets_ && !field(kOffset).empty() ? static_cast<std::uint32_t>(natural(kOffset)) : 0;
  row.content = mix(mix(bytes, owner_by(field(kReceive))), words);
  return true;
}

Told LogEvents::tell(const Row& row) {
  std::ifstream in(file_, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(row.at));
  std::string line;
  if (!std::getline(in, line)) throw ConfigError(file_ + ": cannot be read");
  line_ = line;
  split();
  Told told{natural(kTime),
            std::string(field(kNode)),
            std::string(field(kWhere)),
            std::string(field(kKind)),
            std::string(field(kRequest)),
            std::string(field(kReceive)),
            std::string(field(kWords)),
            {},
            {}};
  if (!field(kBytes).empty()) told.bytes = natural(kBytes);
  if (!field(kOffset).empty()) told.offset = natural(kOffset);
  return told;
}

}  // namespace rnic::diff
