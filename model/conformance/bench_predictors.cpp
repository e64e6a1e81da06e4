#include "model/conformance/bench_predictors.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <systemc>
#include <vector>

#include "model/common/check.h"
#include "model/golden/kinds.h"

namespace rnic::conformance {
namespace {

using golden::Bench;

template <class Named>
const Named& named(const std::vector<Named>& all, const std::string& name) {
  const auto at = std::find_if(all.begin(), all.end(), [&](const Named& each) { return each.name == name; });
  RNIC_CHECK(at != all.end());
  return *at;
}

template <class Body>
auto refusing(Body body) {
  try {
    return body();
  } catch (const golden::Error& error) {
    throw std::invalid_argument(error.what());
  }
}

// The parent of its stages, as each bench has a clock of the same name.
class BenchPredictor final : public Predictor, sc_core::sc_module {
 public:
  BenchPredictor(const sc_core::sc_module_name&, const golden::Kind& kind, const TwinSource* twins)
      : bench_(kind.make("{}")) {
    if (twins == nullptr) return;
    const std::vector<std::string> names = twins->names();
    const TwinSurroundings around{bench_->contexts(), &bench_->pool()};
    for (Stage* stage : bench_->stages()) {
      const std::string name = stage->basename();
      if (std::find(names.begin(), names.end(), name) == names.end()) continue;
      twins_.push_back(twins->make(name, *stage, around, TwinMode::kReplace));
    }
  }
  void row(const char* table, std::uint32_t index, const void* row) override {
    refusing([&] { named(bench_->tables(), table).set(index, row); });
  }
  void push(std::uint32_t port, const void* message) override {
    refusing([&] { bench_->ports().at(port).push(message); });
  }
  bool take(std::uint32_t port, void* message) override {
    return refusing([&] { return bench_->ports().at(port).take(message); });
  }

 private:
  golden::BenchPtr bench_;
  std::vector<TwinSource::Handle> twins_;
};

}  // namespace

std::unique_ptr<Predictor> BenchPredictors::open(const char* kind) const {
  std::vector<golden::Kind> kinds;
  golden::add_mpa_kinds(kinds);
  golden::add_atomic_kinds(kinds);
  return std::make_unique<BenchPredictor>(kind, named(kinds, kind), twins_);
}

}  // namespace rnic::conformance
