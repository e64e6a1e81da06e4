#include "model/system/chip_trace.h"

#include "model/trace/link_trace.h"

namespace rnic {
namespace {

class DropTrace final : public DropTap {
 public:
  DropTrace(const Described::DropsOf& of, const Recorder& recorder) : where_(of.where), recorder_(recorder) {
    of.drops->tap(*this);
  }
  void dropped(Cycle at, RequestId owner, std::uint32_t bytes, const char* why) override {
    TraceEvent e;
    e.cycle = at;
    e.where = where_;
    e.kind = TraceKind::kDropped;
    e.bytes = bytes;
    e.text = why;
    e.request = owner;
    recorder_.detail(e);
  }

 private:
  const char* const where_;
  const Recorder& recorder_;
};

class PointTrace final : public TracePointTap {
 public:
  PointTrace(const Described::PointOf& of, const Recorder& recorder)
      : where_(of.where), clk_(*of.clk), recorder_(recorder) {
    of.point->tap(*this);
  }
  void happened(TraceEvent event) override {
    event.cycle = clk_.now();
    event.where = where_;
    const bool timing_only = event.kind == TraceKind::kAtPort || event.kind == TraceKind::kTaken;
    timing_only ? recorder_.time(event) : recorder_.detail(event);
  }

 private:
  const char* const where_;
  const ClockDomain& clk_;
  const Recorder& recorder_;
};

// A read of work requests is requested: the fetch of those that it brings begins.
class FetchTrace final : public LinkTap {
 public:
  FetchTrace(const Described::FetchesOf& of, const Recorder& recorder) : of_(of), recorder_(recorder) {
    of.link->tap(*this);
  }
  void filled(const void* beat, Cycle now, Cycle) override {
    const Described::Fetch fetch = of_.fetch(beat);
    TraceEvent e;
    e.cycle = now;
    e.kind = TraceKind::kTaken;
    e.values = {static_cast<std::uint32_t>(TraceKind::kDoorbell), fetch.octets / of_.entry_octets};
    e.request = fetch.first;
    recorder_.time(e);
  }

 private:
  const Described::FetchesOf of_;
  const Recorder& recorder_;
};

}  // namespace

struct ChipTrace::Observers {
  template <class Observer, class... Arguments>
  void add(Arguments&&... arguments) {
    kept.push_back(std::make_shared<Observer>(std::forward<Arguments>(arguments)...));
  }
  std::vector<std::shared_ptr<void>> kept;
};

ChipTrace::ChipTrace(const Described& parts, const Recorder& recorder) : observers_(std::make_unique<Observers>()) {
  RNIC_CHECK_MSG(parts.owners != nullptr, "no part of the device knows owners of requests");
  const Owners& owners = *parts.owners;
  for (LinkBase* link : parts.links) {
    if (!link->traced() || (link->detailed() && !recorder.detailed())) continue;
    observers_->add<LinkTrace>(*link, recorder, owners);
  }
  if (recorder.detailed()) {
    for (const Described::DropsOf& drops : parts.drops) observers_->add<DropTrace>(drops, recorder);
    for (const Described::PointOf& point : parts.points) observers_->add<PointTrace>(point, recorder);
  }
  if (recorder.timing()) {  // where a queue ends and service begins
    for (const Described::FetchesOf& fetches : parts.fetches) observers_->add<FetchTrace>(fetches, recorder);
    for (LinkBase* link : parts.taken) observers_->add<TakeTrace>(*link, recorder, owners);
  }
  for (const auto& tell : parts.events) {
    tell([&recorder](const TraceEvent& event) { recorder(event); });
  }
}

ChipTrace::~ChipTrace() = default;

}  // namespace rnic
