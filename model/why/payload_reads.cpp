#include "model/why/payload_reads.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "model/why/spans.h"

namespace rnic::why {
namespace {

// The share of a read's time in memory that makes memory the limit: if nothing is used up, and if something is.
constexpr double kHalf = 0.5, kMost = 0.8;

using Segment = std::pair<std::uint64_t, std::uint64_t>;  // request and offset

// The reads of a node while it had a request's payload to read.
class Reads {
 public:
  Reads(const Rows& rows, const RequestRow& request, const std::string& node)
      : rows_(rows), node_(node), request_(request) {
    follow_segments();
    follow_tlps();
  }

  // Reads that were out, as many as `limit`.
  Spans at_least(std::uint64_t limit) const { return steps(outstanding_, reads_before_, limit); }
  // ULPDUs that had a job or waited for one.
  Spans jobs_at_least(std::uint64_t limit) const { return steps(in_fetch_, fetched_before_, limit); }
  // The oldest ULPDU was still being read, so no later one could go on.
  Spans oldest_is_read() const {
    Spans spans;
    for (const Fetched& f : fetched_) {  // what follows its read is the wait for the stages behind
      const auto done = done_.find(f.segment);
      if (done != done_.end()) spans.add(f.begin_ps, std::min(done->second, f.ps));
    }
    return spans;
  }
  std::uint64_t mean_ps() const { return reads_ == 0 ? 0 : took_ps_ / reads_; }
  std::uint64_t mean_octets() const { return reads_ == 0 ? 0 : octets_ / reads_; }
  std::uint64_t last_issue_ps() const { return last_issue_ps_; }
  std::uint64_t last_fetched_ps() const { return last_fetched_ps_; }

 private:
  struct Step {
    std::uint64_t ps = 0;
    std::int64_t by = 0;
  };
  struct Fetched {
    Segment segment;
    std::uint64_t begin_ps = 0, ps = 0;  // it was the oldest; it left
  };
  struct Open {
    std::uint64_t request = 0, position = 0, bytes = 0, left = 0, ps = 0;  // request 0: none whose payload it reads
  };

  // `begin`: what was there before the first step.
  static Spans steps(std::vector<Step> steps, std::int64_t begin, std::uint64_t limit) {
    std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.ps < b.ps; });
    AtLeast at_least(begin, static_cast<std::int64_t>(limit));
    for (const Step& s : steps) at_least.change(s.ps, s.by);
    return std::move(at_least).until(steps.empty() ? 0 : steps.back().ps);
  }

  void follow_segments() {
    std::uint64_t left_ps = 0;
    std::map<Segment, std::uint64_t> cut;
    for (const EventRow& e :
         rows_.events(fmt::format("id BETWEEN {} AND {} AND node = {} AND kind IN ('segmented', 'payload_read')",
                                  request_.first_event, request_.last_event, quoted(node_)))) {
      if (!e.request) continue;
      const Segment segment{*e.request, e.offset.value_or(0)};
      if (e.kind == "segmented") {
        cut[segment] = e.ps;
        offsets_[segment.first].insert(segment.second);
        if (segment.second == 0) cut_ps_.try_emplace(segment.first, e.ps);
        in_fetch_.push_back({e.ps, 1});
        continue;
      }
      in_fetch_.push_back({e.ps, -1});
      const auto known = cut.find(segment);
      if (known != cut.end()) fetched_.push_back({segment, std::max(known->second, left_ps), e.ps});
      else ++fetched_before_;
      left_ps = e.ps;
      if (segment.first == request_.number) last_fetched_ps_ = e.ps;
    }
  }

  // The n-th octet that is read for a request is the n-th of its message.
  void follow_tlps() {
    for (const TlpRow& t : rows_.tlps(node_, request_.first_event, request_.last_event)) {
      if (t.from_chip && t.type == TlpRow::Type::kRead) issue(t);
      if (!t.from_chip && t.type == TlpRow::Type::kCompletion) complete(t);
    }
  }

  void issue(const TlpRow& t) {
    outstanding_.push_back({t.ps, 1});
    before_.erase(t.tag);
    Open read{0, 0, t.bytes, t.bytes, t.ps};
    const auto cut = t.request ? cut_ps_.find(*t.request) : cut_ps_.end();
    if (cut != cut_ps_.end() && t.ps >= cut->second) {  // else it reads work requests
      read.request = *t.request;
      read.position = position_[read.request];
      position_[read.request] += t.bytes;
      if (read.request == request_.number) last_issue_ps_ = t.ps;
    }
    open_[t.tag] = read;
  }

  void complete(const TlpRow& t) {
    const auto found = open_.find(t.tag);
    if (found == open_.end()) {  // begun before
      const auto [last, is_new] = before_.try_emplace(t.tag, outstanding_.size());
      if (is_new) ++reads_before_, outstanding_.push_back({t.ps, -1});
      else outstanding_[last->second].ps = t.ps;
      return;
    }
    Open& read = found->second;
    read.left -= std::min(read.left, t.bytes);
    if (read.left != 0) return;
    outstanding_.push_back({t.ps, -1});
    if (read.request != 0) {
      ++reads_;
      took_ps_ += t.ps - read.ps;
      octets_ += read.bytes;
      note_done(read, t.ps);
    }
    open_.erase(found);
  }

  void note_done(const Open& read, std::uint64_t ps) {
    const std::set<std::uint64_t>& offsets = offsets_[read.request];
    auto segment = offsets.upper_bound(read.position);
    if (segment == offsets.begin()) return;
    for (--segment; segment != offsets.end() && *segment < read.position + read.bytes; ++segment) {
      std::uint64_t& done = done_[{read.request, *segment}];
      done = std::max(done, ps);
    }
  }

  const Rows& rows_;
  const std::string& node_;
  const RequestRow& request_;
  std::map<std::uint64_t, std::set<std::uint64_t>> offsets_;  // of segments, by request
  std::map<std::uint64_t, std::uint64_t> cut_ps_;             // the first of them
  std::vector<Step> outstanding_, in_fetch_;
  std::vector<Fetched> fetched_;
  std::map<Segment, std::uint64_t> done_;
  std::map<std::uint64_t, Open> open_;               // by tag
  std::map<std::uint64_t, std::uint64_t> position_;  // by request
  std::map<std::uint64_t, std::size_t> before_;      // by tag: the step of the last completion of a read from before
  std::int64_t reads_before_ = 0, fetched_before_ = 0;
  std::uint64_t reads_ = 0, took_ps_ = 0, octets_ = 0, last_issue_ps_ = 0, last_fetched_ps_ = 0;
};

// A completion's row has the time at which it begins on the link.
std::uint64_t way_back_ps(const Rows& rows, const std::string& node) {
  return rows.number_of(node, "rnic.pcie.link.propagation_ns") * 1000;
}

// What held the reads of payload, and for how long.
struct Holder {
  std::uint64_t ps = 0;
  const char *kind = "", *setting = "";
  std::string text;
};

}  // namespace

std::optional<Candidate> held_payload(const Rows& rows, const RequestRow& request, const std::string& node,
                                      std::uint64_t from_ps) {
  const Reads reads(rows, request, node);
  const std::uint64_t fetched = reads.last_fetched_ps(), issued = reads.last_issue_ps();
  if (fetched == 0 || reads.mean_ps() == 0) return std::nullopt;
  const auto number = [&](const char* name) { return rows.number_of(node, name); };
  const std::uint64_t tags = number("rnic.pcie.dma_read.max_tags"), jobs = number("rnic.tx.payload_fetch.jobs");
  const Spans read = reads.oldest_is_read();
  const Holder no_tag{tags == 0 ? 0 : reads.at_least(tags).within(from_ps, issued), "tags",
                      "rnic.pcie.dma_read.max_tags", fmt::format("PCIe tags of {}: all {} were in use", node, tags)};
  const Holder no_job{
      jobs == 0 ? 0 : reads.jobs_at_least(jobs).in_both(read).within(from_ps, issued), "jobs",
      "rnic.tx.payload_fetch.jobs",
      fmt::format("payload_fetch of {}: all {} jobs were taken, and the oldest one's payload was being read", node,
                  jobs)};
  const Holder memory{read.within(from_ps, fetched), "memory", "host.root_complex.memory_read_ns",
                      fmt::format("host memory of {}: the oldest segment's payload was being read", node)};
  const Holder& used_up = no_tag.ps >= no_job.ps ? no_tag : no_job;
  // As in accounting.md, a wait for reads that spend most of their time in memory is a wait for memory.
  const std::uint64_t memory_ps = number("host.root_complex.memory_read_ns") * 1000;
  const std::uint64_t takes = reads.mean_ps() + way_back_ps(rows, node);
  const double in_memory = static_cast<double>(memory_ps) / static_cast<double>(takes);
  const Holder& holder = in_memory >= (used_up.ps == 0 ? kHalf : kMost) ? memory : used_up;
  if (holder.ps == 0) return std::nullopt;
  Candidate c = by_setting(holder.ps, holder.kind,
                           fmt::format("{} for {:.3f} us; a read of payload took {:.3f} us, {:.3f} us of it in memory",
                                       holder.text, in_us(holder.ps), in_us(takes), in_us(memory_ps)),
                           fmt::format("nodes.{}.{}", node, holder.setting));
  c.chain = {{from_ps, node, request.text + ": its turn", {}},
             {issued,
              node,
              "the last read of its payload is sent",
              {},
              {{"tags", tags}, {"jobs", jobs}, {"read_ps", takes}, {"memory_ps", memory_ps}}},
             {fetched, node, "its payload is on the chip", {}}};
  return c;
}

std::optional<ReadMeans> read_means(const Rows& rows, const RequestRow& request, const std::string& node) {
  const Reads reads(rows, request, node);
  if (reads.mean_ps() == 0) return std::nullopt;
  return ReadMeans{static_cast<double>(reads.mean_octets()),
                   static_cast<double>(reads.mean_ps() + way_back_ps(rows, node))};
}

}  // namespace rnic::why
