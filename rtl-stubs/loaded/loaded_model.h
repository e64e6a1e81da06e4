// A block's RTL in a shared library (rnic_rtl.h): its instance, and its ports by their names as Verilator's class has
// them.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "model/rnic/twins.h"
#include "rtl-stubs/loaded/rnic_rtl.h"
#include "rtl-stubs/verilated/bits.h"
#include "rtl-stubs/verilated/rtl_block.h"

namespace rnic::rtl {

// An opened library, of the block that is asked for. ConfigError says why it is none.
class RtlLibrary {
 public:
  RtlLibrary(std::string file, std::string_view block);
  RtlLibrary(const RtlLibrary&) = delete;
  RtlLibrary& operator=(const RtlLibrary&) = delete;
  ~RtlLibrary();
  const std::string& file() const { return file_; }
  const rnic_rtl& table() const { return *table_; }
  // ConfigError: `what` follows the file's name.
  [[noreturn]] void refuse(const std::string& what) const;

 private:
  const std::string file_;
  void* const handle_;
  const rnic_rtl* table_ = nullptr;
};

// Ports as a library keeps them. Up to 64 bits they are numbers.
template <std::size_t N>
struct PortWords {
  std::uint32_t words[N];
  std::uint32_t& operator[](std::size_t i) { return words[i]; }
  const std::uint32_t& operator[](std::size_t i) const { return words[i]; }
};
template <unsigned Bits>
using Port = std::conditional_t<
    Bits <= 8, std::uint8_t,
    std::conditional_t<Bits <= 16, std::uint16_t,
                       std::conditional_t<Bits <= 32, std::uint32_t,
                                          std::conditional_t<Bits <= 64, std::uint64_t, PortWords<(Bits + 31) / 32>>>>>;

// Octets of a datapath whose width a setting gives.
class OctetsPort {
 public:
  OctetsPort(void* at, unsigned bits) : at_(static_cast<std::uint8_t*>(at)), octets_(bits / 8) {}
  std::uint8_t* data() const { return at_; }
  std::size_t size() const { return octets_; }

 private:
  std::uint8_t* at_;
  std::size_t octets_;
};
inline std::size_t port_octets(const OctetsPort& port) { return port.size(); }
inline std::uint8_t* port_data(const OctetsPort& port) { return port.data(); }
inline std::uint8_t* port_data(OctetsPort& port) { return port.data(); }  // else the template for any port fits better
inline void copy_to_port(OctetsPort& port, const void* from, std::size_t octets) {
  std::memcpy(port.data(), from, octets);
}
inline void copy_from_port(void* to, const OctetsPort& port, std::size_t octets) {
  std::memcpy(to, port.data(), octets);
}

// An index into a table whose size a setting gives.
class NumberPort {
 public:
  NumberPort(void* at, unsigned bits) : at_(at), bits_(bits) {}
  operator std::uint32_t() const {
    if (bits_ <= 8) return *static_cast<const std::uint8_t*>(at_);
    if (bits_ <= 16) return *static_cast<const std::uint16_t*>(at_);
    return *static_cast<const std::uint32_t*>(at_);
  }

 private:
  const void* at_;
  unsigned bits_;
};

// The base of the structures in ports.h, whose members are the ports of one instance.
class LoadedModel {
 public:
  // A library, and the values that parameters of the block have for the chip.
  struct Source {
    std::shared_ptr<const RtlLibrary> library;
    TwinParameters parameters;
  };
  explicit LoadedModel(const Source& source);
  LoadedModel(const LoadedModel&) = delete;
  LoadedModel& operator=(const LoadedModel&) = delete;
  ~LoadedModel();

  const RtlLibrary& library() const { return *source_.library; }
  void eval() { table().eval(instance_); }
  bool failed() const { return table().failed(instance_) != nullptr; }  // an assertion of the RTL, now or before
  std::string failure() const;
  // The port's memory, by its place in the table.
  const void* port(std::uint32_t i) const { return table().port_address(instance_, i); }
  // See rnic_rtl.h; false in a library without.
  bool dump(std::uint64_t ps, const char* file) const;
  // ConfigError if the library has an input that the block lacks.
  void check_inputs() const;

 protected:
  template <unsigned Bits>
  Port<Bits>& in(const char* name) {
    return *static_cast<Port<Bits>*>(named(name, RNIC_RTL_INPUT, Bits));
  }
  template <unsigned Bits>
  Port<Bits>& out(const char* name) {
    return *static_cast<Port<Bits>*>(named(name, RNIC_RTL_OUTPUT, Bits));
  }
  template <class T>
  T in(const char* name, std::uint64_t bits) {
    return T(named(name, RNIC_RTL_INPUT, bits), static_cast<unsigned>(bits));
  }
  template <class T>
  T out(const char* name, std::uint64_t bits) {
    return T(named(name, RNIC_RTL_OUTPUT, bits), static_cast<unsigned>(bits));
  }
  // Always 0 if the library has no such port.
  const Port<1>& optional_out(const char* name);
  std::uint64_t parameter(std::string_view name);
  // Of an index to so many entries.
  static std::uint64_t index_bits(std::uint64_t entries);

 private:
  const rnic_rtl& table() const { return library().table(); }
  const rnic_rtl_port* find(std::string_view name) const;
  void* named(const char* name, std::uint32_t direction, std::uint64_t bits);
  void check_parameters() const;

  const Source source_;
  void* const instance_;
  std::vector<std::string> names_;       // of the block's ports
  const TwinParameter* used_ = nullptr;  // by the width of the next port
};

// The last cycles of its pins, and of what is inside where the library shows it.
class LoadedInside {
 public:
  static constexpr std::size_t kCycles = 256;  // in which the block was evaluated

  explicit LoadedInside(const LoadedModel& model);
  // The values before the edge.
  void record(std::uint64_t ps);
  // False if the library was built without. ConfigError if the file cannot be written.
  bool write(const std::string& file) const;
  bool write_pins(const std::string& instance, const std::string& file) const;

 private:
  struct Pin {
    const std::uint8_t* at;
    std::size_t octets, first;  // in a row
    const rnic_rtl_port* port;
  };
  const LoadedModel& model_;
  std::vector<Pin> pins_;
  std::size_t row_ = 0;  // octets
  std::vector<std::uint64_t> times_;
  std::vector<std::uint8_t> rows_;  // a ring, once it is full
  std::size_t next_ = 0;
};

template <class Model>
class Instance<Model, std::enable_if_t<std::is_base_of_v<LoadedModel, Model>>> {
 public:
  using Inside = LoadedInside;
  static constexpr bool kForeign = true;
  explicit Instance(const LoadedModel::Source& source) : model_(std::make_unique<Model>(source)) {
    model_->check_inputs();
  }
  Model& model() const { return *model_; }
  void eval() { model_->eval(); }
  bool failed() const { return model_->failed(); }
  std::string failure() const { return model_->failure(); }
  [[noreturn]] void refuse(const std::string& what) const { model_->library().refuse(what); }
  Inside inside() const { return LoadedInside(*model_); }
  void swap(Instance& other) { model_.swap(other.model_); }

 private:
  std::unique_ptr<Model> model_;
};

}  // namespace rnic::rtl
