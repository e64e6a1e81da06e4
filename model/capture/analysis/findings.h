// What an analysis may say of a direction: its figures without those that the capture cannot tell, and why these are
// left out.
#pragma once

#include <string>
#include <vector>

#include "model/capture/analysis/analysis.h"

namespace rnic::capture {

struct Finding {
  FigureKind kind;
  Summary summary;
  bool with_path;  // the way from the tap to who reacts, and back, is in it
};

struct LeftOut {
  FigureKind kind;
  std::string why;
};

struct Findings {
  std::vector<Finding> figures;
  std::vector<LeftOut> left_out;
  std::vector<std::string> notes;
  std::uint64_t needless_sure = 0, needless_possibly = 0;
};

Findings findings_of(const Analysis& analysis, const ConnectionAnalysis& connection, Side from);

// "beside the initiator"
const char* to_string(Tap tap);
// What nobody knows who sees the connection only there.
std::vector<std::string> cannot_know(Tap tap);
// What makes the whole capture less than it seems.
std::vector<std::string> warnings_of(const Analysis& analysis);

}  // namespace rnic::capture
