// What firmware can do wrong in the process of the model, for tests of who finds it: rnic.fwcpu.fault.
#pragma once

namespace rnic::planted {

void bus_fault();
void illegal_instruction();
void stack_overflow();
[[noreturn]] void endless_loop();

}  // namespace rnic::planted
