#include "model/system/tlp_trace.h"

#include "model/system/node.h"
#include "model/system/register_owner.h"

namespace rnic {
namespace {

using pcie::FlowClass;
using pcie::Tlp;

TraceKind kind_of(const Tlp& tlp) {
  switch (tlp.flow_class()) {
    case FlowClass::kPosted:
      return TraceKind::kTlpWrite;
    case FlowClass::kNonPosted:
      return TraceKind::kTlpRead;
    case FlowClass::kCompletion:
      break;
  }
  return TraceKind::kTlpCompletion;
}

}  // namespace

struct TlpTrace::Taps {
  class Port final : public pcie::TlpTap {
   public:
    Port(bool to_device, const Recorder& recorder, const Rnic& chip)
        : to_device_(to_device), recorder_(recorder), registers_(chip) {}

    void sent(const Tlp& tlp, std::uint64_t begins_ps, std::uint64_t) override {
      TraceEvent e;
      e.cycle = begins_ps;
      e.where = to_device_ ? "pcie.downstream" : "pcie.upstream";
      e.kind = kind_of(tlp);
      e.bytes = tlp.bytes;
      e.request = to_device_ ? registers_.of(tlp) : tlp.owner;
      if (e.has_address()) e.address = tlp.address;
      if (e.has_tag()) e.tag = tlp.tag;
      recorder_.detail(e);
    }

   private:
    const bool to_device_;
    const Recorder& recorder_;
    RegisterOwner registers_;
  };

  Taps(const Recorder& recorder, const Rnic& chip) : up(false, recorder, chip), down(true, recorder, chip) {}
  Port up, down;
};

TlpTrace::TlpTrace(Node& node, const Recorder& recorder) : taps_(std::make_unique<Taps>(recorder, node.chip)) {
  node.chip.pcie.endpoint.port.tap(taps_->up);
  node.root_complex.port.tap(taps_->down);
}

TlpTrace::~TlpTrace() = default;

}  // namespace rnic
