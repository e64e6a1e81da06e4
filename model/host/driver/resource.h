// The object that a command creates: its device side exists once the command is done.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "model/abi/host_abi.h"
#include "model/common/ids.h"
#include "model/host/driver/host_cpu.h"
#include "model/host/host_memory.h"

namespace rnic::host {

// Gets the result of a command.
class CommandTarget {
 public:
  virtual void command_done(abi::CommandOp op, abi::CommandStatus status) = 0;
  // A command that neither creates nor destroys the object is pending.
  virtual void submitted() {}
  // Before that: the complete answer, for commands that request data.
  virtual void answered_with(const abi::Event&) {}

 protected:
  ~CommandTarget() = default;
};

// The program that created the object is woken when its state changes; other programs do not use it.
class Resource : public CommandTarget {
 public:
  bool ready() const { return state_ == State::kReady; }
  bool failed() const { return state_ == State::kFailed; }
  bool destroyed() const { return state_ == State::kDestroyed; }
  bool ending() const { return ending_ || destroyed(); }  // its end was requested, or has come
  void end() { ending_ = true; }
  // It no longer exists, and its number may be reused: for the program that made it at once, for others once the maker
  // has had the time to see that it is destroyed.
  bool gone(const Core& asking) const {
    return destroyed() && (&asking == &owner_ || owner_.calls() != ended_in_call_);
  }
  abi::CommandStatus status() const { return status_; }  // of the failed command
  Core& owner() const { return owner_; }

  void command_done(abi::CommandOp op, abi::CommandStatus status) override {
    status_ = status;
    if (status != abi::CommandStatus::kOk) state_ = State::kFailed;
    else state_ = destroys(op) ? State::kDestroyed : State::kReady;
    ended_in_call_ = owner_.calls();
    owner_.wake();
  }

 protected:
  explicit Resource(Core& owner) : owner_(owner) {}
  ~Resource() = default;

 private:
  static bool destroys(abi::CommandOp op) {
    using abi::CommandOp;
    return op == CommandOp::kDestroyCq || op == CommandOp::kDestroyQp || op == CommandOp::kDestroySrq ||
           op == CommandOp::kDeregisterMr || op == CommandOp::kUnlisten || op == CommandOp::kReleaseHome;
  }
  enum class State { kPending, kReady, kFailed, kDestroyed };
  Core& owner_;
  State state_ = State::kPending;
  bool ending_ = false;
  std::uint64_t ended_in_call_ = 0;
  abi::CommandStatus status_ = abi::CommandStatus::kOk;
};

// Pages of host memory in which the device keeps contexts that are not on the chip. The device's from give to the end
// of release; a release that is refused has failed(), and changes nothing.
class Home final : public Resource {
 public:
  Home(Core& owner, HostMemory& memory, std::vector<std::uint64_t> pages)
      : Resource(owner), memory_(memory), pages_(std::move(pages)) {}
  const std::vector<std::uint64_t>& pages() const { return pages_; }  // bus addresses

  void command_done(abi::CommandOp op, abi::CommandStatus status) override {
    Resource::command_done(op, status);
    if (!destroyed()) return;
    for (const std::uint64_t page : pages_) memory_.free(page, abi::kHomePageBytes);
    pages_.clear();
  }

 private:
  HostMemory& memory_;
  std::vector<std::uint64_t> pages_;
};

// A protection domain: queue pairs use the memory regions of their own domain only.
struct Pd {
  Pdn number;
};

// Memory in pages of 2^log_page octets (4 KiB or more) at these bus addresses, from an octet of the first page on.
struct PageList {
  unsigned log_page = 12;
  std::uint32_t first_offset = 0;
  std::vector<std::uint64_t> pages;

  // The device takes pages that begin at multiples of 4 KiB.
  bool aligned() const {
    return std::all_of(pages.begin(), pages.end(), [](std::uint64_t p) { return p % 4096 == 0; });
  }
};

// Entries of the device's page table.
struct PageRange {
  std::uint32_t first = 0, count = 0;
};

// A memory region or a memory window; STag = index << 8 | key serves as lkey and rkey.
class Mr final : public Resource {
 public:
  Mr(Core& owner, Stag stag, std::uint64_t address, std::uint64_t length, PageRange pages)
      : Resource(owner), stag_(stag), address_(address), length_(length), pages_(pages) {}
  std::uint32_t lkey() const { return stag_.v; }
  std::uint32_t rkey() const { return stag_.v; }
  std::uint64_t address() const { return address_; }
  std::uint64_t length() const { return length_; }
  PageRange pages() const { return pages_; }
  PageRange take_pages() { return std::exchange(pages_, {}); }
  // The device has the list of the last Context::map_mr.
  bool mapped() const { return mapping_ == 0; }
  void submitted() override { ++mapping_; }
  void command_done(abi::CommandOp op, abi::CommandStatus status) override {
    if (op != abi::CommandOp::kWritePages) return Resource::command_done(op, status);
    --mapping_;
    owner().wake();
  }
  // The next key of an allocated region or a window, as ibv_inc_rkey: peers that know the old one lose it.
  std::uint32_t inc_rkey() {
    stag_ = Stag{(stag_.v & ~0xffu) | ((stag_.v + 1) & 0xff)};
    return stag_.v;
  }

 private:
  Stag stag_;
  const std::uint64_t address_, length_;
  PageRange pages_;
  unsigned mapping_ = 0;  // pending commands
};

}  // namespace rnic::host
