// What a test, a benchmark or a vector has at a stage's ports. Declared behind the stage, and behind the pools of what
// it sends:
//   CrcCheck dut{"dut", clk};
//   Source<FpduBeat> wire = drive(dut.in);
//   Sink<FpduBeat> checked = collect(dut.out, LinkConfig::pipeline(cfg));
//   const Stubs others = stub(dut.event, dut.ended);
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/common/netlist.h"
#include "model/ends/pattern.h"

namespace rnic::test {

// A name for the end of a port.
template <class Port>
std::string end_name(const Port& port) {
  return std::string(port.owner().basename()) + "_" + port.name();
}

// Sends what it is given in that order: one message a cycle, as credit and pattern allow, none before its cycle.
template <class T>
class Source final : public Stage {
 public:
  PushPort<T> out{*this, "out"};
  Source(sc_core::sc_module_name nm, ClockDomain& clk) : Stage(nm, clk) {}
  explicit Source(PopPort<T>& port, const LinkConfig& config = Netlist::kFew)
      : Source(sc_core::sc_gen_unique_name(end_name(port).c_str()), port.owner().clock()) {
    net_.emplace(port.owner().basename(), clock()).connect(out, port, port.name(), config);
  }
  // `complete(message)` in the cycle in which each leaves.
  Source(PopPort<T>& port, std::function<void(T&)> complete, const LinkConfig& config = Netlist::kFew)
      : Source(port, config) {
    complete_ = std::move(complete);
  }

  // In the next cycle or later; send_at(): in this one or later.
  void send(T message) { send_at(0, std::move(message)); }
  void send(std::initializer_list<T> messages) { send_at(0, messages); }
  template <class C, class = std::enable_if_t<!std::is_convertible_v<const C&, T>>>
  void send(const C& messages) {
    send_at(0, messages);
  }
  void send_at(Cycle cycle, T message) {
    if (todo_.empty()) wake(cycle == 0 ? clock().next() : cycle);
    todo_.push_back({cycle, std::move(message)});
  }
  void send_at(Cycle cycle, std::initializer_list<T> messages) { send_at(cycle, std::vector<T>(messages)); }
  template <class C, class = std::enable_if_t<!std::is_convertible_v<const C&, T>>>
  void send_at(Cycle cycle, const C& messages) {
    for (const T& message : messages) send_at(cycle, message);
  }
  // What is waiting goes so many times in all.
  void repeat(std::size_t times) { again_ = (times - 1) * todo_.size(); }
  void pause(Pattern p) { pattern_ = p; }

  bool done() const { return todo_.empty(); }
  const std::vector<Cycle>& cycles() const { return cycles_; }  // but for those that were repeated

  Wake tick() override {
    if (todo_.empty()) return Wake::on_traffic();
    if (todo_.front().at > now()) return Wake::at_cycle(todo_.front().at);
    if (pattern_.pauses(now())) return Wake::next_cycle();
    if (!out->can_push()) return Wake::on_traffic();
    if (complete_) complete_(todo_.front().message);
    if (again_ == 0) {
      out->push(std::move(todo_.front().message));
      cycles_.push_back(now());
    } else {
      --again_;
      out->push(todo_.front().message);
      todo_.push_back(std::move(todo_.front()));
    }
    todo_.pop_front();
    return todo_.empty() ? Wake::on_traffic() : Wake::at_cycle(std::max(now() + 1, todo_.front().at));
  }

 private:
  struct Due {
    Cycle at;
    T message;
  };
  std::optional<Netlist> net_;
  std::deque<Due> todo_;
  std::vector<Cycle> cycles_;
  std::size_t again_ = 0;
  Pattern pattern_;
  std::function<void(T&)> complete_;
};

// Takes one message a cycle unless its pattern pauses. A container of what came; cycles() says when.
template <class T>
class Sink final : public Stage {
 public:
  using value_type = T;
  using const_iterator = typename std::vector<T>::const_iterator;
  using iterator = const_iterator;

  PopPort<T> in{*this, "in"};
  Sink(sc_core::sc_module_name nm, ClockDomain& clk) : Stage(nm, clk) {}
  explicit Sink(PushPort<T>& port, const LinkConfig& config = Netlist::kFew)
      : Sink(sc_core::sc_gen_unique_name(end_name(port).c_str()), port.owner().clock()) {
    net_.emplace(port.owner().basename(), clock()).connect(port, in, port.name(), config);
  }

  void pause(Pattern p) { pattern_ = p; }
  // Drops what comes and counts it.
  void drop() { drops_ = true; }
  std::size_t dropped() const { return dropped_; }

  const std::vector<T>& messages() const { return messages_; }
  const std::vector<Cycle>& cycles() const { return cycles_; }
  bool empty() const { return messages_.empty(); }
  std::size_t size() const { return messages_.size(); }
  const T& operator[](std::size_t i) const { return messages_.at(i); }
  const T& front() const { return messages_.at(0); }
  const T& back() const { return messages_.at(size() - 1); }
  const_iterator begin() const { return messages_.begin(); }
  const_iterator end() const { return messages_.end(); }
  void clear() { take(); }
  std::vector<T> take() {
    cycles_.clear();
    return std::exchange(messages_, {});
  }

  Wake tick() override {
    if (!in->can_pop()) return Wake::on_traffic();
    if (pattern_.pauses(now())) return Wake::next_cycle();
    if (drops_) {
      if constexpr (kAbandoned<T>) in->front().abandon();
      in->drop();
      ++dropped_;
    } else {
      messages_.push_back(in->pop());
      cycles_.push_back(now());
    }
    return Wake::next_cycle();
  }

 private:
  std::optional<Netlist> net_;
  std::vector<T> messages_;
  std::vector<Cycle> cycles_;
  std::size_t dropped_ = 0;
  bool drops_ = false;
  Pattern pattern_;
};

// The latency of an end's link, unless its configuration is another one.
inline constexpr Cycle kToEnd = Netlist::kFew.latency;

// One a cycle.
inline std::vector<Cycle> in_a_row(Cycle first, std::size_t count) {
  std::vector<Cycle> cycles(count);
  std::iota(cycles.begin(), cycles.end(), first);
  return cycles;
}

// The port gets a link of its own to the end, with the port's name: dut.in.
template <class T>
Source<T> drive(PopPort<T>& port, const LinkConfig& config = Netlist::kFew) {
  return Source<T>(port, config);
}
template <class T, class F, class = std::enable_if_t<std::is_invocable_v<F&, T&>>>
Source<T> drive(PopPort<T>& port, F complete, const LinkConfig& config = Netlist::kFew) {
  return Source<T>(port, std::move(complete), config);
}
template <class T>
Sink<T> collect(PushPort<T>& port, const LinkConfig& config = Netlist::kFew) {
  return Sink<T>(port, config);
}

// The base of a neighbour that answers what a stage asks, at both of the ports for it.
template <class Request, class Answer>
class Answerer : public Stage {
 public:
  PopPort<Request> in{*this, "in"};
  PushPort<Answer> out{*this, "out"};
  Answerer(PushPort<Request>& requests, PopPort<Answer>& answers, const LinkConfig& answers_link = Netlist::kFew)
      : Stage(sc_core::sc_gen_unique_name(end_name(requests).c_str()), requests.owner().clock()),
        net_(requests.owner().basename(), clock()) {
    net_.connect(requests, in, requests.name());
    net_.connect(out, answers, answers.name(), answers_link);
  }

 protected:
  ~Answerer() override = default;

 private:
  Netlist net_;
};

// The end of ports that do not matter here: what comes is dropped, and nothing is sent. One stage for all of them.
class Stubs final {
 public:
  template <class Port, class... Ports>
  explicit Stubs(Port& port, Ports&... ports) : end_(std::make_shared<End>(port.owner())) {
    end_->add(port);
    (end_->add(ports), ...);
  }

 private:
  class End final : public Stage {
   public:
    explicit End(const Stage& other)
        : Stage(sc_core::sc_gen_unique_name("others"), other.clock()), net_(other.basename(), clock()) {}
    template <class T>
    void add(PopPort<T>& port) {
      const auto out = std::make_shared<PushPort<T>>(*this, port.name());
      net_.connect(*out, port, port.name());
      ports_.push_back(out);
    }
    template <class T>
    void add(PushPort<T>& port) {
      const auto in = std::make_shared<PopPort<T>>(*this, port.name());
      net_.connect(port, *in, port.name());
      ports_.push_back(in);
      drops_.push_back([&from = *in] {
        if (!from->can_pop()) return false;
        if constexpr (kAbandoned<T>) from->front().abandon();
        from->drop();
        return true;
      });
    }
    Wake tick() override {
      bool busy = false;
      for (const auto& drop : drops_) busy |= drop();
      return busy ? Wake::next_cycle() : Wake::on_traffic();
    }

   private:
    Netlist net_;
    std::vector<std::shared_ptr<PortBase>> ports_;
    std::vector<std::function<bool()>> drops_;
  };
  std::shared_ptr<End> end_;
};
template <class... Ports>
[[nodiscard]] Stubs stub(Ports&... ports) {
  return Stubs(ports...);
}

}  // namespace rnic::test
