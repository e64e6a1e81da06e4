// Writes a run for https://ui.perfetto.dev in Perfetto's format: tracks of events per node and block, and arrows from
// event to event of a work request.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/common/bytes.h"
#include "model/trace/event_stream.h"
#include "model/trace/output_file.h"
#include "model/trace/request_numbers.h"

namespace rnic {

// A message of Protocol Buffers. A trace needs only numbers, texts and nested messages.
class ProtoMessage final {
 public:
  void number(unsigned field, std::uint64_t value);  // int32 to uint64, bool, enum
  void fixed(unsigned field, std::uint64_t value);   // fixed64
  void real(unsigned field, double value);
  void text(unsigned field, std::string_view value);  // string, bytes
  void message(unsigned field, const ProtoMessage& value) { bytes(field, value.octets()); }
  void clear() { used_ = 0; }
  ByteSpan octets() const { return {octets_.data(), used_}; }

 private:
  void bytes(unsigned field, ByteSpan value);
  std::uint8_t* room(std::size_t octets);  // behind what is there
  void end_at(const std::uint8_t* end) { used_ = static_cast<std::size_t>(end - octets_.data()); }

  std::vector<std::uint8_t> octets_;  // with room at the end: a message has many small fields
  std::size_t used_ = 0;
};

// A node is a process. Each of its places is a track of instants, which belong to their request's flow. A request is
// also a slice from its first event to its last, on the first free track. Counters show the requests in flight and the
// rate of sent frames. Perfetto's times are nanoseconds; an event carries its picoseconds separately.
class PerfettoTrace final : public EventReader {
 public:
  // ConfigError if the file cannot be created.
  PerfettoTrace(const std::string& file, std::vector<std::string> nodes, EventWords words);

  void events(const std::vector<TimedEvent>& batch) override;
  // OutputError if anything could not be written.
  void close();

 private:
  struct Request {
    std::string text;
    std::uint64_t first_ps, last_ps;
    std::uint32_t node;  // of its first event
  };
  struct Sending {
    std::uint64_t bytes = 0, interval = 0;  // bytes in interval number `interval`
  };
  std::uint64_t new_track(std::uint32_t node, const std::string& name, bool counts, const char* unit = "");
  std::uint64_t place_track(const TimedEvent& t);
  void put(std::uint64_t ps, unsigned field, const ProtoMessage& content);
  void put_begin_of_file();
  void add(const TimedEvent& t);
  const Request& note(const TimedEvent& t);
  void count_sent(const TimedEvent& t);
  void end_interval(std::uint32_t node);
  void put_requests();
  void put_requests_under_way();

  OutputFile file_;
  const std::vector<std::string> nodes_;
  const EventWords words_;
  std::uint64_t tracks_ = 0;
  std::vector<std::unordered_map<const char*, std::uint64_t>> places_;  // by node: looked up, never iterated
  std::vector<std::map<std::string, std::uint64_t>> place_names_;
  std::vector<std::uint64_t> rates_;  // tracks
  std::vector<Sending> sending_;
  std::vector<Request> requests_;  // in the order of their first events
  RequestNumbers numbers_;
  std::unordered_map<std::uint64_t, std::size_t> request_index_;
  ProtoMessage event_, annotation_, packet_, trace_;
};

}  // namespace rnic
