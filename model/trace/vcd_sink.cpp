#include "model/trace/vcd_sink.h"

#include <fmt/format.h>

namespace rnic {
namespace {

// Identifier codes are numbers in the 94 printable characters from '!' to '~', lowest digit first.
std::string identifier(std::size_t variable) {
  std::string code;
  do {
    code += static_cast<char>('!' + variable % 94);
    variable /= 94;
  } while (variable != 0);
  return code;
}

// A text ends at a blank, so what is not printable is an octal number, as GTKWave has it.
std::string escaped(std::string_view text) {
  std::string word;
  for (const char c : text) {
    const auto octet = static_cast<unsigned char>(c);
    if (c > ' ' && c <= '~' && c != '\\') word += c;
    else word += fmt::format("\\{:03o}", octet);
  }
  return word;
}

}  // namespace

void VcdSink::declare(const std::vector<WaveVariable>& variables) {
  const auto leave = [&](unsigned scopes) {
    for (; scopes > 0; --scopes) out_.write("$upscope $end\n");
  };
  out_.write("$version rnicsim $end\n$timescale 1 ps $end\n");
  std::string scope;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const WaveVariable& v = variables[i];
    const ScopeStep step = scope_step(scope, v.scope);
    leave(step.leave);
    for (const std::string& name : step.enter) out_.write("$scope module " + name + " $end\n");
    scope = v.scope;
    if (v.is_text) {
      out_.write("$var string 1 " + identifier(i) + ' ' + v.name + " $end\n");
      continue;
    }
    const std::string range = v.width == 1 ? "" : " [" + std::to_string(v.width - 1) + ":0]";
    out_.write("$var wire " + std::to_string(v.width) + ' ' + identifier(i) + ' ' + v.name + range + " $end\n");
  }
  leave(scope_step(scope, "").leave);
  out_.write("$enddefinitions $end\n");
}

void VcdSink::time(std::uint64_t ps) { out_.write('#' + std::to_string(ps) + '\n'); }

void VcdSink::value(std::size_t variable, std::string_view bits) {
  const std::string code = identifier(variable) + '\n';
  out_.write(bits.size() == 1 ? bits[0] + code : 'b' + std::string(bits) + ' ' + code);
}

void VcdSink::text(std::size_t variable, std::string_view text) {
  out_.write('s' + escaped(text) + ' ' + identifier(variable) + '\n');
}

}  // namespace rnic
