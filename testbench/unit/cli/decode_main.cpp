// A program with nothing but `decode`, so that captures can be checked without the rest of the model.
#include <iostream>
#include <systemc>

#include "model/cli/decode/decode_command.h"

int sc_main(int argc, char* argv[]) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  if (args.empty() || args[0] != "decode") {
    std::cerr << "usage: decode CAPTURE [options]\n";
    return 2;
  }
  return rnic::cli::decode_command({args.begin() + 1, args.end()}, std::cout, std::cerr);
}
