#include "model/golden/dma.h"

#include <fmt/format.h>

namespace rnic::golden {

void OpenReads::answer(const DmaReadMessage& m) {
  const auto read = reads_.find(m.tag);
  if (read == reads_.end())
    fail_value(fmt::format("dma_read_done.tag: no read with tag {} waits for an answer", m.tag));
  if (m.ok && m.octets.size() != read->second.bytes) {
    fail_value(fmt::format("dma_read_done: it has {} octets, but {} were read", m.octets.size(), read->second.bytes));
  }
  if (m.ok) std::copy(m.octets.begin(), m.octets.end(), read->second.to);
  reads_.erase(read);
}

void OpenWrites::answer(const DmaWriteDone&) {
  if (open_ == 0) fail_value("dma_write_done: no write waits for an answer");
  --open_;
}

}  // namespace rnic::golden
