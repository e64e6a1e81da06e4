#include "model/programs/consumer/make_consumer.h"

#include "model/common/check.h"
#include "model/programs/consumer/echo.h"
#include "model/programs/consumer/rdma_example.h"
#include "model/programs/consumer/rping.h"

namespace rnic::consumer {

std::unique_ptr<Consumer> make_consumer(host::Context& context, const ProgramSpec& spec) {
  switch (spec.tool) {
    case Tool::kRping:
      if (spec.part == Part::kClient) return std::make_unique<RpingClient>(context, spec);
      return std::make_unique<RpingServer>(context, spec);
    case Tool::kRdmaExample:
      if (spec.part == Part::kClient) return std::make_unique<RdmaClient>(context, spec);
      return std::make_unique<RdmaServer>(context, spec);
    case Tool::kEcho:
      if (spec.part == Part::kClient) return std::make_unique<EchoClient>(context, spec);
      return std::make_unique<EchoServer>(context, spec);
  }
  RNIC_CHECK_MSG(false, "a tool without a program");
  return nullptr;
}

}  // namespace rnic::consumer
