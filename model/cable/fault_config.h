// Settings and counters of the faults of one direction of a cable.
#pragma once

#include <cstdint>
#include <string>

#include "model/config/field.h"

namespace rnic {

// Selects frames, by any of the criteria given. Frames are numbered from 1 in their direction.
struct PickConfig {
  unsigned ppm = 0;
  std::uint64_t every = 0;
  std::string frames;
  template <class V>
  static void fields(V& v) {
    v("ppm", &PickConfig::ppm, "probability, for each frame independently", in_range(0, 1'000'000), unit("ppm"));
    v("every", &PickConfig::every, "every n-th frame; 0: none");
    v("frames", &PickConfig::frames, "frame numbers in this direction, from 1, such as 3,7,10-12,20-");
  }
};

// Loss in bursts: a Markov chain of two states with a step for each frame (Gilbert 1960, Elliott 1963). In the good
// state only `loss` loses frames.
struct BurstConfig {
  unsigned enter_ppm = 0, leave_ppm = 100'000, loss_ppm = 1'000'000;
  template <class V>
  static void fields(V& v) {
    v("enter_ppm", &BurstConfig::enter_ppm, "probability that a frame is the first of a burst; 0: there are none",
      in_range(0, 1'000'000), unit("ppm"));
    v("leave_ppm", &BurstConfig::leave_ppm, "probability that a burst ends before its next frame",
      in_range(1, 1'000'000), unit("ppm"));
    v("loss_ppm", &BurstConfig::loss_ppm, "probability of loss in a burst", in_range(0, 1'000'000), unit("ppm"));
  }
};

struct DelayConfig {
  std::uint64_t ns = 0, jitter_ns = 0, reorder_ns = 10'000;
  template <class V>
  static void fields(V& v) {
    v("ns", &DelayConfig::ns, "delay of each frame, in addition to the cable's", in_range(0, 1'000'000'000),
      unit("ns"));
    v("jitter_ns", &DelayConfig::jitter_ns,
      "maximum of a further, uniformly distributed delay; frames keep their order", in_range(0, 1'000'000'000),
      unit("ns"));
    v("reorder_ns", &DelayConfig::reorder_ns, "extra delay of a reordered frame", in_range(1, 1'000'000'000),
      unit("ns"));
  }
};

// A bottleneck on the path, with a queue before it.
struct BottleneckConfig {
  std::uint64_t mbps = 0, queue_bytes = 262'144;
  std::string at_us = "0-";
  template <class V>
  static void fields(V& v) {
    v("mbps", &BottleneckConfig::mbps, "rate of a bottleneck on the path; 0: none", in_range(0, 1'000'000),
      unit("Mb/s"));
    v("queue_bytes", &BottleneckConfig::queue_bytes, "queue before the bottleneck; frames that do not fit are lost",
      in_range(2048, 1 << 30), unit("octets"));
    v("at_us", &BottleneckConfig::at_us, "when the bottleneck exists: times of the run such as 100-200,500-",
      unit("us"));
  }
};

struct PathMtuConfig {
  unsigned bytes = 0;
  std::string at_us = "0-";
  bool icmp = true;
  bool has_router() const { return bytes != 0 && icmp; }
  template <class V>
  static void fields(V& v) {
    v("bytes", &PathMtuConfig::bytes, "longer IP packets are lost; 0: no limit", in_range(0, 65535), unit("octets"));
    v("at_us", &PathMtuConfig::at_us, "when the limit applies: times of the run such as 100-200,500-", unit("us"));
    v("icmp", &PathMtuConfig::icmp,
      "a router informs the sender by ICMP \"fragmentation needed\" (RFC 1191); false: a black hole");
  }
};

struct FaultConfig {
  PickConfig loss, duplicate, reorder, corrupt, corrupt_repaired, mark;
  BurstConfig burst;
  DelayConfig delay;
  BottleneckConfig rate;
  PathMtuConfig mtu;
  std::string down_us;
  template <class V>
  static void fields(V& v) {
    v.group("loss", &FaultConfig::loss);
    v.group("burst", &FaultConfig::burst);
    v.group("duplicate", &FaultConfig::duplicate);
    v.group("reorder", &FaultConfig::reorder);
    v.group("corrupt", &FaultConfig::corrupt);
    v.group("corrupt_repaired", &FaultConfig::corrupt_repaired);
    v.group("mark", &FaultConfig::mark);
    v.group("delay", &FaultConfig::delay);
    v.group("rate", &FaultConfig::rate);
    v.group("mtu", &FaultConfig::mtu);
    v("down_us", &FaultConfig::down_us, "times of the run when all frames are lost, such as 100-200,500-", unit("us"));
  }
};

struct FaultCounters {
  std::uint64_t frames = 0, lost = 0, lost_in_bursts = 0, bursts = 0, lost_while_down = 0, too_long = 0,
                queue_drops = 0;
  std::uint64_t icmp_sent = 0, fragments_sent = 0, duplicated = 0, reordered = 0, corrupted = 0, corrupted_repaired = 0,
                marked = 0;
  template <class V>
  static void fields(V& v) {
    v("frames", &FaultCounters::frames, "frames", "frames that entered this direction");
    v("lost", &FaultCounters::lost, "frames", "lost by `loss`");
    v("lost_in_bursts", &FaultCounters::lost_in_bursts, "frames", "lost by `burst`");
    v("bursts", &FaultCounters::bursts, "bursts", "bursts begun");
    v("lost_while_down", &FaultCounters::lost_while_down, "frames", "lost while the link was down");
    v("too_long", &FaultCounters::too_long, "frames", "lost because they were longer than `mtu`");
    v("icmp_sent", &FaultCounters::icmp_sent, "packets", "ICMP packets by which a router reported a frame as too long");
    v("fragments_sent", &FaultCounters::fragments_sent, "frames",
      "fragments into which a router cut packets that were too long and may be cut");
    v("queue_drops", &FaultCounters::queue_drops, "frames", "lost because the queue of the bottleneck was full");
    v("duplicated", &FaultCounters::duplicated, "frames", "frames duplicated");
    v("reordered", &FaultCounters::reordered, "frames", "held back, so that others could overtake them");
    v("corrupted", &FaultCounters::corrupted, "frames", "frames with a flipped bit and a wrong checksum");
    v("corrupted_repaired", &FaultCounters::corrupted_repaired, "frames",
      "frames with a flipped bit of TCP payload and a recomputed checksum");
    v("marked", &FaultCounters::marked, "frames", "frames with Congestion Experienced, of senders that use ECN");
  }
};

}  // namespace rnic
