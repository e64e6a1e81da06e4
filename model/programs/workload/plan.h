// The programs' task in a run: connections between nodes and the work on them, in phases.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/abi/host_abi.h"
#include "model/host/driver/transport.h"

namespace rnic::workload {

enum class Op : std::uint8_t { kSend, kWrite, kRead, kWriteImm, kFetchAdd, kCmpSwap, kConnect };
constexpr bool is_atomic(Op op) { return op == Op::kFetchAdd || op == Op::kCmpSwap; }
// Payload returns to the side that posts the requests.
constexpr bool is_answered(Op op) { return op == Op::kRead || is_atomic(op); }
// Each message consumes a receive of the other side.
constexpr bool uses_receives(Op op) { return op == Op::kSend || op == Op::kWriteImm; }
// Expected outcome of a connection of an Op::kConnect item: established, used and closed; rejected by the other
// program; not established because nothing listens, or because the other program never answers.
enum class Outcome : std::uint8_t { kAccept, kReject, kNoListener, kTimeout };
enum class Mode : std::uint8_t { kBandwidth, kPingPong };
enum class Direction : std::uint8_t { kForward, kReverse, kBoth };
enum class Pattern : std::uint8_t { kRandom, kCounting };
enum class SizeLaw : std::uint8_t { kFixed, kUniform, kLogUniform, kPowersOfTwo };
enum class Rtr : std::uint8_t { kNone, kSend, kWrite, kRead };
// Page size of memory regions, as a binary logarithm; kNone: contiguous on the bus.
enum class Pages : std::uint8_t { kNone = 0, k4K = 12, k64K = 16, k2M = 21, k1G = 30 };

// Message sizes in octets. kPowersOfTwo repeatedly cycles through the powers of two from min to max; the other ranges
// draw each size.
struct SizeSpec {
  SizeLaw law = SizeLaw::kFixed;
  std::uint32_t min = 64, max = 64;
};

// Access rights of the memory that a request names, instead of those it needs; kEnded: of a region that was
// deregistered before the work began.
enum class Right : std::uint8_t { kNone, kRemoteRead, kRemoteWrite, kOtherDomain, kEnded };
constexpr std::size_t kRights = 5;

// A work request that must fail. One of `right`, `length`, `wrong_lkey` and `posted` says how.
struct RequestFault {
  std::uint32_t request = 0;            // its number in the item, on each queue pair
  bool receive = false;                 // a receive of the other side
  std::optional<Right> right;           // the only right of the named memory; a Send invalidates its STag
  std::optional<std::uint32_t> length;  // octets to send, write or read, even beyond the memory
  bool wrong_lkey = false;              // its local memory has an STag that does not exist
  bool posted = true;                   // false: neither it nor a later receive of the item is posted
};

// One kind of operation, `count` times on each queue pair of its connections. Op::kConnect instead opens, uses and
// closes additional connections with the same options, `depth` of them at a time.
struct WorkItem {
  std::string name;
  std::vector<unsigned> connections;  // indexes of Plan::connections
  Direction direction = Direction::kForward;
  Op op = Op::kSend;
  Mode mode = Mode::kBandwidth;
  SizeSpec size;
  std::uint32_t count = 1000;
  std::uint32_t depth = 16;        // work requests outstanding
  std::uint32_t window = 0;        // the same on all queue pairs of a node together; 0: no limit but `depth`
  std::uint32_t signal_every = 1;  // every nth work request, and the last, asks for a completion
  std::uint32_t fence_every = 0;   // every nth work request waits for the Reads before it; 0: none
  std::uint32_t align = 64;        // of each message in remote memory
  std::uint32_t places = 0;        // in remote memory, of which each message takes any; 0: each has one of its own
  std::uint32_t words = 1;         // 64-bit words that atomics count, round-robin
  Pattern pattern = Pattern::kRandom;
  Pages pages = Pages::kNone;                       // of its memory regions
  std::uint64_t interval_ns = 0;                    // kConnect: minimum time between starts
  std::vector<Outcome> outcomes{Outcome::kAccept};  // kConnect: in turn
  std::vector<RequestFault> faults;
};

// Octets of the queue pair's number, before a request's private data if several queue pairs connect to one port.
constexpr std::size_t kRequestNumberBytes = 2;

// Options of one side of a connection.
struct SideSpec {
  bool markers = true;  // requests markers in what it receives
  bool crc = true;
  std::uint16_t ird = 16, ord = 16;
  std::uint8_t max_retries = 0;
  abi::KeepAlive keep_alive = abi::KeepAlive::kDevice;
  std::string private_data;
};

struct ConnectionSpec {
  std::string name;
  unsigned from = 0, to = 0;   // nodes; `from` connects
  std::uint16_t port = 41000;  // of the first queue pair; the others count up or share it: Plan::port_of()
  unsigned qps = 1;
  std::uint8_t mpa_revision = 2;
  Rtr rtr = Rtr::kNone;
  bool notified = false;  // programs sleep until a completion notification instead of polling
  bool may_end = false;   // before its work is done, without failing the run
  SideSpec from_side, to_side;
};

// How each node opens its connections at a run's start.
struct SetupSpec {
  std::uint32_t batch = 0;  // at a time; 0: as many as the firmware at both ends has room for
  std::uint64_t rate = 0;   // connections a second, at most; 0: no limit
};

// Phases run one after the other, the items of a phase concurrently.
struct Plan {
  std::uint64_t seed = 1;
  host::Transport transport = host::Transport::kTcp;  // of all connections
  SetupSpec setup;
  std::vector<ConnectionSpec> connections;
  std::vector<std::vector<WorkItem>> phases;

  // Queue pairs that connect to the same port share an association.
  bool shares_port() const { return transport == host::Transport::kSctp; }
  std::uint16_t port_of(const ConnectionSpec& c, unsigned qp) const {
    return static_cast<std::uint16_t>(c.port + (shares_port() ? 0 : qp));
  }
};

const char* op_name(Op op);

}  // namespace rnic::workload
