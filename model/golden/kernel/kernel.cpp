#include <algorithm>
#include <systemc>
#include <utility>

namespace sc_core {

sc_module_name::sc_module_name(const char* name) : name_(name), first_(true) {
  Kernel::current().names_.push_back(this);
}

sc_module_name::~sc_module_name() {
  if (!first_) return;
  Kernel::current().names_.pop_back();
  if (module_ != nullptr) module_->close();
}

sc_object::sc_object(const char* basename, sc_object* parent)
    : parent_(parent),
      name_(parent == nullptr ? basename : std::string(parent->name()) + "." + basename),
      base_(name_.size() - std::string(basename).size()) {
  if (parent != nullptr) parent->children_.push_back(this);
}

sc_object::~sc_object() {
  if (parent_ != nullptr)
    parent_->children_.erase(std::find(parent_->children_.begin(), parent_->children_.end(), this));
  for (sc_object* child : children_) child->parent_ = nullptr;
}

// The name was pushed where the outermost constructor was called.
sc_module::sc_module() : sc_object(Kernel::current().names_.back()->name_, Kernel::current().parent()) {
  Kernel& kernel = Kernel::current();
  under_ = kernel.names_.back();
  under_->module_ = this;
  kernel.open_.push_back(this);
  kernel.modules_.push_back(this);
}

void sc_module::close() {
  under_->module_ = nullptr;
  under_ = nullptr;
  Kernel::current().open_.pop_back();
}

sc_module::~sc_module() {
  if (under_ != nullptr) close();  // its constructor threw
  Kernel& kernel = Kernel::current();
  const auto here = std::find(kernel.modules_.begin(), kernel.modules_.end(), this);
  if (static_cast<std::size_t>(here - kernel.modules_.begin()) < kernel.elaborated_) --kernel.elaborated_;
  kernel.modules_.erase(here);
}

void sc_event::notify(sc_time in) {
  const sc_time at = kernel_.now_ + in;
  if (place_ != kNotDue) {
    if (at_.value() <= at.value()) return;
  } else {
    place_ = kernel_.due_.size();
    kernel_.due_.push_back(this);
  }
  at_ = at;
  order_ = kernel_.order_++;
}

void sc_event::cancel() {
  if (place_ == kNotDue) return;
  kernel_.due_.back()->place_ = place_;
  kernel_.due_[place_] = kernel_.due_.back();
  kernel_.due_.pop_back();
  place_ = kNotDue;
}

std::size_t Kernel::first() const {
  std::size_t found = 0;
  for (std::size_t i = 1; i < due_.size(); ++i) {
    const sc_event &a = *due_[i], &b = *due_[found];
    if (a.at_.value() < b.at_.value() || (a.at_ == b.at_ && a.order_ < b.order_)) found = i;
  }
  return found;
}

sc_time Kernel::next() const {
  return due_.empty() ? sc_time::from_value(std::numeric_limits<sc_dt::uint64>::max()) : due_[first()]->at_;
}

const char* Kernel::unique_name(const char* seed) {
  auto named = std::find_if(unique_names_.begin(), unique_names_.end(),
                            [&](const Named& n) { return n.parent == parent() && n.seed == seed; });
  if (named == unique_names_.end()) named = unique_names_.insert(named, {parent(), seed, 0});
  unique_name_ = named->seed + "_" + std::to_string(named->count++);
  return unique_name_.c_str();
}

void Kernel::elaborate() {
  for (; elaborated_ < modules_.size(); ++elaborated_) {
    sc_module& module = *modules_[elaborated_];
    if (module.initialized_)
      throw std::logic_error(std::string(module.name()) + ": a method without dont_initialize()");
    module.end_of_elaboration();
  }
}

// What is due at the end itself belongs to the next call, as in SystemC; a call without duration is for what is due
// now.
void Kernel::run(sc_time duration, sc_starvation_policy policy) {
  elaborate();
  const sc_dt::uint64 end = now_.value() + std::max(duration.value(), sc_dt::uint64{1});
  if (duration == SC_ZERO_TIME) end_order_ = order_;
  while (!due_.empty()) {
    sc_event& event = *due_[first()];
    if (event.at_.value() >= end) break;
    if (end_order_ != kNoEnd && (event.order_ >= end_order_ || !(event.at_ == now_))) break;
    now_ = event.at_;
    event.cancel();
    if (event.process_.call != nullptr) event.process_.call(event.process_.module);
  }
  const bool paused = std::exchange(end_order_, kNoEnd) != kNoEnd;
  if (!paused && (policy == SC_RUN_TO_TIME || !due_.empty())) now_ = sc_time::from_value(end);
}

}  // namespace sc_core
