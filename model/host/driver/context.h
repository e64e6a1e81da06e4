// The device as a program sees it (ibv_context): opens it, creates its objects, and passes its events to their owners.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/common/siphash.h"
#include "model/host/driver/command_queue.h"
#include "model/host/driver/firmware_log.h"
#include "model/host/driver/queue_pair.h"
#include "model/host/free_ranges.h"
#include "model/stats/registry.h"

namespace rnic::host {

struct DriverConfig {
  unsigned log_commands = 6;
  unsigned log_events = 8;
  unsigned status_poll_us = 1;
  std::uint64_t stag_seed = 0;
  template <class V>
  static void fields(V& v) {
    v("log_commands", &DriverConfig::log_commands, "command ring: binary logarithm of its entries", in_range(1, 12));
    v("log_events", &DriverConfig::log_events, "event ring: binary logarithm of its entries", in_range(1, 12));
    v("status_poll_us", &DriverConfig::status_poll_us, "interval at which the driver polls whether the device is ready",
      in_range(1, 1000000), unit("us"));
    v("stag_seed", &DriverConfig::stag_seed,
      "seed of the key that draws the STags of regions and windows (RFC 5042 section 6.2.1); 0: the run's, or the "
      "system's");
  }
};

// Memory that a peer writes to and a program polls.
class Watch final : public WriteListener {
 public:
  Watch(Core& owner, HostMemory& memory, const ClockDomain& clk, std::uint64_t address)
      : owner_(owner), memory_(memory), clk_(clk), address_(address), polled_from_(address) {}
  std::uint64_t address() const { return address_; }
  // The first eight octets, as the processor sees them: a write of this cycle is visible from the next one on.
  std::uint64_t value() const { return fresh() ? before_ : newest_; }
  // The device has written in this cycle, so the new contents must not be used before the next one.
  bool fresh() const { return fresh_in_ == clk_.now(); }
  // The program polls only what is after the first `octets`: writes of these do not call it.
  void poll_behind(std::uint64_t octets) { polled_from_ = address_ + octets; }
  void written(std::uint64_t address, std::uint32_t bytes) override;

 private:
  Core& owner_;
  HostMemory& memory_;
  const ClockDomain& clk_;
  const std::uint64_t address_;
  std::uint64_t polled_from_;
  std::uint64_t newest_ = 0, before_ = 0;
  Cycle fresh_in_ = kNever;
};

// Whether the device has everything that the host's programs had written to its registers at the time of the request.
class Fence {
 public:
  Fence(Core& owner, const ClockDomain& clk) : owner_(owner), clk_(clk) {}
  // The requesting program is called when it becomes true.
  bool passed() const { return passed_in_ < clk_.now(); }
  void pass(std::uint64_t at_ps);

 private:
  Core& owner_;
  const ClockDomain& clk_;
  Cycle passed_in_ = kNever;
};

// The driver is a program too: its core takes the interrupts. Functions that create objects are called from a program's
// step(), which is woken when the object is ready or has failed. A destroyed object exists until its creator has seen
// that and creates another one, or until the end of that step().
class Context final : public App, public HostEvents, public Part {
 public:
  // Message-signalled interrupts go to msi_address, with the vector as data. Opens the device as soon as the
  // simulation runs.
  Context(HostCpu& cpu, HostMemory& memory, std::uint64_t msi_address, const DriverConfig& config = {});
  ~Context() override;

  bool is_open() const { return state_ == State::kOpen; }
  // Why the device cannot be used; empty while it is usable or being opened.
  const std::string& error() const { return error_; }
  // Wakes a program when the device is open or has failed to, and when it fails later.
  void when_open(Core& core) { openers_.push_back(&core); }
  // Resets the device (CONTROL.RESET) and opens it again, also after it has failed. Programs see the same as after a
  // fatal error: commands and connections end, with error() set until the device is open again (when_open). All their
  // objects are destroyed. EBUSY while the device is being opened.
  int reset();
  // The same by a reset of its function or of the whole device with its link (PCI Express Base Specification, section
  // 6.6), after which the driver writes back what configuration space had before.
  int reset(ResetKind kind);
  const DeviceAttr& query_device() const { return attr_; }
  FirmwareLog& firmware_log() { return log_; }
  HostMemory& memory() { return memory_; }
  HostCpu& cpu() { return cpu_; }

  // The verbs that make objects return nullptr, without a side effect, when the device has no more of the kind or a
  // size is out of range; the device's own refusal shows in failed() and status().
  Pd alloc_pd() { return {Pdn{next_pd_++}}; }
  Mr* reg_mr(Pd pd, std::uint64_t address, std::uint64_t length, std::uint8_t access) {
    return make_mr(pd, abi::CommandOp::kRegisterMr, address, length, access);
  }
  // Over scattered pages: `address` is the address of the first octet for programs and peers. nullptr also when the
  // device has no room for the list or a page is not aligned.
  Mr* reg_mr(Pd pd, const PageList& list, std::uint64_t address, std::uint64_t length, std::uint8_t access);
  void dereg_mr(Mr& mr);
  // A region without memory, for kRegMr requests (fast registration), and a window for kBindMw requests: a window of
  // type 1 serves its protection domain and is bound again at will; one of type 2 serves the queue pair that bound it
  // until it is invalidated. dereg_mr() ends them too.
  // With max_pages, map_mr() may give the region a list of at most that many pages while it is not valid
  // (ib_map_mr_sg). It returns the registration of the kRegMr request, to be posted when the region is mapped().
  Mr* alloc_mr(Pd pd, std::uint32_t max_pages = 0);
  abi::Registration map_mr(Mr& mr, const PageList& list, std::uint64_t address, std::uint64_t length,
                           std::uint32_t access);
  // Where the device has a home for page lists and the like in host memory, nullptr where it needs none. It gets it
  // before programs see it open. release_home() takes it back from the device, and what needs it is refused from then
  // on until give_home(); the device refuses that (kBusy) while something of it exists. Without a home, or with one,
  // neither has an effect.
  const Home* home() const { return home_.get(); }
  const Home* release_home();
  const Home* give_home();
  Mr* alloc_mw(Pd pd, unsigned type) {
    return make_mr(pd, abi::CommandOp::kAllocMw, 0, 0, static_cast<std::uint8_t>(type));
  }
  Cq* create_cq(std::uint32_t cqe, CqMode mode, CqOverrun overrun = CqOverrun::kPrevented);
  // ib_modify_cq: from now on an armed queue is notified of `count` entries at once (0: any number waits), or
  // `period_ns` after the first of them; period 0 turns it off. EINVAL if the count is above 65535, or above 1 without
  // a period.
  int modify_cq(Cq& cq, std::uint32_t count, std::uint32_t period_ns);
  void destroy_cq(Cq& cq);
  // A queue of receive requests for queue pairs of its domain. modify_srq arms the limit (IBV_SRQ_LIMIT): one event
  // when fewer requests are left, at once if that is already the case; 0 disarms. query_srq asks for the limit.
  // Answers: Srq.
  Srq* create_srq(const SrqInitAttr& attr);
  void modify_srq(Srq& srq, std::uint32_t limit);
  void query_srq(Srq& srq);
  void destroy_srq(Srq& srq);
  // nullptr also when a completion queue is another program's (RFC 5040 section 8.1.1), or has no room for all work
  // requests that could complete on it.
  Qp* create_qp(const QpInitAttr& attr);
  // Answers: Qp::answered(), answer() and queried().
  void modify_qp(Qp& qp, const QpModifyAttr& attr);
  void query_qp(Qp& qp);
  // In any state: a connection is cancelled or closed first, without further events.
  void destroy_qp(Qp& qp);
  // For the running program. Eight octets, or that many; the ranges do not overlap.
  Watch& watch(std::uint64_t address, std::uint64_t bytes = 8);
  // Reads a register; on PCIe the read does not overtake earlier writes.
  const Fence& fence();

  // `personality` answers peers until accept() gets a queue pair with another one.
  // At most `backlog` requests wait for an answer (0: as many as the device can keep); a peer beyond them is reset.
  Listener& listen(std::uint16_t port, std::uint8_t cm_flags, EventChannel& channel,
                   abi::Personality personality = abi::Personality::kDevice, std::uint16_t backlog = 0,
                   Transport transport = Transport::kTcp);
  // Requests that programs have received remain.
  void unlisten(Listener& listener);
  // A queue pair is its connection's id, and has one connection in its life, but as many attempts as it needs. A
  // request has an id of its own until it is answered. Nothing happens on an error: EINVAL for too much private data,
  // a queue pair in error, or a request that is answered or gone; EISCONN if the queue pair has a connection or
  // attempts one; ENOTCONN if it has none to end.
  int connect(Qp& qp, std::uint32_t peer_ip, std::uint16_t port, const ConnParam& param, EventChannel& channel);
  int accept(std::uint32_t connection, Qp& qp, const ConnParam& param, EventChannel& channel);
  // need_ord: the ORD that exceeds the initiator's IRD, to be named in the reply (RFC 6581 section 9.1).
  int reject(std::uint32_t connection, ByteSpan private_data, std::uint16_t need_ord = 0, bool stays = false);
  // Another request on the stream that the peer's rejection has left open, after a connect with kCmStay; disconnect()
  // closes it. ENOTCONN if there is none.
  int connect_again(Qp& qp, const ConnParam& param);
  // Ends the connection, or cancels the attempt (kConnectError, kCancelled).
  int disconnect(Qp& qp);

  // The number of objects, without destroyed ones.
  void describe(const Description& d) override;

  // App.
  void step() override;
  std::string waiting_for() const override;

  // HostEvents.
  void memory_written(std::uint64_t address, std::uint32_t bytes, std::uint64_t at_ps) override;
  void msix(unsigned vector, std::uint64_t at_ps) override;
  void mmio_read_done(std::uint32_t cookie, std::uint32_t value, bool ok, std::uint64_t at_ps) override;
  void config_done(std::uint32_t cookie, std::uint32_t value, bool ok, std::uint64_t at_ps) override;

 private:
  // kSaving to kRestoring: a reset with its ResetKind.
  enum class State { kReset, kProbing, kStarting, kOpen, kFailed, kResetting, kSaving, kReturning, kRestoring };
  struct EventQueue final : WriteListener {
    EventQueue(HostMemory& memory, const ClockDomain& clk, unsigned log_entries)
        : ring(memory, clk, log_entries), data_base(memory.alloc(abi::kPrivateDataBytes << log_entries, 4096)) {}
    void written(std::uint64_t address, std::uint32_t) override { ring.written(address); }
    PhaseRing<abi::Event> ring;
    const std::uint64_t data_base;
  };
  struct Range {
    std::uint64_t begin, end;
    WriteListener* listener;
  };
  struct Request {
    std::uint32_t connection;
    std::uint8_t mpa_flags;
    bool answered = false;  // and the device has not taken the answer yet
  };
  // Commands whose result is not used.
  struct Ignored final : CommandTarget {
    void command_done(abi::CommandOp, abi::CommandStatus) override {}
  };

  std::optional<Stag> draw_stag();
  Mr* make_mr(Pd pd, abi::CommandOp op, std::uint64_t address, std::uint64_t length, std::uint8_t flags,
              PageRange pages = {}, const PageList& list = {});
  std::optional<PageRange> take_pages(std::size_t pages);
  void give_back(PageRange range);
  void write_pages(std::uint32_t first, const std::vector<std::uint64_t>& pages, CommandTarget& target);
  void submit_list(abi::CommandOp op, std::uint32_t first, const std::vector<std::uint64_t>& pages,
                   CommandTarget& target);
  void submit_home();
  bool end_for_reset();
  void reset_saved();
  void find_device();
  void restore();
  void probe();
  void start();
  void ask_status();
  void fail(std::string reason);
  void finish_opening(State state);
  void take_events();
  void cq_error(Cq& cq);
  void device_fatal(abi::FaultCause cause);
  void end_everything();
  void forget();
  void dispatch(const abi::Event& event, ByteSpan private_data);
  void connection_event(const abi::Event& event, ByteSpan private_data);
  Listener* listener_on(std::uint16_t port) const;
  Request* request_of(std::uint32_t connection, std::size_t private_bytes);
  void start(Qp& qp, const Qp::Attempt& attempt);
  bool fall_back(Qp& qp, const abi::Event& event);
  void release(Qp& qp);
  void release_doomed();
  void listen_on(WriteListener& listener, std::uint64_t begin, std::uint64_t bytes);
  void stop_listening(std::uint64_t begin);

  HostCpu& cpu_;
  HostMemory& memory_;
  const std::uint64_t msi_address_;
  const DriverConfig config_;
  Core& core_;
  CommandQueue commands_;
  FirmwareLog log_;
  EventQueue events_;
  State state_ = State::kReset;
  std::string error_;
  DeviceAttr attr_;
  std::vector<std::uint32_t> probed_;
  unsigned reads_pending_ = 0;
  bool read_failed_ = false;
  ResetKind reset_kind_ = ResetKind::kFlr;
  std::array<std::uint32_t, 4> saved_{};  // words of configuration space
  std::vector<Core*> openers_;

  std::uint64_t lost_contexts_ = 0;
  std::uint16_t next_pd_ = 1;
  FreeRanges page_table_;
  std::unique_ptr<Home> home_;
  std::vector<std::unique_ptr<Mr>> mrs_;  // by STag index - 1: STag 0 stays invalid
  SipStream stags_;
  std::vector<std::unique_ptr<Cq>> cqs_;  // by number
  QpTable qps_;
  std::vector<std::unique_ptr<Srq>> srqs_;  // by number
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::set<std::pair<std::uint16_t, std::size_t>> at_port_;                       // {port, number} of each of them
  std::size_t first_qp_ = 0, first_cq_ = 0, first_srq_ = 0, first_listener_ = 0;  // for free_number()
  std::vector<Request> requests_;                                                 // passed to programs
  std::vector<Qp*> doomed_;
  std::vector<std::unique_ptr<Watch>> watches_;
  std::deque<Fence> fences_;   // by cookie
  std::vector<Range> ranges_;  // sorted, disjoint
  Ignored ignored_;
};

}  // namespace rnic::host
