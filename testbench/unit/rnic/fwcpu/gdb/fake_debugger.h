// A scripted debugger, and the processor that it asks about.
#pragma once

#include <deque>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "model/rnic/fwcpu/gdb/gdb_session.h"

namespace rnic::test {

class FakeProcessor final : public DebugTarget {
 public:
  std::uint32_t get(unsigned reg) const override { return registers[reg]; }
  void set(unsigned reg, std::uint32_t value) override { registers[reg] = value; }
  MutableByteSpan octets(std::uint32_t address, std::size_t bytes, bool write) override {
    if (address < 0x1000 || address + bytes > 0x1000 + sizeof memory || (write && read_only)) return {};
    return {memory + (address - 0x1000), bytes};
  }
  std::uint32_t registers[kRegisters] = {};
  std::uint8_t memory[16] = {};
  bool read_only = false;
};

// Hands over one script entry whenever the session waits, and disconnects after the last one.
class ScriptedDebugger final : public DebugChannel {
 public:
  void send(std::string_view octets) override { sent += octets; }
  bool receive(std::string& octets, bool wait) override {
    if (!wait) {
      octets = std::exchange(meanwhile, "");
      return true;
    }
    if (script.empty()) return false;
    octets = script.front();
    script.pop_front();
    return true;
  }
  void says(std::initializer_list<const char*> packets) {
    for (const char* p : packets) script.push_back(rsp_packet(p));
  }
  // The payloads sent.
  std::vector<std::string> answers() const {
    RspDecoder decoder;
    std::vector<std::string> found;
    for (const char c : sent) {
      if (auto input = decoder.take(c); input && input->kind == RspInput::Kind::kPacket)
        found.push_back(input->payload);
    }
    return found;
  }
  std::deque<std::string> script;
  std::string meanwhile;  // while the processors run
  std::string sent;
};

}  // namespace rnic::test
