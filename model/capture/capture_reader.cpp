#include "model/capture/capture_reader.h"

#include <cstdio>

#include <fmt/format.h>
#include <pcap/pcap.h>

#include "model/common/check.h"

namespace rnic::capture {

void CaptureReader::Close::operator()(pcap* handle) const { pcap_close(handle); }

CaptureReader::CaptureReader(const std::string& path) {
  char error[PCAP_ERRBUF_SIZE] = "";
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) throw ConfigError(path + ": cannot be opened");
  ethernet_ = std::make_unique<EthernetOnly>(file);
  file = ethernet_->open();
  RNIC_CHECK(file != nullptr);
  // Owns the stream only if it succeeds.
  handle_.reset(pcap_fopen_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, error));
  if (!handle_) {
    std::fclose(file);
    if (ethernet_->skipped_interfaces() != 0) throw ConfigError(path + ": no interface of the capture is Ethernet");
    throw ConfigError(fmt::format("{}: not a capture: {}", path, error));
  }
  if (pcap_datalink(handle_.get()) != DLT_EN10MB) {
    throw ConfigError(path + ": the link type of the capture is not Ethernet");
  }
}

CaptureReader::~CaptureReader() = default;

std::uint64_t CaptureReader::skipped_packets() const { return ethernet_->skipped_packets(); }

std::uint64_t CaptureReader::position() const {
  const off_t at = ftello(pcap_file(handle_.get()));
  return at < 0 ? 0 : static_cast<std::uint64_t>(at);
}

std::optional<CapturedFrame> CaptureReader::next(UndecodedList& undecoded) {
  const std::uint64_t begin = position();
  pcap_pkthdr* header = nullptr;
  const u_char* data = nullptr;
  const int status = pcap_next_ex(handle_.get(), &header, &data);
  const std::uint64_t offset = ethernet_->place_of(begin);  // now what was left out before it is known
  if (status == PCAP_ERROR)
    undecoded.push_back({offset, fmt::format("the rest of the file: {}", pcap_geterr(handle_.get()))});
  if (status != 1) return std::nullopt;
  const auto seconds = static_cast<std::uint64_t>(header->ts.tv_sec);
  const std::uint64_t time_ns = seconds * 1'000'000'000 + static_cast<std::uint64_t>(header->ts.tv_usec);
  return CapturedFrame{offset, {data, header->caplen}, header->len, time_ns};
}

}  // namespace rnic::capture
