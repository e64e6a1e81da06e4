// Chooses the segments that `decode --list` shows.
#pragma once

#include <string>
#include <vector>

#include "model/capture/segment_columns.h"

namespace rnic::capture {

class SegmentFilter {
 public:
  SegmentFilter() = default;
  // Each of `terms` is "key=value", where the key is the name of a column. ConfigError with the nearest right one for
  // an unknown key or value.
  explicit SegmentFilter(const std::vector<std::string>& terms);

  // For each key of the filter the segment has one of its values.
  bool passes(const SegmentList& list, const ListedSegment& segment) const;

 private:
  struct Term {
    const Column* column;
    std::vector<std::string> texts;  // of columns of text, where "-" stands for none
    std::vector<Cell> numbers;       // of the others
    bool holds(const Cell& cell) const;
  };
  void add(const std::string& term);

  std::vector<Term> terms_;  // one for each key
};

}  // namespace rnic::capture
