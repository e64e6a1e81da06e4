#include "testbench/interop/sctp_peer/options.h"

#include <functional>
#include <map>
#include <stdexcept>

#include <arpa/inet.h>

namespace far_end {

const char* const kUsage = R"(usage: sctp_peer usrsctp|linux listen|connect [key=value...]
  wire=PATH pcap=FILE wire_listen=1   usrsctp: the Unix socket (SOCK_SEQPACKET), a capture, who listens there
  lose=PPM seed=N spoil_cookies=N     usrsctp: frames of ours that get lost; COOKIE ECHOs that leave with a wrong cookie
  ip= peer= port= local_port= mtu=    addresses; `port` is the listener's, `local_port` the connecting end's
  rto_ms= rto_min_ms= adaptation=     of the association; adaptation 0 says none
  seconds=N linger_ms=N delay_ms=N    how long all may take, to stay for the peer's SHUTDOWN, to wait at the start
  ping=1                              usrsctp: listen: send an ICMP echo request; connect: wait for one
  probe=1                             usrsctp, connect: ping the peer until it answers, then wait for delay_ms
  stream= plain=1 ird= ord=           the session; enhanced, unless it is to be plain
  rtr=send|write|read                 connect: the ready-to-receive message that we offer
  private=TEXT reject=TEXT            private data; reject every session with this text
  tool=echo|rping|none op=send|write|write_invalidate|read count= size=    what is done (none: set up and end)
  abort_after=N restart_after=N       connect: after N rounds
  bad_stag=1 bad_write=1 leave=1      announce an STag that is none; write to one; end by ABORT rather than by Terminate
)";

namespace {

std::uint64_t number(const std::string& value, std::uint64_t most) {
  std::size_t used = 0;
  const std::uint64_t n = std::stoull(value, &used, 0);
  if (used != value.size() || n > most || value[0] == '-') throw std::invalid_argument("out of range");
  return n;
}

std::uint32_t address(const std::string& value) {
  in_addr a{};
  if (::inet_pton(AF_INET, value.c_str(), &a) != 1) throw std::invalid_argument("not an IPv4 address");
  return ntohl(a.s_addr);
}

template <class T>
T named(const std::string& value, const std::map<std::string, T>& names) {
  const auto found = names.find(value);
  if (found == names.end()) throw std::invalid_argument("unknown");
  return found->second;
}

}  // namespace

Options parse_options(int argc, char** argv) {
  if (argc < 3) throw std::invalid_argument("transport and role are missing");
  Options o;
  o.linux_sctp = named<bool>(argv[1], {{"usrsctp", false}, {"linux", true}});
  o.connect = named<bool>(argv[2], {{"listen", false}, {"connect", true}});
  using Set = std::function<void(const std::string&)>;
  const auto text = [](std::string& to) { return Set([&to](const std::string& v) { to = v; }); };
  const auto flag = [](bool& to) { return Set([&to](const std::string& v) { to = number(v, 1) != 0; }); };
  const auto count = [](auto& to, std::uint64_t most = 0xFFFFFFFF) {
    return Set([&to, most](const std::string& v) { to = static_cast<std::decay_t<decltype(to)>>(number(v, most)); });
  };
  const std::map<std::string, Set> keys{
      {"wire", text(o.wire)},
      {"pcap", text(o.pcap)},
      {"wire_listen", flag(o.wire_listen)},
      {"lose", count(o.lose_ppm, 1'000'000)},
      {"seed", count(o.seed)},
      {"spoil_cookies", count(o.spoil_cookies)},
      {"ip", [&](const std::string& v) { o.ip = address(v); }},
      {"peer", [&](const std::string& v) { o.peer = address(v); }},
      {"port", count(o.port, 65535)},
      {"local_port", count(o.local_port, 65535)},
      {"mtu", count(o.mtu, 9000)},
      {"rto_ms", count(o.rto_ms, 60'000)},
      {"rto_min_ms", count(o.rto_min_ms, 60'000)},
      {"adaptation", count(o.adaptation)},
      {"seconds", [&](const std::string& v) { o.patience = std::chrono::seconds(number(v, 3600)); }},
      {"linger_ms", count(o.linger_ms)},
      {"delay_ms", count(o.delay_ms)},
      {"ping", flag(o.ping)},
      {"probe", flag(o.probe)},
      {"stream", count(o.stream, 15)},
      {"plain", flag(o.plain)},
      {"ird", count(o.ird, 0x3FFF)},
      {"ord", count(o.ord, 0x3FFF)},
      {"rtr",
       [&](const std::string& v) {
         o.rtr = named<unsigned>(v, {{"send", 1}, {"write", 2}, {"read", 4}});
       }},
      {"private", text(o.private_data)},
      {"reject", text(o.reject)},
      {"tool",
       [&](const std::string& v) {
         o.tool = named<std::string>(v, {{"echo", "echo"}, {"rping", "rping"}, {"none", "none"}});
       }},
      {"op",
       [&](const std::string& v) {
         o.op = named<Operation>(v, {{"send", Operation::kSend},
                                     {"write", Operation::kWrite},
                                     {"write_invalidate", Operation::kWriteInvalidate},
                                     {"read", Operation::kRead}});
       }},
      {"count", count(o.count)},
      {"size", count(o.size, 1 << 26)},
      {"abort_after", count(o.abort_after)},
      {"restart_after", count(o.restart_after)},
      {"bad_stag", flag(o.bad_stag)},
      {"bad_write", flag(o.bad_write)},
      {"leave", flag(o.leave)},
  };
  for (int i = 3; i < argc; ++i) {
    const std::string word = argv[i];
    const std::size_t equals = word.find('=');
    const auto key = keys.find(word.substr(0, equals));
    if (equals == std::string::npos || key == keys.end()) throw std::invalid_argument("there is no " + word);
    try {
      key->second(word.substr(equals + 1));
    } catch (const std::logic_error& e) {
      throw std::invalid_argument(word + ": " + e.what());
    }
  }
  if (!o.linux_sctp && o.wire.empty()) throw std::invalid_argument("wire= is missing");
  return o;
}

}  // namespace far_end
