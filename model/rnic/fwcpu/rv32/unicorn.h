// Unicorn's functions. The library is loaded with the first processor: its relocations would cost every start of the
// program 8 ms, and most runs have no RV32 processor.
#pragma once

#include <unicorn/unicorn.h>

namespace rnic {

struct Unicorn {
  decltype(&uc_open) open;
  decltype(&uc_close) close;
  decltype(&uc_ctl) ctl;
  decltype(&uc_emu_start) emu_start;
  decltype(&uc_emu_stop) emu_stop;
  decltype(&uc_hook_add) hook_add;
  decltype(&uc_mem_map_ptr) mem_map_ptr;
  decltype(&uc_mmio_map) mmio_map;
  decltype(&uc_reg_read) reg_read;
  decltype(&uc_reg_write) reg_write;
  decltype(&uc_strerror) strerror;

  // ConfigError with the loader's reason if there is no such library.
  static const Unicorn& get();

 private:
  Unicorn();
};

}  // namespace rnic
