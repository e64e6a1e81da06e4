// Faults of firmware in the process of the model, to test their detection: rnic.fwcpu.fault.
#pragma once

namespace rnic::planted {

void bus_fault();
void illegal_instruction();
void stack_overflow();
[[noreturn]] void endless_loop();

}  // namespace rnic::planted
