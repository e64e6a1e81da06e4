#include "rtl-stubs/loaded/loaded_model.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <dlfcn.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/common/check.h"
#include "model/config/nearest.h"
#include "model/trace/waves.h"

namespace rnic::rtl {
namespace {

// A name without a folder would be looked for in the system's.
std::string path_of(const std::string& file) { return file.find('/') == std::string::npos ? "./" + file : file; }

std::size_t octets_of_port(std::uint32_t bits) {
  for (const std::uint32_t octets : {1u, 2u, 4u, 8u}) {
    if (bits <= 8 * octets) return octets;
  }
  return std::size_t{(bits + 31) / 32} * 4;
}

const char* way(std::uint32_t direction) { return direction == RNIC_RTL_INPUT ? "an input" : "an output"; }

}  // namespace

RtlLibrary::RtlLibrary(std::string file, std::string_view block)
    : file_(std::move(file)), handle_(dlopen(path_of(file_).c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (!std::filesystem::exists(path_of(file_))) refuse("there is no such file");
  if (handle_ == nullptr) {
    const char* const why = dlerror();
    refuse(fmt::format("it is no shared library that can be loaded ({})", why == nullptr ? "no reason is given" : why));
  }
  table_ = static_cast<const rnic_rtl*>(dlsym(handle_, "rnic_rtl_1"));
  if (table_ == nullptr) refuse("it has no symbol rnic_rtl_1, which `rnicsim rtl` gives a library");
  if (table_->abi != RNIC_RTL_ABI || table_->size < sizeof(rnic_rtl)) {
    refuse(fmt::format("its rnic_rtl_1 has ABI {} and {} octets, this program's ABI {} and {}; build it again",
                       table_->abi, table_->size, RNIC_RTL_ABI, sizeof(rnic_rtl)));
  }
  if (block != table_->block) refuse(fmt::format("it has RTL for {}, not for {}", table_->block, block));
}

RtlLibrary::~RtlLibrary() {
  if (handle_ != nullptr) dlclose(handle_);
}

void RtlLibrary::refuse(const std::string& what) const { throw ConfigError(file_ + ": " + what); }

LoadedModel::LoadedModel(const Source& source) : source_(source), instance_(table().open()) {
  if (instance_ == nullptr) library().refuse("it makes no instance of its block");
  check_parameters();
}

LoadedModel::~LoadedModel() { table().close(instance_); }

std::string LoadedModel::failure() const {
  const char* const text = table().failed(instance_);
  return text == nullptr ? "" : text;
}

bool LoadedModel::dump(std::uint64_t ps, const char* file) const {
  return table().dump != nullptr && table().dump(instance_, ps, file) == 0;
}

void LoadedModel::check_parameters() const {
  const auto built = nlohmann::json::parse(table().parameters_json, nullptr, false);
  if (!built.is_object()) library().refuse("its parameters_json is no JSON object");
  for (const TwinParameter& p : source_.parameters) {
    const auto its = built.find(p.name);
    if (its == built.end() || *its == p.value) continue;
    library().refuse(
        fmt::format("it was built with {} = {}, but {} = {} needs {}", p.name, its->dump(), p.setting, p.set, p.value));
  }
}

void LoadedModel::check_inputs() const {
  for (std::uint32_t i = 0; i < table().port_count; ++i) {
    const rnic_rtl_port& port = table().ports[i];
    if (port.direction != RNIC_RTL_INPUT || std::find(names_.begin(), names_.end(), port.name) != names_.end())
      continue;
    library().refuse(fmt::format("{} has no input {}; the nearest port is {}", table().block, port.name,
                                 nearest(port.name, names_)));
  }
}

const rnic_rtl_port* LoadedModel::find(std::string_view name) const {
  const rnic_rtl_port* const end = table().ports + table().port_count;
  const rnic_rtl_port* const its =
      std::find_if(table().ports, end, [&](const rnic_rtl_port& p) { return name == p.name; });
  return its == end ? nullptr : its;
}

void* LoadedModel::named(const char* name, std::uint32_t direction, std::uint64_t bits) {
  const TwinParameter* const by = std::exchange(used_, nullptr);
  names_.emplace_back(name);
  const rnic_rtl_port* const port = find(name);
  if (port == nullptr) library().refuse(fmt::format("it lacks {}'s port {} of {} bits", table().block, name, bits));
  if (port->direction != direction) {
    library().refuse(
        fmt::format("its port {} is {}, but {}'s is {}", name, way(port->direction), table().block, way(direction)));
  }
  if (port->bits != bits) {
    const std::string why = by == nullptr ? "" : fmt::format(" with {} = {}", by->setting, by->set);
    library().refuse(
        fmt::format("its port {} has {} bits, but {}'s has {}{}", name, port->bits, table().block, bits, why));
  }
  return table().port_address(instance_, static_cast<std::uint32_t>(port - table().ports));
}

const Port<1>& LoadedModel::optional_out(const char* name) {
  static constexpr Port<1> kNever = 0;
  return find(name) == nullptr ? kNever : out<1>(name);
}

std::uint64_t LoadedModel::parameter(std::string_view name) {
  const auto its = std::find_if(source_.parameters.begin(), source_.parameters.end(),
                                [&](const TwinParameter& p) { return p.name == name; });
  RNIC_CHECK(its != source_.parameters.end());
  used_ = &*its;
  return its->value;
}

std::uint64_t LoadedModel::index_bits(std::uint64_t entries) {
  std::uint64_t bits = 1;
  while (std::uint64_t{1} << bits < entries) ++bits;
  return bits;
}

LoadedInside::LoadedInside(const LoadedModel& model) : model_(model) {
  const rnic_rtl& table = model.library().table();
  for (std::uint32_t i = 0; i < table.port_count; ++i) {
    const std::size_t octets = octets_of_port(table.ports[i].bits);
    pins_.push_back({static_cast<const std::uint8_t*>(model.port(i)), octets, row_, &table.ports[i]});
    row_ += octets;
  }
}

void LoadedInside::record(std::uint64_t ps) {
  model_.dump(ps, nullptr);
  if (times_.size() < kCycles) {
    times_.push_back(ps);
    rows_.resize(rows_.size() + row_);
  }
  times_[next_] = ps;
  for (const Pin& pin : pins_) std::memcpy(&rows_[next_ * row_ + pin.first], pin.at, pin.octets);
  next_ = (next_ + 1) % kCycles;
}

bool LoadedInside::write(const std::string& file) const { return model_.dump(0, file.c_str()); }

bool LoadedInside::write_pins(const std::string& instance, const std::string& file) const {
  Waves waves(open_wave_sink(file), {});
  std::vector<WaveId> ids;
  for (const Pin& pin : pins_) ids.push_back(waves.declare(instance, pin.port->name, pin.port->bits));
  waves.begin();
  std::uint64_t end = 0;
  const std::size_t oldest = times_.size() < kCycles ? 0 : next_;
  for (std::size_t i = 0; i < times_.size(); ++i) {
    const std::size_t row = (oldest + i) % times_.size();
    end = times_[row];
    for (std::size_t n = 0; n < pins_.size(); ++n) {
      const Pin& pin = pins_[n];
      std::vector<std::uint8_t> octets(&rows_[row * row_ + pin.first],
                                       &rows_[row * row_ + pin.first] + (pin.port->bits + 7) / 8);
      std::reverse(octets.begin(), octets.end());  // the most significant one first
      waves.change(ids[n], end, octets);
    }
  }
  waves.close(end + 1);
  return true;
}

}  // namespace rnic::rtl
