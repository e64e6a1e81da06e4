#include "model/rnic/context/read_source.h"

#include "model/abi/host_abi.h"

namespace rnic {

std::optional<wire::TerminateCause> check_read_source(const ContextStore& contexts, Qpn qpn,
                                                      const wire::ReadRequest& r) {
  if (r.size == 0) return {};
  const StagContext* stag = contexts.named(Stag{r.src_stag});
  if (stag == nullptr) return wire::rdma::kInvalidStag;
  if (!stag->serves(qpn, contexts.qp(qpn))) return wire::rdma::kStagNotAssociated;
  if (!(stag->access & abi::kRemoteRead)) return wire::rdma::kAccessRights;
  if (r.src_to + r.size < r.src_to) return wire::rdma::kToWrap;
  if (!stag->contains(r.src_to, r.size)) return wire::rdma::kBaseOrBounds;
  return {};
}

}  // namespace rnic
