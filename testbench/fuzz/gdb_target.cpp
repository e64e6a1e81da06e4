// A debugger's input: raw octets, or lines that become packets with their checksums.
#include "testbench/fuzz/input.h"
#include "testbench/fuzz/parsers.h"
#include "testbench/unit/rnic/fwcpu/gdb/fake_debugger.h"

namespace rnic::fuzz {

void gdb(ByteSpan octets) {
  Input in(octets);
  const bool packets = in.octet() & 1;
  test::ScriptedDebugger debugger;
  std::string line;
  const auto say = [&] {
    debugger.script.push_back(packets ? rsp_packet(line) : line);
    line.clear();
  };
  while (!in.empty()) {
    const char c = static_cast<char>(in.octet());
    if (c == '\n') say();
    else line += c;
  }
  say();
  test::FakeProcessor first, second;
  GdbSession session({{"a", &first}, {"b", &second}}, debugger);
  session.begin();
  // Continues as the debugger asks: each stop serves its next line.
  for (std::uint32_t pc = 0; pc < 64 && !debugger.script.empty(); ++pc) {
    debugger.meanwhile = debugger.script.front();
    session.before_instruction(pc % 2 ? first : second, 0x80000000 + 2 * pc);
    session.poll();
    if (pc % 16 == 15) session.faulted(first, abi::FaultCause::kIllegalInstruction);
  }
  session.end(true);
  // gdb takes packets up to the size given by qSupported.
  for (const std::string& answer : debugger.answers()) {
    require(answer.size() <= 2 * RspDecoder::kMaxPayload, "an answer is longer than was agreed");
  }
}

}  // namespace rnic::fuzz
