// gen_messages_pkg FOLDER writes the packages of include/ that are made of messages: rnic_messages_pkg.sv, with the
// meaning of their numbers, and rnic_stream_pkg.sv.
#include <fstream>
#include <iostream>
#include <string>
#include <systemc>

#include <fmt/format.h>

#include "model/rnic/messages/twin_size.h"
#include "model/wire/fpdu.h"
#include "model/wire/terminate.h"
#include "rtl-stubs/verilated/beat_bits.h"
#include "rtl-stubs/verilated/messages.h"

namespace rnic::rtl {
namespace {

class PrintFields {
 public:
  explicit PrintFields(std::ostream& out) : out_(out) {}
  template <class T>
  void operator()(const char* name, unsigned width, T&) {
    print(width == 1 ? "logic" : fmt::format("logic [{}:0]", width - 1), name);
  }
  template <class Tag>
  void operator()(const char* name, Id<Tag>&) {
    print("logic [31:0]", name);
  }
  template <class M>
  void operator()(const char* name, M&) {
    print(type<M>(), name);
  }
  template <std::size_t N>
  void octets(const char* name, std::array<std::uint8_t, N>&) {
    print(fmt::format("logic [{}:0]", 8 * N - 1), name);
  }
  // Yosys does not support arrays of structures inside a structure.
  template <class M, std::size_t N>
  void each(const char* name, M (&messages)[N]) {
    const unsigned bits = bits_of(messages[0]);
    out_ << fmt::format("    logic [{}:0] {};  // {} i at [{}*i +: {}]\n", N * bits - 1, name, type<M>(), bits, bits);
  }

 private:
  template <class M>
  static std::string type() {
    return std::string(Message<M>::kName) + "_t";
  }
  void print(const std::string& type, const char* name) { out_ << "    " << type << ' ' << name << ";\n"; }

  std::ostream& out_;
};

// Only the shape matters; a variant has the shape of its visible fields.
template <class M>
void print_type(std::ostream& out) {
  M message{};
  PrintFields print(out);
  out << "  typedef struct packed {\n";
  visit_fields(print, message);
  out << "  } " << Message<M>::kName << "_t;\n\n";
}

struct Numbers {
  std::ostream& out;
  template <class T>
  void number(const char* name, unsigned width, T value) const {
    out << fmt::format("  parameter logic [{}:0] {} = {}'d{};\n", width - 1, name, width, +static_cast<int>(value));
  }
  void size(const char* name, std::size_t value) const {
    out << fmt::format("  parameter int unsigned {} = {};\n", name, value);
  }
  void cause(const char* name, wire::TerminateCause c) const {
    out << fmt::format("  parameter terminate_cause_t {} = 16'h{:04X};\n", name, wire::terminate_word(c) >> 16);
  }
  void print() const;
};

void Numbers::print() const {
  using Kind = QpEvent::Kind;
  // For ports with several contexts.
  size("StagContextBits", bits_of(StagContext{}));
  size("QpBits", TwinSize::kQpBits);
  size("WriteBits", TwinSize::kWriteBits);
  number("QpEventFirstFpdu", 3, Kind::kFirstFpdu);
  number("QpEventTerminateReceived", 3, Kind::kTerminateReceived);
  number("QpEventStreamError", 3, Kind::kStreamError);
  number("QpEventLocalError", 3, Kind::kLocalError);
  number("QpEventSendDrained", 3, Kind::kSendDrained);
  number("TxUnblockFirstFpdu", 3, TxUnblock::Kind::kFirstFpdu);
  number("TxUnblockReadDone", 3, TxUnblock::Kind::kReadDone);
  number("QpIdle", 3, QpState::kIdle);
  number("QpRts", 3, QpState::kRts);
  number("QpClosing", 3, QpState::kClosing);
  number("QpTerminate", 3, QpState::kTerminate);
  number("QpError", 3, QpState::kError);
  number("RxNew", 2, RxStream::kNew);
  number("RxBegun", 2, RxStream::kBegun);
  number("RxEnded", 2, RxStream::kEnded);
  number("RxStopped", 2, RxStream::kStopped);
  number("StagRegion", 2, StagKind::kRegion);
  number("StagWindow1", 2, StagKind::kWindow1);
  number("StagWindow2", 2, StagKind::kWindow2);
  number("LocalWrite", 8, abi::kLocalWrite);
  number("RemoteWrite", 8, abi::kRemoteWrite);
  number("RemoteRead", 8, abi::kRemoteRead);
  number("RemoteAtomic", 8, abi::kRemoteAtomic);
  number("RemoteInvalidate", 8, abi::kRemoteInvalidate);
  number("MaxSge", 4, abi::kMaxSge);
  using wire::Opcode;
  number("OpWrite", 4, Opcode::kWrite);
  number("OpReadRequest", 4, Opcode::kReadRequest);
  number("OpReadResponse", 4, Opcode::kReadResponse);
  number("OpSend", 4, Opcode::kSend);
  number("OpSendInvalidate", 4, Opcode::kSendInvalidate);
  number("OpSendSe", 4, Opcode::kSendSe);
  number("OpSendSeInvalidate", 4, Opcode::kSendSeInvalidate);
  number("OpTerminate", 4, Opcode::kTerminate);
  number("OpImmediate", 4, Opcode::kImmediate);
  number("OpImmediateSe", 4, Opcode::kImmediateSe);
  number("OpAtomicRequest", 4, Opcode::kAtomicRequest);
  number("OpAtomicResponse", 4, Opcode::kAtomicResponse);
  number("AtomicFetchAdd", 4, wire::AtomicOpcode::kFetchAdd);
  number("AtomicCmpSwap", 4, wire::AtomicOpcode::kCmpSwap);
  number("StreamEndReset", 16, StreamEnd::kReset);
  number("LayerRdma", 4, wire::Layer::kRdma);
  number("LayerDdp", 4, wire::Layer::kDdp);
  number("LayerLlp", 4, wire::Layer::kLlp);
  cause("RdmaLocalCatastrophic", wire::rdma::kLocalCatastrophic);
  cause("RdmaInvalidStag", wire::rdma::kInvalidStag);
  cause("RdmaBaseOrBounds", wire::rdma::kBaseOrBounds);
  cause("RdmaAccessRights", wire::rdma::kAccessRights);
  cause("RdmaStagNotAssociated", wire::rdma::kStagNotAssociated);
  cause("RdmaToWrap", wire::rdma::kToWrap);
  cause("RdmaForeignStagCannotBeInvalidated", wire::rdma::kForeignStagCannotBeInvalidated);
  cause("RdmaProtectionUnspecified", wire::rdma::kProtectionUnspecified);
  cause("RdmaInvalidVersion", wire::rdma::kInvalidVersion);
  cause("RdmaUnexpectedOpcode", wire::rdma::kUnexpectedOpcode);
  cause("RdmaCatastrophicStream", wire::rdma::kCatastrophicStream);
  cause("RdmaUnknownStagCannotBeInvalidated", wire::rdma::kUnknownStagCannotBeInvalidated);
  cause("RdmaOperationUnspecified", wire::rdma::kOperationUnspecified);
  cause("DdpLocalCatastrophic", wire::ddp::kLocalCatastrophic);
  cause("DdpInvalidStag", wire::ddp::kInvalidStag);
  cause("DdpBaseOrBounds", wire::ddp::kBaseOrBounds);
  cause("DdpStagNotAssociated", wire::ddp::kStagNotAssociated);
  cause("DdpToWrap", wire::ddp::kToWrap);
  cause("DdpTaggedInvalidVersion", wire::ddp::kTaggedInvalidVersion);
  cause("DdpInvalidQn", wire::ddp::kInvalidQn);
  cause("DdpInvalidMsnNoBuffer", wire::ddp::kInvalidMsnNoBuffer);
  cause("DdpInvalidMsnRange", wire::ddp::kInvalidMsnRange);
  cause("DdpInvalidMo", wire::ddp::kInvalidMo);
  cause("DdpMessageTooLong", wire::ddp::kMessageTooLong);
  cause("DdpUntaggedInvalidVersion", wire::ddp::kUntaggedInvalidVersion);
  cause("MpaCrcMismatch", wire::mpa::kCrcMismatch);
  cause("MpaMarkerMismatch", wire::mpa::kMarkerMismatch);
  cause("MpaConnectionLost", wire::mpa::kConnectionLost);
}

template <class... M>
void print_types(std::ostream& out, std::tuple<M...>*) {
  (print_type<M>(out), ...);
}

constexpr const char* kGenerated =
    "// Generated by gen_messages_pkg from the messages in model/rnic, which say what the fields mean; do not edit.\n";

void print_messages(std::ostream& out) {
  out << kGenerated
      << "// Control messages and contexts as bits. The first field is the most significant one; octet i is at [8*i +: "
         "8].\n"
         "package rnic_messages_pkg;\n\n";
  print_types(out, static_cast<Messages*>(nullptr));
  Numbers{out}.print();
  out << "\nendpackage\n";
}

void print_stream(std::ostream& out) {
  out << kGenerated
      << "// The datapath's beats as bits, but for the octets, which have a port of their own, as wide as the "
         "datapath.\n"
         "// Octet i of a beat is data[8*i +: 8]. The first field is the most significant one.\n"
         "package rnic_stream_pkg;\n\n";
  print_types(out, static_cast<std::tuple<FpduBeat, Ulpdu, StreamBeat>*>(nullptr));
  Numbers{out}.size("MarkerInterval", wire::kMarkerInterval);
  out << "\nendpackage\n";
}

bool write(const std::string& file, void (*print)(std::ostream&)) {
  std::ofstream out(file);
  print(out);
  return !out.flush().fail();
}

}  // namespace
}  // namespace rnic::rtl

int sc_main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: gen_messages_pkg FOLDER\n";
    return 2;
  }
  const std::string folder = std::string(argv[1]) + '/';
  const bool written = rnic::rtl::write(folder + "rnic_messages_pkg.sv", rnic::rtl::print_messages) &&
                       rnic::rtl::write(folder + "rnic_stream_pkg.sv", rnic::rtl::print_stream);
  return written ? 0 : 1;
}
