// The targets that need no chip: each is a parser of foreign octets, or several that read the same input.
#pragma once

#include "testbench/fuzz/target.h"

namespace rnic::fuzz {

void frame(ByteSpan octets);
void mpa(ByteSpan octets);
void stream(ByteSpan octets);
void ddp(ByteSpan octets);
void terminate(ByteSpan octets);
void capture(ByteSpan octets);
void replay(ByteSpan octets);
void scenario(ByteSpan octets);
void settings(ByteSpan octets);
void vectors(ByteSpan octets);
void elf(ByteSpan octets);
void gdb(ByteSpan octets);
void vhost(ByteSpan octets);
void guest_clock(ByteSpan octets);
void frame_port(ByteSpan octets);
void sctp_setup(ByteSpan octets);

}  // namespace rnic::fuzz
