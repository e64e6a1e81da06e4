// Memory writes of the chip: requests of several clients become TLPs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "model/common/link.h"
#include "model/rnic/context/word_watch.h"
#include "model/rnic/messages/dma.h"
#include "model/rnic/pcie/config_space.h"
#include "model/rnic/pcie/page_queue.h"
#include "model/rnic/pcie/pcie_config.h"
#include "model/rnic/pcie/tlp.h"

namespace rnic::pcie {

struct DmaWriteCounters {
  std::uint64_t requests = 0, tlps = 0, bytes = 0;
  template <class V>
  static void fields(V& v) {
    v("requests", &DmaWriteCounters::requests, "requests", "requests of the other stages");
    v("tlps", &DmaWriteCounters::tlps, "TLPs", "TLPs sent");
    v("bytes", &DmaWriteCounters::bytes, "octets", "octets written");
  }
};

// One TLP per cycle; clients take turns TLP by TLP, and the requests of one client stay in order. The answer to
// `notify` leaves in the cycle in which the last TLP enters the link to the endpoint, where nothing younger passes it.
// While the host has disabled the bus master, none is sent.
class DmaWrite final : public Stage {
 public:
  PushPort<Tlp> tlps{*this, "tlps"};

  DmaWrite(sc_core::sc_module_name nm, ClockDomain& clk, unsigned clients, const PcieLinkConfig& link,
           ConfigSpace& space);
  PopPort<DmaWriteRequest>& request(unsigned client) { return clients_.at(client)->request; }
  // A client that never asks for an answer has no such port: the first call makes it.
  PushPort<DmaWriteDone>& done(unsigned client);
  // What the requests of this client are for.
  void serves(unsigned client, Purpose purpose) { clients_.at(client)->purpose = purpose; }
  // Requests of this client may name pages. Its reader of the page table has this name.
  void in_pages(unsigned client, const char* name, PageTable& pages, StagTable& stags);
  // Sees the writes of all clients, in the cycle in which they enter the link, except those of the watching client.
  void tell(WordWatch& words, unsigned watching) {
    words_ = &words;
    watching_ = watching;
  }

  Wake tick() override;
  void reset() override;
  void describe(const Description& d) override;
  const DmaWriteCounters& counters() const { return counters_; }

 private:
  struct Client {
    explicit Client(Stage& stage) : request(stage, "request") {}
    PopPort<DmaWriteRequest> request;
    std::optional<PushPort<DmaWriteDone>> done;
    std::unique_ptr<PageQueue<DmaWriteRequest>> in_pages;
    DmaWriteRequest current;  // being cut
    Purpose purpose = Purpose::kPayload;
    bool active = false;
    bool lost = false;  // octets since the last answer have no page
    bool queued() const { return in_pages != nullptr && !in_pages->empty(); }
    // Being cut, or the oldest in pages.
    DmaWriteRequest& oldest() { return active ? current : in_pages->front(); }
  };
  bool has_work(Client& client) const {
    return client.active || client.request->can_pop() || (page_queues_.queued() && client.queued());
  }
  // What the next TLP of the client's oldest request writes.
  BusPiece next_of(Client& client) const;
  static void check(const DmaWriteRequest& r, const Client& client);
  bool begin(Client& client);
  bool ready(Client& client);
  void send_piece(unsigned number);
  void sent(Client& client, std::uint32_t octets);

  ConfigSpace& space_;
  const std::uint32_t max_payload_;
  std::vector<std::unique_ptr<Client>> clients_;
  PageQueues<DmaWriteRequest> page_queues_;
  unsigned next_ = 0;  // the next client to be served
  WordWatch* words_ = nullptr;
  unsigned watching_ = 0;
  DmaWriteCounters counters_;
};

}  // namespace rnic::pcie
