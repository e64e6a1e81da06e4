// A stage, or a chain of them, with the ends of its ports: what a handle of the C interface has.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/common/buffer.h"
#include "model/common/clock_domain.h"
#include "model/common/description.h"
#include "model/ends/ends.h"
#include "model/golden/beats.h"
#include "model/golden/c_struct.h"

namespace rnic {
class ContextTables;
}

namespace rnic::golden {

// One port of a kind: `push` of inputs, `take` of outputs. Both throw Error.
struct Port {
  const char* name;
  const char* message;
  std::function<void(const void*)> push;
  std::function<bool(void*)> take;  // false: nothing is there
  const Shape* shape;
};

struct Table {
  const char* name;
  const char* message;
  std::function<void(std::uint32_t index, const void* row)> set;
  const Shape* shape;
};

struct Counter {
  std::string name;
  std::function<std::uint64_t()> value;
};

class Bench {
 public:
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  virtual ~Bench() = default;

  const std::vector<Port>& ports() const { return ports_; }
  const std::vector<Table>& tables() const { return tables_; }
  const std::vector<Counter>& counters() const { return counters_; }
  unsigned beat_bytes() const { return beat_bytes_; }

  // What a stage has around it in a chip.
  const std::vector<Stage*>& stages() const { return clk_.stages(); }
  BufferPool& pool() { return pool_; }
  virtual ContextTables* contexts() { return nullptr; }

  // Takes the ends off, before the stages are destroyed.
  void disconnect() {
    ports_.clear();
    tables_.clear();
    counters_.clear();
  }

  // Until nothing moves any more. Throws Error if that is not so after a million cycles.
  void run();

 protected:
  explicit Bench(unsigned beat_bytes);

  // `check(transaction)` throws Error for what the stage may not be offered, and then has changed nothing.
  template <class T, class Check>
  void in(PopPort<T>& port, const char* name, Check check) {
    auto source = std::make_shared<test::Source<T>>(port);
    using Transaction = typename Beats<T>::Transaction;
    const std::size_t number = add<Transaction>(name);
    ports_.back().push = [this, number, source, check](const void* from) {
      Transaction message;
      load(from, message);
      Beats<T>::check(message, beat_bytes_);
      turn(number);
      check(message);
      Beats<T>::cut(message, beat_bytes_, pool_, [&](T beat) { source->send(std::move(beat)); });
      idle_ = false;
    };
  }
  template <class T>
  void in(PopPort<T>& port, const char* name) {
    in(port, name, [](const auto&) {});
  }
  // What reaches the stage by no link: `take(message)`, after all that was pushed before.
  template <class M, class Take>
  void in(const char* name, Take take) {
    const std::size_t number = add<M>(name);
    ports_.back().push = [this, number, take](const void* from) {
      M message;
      load(from, message);
      turn(number);
      run();
      take(message);
    };
  }
  // `each(beat)` for what comes out, before a caller has it.
  template <class T, class Each>
  void out(PushPort<T>& port, const char* name, const LinkConfig& config, Each each) {
    using Transaction = typename Beats<T>::Transaction;
    auto sink = std::make_shared<test::Sink<T>>(port, config);
    auto waiting = std::make_shared<std::deque<Transaction>>();
    auto joined = std::make_shared<Beats<T>>();
    add<Transaction>(name);
    ports_.back().take = [this, sink, waiting, joined, each](void* to) {
      if (waiting->empty()) {
        run();
        if (!sink->empty()) {
          for (T& beat : sink->take()) {
            each(beat);
            if (joined->join(beat)) waiting->push_back(std::exchange(joined->transaction, {}));
          }
        }
      }
      if (waiting->empty()) return false;
      store(waiting->front(), to);
      waiting->pop_front();
      return true;
    };
  }
  template <class T>
  void out(PushPort<T>& port, const char* name, const LinkConfig& config = Netlist::kFew) {
    out(port, name, config, [](const T&) {});
  }
  // What comes by no link: the bench puts it into the queue, which lives as long as the port.
  template <class M>
  std::deque<M>& out(const char* name) {
    auto waiting = std::make_shared<std::deque<M>>();
    add<M>(name);
    ports_.back().take = [waiting](void* to) {
      if (waiting->empty()) return false;
      store(waiting->front(), to);
      waiting->pop_front();
      return true;
    };
    return *waiting;
  }
  template <class Row, class Set>
  void table(const char* name, Set set) {
    tables_.push_back({name, Message<Row>::kName,
                       [this, set](std::uint32_t index, const void* from) {
                         Row row;
                         load(from, row);
                         run();  // what was pushed before has the row as it was
                         set(index, row);
                       },
                       &shape<Row>()});
  }
  // All of a stage's counters.
  template <class Counters>
  void count(const Counters& counters, std::string prefix = "") {
    AddCounters<Counters> add{counters_, counters, std::move(prefix)};
    Counters::fields(add);
  }

  const unsigned beat_bytes_;
  ClockDomain clk_;
  BufferPool pool_;

 private:
  template <class Counters>
  struct AddCounters {
    std::vector<Counter>& to;
    const Counters& counters;
    std::string prefix;
    void operator()(const char* name, std::uint64_t Counters::*member, const char*, const char*) const {
      to.push_back({prefix + name, [&of = counters, member] { return of.*member; }});
    }
  };
  template <class M>
  std::size_t add(const char* name) {
    ports_.push_back({name, Message<M>::kName, {}, {}, &shape<M>()});
    return ports_.size() - 1;
  }
  // Inputs are worked on in the order in which they were pushed, also of several ports.
  void turn(std::size_t port) {
    if (std::exchange(pushed_, port) != port) run();
  }

  std::vector<Port> ports_;
  std::vector<Table> tables_;
  std::vector<Counter> counters_;
  bool idle_ = true;
  std::size_t pushed_ = 0;  // the port of the last one
};

struct DeleteBench {
  void operator()(Bench* bench) const {
    bench->disconnect();
    delete bench;
  }
};
using BenchPtr = std::unique_ptr<Bench, DeleteBench>;

}  // namespace rnic::golden
