#include "model/system/trace_filter.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/common/check.h"
#include "model/common/cited.h"
#include "model/common/exact_time.h"
#include "model/config/nearest.h"

namespace rnic {
namespace {

// Which of the known words are named. ConfigError for another one.
std::vector<bool> named(const std::vector<std::string>& words, const std::vector<std::string>& known,
                        const char* option, const char* what) {
  std::vector<bool> are(words.empty() ? 0 : known.size());
  for (const std::string& word : words) {
    const auto found = std::find(known.begin(), known.end(), word);
    if (found == known.end()) {
      throw ConfigError(
          fmt::format("--{} {}: unknown {}; the nearest is {}", option, cited(word), what, nearest(word, known)));
    }
    are[static_cast<std::size_t>(found - known.begin())] = true;
  }
  return are;
}

std::vector<std::string> kinds() {
  std::vector<std::string> all;
  for (unsigned kind = 0; kind < kTraceKinds; ++kind) all.emplace_back(to_string(static_cast<TraceKind>(kind)));
  return all;
}

}  // namespace

TraceFilter::TraceFilter(const TraceFilterOptions& options, std::vector<std::string> nodes)
    : options_(options),
      nodes_(std::move(nodes)),
      of_node_(named(options.nodes, nodes_, "trace-node", "node")),
      of_kind_(named(options.kinds, kinds(), "trace-kind", "kind of event")) {
  for (const std::string& text : options.requests) requests_.push_back(request_of(text));
}

RequestId TraceFilter::request_of(const std::string& text) const {
  if (const auto id = RequestId::parse(text, nodes_)) return *id;
  const std::string node = text.substr(0, text.find('.'));
  if (std::find(nodes_.begin(), nodes_.end(), node) == nodes_.end()) {
    throw ConfigError(fmt::format("--trace-request {}: unknown node {}; the nearest is {}", cited(text), cited(node),
                                  nearest(node, nodes_)));
  }
  throw ConfigError(fmt::format(
      "--trace-request {}: not an id as the log has them, such as {}.0.17: node, queue pair, number of the request",
      cited(text), node));
}

bool TraceFilter::passes(const TimedEvent& t) const {
  const auto is_named = [&t](RequestId id) { return id == t.event.request || id == t.event.receive; };
  return t.ps >= options_.from_ps && t.ps < options_.to_ps && (of_node_.empty() || of_node_[t.node]) &&
         (of_kind_.empty() || of_kind_[static_cast<unsigned>(t.event.kind)]) &&
         (requests_.empty() || std::any_of(requests_.begin(), requests_.end(), is_named));
}

void TraceFilter::events(const std::vector<TimedEvent>& batch) {
  passing_.clear();
  std::copy_if(batch.begin(), batch.end(), std::back_inserter(passing_),
               [this](const TimedEvent& t) { return passes(t); });
  seen_ += batch.size();
  passed_ += passing_.size();
  if (passing_.empty()) return;
  for (EventReader* reader : readers_) reader->events(passing_);
}

std::string TraceFilter::text() const {
  std::string all;
  const auto add = [&all](const char* option, const std::string& value) {
    all += fmt::format("{}--trace-{} {}", all.empty() ? "" : " ", option, value);
  };
  for (const std::string& request : options_.requests) add("request", request);
  for (const std::string& node : options_.nodes) add("node", node);
  for (const std::string& kind : options_.kinds) add("kind", kind);
  if (options_.from_ps != 0) add("from", exact_time(options_.from_ps));
  if (options_.to_ps != UINT64_MAX) add("to", exact_time(options_.to_ps));
  return all;
}

}  // namespace rnic
