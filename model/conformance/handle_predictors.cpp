#include "model/conformance/handle_predictors.h"

#include <cstdint>
#include <stdexcept>

#include "model/common/check.h"
#include "model/golden/abi/rnic_golden.h"

namespace rnic::conformance {
namespace {

class HandlePredictor final : public Predictor {
 public:
  explicit HandlePredictor(const char* kind) {
    const std::int32_t status = rnic_stage_open(RNIC_GOLDEN_ABI, kind, nullptr, &stage_);
    if (status == RNIC_OK) return;
    const std::string text = rnic_stage_text(stage_);
    rnic_stage_close(stage_);
    throw InternalError(text);
  }
  HandlePredictor(const HandlePredictor&) = delete;
  HandlePredictor& operator=(const HandlePredictor&) = delete;
  ~HandlePredictor() override { rnic_stage_close(stage_); }

  void row(const char* table, std::uint32_t index, const void* row) override {
    check(rnic_stage_row(stage_, table, index, row));
  }
  void push(std::uint32_t port, const void* message) override { check(rnic_stage_push(stage_, port, message)); }
  bool take(std::uint32_t port, void* message) override {
    const std::int32_t status = rnic_stage_take(stage_, port, message);
    check(status);
    return status == RNIC_OK;
  }

 private:
  void check(std::int32_t status) const {
    if (status == RNIC_E_VALUE) throw std::invalid_argument(rnic_stage_text(stage_));
    if (status < RNIC_OK) throw InternalError(rnic_stage_text(stage_));
  }

  rnic_stage* stage_ = nullptr;
};

}  // namespace

std::unique_ptr<Predictor> HandlePredictors::open(const char* kind) const {
  return std::make_unique<HandlePredictor>(kind);
}

}  // namespace rnic::conformance
