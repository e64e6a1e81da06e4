#include "model/rnic/fwcpu/crash/planted_faults.h"

namespace rnic::planted {
namespace {

// The compiler must not see the fault.
volatile int* volatile nowhere = nullptr;
volatile bool always = true;

int recursion(int depth) {
  volatile char frame[1000];
  frame[0] = static_cast<char>(depth);
  return always ? recursion(depth + 1) + frame[0] : 0;
}

}  // namespace

void bus_fault() { *nowhere = 1; }

void illegal_instruction() {
  if (always) __builtin_trap();
}

void stack_overflow() { recursion(0); }

void endless_loop() {
  for (;;) {
    if (!always) __builtin_unreachable();
  }
}

}  // namespace rnic::planted
