// GTKWave's waveform library, unchanged except for its temporary files. It maps them, and on a full disk an access to a
// mapped page ends the program with SIGBUS, so they are kept in memory. They are small: a few octets per variable, and
// the times of one block.
#define _GNU_SOURCE
#include FST_CONFIG_INCLUDE

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static FILE* open_in_memory(void) {
  const int descriptor = memfd_create("fst", MFD_CLOEXEC);
  FILE* const file = descriptor < 0 ? NULL : fdopen(descriptor, "w+b");
  if (file == NULL && descriptor >= 0) close(descriptor);
  return file;
}

// The library writes names of variables to a temporary file beside the waveform.
static FILE* open_unless_hierarchy(const char* name, const char* mode) {
  static const char kHierarchy[] = ".hier";
  const size_t length = strlen(name), suffix = sizeof kHierarchy - 1;
  if (mode[0] == 'w' && length > suffix && strcmp(name + length - suffix, kHierarchy) == 0) return open_in_memory();
  return fopen(name, mode);
}

#define tmpfile open_in_memory
#define fopen open_unless_hierarchy
#include "fstapi.c"
