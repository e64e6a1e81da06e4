#include "model/rnic/fwcpu/rv32/unicorn.h"

#include <string>

#include <dlfcn.h>

#include "model/common/check.h"

namespace rnic {
namespace {

void* library() {
  const std::string name = "libunicorn.so." + std::to_string(UC_API_MAJOR);
  void* const handle = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr)
    throw ConfigError("rnic.fwcpu.target: rv32 needs the library Unicorn: " + std::string(dlerror()));
  return handle;
}

template <class F>
void load(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  if (function == nullptr)
    throw ConfigError("rnic.fwcpu.target: rv32 needs the library Unicorn: " + std::string(dlerror()));
}

}  // namespace

// It stays loaded to the end of the program.
Unicorn::Unicorn() {
  void* const from = library();
  load(from, "uc_open", open);
  load(from, "uc_close", close);
  load(from, "uc_ctl", ctl);
  load(from, "uc_emu_start", emu_start);
  load(from, "uc_emu_stop", emu_stop);
  load(from, "uc_hook_add", hook_add);
  load(from, "uc_mem_map_ptr", mem_map_ptr);
  load(from, "uc_mmio_map", mmio_map);
  load(from, "uc_reg_read", reg_read);
  load(from, "uc_reg_write", reg_write);
  load(from, "uc_strerror", strerror);
}

const Unicorn& Unicorn::get() {
  static const Unicorn unicorn;
  return unicorn;
}

}  // namespace rnic
