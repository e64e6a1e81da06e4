// The events of a run, kept for callers.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "model/trace/event_stream.h"

struct rnic_event;

namespace rnic::golden {

class KeptEvents final : public EventReader {
 public:
  void name_nodes(std::vector<std::string> nodes) { nodes_ = std::move(nodes); }
  void events(const std::vector<TimedEvent>& batch) override;

  // Event number i of a kind, or of all with null; nullptr: there are fewer. Throws Error for an unknown kind.
  const TimedEvent* find(const char* kind, std::uint64_t i) const;
  // Fills in what callers see of it. The texts stay until the next call.
  void show(const TimedEvent& t, rnic_event& event);

 private:
  std::vector<std::string> nodes_;
  std::vector<TimedEvent> all_;
  std::array<std::vector<std::uint32_t>, kTraceKinds> of_kind_;  // places in all_
  std::string request_, receive_, words_;                        // of the event that was shown last
};

}  // namespace rnic::golden
