// The keys of each element of a scenario file, described as settings are (model/config/field.h): the values that they
// take, their defaults and meanings. The reader (key_reader.h), the refusal of unknown keys and the tables of
// traces/README.md (key_table.h) come from these lists.
//
//   v(key, member, meaning, options…)         a value, or a member that is optional; its default is the initialiser
//   v.form(key, values, default, meaning)     a value of a form of its own, which the scenario's reader reads
//   v.inlined(member)                         keys of a structure in this one, in the same object
//   v.template keys_of<T>()                   keys of another structure in the same object, which is read beside this
//   one
#pragma once

#include <array>
#include <string_view>

#include "model/cable/inject/injection.h"
#include "model/config/field.h"
#include "model/programs/consumer/program_spec.h"
#include "model/programs/workload/plan.h"
#include "model/system/scenario.h"
#include "model/system/sweep_values.h"

namespace rnic {

// Options beside those of settings. The key must be there; its default depends on other keys.
struct RequiredKey {};
struct ShownDefault {
  std::string_view text;
};
constexpr RequiredKey required() { return {}; }
constexpr ShownDefault shown(std::string_view text) { return {text}; }

template <class T>
struct Keys;  // has fields()

namespace keys {

using workload::Direction;
using workload::Mode;
using workload::Op;
using workload::Outcome;
using workload::Pattern;
using workload::Right;
using workload::Rtr;
using workload::SizeLaw;

constexpr std::uint32_t kMaxMessageBytes = 1u << 30;
constexpr std::uint16_t kLongestUlpdu = 65535;

inline constexpr std::array kOps{Named{Op::kSend, "send"},          Named{Op::kWrite, "write"},
                                 Named{Op::kRead, "read"},          Named{Op::kWriteImm, "write_imm"},
                                 Named{Op::kFetchAdd, "fetch_add"}, Named{Op::kCmpSwap, "cmp_swap"},
                                 Named{Op::kConnect, "connect"}};
inline constexpr std::array kOutcomes{Named{Outcome::kAccept, "accept"}, Named{Outcome::kReject, "reject"},
                                      Named{Outcome::kNoListener, "no_listener"}, Named{Outcome::kTimeout, "timeout"}};
inline constexpr std::array kModes{Named{Mode::kBandwidth, "bandwidth"}, Named{Mode::kPingPong, "pingpong"}};
inline constexpr std::array kDirections{Named{Direction::kForward, "forward"}, Named{Direction::kReverse, "reverse"},
                                        Named{Direction::kBoth, "both"}};
inline constexpr std::array kPatterns{Named{Pattern::kRandom, "random"}, Named{Pattern::kCounting, "counting"}};
inline constexpr std::array kSizeLaws{Named{SizeLaw::kUniform, "uniform"}, Named{SizeLaw::kLogUniform, "log_uniform"},
                                      Named{SizeLaw::kPowersOfTwo, "powers_of_two"}};
inline constexpr std::array kRtrs{Named{Rtr::kNone, "none"}, Named{Rtr::kSend, "send"}, Named{Rtr::kWrite, "write"},
                                  Named{Rtr::kRead, "read"}};
inline constexpr std::array kPages{Named{workload::Pages::kNone, "none"}, Named{workload::Pages::k4K, "4k"},
                                   Named{workload::Pages::k64K, "64k"}, Named{workload::Pages::k2M, "2m"},
                                   Named{workload::Pages::k1G, "1g"}};
inline constexpr std::array kTransports{Named{host::Transport::kTcp, "tcp"}, Named{host::Transport::kSctp, "sctp"}};
inline constexpr std::array kCompletions{Named{false, "poll"}, Named{true, "event"}};
inline constexpr std::array kKeepAlives{Named{abi::KeepAlive::kDevice, "device"}, Named{abi::KeepAlive::kOff, "off"},
                                        Named{abi::KeepAlive::kOn, "on"}};
inline constexpr std::array kRights{Named{Right::kNone, "none"}, Named{Right::kRemoteRead, "remote_read"},
                                    Named{Right::kRemoteWrite, "remote_write"},
                                    Named{Right::kOtherDomain, "other_domain"}, Named{Right::kEnded, "ended"}};
inline constexpr std::array kLkeys{Named{true, "invalid"}};
inline constexpr std::array kPeers{Named{false, "modelled"}, Named{true, "external"}};
inline constexpr std::array kRoles{Named{consumer::Part::kClient, "client"}, Named{consumer::Part::kServer, "server"}};
inline constexpr std::array kEchoOperations{
    Named{consumer::EchoOperation::kSend, "send"}, Named{consumer::EchoOperation::kWrite, "write"},
    Named{consumer::EchoOperation::kWriteInvalidate, "write_inv"}, Named{consumer::EchoOperation::kRead, "read"}};
inline constexpr std::array kChecks{Named{CheckKind::kData, "data"},
                                    Named{CheckKind::kMinGoodput, "min_goodput_gbps"},
                                    Named{CheckKind::kMinShare, "min_share_percent"},
                                    Named{CheckKind::kMinRate, "min_rate_mops"},
                                    Named{CheckKind::kMaxP50, "max_p50_ns"},
                                    Named{CheckKind::kMaxP99, "max_p99_ns"},
                                    Named{CheckKind::kMaxP999, "max_p999_ns"},
                                    Named{CheckKind::kMaxLatency, "max_latency_ns"},
                                    Named{CheckKind::kMinFairness, "min_fairness"},
                                    Named{CheckKind::kTerminate, "terminate"}};

inline constexpr std::array kSweepModes{
    Named{SweepMode::kProduct, "product"}, Named{SweepMode::kOneAtATime, "one_at_a_time"},
    Named{SweepMode::kRandom, "random"}, Named{SweepMode::kLatinHypercube, "latin_hypercube"}};
inline constexpr std::array kSweepScales{Named{false, "linear"}, Named{true, "log"}};

}  // namespace keys

template <>
struct Keys<workload::Plan> {
  template <class V>
  static void fields(V& v) {
    v("seed", &workload::Plan::seed, "of sizes and payloads");
    v("transport", &workload::Plan::transport,
      "what carries all connections and programs: `tcp`: MPA over TCP; `sctp`: DDP over SCTP (below)",
      one_of(keys::kTransports));
  }
};

template <>
struct Keys<Scenario> {
  template <class V>
  static void fields(V& v) {
    v("name", &Scenario::name, "of the scenario", required());
    v("description", &Scenario::description, "one line for people");
    v.template keys_of<workload::Plan>();
    v.form("config", "object", "none",
           "settings of the configuration tree, nested or as dotted paths (`rnicsim config --list`); `--set` takes "
           "precedence");
    v.form("link", "object", "none", "settings of the group `link` of that tree: the cable and its faults (below)");
    v.form("setup", "object", "`{}`", "how the connections are opened (below)");
    v.form("nodes", "list", "required", "a run needs exactly two");
    v.form("connections", "list", "required", "one or more");
    v.form("work", "list", "required",
           "phases, which run one after the other: an item, or a list of items that run at the same time");
    v.form("inject", "list", "none", "error injections (below)");
    v.form("checks", "list", "none", "conditions on the results");
    v.form("programs", "list", "required with an external peer",
           "in place of `connections`, `work`, `inject` and `checks`");
    v.form(
        "sweep", "list, or an object", "none",
        "settings that take several values, and a run for each point (below). A list is that of the axes of a product");
    v.form("columns", "list", "goodput of each item", "columns of a sweep's table");
  }
};

template <>
struct Keys<workload::SetupSpec> {
  template <class V>
  static void fields(V& v) {
    using S = workload::SetupSpec;
    v("batch", &S::batch,
      "connections that each node opens at a time. Both ends need room for one that is being set up "
      "(`rnic.fwcpu.max_setups`)",
      in_range(1, 65536), shown("as many as there is room for"));
    v("rate", &S::rate, "connections that each node opens a second, at most", in_range(1, 1'000'000'000),
      shown("no limit"));
  }
};

template <>
struct Keys<ScenarioNode> {
  template <class V>
  static void fields(V& v) {
    v("name", &ScenarioNode::name, "unique: a letter, then letters, digits, `_` and `-`", required());
    v.form("ip", "IPv4 address", "10.0.0.*n* for the *n*-th node", "its address");
    v.form("mac", "unicast MAC address", "02:00:00:00:00:*n*", "its address");
    v.form("config", "object", "none", "settings of this node only");
    v("peer", &ScenarioNode::external,
      "`external`: outside the simulation, reached through a socket or TAP device (settings `external`, "
      "`model/external/external.md`). The other node is modelled, and runs `programs`",
      one_of(keys::kPeers));
  }
};

template <>
struct Keys<workload::SideSpec> {
  template <class V>
  static void fields(V& v) {
    using S = workload::SideSpec;
    v("markers", &S::markers, "the side requests markers in the stream that it receives");
    v("crc", &S::crc,
      "the side requests CRC; one side is enough. `false` needs `rnic.fwcpu.crc` `false` in that node: otherwise a "
      "device requests CRC on every stream");
    v("ird", &S::ird, "inbound Reads that the side serves at a time. 16383, not negotiated, is for the connecting side",
      in_range(0, 16383));
    v("ord", &S::ord, "Reads that it may have outstanding; the same limit", in_range(0, 16383));
    v("max_retries", &S::max_retries,
      "retransmission timeouts without an answer after which this side of the connection is reset, in RDMA mode (R2 of "
      "RFC 9293 section 3.8.3). 0: `rnic.tcp.max_retries`. Over TCP only",
      in_range(0, 255));
    v("keep_alive", &S::keep_alive,
      "`on`: an idle peer is probed after `rnic.tcp.keepalive_us`, or two hours if that is 0 (RFC 9293 section 3.8.4); "
      "`off`: never; `device`: only if that is not 0. Over TCP only",
      one_of(keys::kKeepAlives));
    v("private_data", &S::private_data, "in the startup frame: up to 512 octets, 508 in an enhanced one");
  }
};

// As many as a chip has.
inline constexpr int kMostQueuePairs = 65536;

template <>
struct Keys<workload::ConnectionSpec> {
  template <class V>
  static void fields(V& v) {
    using C = workload::ConnectionSpec;
    v("name", &C::name, "for `work` and messages", shown("c*i*, counted from 0"));
    v.form("from", "name of a node", "required", "connects");
    v.form("to", "name of a node", "required", "listens");
    v("port", &C::port, "of the listening side; queue pair *i* uses `port` + *i*, over SCTP all use `port`",
      in_range(1, 65535));
    v("qps", &C::qps,
      "queue pairs, each with a TCP connection of its own, or a stream of an SCTP association. `setup` says how many "
      "are "
      "set up at a time",
      in_range(1, kMostQueuePairs));
    v("mpa_revision", &C::mpa_revision,
      "2 is the enhanced connection setup of RFC 6581, 1 that of RFC 5044. A node with `rnic.fwcpu.personality` "
      "`rdmac` has no enhanced setup and needs 1: it sends revision 0 where it connects and answers with it where it "
      "listens",
      in_range(1, 2));
    v.form("enhanced", "`true`, `false`", "`true`",
           "over SCTP, in place of `mpa_revision`: the session is set up as RFC 6581 has it; `false`: as RFC 5043");
    v("rtr", &C::rtr, "not `none`: peer-to-peer with that ready-to-receive message (enhanced setup only)",
      one_of(keys::kRtrs));
    v("completion", &C::notified, "`event`: programs sleep until a completion notification (MSI-X)",
      one_of(keys::kCompletions));
    v.template keys_of<workload::SideSpec>();
    v.form("from_side", "object", "the seven keys above", "the same seven keys for the side that connects");
    v.form("to_side", "object", "the seven keys above", "for the side that listens");
  }
};

template <>
struct Keys<consumer::ProgramSpec> {
  template <class V>
  static void fields(V& v) {
    using P = consumer::ProgramSpec;
    v.form("program", "`rping`, `rdma_client`, `rdma_server`, `echo`", "required",
           "`model/programs/consumer/consumer.md` describes them");
    v("role", &P::part, "`client` connects, `server` listens", one_of(keys::kRoles),
      shown("required for `rping` and `echo`"));
    v("name", &P::name, "unique", shown("`program` and a number"));
    v("port", &P::port, "of the server", in_range(1, 65535), shown("as the tool's: 7174; `rdma_*` 7471, `echo` 7"));
    v("count", &P::count,
      "rounds; 0: no limit, for a server. `rdma_client` and `rdma_server` have one round, and no `size`",
      in_range(0, 10'000'000), shown("5; server 0"));
    v("size", &P::size, "octets of a round's data; for a server the maximum", in_range(64, 1 << 20), unit("octets"),
      shown("64; server 65536"));
    v("op", &P::operation,
      "client of `echo`: Send, RDMA Write (announced by a Send), `write_inv` (the same; the answer is a Send with "
      "Invalidate of the STag that it was written to) or RDMA Read of memory that a Send announces",
      one_of(keys::kEchoOperations));
    v("start_us", &P::start_us, "client: when it connects", in_range(std::uint64_t{0}, std::uint64_t{3'600'000'000}),
      unit("us"));
    v("start_on_ping", &P::start_on_ping, "client: connects when the peer has sent an ICMP echo request");
    v("crc", &P::crc, "requests CRC, even where `rnic.fwcpu.crc` is `false`");
    v("markers", &P::markers, "requests markers in the stream that it receives");
    v("rtr", &P::rtr,
      "the ready-to-receive message is an RDMA Write (RFC 6581): a client offers it; a server takes no other kind");
    v("reject", &P::reject, "server: rejects the first request, and ends");
  }
};

template <>
struct Keys<SweepPlan> {
  template <class V>
  static void fields(V& v) {
    v.form("axes", "list", "required", "what varies (below)");
    v("mode", &SweepPlan::mode,
      "`product`: every combination of the values, the last axis varies fastest. `one_at_a_time`: first the baseline, "
      "then each value of each axis with the others at their baseline. `random`, `latin_hypercube`: a sample of all "
      "axes together",
      one_of(keys::kSweepModes));
    v("points", &SweepPlan::points, "of a sample", in_range(1, 10'000), shown("required for a sample"));
    v("seed", &SweepPlan::seed, "of a sample");
  }
};

template <>
struct Keys<SweepAxis> {
  template <class V>
  static void fields(V& v) {
    v.form(
        "key", "text, or list of text", "required",
        "dotted path of a setting, which takes precedence over the scenario's `config` and `link`, or of a value of "
        "the scenario (above); of several, each has the axis's value, or its own where the value is a list of as many");
    v.form("values", "list, or an object", "required",
           "numbers, words, true and false; for a value of the scenario also what its key takes. An object is a range "
           "(below)");
    v.form("baseline", "a value", "what the scenario says", "`one_at_a_time`: the value where other axes vary");
    v("mean", &SweepAxis::mean,
      "every point is repeated with each value of this axis, and results are also given as their mean with a 95 % "
      "confidence interval",
      shown("`true` for the key `seed`"));
    v("title", &SweepAxis::title, "for the table", shown("the key"));
    v.form("labels", "list of text", "the values", "for the table; for a list of values");
  }
};

template <>
struct Keys<SweepRange> {
  template <class V>
  static void fields(V& v) {
    v.form("from", "number", "required", "first value");
    v.form("to", "number", "required", "no value is larger");
    v.form("step", "number", "one of these three", "added to a value to have the next");
    v.form("factor", "number, 1.001 or more", "one of these three", "a value times it is the next");
    v("per_decade", &SweepRange::per_decade, "values from one power of ten to the next", in_range(1, 1000),
      shown("one of these three"));
    v("scale", &SweepRange::logarithmic, "of an interval that a sample is taken from, with none of these three",
      one_of(keys::kSweepScales));
  }
};

template <>
struct Keys<SweepColumn> {
  template <class V>
  static void fields(V& v) {
    v("value", &SweepColumn::path,
      "dotted path of a number in `stats.json`, lists by index: `results.0.goodput_gbps`, "
      "`stats.a.rnic.tcp_tx.timeouts`",
      required());
    v("title", &SweepColumn::title, "for the table", shown("the path"));
  }
};

template <>
struct Keys<workload::SizeSpec> {
  template <class V>
  static void fields(V& v) {
    using S = workload::SizeSpec;
    v("law", &S::law, "`powers_of_two`: one after the other", one_of(keys::kSizeLaws), required());
    v("min", &S::min, "smallest size; 1 or more, if not `uniform`", in_range(0u, keys::kMaxMessageBytes),
      unit("octets"), required());
    v("max", &S::max, "largest size, `min` or more", in_range(0u, keys::kMaxMessageBytes), unit("octets"), required());
  }
};

template <>
struct Keys<workload::WorkItem> {
  template <class V>
  static void fields(V& v) {
    using W = workload::WorkItem;
    v("op", &W::op, "RDMA Write and Read, `write_imm`: RDMA Write with immediate data; `connect`: below",
      one_of(keys::kOps), required());
    v.form("size", "0 to 1073741824 octets, or an object", "required, not for atomics; 64 for `connect`",
           "of a message; an object is a range of sizes (below)");
    v("name", &W::name, "unique", shown("`op` and a number"));
    v.form("connections", "name, or list of names", "all", "its connections");
    v("direction", &W::direction,
      "the side that posts the requests: `forward` is the `from` side, `reverse` the `to` side, `both` both at the "
      "same time",
      one_of(keys::kDirections));
    v("mode", &W::mode,
      "`pingpong`: Sends or Writes back and forth, one at a time. For Writes, of 1 octet or more, the program polls "
      "the last octet in its memory, as perftest's `ib_write_lat` does, and behind a loss all of them, as the octets "
      "of "
      "a Write are placed in any order",
      one_of(keys::kModes));
    v("count", &W::count, "messages on each queue pair and in each direction", in_range(1, 10'000'000));
    v("depth", &W::depth, "work requests outstanding on a queue pair", in_range(1, 512),
      shown("16; `pingpong` 1; with `window` as many"));
    v("window", &W::window,
      "not of atomics or `pingpong`: work requests outstanding on all queue pairs that a node posts to, together. "
      "Which queue pair has the next one is random (seeded), and each has `count` in all; the Send after the last "
      "Write "
      "is not counted. 0: `depth` on each of them",
      in_range(0, 512));
    v("signal_every", &W::signal_every, "each *n*-th request, and the last, is signaled; at most `depth`",
      in_range(1, 512));
    v("fence_every", &W::fence_every,
      "each *n*-th request is fenced: it waits until all Reads and atomics before it on its queue pair are complete. "
      "0: "
      "none",
      in_range(0, 10'000'000));
    v("align", &W::align, "of each message in remote memory", in_range(1, 4096), power_of_two(), unit("octets"));
    v("places", &W::places,
      "of Writes and Reads of one size: places in remote memory, of which each message takes any at random (seeded); "
      "0: "
      "each message has a place of its own",
      in_range(0, 1 << 22));
    v("words", &W::words,
      "64-bit words that atomics count round-robin: FetchAdds of all queue pairs the same words, CmpSwaps those of "
      "their queue pair",
      in_range(1, 1 << 20));
    v("pattern", &W::pattern, "payload", one_of(keys::kPatterns));
    v("pages", &W::pages,
      "the item's memory regions are lists of pages of that size in the page table (`rnic.context.pages` entries); "
      "`none`: each is contiguous on the bus",
      one_of(keys::kPages));
    v("interval_ns", &W::interval_ns,
      "`connect`: from the start of one connection to the start of the next; 0: back to back",
      in_range(0, 1'000'000'000), unit("ns"));
    v.form("outcomes", "list of `accept`, `reject`, `no_listener`, `timeout`", "`[\"accept\"]`",
           "`connect`: outcomes of the connections, round-robin");
  }
};

template <>
struct Keys<inject::Change> {
  template <class V>
  static void fields(V& v) {
    v.form("field", "name of a header field", "one of these three",
           "changes it. Of an FPDU `ulpdu_length`, `marker` (the pointer of its first one), `crc`; `tagged`, `last`, "
           "`ddp_version`, `rdmap_version`, `opcode`, `ddp_reserved`, `rdmap_reserved`; tagged `stag`, `to`; untagged "
           "`invalidate_stag`, `qn`, `msn`, `mo`; of a Read Request `sink_stag`, `sink_to`, `size`, `source_stag`, "
           "`source_to`; of an Atomic Request `atomic_operation`, `request_id`, `remote_stag`, `remote_to`, `data`, "
           "`data_mask`, `compare`, `compare_mask`; of its response `request_id`, `original`; of Immediate Data "
           "`data`; of a startup frame `key` (its first eight octets), `markers`, `crc`, `rejected`, `enhanced`, "
           "`reserved`, `revision`, `private_data_length`, `peer_to_peer`, `rtr_send`, `rtr_write`, `rtr_read`, "
           "`ird`, `ord`");
    v("octet", &inject::Change::octet, "changes it: counted from the first octet of the ULPDU or of the startup frame",
      in_range(std::uint16_t{0}, keys::kLongestUlpdu), shown("one of these three"));
    v("close_after", &inject::Change::close_after, "octets of the ULPDU before a FIN",
      in_range(std::uint16_t{0}, keys::kLongestUlpdu), shown("one of these three"));
    v.form("value", "number, or text such as `\"0x12ab\"`", "one of these two, with `field` and `octet`",
           "the new value");
    v.form("add", "integer", "one of these two, with `field` and `octet`", "added to the old value");
  }
};

template <>
struct Keys<inject::Injection> {
  template <class V>
  static void fields(V& v) {
    using I = inject::Injection;
    v("name", &I::name, "unique", shown("inject*i*, counted from 0"));
    v.form("connection", "name of a connection", "the only one", "carries the message");
    v.form("qp", "integer below its `qps`", "0", "number of the queue pair");
    v.form("sender", "name of a node", "required", "sends the message");
    v.form("message",
           "`mpa_request`, `mpa_reply`, `write`, `read_request`, `read_response`, `send`, `send_invalidate`, "
           "`send_se`, `send_se_invalidate`, `terminate`, `immediate`, `immediate_se`, `atomic_request`, "
           "`atomic_response`",
           "required", "its kind");
    v("number", &I::number,
      "among the messages of its kind that the side sends on this connection, from 0. The programs' own messages "
      "count: the connecting side's first Send, the Send after the last Write of an item, Writes of credits");
    v("segment", &I::segment, "its DDP segment, from 0");
    v.inlined(&I::change);
  }
};

template <>
struct Keys<workload::RequestFault> {
  template <class V>
  static void fields(V& v) {
    using F = workload::RequestFault;
    v.form("name", "text", "inject*i*, counted from 0", "unique");
    v.form("work", "name of an item", "required", "not of `connect` or `pingpong`");
    v.form("request", "integer below the item's `count`", "one of these two",
           "number of the request in the item, from 0");
    v.form("receive", "integer below the item's `count`", "one of these two",
           "number of the receive that the other side posts for it (Sends)");
    v("right", &F::right,
      "the region that the request names allows only that, or nothing, is in another protection domain, or was "
      "deregistered before the work began (`ended`); a Send invalidates its STag",
      one_of(keys::kRights), shown("one of these four"));
    v("length", &F::length, "of the request, even beyond its buffer", in_range(0, 1 << 24), unit("octets"),
      shown("one of these four"));
    v("lkey", &F::wrong_lkey, "its lkey is an STag that does not exist", one_of(keys::kLkeys),
      shown("one of these four"));
    v("posted", &F::posted, "`false`: neither this receive nor a later one of the item is posted",
      shown("one of these four"));
  }
};

template <>
struct Keys<ScenarioCheck> {
  template <class V>
  static void fields(V& v) {
    using C = ScenarioCheck;
    v("check", &C::kind,
      "`data`: every message complete and compared. `min_share_percent`: of the limit below. `min_rate_mops`: "
      "millions of messages a second. `min_fairness`: Jain's index of the queue pairs' goodput, 0 to 1. `terminate`: "
      "below",
      one_of(keys::kChecks), required());
    v("value", &C::value, "the bound", in_range(0.0, 1e12), shown("required, but not for `data` and `terminate`"));
    v("work", &C::work, "the name of one item", shown("all items"));
    v("name", &C::name, "shown in the report", shown("from the kind and `work`"));
    v.form("sender", "name of a node", "required for `terminate`", "`terminate`: sends it");
    v.form("code", "text such as `\"1/1/00\"`", "required for `terminate`", "`terminate`: layer, type and code");
    v.form("connection", "name of a connection", "the only one", "`terminate`: carries it");
    v.form("qp", "integer below its `qps`", "0", "`terminate`: number of the queue pair");
    v("told", &C::told, "`terminate`: the host at the other end gets the event, or must not");
  }
};

}  // namespace rnic
