// The twins that this project has, Verilated.
#pragma once

#include "model/rnic/twins.h"

namespace rnic::rtl {

class VerilatedTwins final : public TwinSource {
 public:
  Handle make(MpaFramer& stage, const ContextStore& contexts, TwinMode mode) const override;
  Handle make(MarkerInserter& stage, const ContextStore& contexts, BufferPool& pool, TwinMode mode) const override;
  Handle make(CrcInsert& stage, TwinMode mode) const override;
  Handle make(MpaDeframer& stage, const ContextStore& contexts, TwinMode mode) const override;
  Handle make(CrcCheck& stage, TwinMode mode) const override;
  Handle make(Irrq& stage, const ContextStore& contexts, TwinMode mode) const override;
  Handle make(DdpPlacement& stage, ContextStore& contexts, TwinMode mode) const override;
  Handle make(ResponseQueue& stage, ContextStore& contexts, TwinMode mode) const override;
  Handle make(TerminateGenerator& stage, const ContextStore& contexts, BufferPool& buffers,
              const TerminateConfig& config, TwinMode mode) const override;
  bool shows_inside() const override;
  Handle make(AtomicAlu& stage, ContextStore& contexts, TwinMode mode) const override;
};

}  // namespace rnic::rtl
