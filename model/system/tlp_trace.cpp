#include "model/system/tlp_trace.h"

#include "model/rnic/pcie/access_owner.h"
#include "model/rnic/pcie/pcie_port.h"

namespace rnic {
namespace {

using pcie::FlowClass;
using pcie::Tlp;

TraceKind kind_of(const Tlp& tlp) {
  if (tlp.is_config()) return TraceKind::kTlpConfig;
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

class TlpTrace::Port final : public pcie::TlpTap {
 public:
  Port(const Described& parts, bool to_device, const Recorder& recorder) : to_device_(to_device), recorder_(recorder) {
    if (to_device) accesses_ = parts.access_owners();
  }

  void reset() override { accesses_->reset(); }
  void sent(const Tlp& tlp, std::uint64_t begins_ps, std::uint64_t) override {
    TraceEvent e;
    e.cycle = begins_ps;
    e.where = to_device_ ? "pcie.downstream" : "pcie.upstream";
    e.kind = kind_of(tlp);
    e.bytes = tlp.bytes;
    e.request = to_device_ ? accesses_->of(tlp) : tlp.owner;
    if (e.has_address()) e.set_address(tlp.address);
    if (e.has_tag()) e.set_tag(tlp.tag);
    recorder_.detail(e);
  }

 private:
  const bool to_device_;
  const Recorder& recorder_;
  std::unique_ptr<pcie::AccessOwner> accesses_;
};

TlpTrace::TlpTrace(const Described& parts, const Recorder& recorder) {
  for (const Described::TlpsOf& of : parts.tlps) of.port->tap(ports_.emplace_back(parts, of.to_device, recorder));
}

TlpTrace::~TlpTrace() = default;

}  // namespace rnic
