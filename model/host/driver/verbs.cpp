#include "model/host/driver/verbs.h"

#include <algorithm>

#include "model/abi/host_abi_names.h"

namespace rnic::host {

abi::Wqe receive_wqe(const RecvWr& wr) {
  abi::Wqe wqe;
  wqe.wr_id = wr.wr_id;
  wqe.num_sge = wr.num_sge;
  std::copy_n(wr.sg_list.begin(), wr.num_sge, wqe.sge);
  return wqe;
}

const char* wc_status_str(WcStatus status) {
  static constexpr const char* kText[] = {"success",
                                          "local length error",
                                          "local QP operation error",
                                          "local EE context operation error",
                                          "local protection error",
                                          "WR flushed error",
                                          "memory bind operation error",
                                          "bad response error",
                                          "local access error",
                                          "remote invalid request error",
                                          "remote access error",
                                          "remote operation error",
                                          "transport retry counter exceeded",
                                          "RNR retry counter exceeded",
                                          "local RDD violation error",
                                          "remote invalid RD request",
                                          "remote aborted error",
                                          "invalid EE context number",
                                          "invalid EE context state",
                                          "fatal error",
                                          "response timeout error",
                                          "general error"};
  const auto i = static_cast<std::size_t>(status);
  return i < std::size(kText) ? kText[i] : "unknown status";
}

const char* connect_status_str(abi::ConnectStatus status) {
  static constexpr const char* kText[] = {"ok",
                                          "connection refused",
                                          "timeout",
                                          "connection reset",
                                          "bad MPA frame",
                                          "unsupported MPA revision",
                                          "insufficient IRD",
                                          "no matching RTR",
                                          "local failure",
                                          "cancelled",
                                          "no resources"};
  const auto i = static_cast<std::size_t>(status);
  return i < std::size(kText) ? kText[i] : "unknown status";
}

const char* command_status_str(abi::CommandStatus status) { return abi::name(status); }

const char* fault_cause_str(abi::FaultCause cause) {
  static constexpr const char* kText[] = {"none",      "panic",         "watchdog", "illegal instruction",
                                          "bus fault", "stack overflow"};
  const auto i = static_cast<std::size_t>(cause);
  return i < std::size(kText) ? kText[i] : "unknown cause";
}

}  // namespace rnic::host
