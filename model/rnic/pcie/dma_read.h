// Memory reads of the chip: requests of several clients become read TLPs, and their completions go to the requests'
// destinations.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/common/account.h"
#include "model/common/link.h"
#include "model/common/ring.h"
#include "model/rnic/messages/dma.h"
#include "model/rnic/pcie/config_space.h"
#include "model/rnic/pcie/page_queue.h"
#include "model/rnic/pcie/pcie_config.h"
#include "model/rnic/pcie/tlp.h"

namespace rnic::pcie {

struct DmaReadConfig {
  unsigned max_tags = 256;
  unsigned max_requests = 256;
  unsigned completion_timeout_us = 10000;
  template <class V>
  static void fields(V& v) {
    v("max_tags", &DmaReadConfig::max_tags, "read TLPs outstanding at a time", in_range(1, 256));
    v("max_requests", &DmaReadConfig::max_requests, "requests of all clients outstanding at a time", in_range(1, 4096));
    v("completion_timeout_us", &DmaReadConfig::completion_timeout_us, "time after which a read fails",
      in_range(1, 1000000), unit("us"));
  }
};

struct DmaReadCounters {
  std::uint64_t requests = 0, tlps = 0, bytes = 0;
  std::uint64_t failed_requests = 0, timeouts = 0, unexpected = 0, malformed = 0;
  template <class V>
  static void fields(V& v) {
    v("requests", &DmaReadCounters::requests, "requests", "requests of the other stages");
    v("tlps", &DmaReadCounters::tlps, "TLPs", "TLPs sent");
    v("bytes", &DmaReadCounters::bytes, "octets", "octets read");
    v("failed_requests", &DmaReadCounters::failed_requests, "requests", "requests that ended with an error");
    v("timeouts", &DmaReadCounters::timeouts, "TLPs", "read TLPs that were not completed in time");
    v("unexpected", &DmaReadCounters::unexpected, "completions", "completions for which no read TLP is outstanding");
    v("malformed", &DmaReadCounters::malformed, "completions",
      "completions whose address or length does not continue their read");
  }
};

// One read TLP and one completion per cycle; clients take turns TLP by TLP. Completions of one TLP come in order, those
// of different TLPs in any order. The first error of a request stops it; it is answered when nothing of it is
// outstanding. While the host has disabled the bus master, none is sent. The tag of a TLP that timed out stays out of
// use until its completions have come after all.
class DmaRead final : public Stage {
 public:
  PushPort<Tlp> tlps{*this, "tlps"};
  PopPort<Tlp> completions{*this, "completions"};

  DmaRead(sc_core::sc_module_name nm, ClockDomain& clk, unsigned clients, const DmaReadConfig& config,
          const PcieLinkConfig& link, ConfigSpace& space);
  PopPort<DmaReadRequest>& request(unsigned client) { return clients_.at(client)->request; }
  PushPort<DmaReadDone>& done(unsigned client) { return clients_.at(client)->done; }
  // What the requests of this client are for.
  void serves(unsigned client, Purpose purpose) { clients_.at(client)->purpose = purpose; }
  // Requests of this client may name pages. Its reader of the page table has this name.
  void in_pages(unsigned client, const char* name, PageTable& pages, StagTable& stags);

  Wake tick() override;
  void reset() override;
  // With the link, whatever is outstanding on it is lost: no tag waits for a completion.
  void lose_tags();
  std::string waiting_for() const override;
  void describe(const Description& d) override;
  const DmaReadCounters& counters() const { return counters_; }

 private:
  static constexpr std::uint16_t kNone = 0xffff;
  struct Client {
    explicit Client(Stage& stage) : request(stage, "request"), done(stage, "done") {}
    PopPort<DmaReadRequest> request;
    PushPort<DmaReadDone> done;
    std::unique_ptr<PageQueue<DmaReadRequest>> in_pages;
    Purpose purpose = Purpose::kPayload;
    std::uint16_t current = kNone;  // the request being cut; the oldest in pages, if there are any
    Ring<DmaReadDone> answers;      // waiting for room
    bool queued() const { return in_pages != nullptr && !in_pages->empty(); }
  };
  struct Request {
    DmaReadRequest r;
    std::uint32_t cut = 0;          // octets requested
    std::uint16_t outstanding = 0;  // TLPs
    std::uint16_t client = 0;
    bool ok = true;
    bool in_pages = false;
  };
  struct Tag {
    std::uint64_t address = 0;  // of the next octet
    std::uint8_t* dst = nullptr;
    std::uint32_t left = 0;  // octets still missing; 0: the tag is free
    std::uint32_t serial = 0;
    std::uint16_t request = kNone;  // kNone: given up, only its completions are still expected
  };
  struct Deadline {
    Cycle at = 0;
    std::uint32_t serial = 0;
    std::uint16_t tag = 0;
  };
  void receive();
  bool continues(const Tag& tag, const Tlp& tlp) const;
  void give_up(Tag& tag);
  void end_tlp(std::uint16_t request, bool ok);
  void finish_if_over(std::uint16_t request);
  void expire();
  void answer();
  bool has_work(Client& client) const;
  unsigned with_work(unsigned first);
  bool issue();
  void account();
  // What the next TLP of the request that the client cuts reads.
  BusPiece next_of(const Client& client) const;
  void begin(Client& client);
  void send_piece(unsigned c);

  ConfigSpace& space_;
  const std::uint32_t max_read_request_;
  const unsigned timeout_us_;
  const Cycle timeout_cycles_;
  std::vector<std::unique_ptr<Client>> clients_;
  PageQueues<DmaReadRequest> page_queues_;
  std::vector<Request> requests_;
  std::vector<std::uint16_t> free_requests_;
  std::vector<Tag> tags_;
  Ring<std::uint16_t> free_tags_;
  Ring<Deadline> deadlines_;
  unsigned next_ = 0;     // the next client to be served
  unsigned answers_ = 0;  // waiting in all clients
  Account tags_account_, requests_account_;
  DmaReadCounters counters_;
};

}  // namespace rnic::pcie
