/* One block of RTL as a shared library: `rnicsim run SCENARIO --rtl crc_check=./libmine.so` loads it in place of the
   stage. scripts/rtl_library.py (`rnicsim rtl`) makes such a library of SystemVerilog; anything else that exports this
   table, such as a model in C, is as good. The pins are those of rtl-stubs/README.md. */
#ifndef RNIC_RTL_H
#define RNIC_RTL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RNIC_RTL_ABI 1u /* changes when a table of this ABI could be misunderstood */

enum { RNIC_RTL_INPUT = 0, RNIC_RTL_OUTPUT = 1 };

typedef struct rnic_rtl_port {
  const char* name;
  uint32_t bits;
  uint32_t direction;
} rnic_rtl_port;

/* A port's memory, in the machine's own order of octets: uint8_t up to 8 bits, uint16_t up to 16, uint32_t up to 32,
   uint64_t up to 64, and an array of uint32_t above, its least significant word first. Bits beyond the width are 0. */
typedef struct rnic_rtl {
  uint32_t size;               /* of this structure, as the library was compiled */
  uint32_t abi;                /* RNIC_RTL_ABI */
  const char* block;           /* the stage whose pins it has, as crc_check */
  const char* parameters_json; /* those it was built with, as {"BeatBytes": 64}; each has to fit the chip's settings */
  const rnic_rtl_port* ports;
  uint32_t port_count;
  void* (*open)(void);                               /* one instance, not yet reset; NULL if there is no memory */
  void* (*port_address)(void* instance, uint32_t i); /* of ports[i]; constant while the instance lives */
  void (*eval)(void* instance);                      /* after inputs or the clock have changed */
  const char* (*failed)(void* instance); /* NULL, or the text of the first failed assertion; ends with the instance */
  /* What is inside. With file NULL, records its values at this time, before an edge; else writes the last of them as a
     VCD and returns 0, or -1 where that is impossible. NULL in a library that was built without. */
  int32_t (*dump)(void* instance, uint64_t time_ps, const char* file);
  void (*close)(void* instance);
} rnic_rtl;

/* The library's only symbol. */
extern const rnic_rtl rnic_rtl_1;

#ifdef __cplusplus
}
#endif

#endif
