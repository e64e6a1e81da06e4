// Events of a run that a test tells, in place of a database or a log.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/diff/events.h"

namespace rnic::diff::test {

struct Line {
  std::uint64_t ps = 0;
  std::string request;  // "": of none; a number is a work request, other texts are other owners
  std::string place, kind;
  std::uint64_t content = 0;
  std::uint32_t offset = 0;
};

class ToldEvents final : public Events {
 public:
  ToldEvents(std::vector<Line> lines, Vocabulary& vocabulary, unsigned run) : lines_(std::move(lines)) {
    for (const Line& line : lines_) sources_.push_back(vocabulary.source("a", line.place, line.kind, run));
  }

  bool has_offsets() const override { return true; }
  void use_offsets(bool) override {}
  void rewind() override { next_ = 0; }
  bool next(Row& row) override {
    if (next_ == lines_.size()) return false;
    const Line& line = lines_[next_];
    row = {++next_, line.ps, kNoOwner, line.content, sources_[next_ - 1], line.offset};
    if (!line.request.empty()) row.owner = owner_of(hash(line.request), line.request.front() <= '9');
    return true;
  }
  Told tell(const Row& row) override {
    const Line& line = lines_[row.at - 1];
    return {line.ps, "a", line.place, line.kind, line.request, "", std::to_string(line.content), {}, {}};
  }
  std::optional<Frame> frame(const std::string&, std::uint64_t) override { return std::nullopt; }

 private:
  const std::vector<Line> lines_;
  std::vector<std::uint32_t> sources_;
  std::size_t next_ = 0;
};

}  // namespace rnic::diff::test
