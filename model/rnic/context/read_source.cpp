#include "model/rnic/context/read_source.h"

#include "model/abi/host_abi.h"

namespace rnic {

std::optional<wire::TerminateCause> check_read_source(const StagContext* named, const StagUser& user,
                                                      const wire::ReadRequest& r) {
  if (r.size == 0) return {};
  if (named == nullptr) return wire::rdma::kInvalidStag;
  if (!named->serves(user)) return wire::rdma::kStagNotAssociated;
  if (!(named->access & abi::kRemoteRead)) return wire::rdma::kAccessRights;
  if (r.src_to + r.size < r.src_to) return wire::rdma::kToWrap;
  if (!named->contains(r.src_to, r.size)) return wire::rdma::kBaseOrBounds;
  return {};
}

}  // namespace rnic
