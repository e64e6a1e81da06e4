// The work requests of an item that a node has outstanding on all its queue pairs together: which queue pair has the
// next one is random.
#pragma once

#include <cstdint>
#include <vector>

namespace rnic::workload {

// Every order of the item's requests is equally likely. So as long as it lasts, each queue pair has as many of the next
// requests as any other one on average, also at the end.
class Window {
 public:
  // A queue pair.
  class Member {
   public:
    // It may post one request more, from then on.
    virtual void admit(std::uint64_t at_ps) = 0;

   protected:
    ~Member() = default;
  };

  // `count`: requests of each queue pair.
  Window(std::uint32_t size, std::uint32_t count, std::uint64_t seed) : size_(size), count_(count), seed_(seed) {}
  // Before begin().
  void add(Member& member) { members_.push_back(&member); }
  // Admits as many as may be outstanding. Further calls do nothing.
  void begin(std::uint64_t at_ps);
  // A request was seen to be complete: admits the next one, if there is one.
  void completed(std::uint64_t at_ps);

 private:
  const std::uint32_t size_, count_;
  const std::uint64_t seed_;
  std::vector<Member*> members_;
  std::vector<std::uint32_t> order_;  // members, by request
  std::size_t next_ = 0;
};

}  // namespace rnic::workload
