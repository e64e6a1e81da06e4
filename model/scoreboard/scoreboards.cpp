#include "model/scoreboard/scoreboards.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "model/common/check.h"
#include "model/rnic/rnic.h"
#include "model/rnic/twins.h"
#include "model/scoreboard/context_rows.h"
#include "model/scoreboard/watched_stages.h"

namespace rnic {
namespace {

using scoreboard::ContextRows;
using scoreboard::StageBoard;
using scoreboard::WatchedStage;

std::vector<WatchedStage> all_watched() {
  std::vector<WatchedStage> all;
  for (const auto* theme :
       {&scoreboard::watched_streams(), &scoreboard::watched_requests(), &scoreboard::watched_placement()}) {
    all.insert(all.end(), theme->begin(), theme->end());
  }
  return all;
}

WatchedStage watched(const std::string& name) {
  for (const WatchedStage& stage : all_watched()) {
    if (name == stage.name) return stage;
  }
  throw InternalError("no scoreboard is called " + name);
}

Stage& stage_of(const Rnic& chip, const std::string& name) {
  for (Stage* stage : chip.stages()) {
    if (name == stage->basename()) return *stage;
  }
  throw InternalError("a chip has no stage " + name);
}

// Contexts that the stage looks up, of which the chip has some only: the predictor has no cache of them.
struct Cached {
  const char* what;
  const char* setting;
};
std::optional<Cached> cached_contexts(const Rnic& chip, const WatchedStage& stage) {
  const ContextStore& contexts = chip.contexts();
  const auto needs = [&stage](unsigned table) { return (stage.whole & table) != 0; };
  if (needs(ContextRows::kQp) && contexts.rx_table.cached())
    return Cached{"queue pairs' contexts", "rnic.context.cache.qp.entries"};
  if (needs(ContextRows::kStags) && contexts.stag_table.cached())
    return Cached{"STags", "rnic.context.cache.stag.entries"};
  if (needs(ContextRows::kStags) && contexts.page_table.cached())
    return Cached{"page table", "rnic.context.cache.page.entries"};
  if (needs(ContextRows::kSrq) && contexts.srq_table.cached())
    return Cached{"shared receive queues", "rnic.context.cache.srq.entries"};
  return std::nullopt;
}

std::unique_ptr<StageBoard> board_of(Rnic& chip, const std::string& name, const ScoreboardOptions& options) {
  const WatchedStage kind = watched(name);
  Stage& stage = stage_of(chip, name);
  const scoreboard::WatchedChip surroundings{chip.config().datapath.beat_bytes, &chip.contexts(),
                                             &chip.config().terminate, &chip.config().responder.atomic_alu};
  const std::string settings =
      fmt::format("{{{}, \"max_latency\": {}, \"race_window\": {}}}", kind.settings(stage, surroundings),
                  options.max_latency, options.race_window);
  auto board = std::make_unique<StageBoard>(stage, kind.name, settings);
  kind.ports(stage, surroundings, *board);
  return board;
}

// The library's lines between its name for the board and what it says of a wave.
std::string lines_of(const StageBoard& board) {
  std::string text = board.fault();
  const std::string kind = std::string(board.stage().basename()) + ": ";
  if (text.compare(0, kind.size(), kind) == 0) text.erase(0, kind.size());
  return text.substr(0, text.find("\n  see "));
}

}  // namespace

Scoreboards::Scoreboards(const std::vector<Rnic*>& chips, const ScoreboardOptions& options) {
  if (!options.any()) return;
  std::vector<std::string> all;
  for (const WatchedStage& stage : all_watched()) all.emplace_back(stage.name);
  asked_for_ = stage_names(options.stages, all, "a scoreboard");
  const bool is_all = (',' + options.stages + ',').find(",all,") != std::string::npos;
  std::map<std::string, std::vector<std::string>> refused;  // stages of chips, by name
  for (Rnic* chip : chips) {
    for (const std::string& name : asked_for_) {
      const auto cached = cached_contexts(*chip, watched(name));
      const char* const stage = stage_of(*chip, name).name();
      if (!cached) {
        boards_.push_back(board_of(*chip, name, options));
      } else if (is_all) {
        refused[name].emplace_back(stage);
      } else {
        throw ConfigError(fmt::format("--scoreboard: {} has its {} in a cache ({}); a board needs all on the chip",
                                      stage, cached->what, cached->setting));
      }
    }
  }
  for (auto& [name, stages] : refused) {
    if (stages.size() == chips.size()) stages = {name};
    left_out_.insert(left_out_.end(), stages.begin(), stages.end());
  }
  if (is_all) asked_for_.clear();
}

Scoreboards::~Scoreboards() = default;

void Scoreboards::finish(const std::string& waiting) {
  for (const auto& board : boards_) {
    board->finish(waiting.find(std::string(board->stage().name()) + " waits for") == std::string::npos);
  }
}

std::optional<Scoreboards::Fault> Scoreboards::fault() const {
  for (const auto& board : boards_) {
    if (board->fault().empty()) continue;
    const std::uint64_t period_ps = board->stage().clock().period_ps();
    return Fault{board->stage().name(), board->stage().basename(),       lines_of(*board),
                 board->fault_of(),     board->fault_from() * period_ps, board->fault_to() * period_ps};
  }
  return std::nullopt;
}

Scoreboards::Summary Scoreboards::summary() const {
  std::uint64_t given = 0;
  std::map<std::string, std::uint64_t> of_stage;
  nlohmann::ordered_json reports = nlohmann::ordered_json::object();
  for (const auto& board : boards_) {
    given += board->given();
    of_stage[board->stage().basename()] += board->given();
    reports[board->stage().name()] = nlohmann::ordered_json::parse(board->report());
  }
  std::vector<std::string> idle;
  for (const auto& [name, n] : of_stage) {
    if (n == 0) idle.push_back(name);
  }
  Summary summary{fmt::format("scoreboards: {} transactions of {} stages are right", given, boards_.size()),
                  reports.dump(1), ""};
  if (!idle.empty()) summary.text += fmt::format("; nothing passed {}", fmt::join(idle, ", "));
  if (!left_out_.empty()) summary.text += fmt::format("; not compared: {}", fmt::join(left_out_, ", "));
  const auto nothing =
      std::find_if(asked_for_.begin(), asked_for_.end(), [&](const auto& name) { return of_stage.at(name) == 0; });
  if (nothing != asked_for_.end()) summary.nothing = fmt::format("--scoreboard: nothing was compared of {}", *nothing);
  else if (given == 0) summary.nothing = "--scoreboard: nothing was compared";
  return summary;
}

}  // namespace rnic
