#include "model/trace/waves.h"

#include <algorithm>
#include <utility>

#include "model/common/check.h"

namespace rnic {
namespace {

bool lies_within(std::string_view scope, std::string_view group) {
  return scope.substr(0, group.size()) == group && (scope.size() == group.size() || scope[group.size()] == '.');
}

constexpr unsigned kWordBits = 64;

constexpr std::size_t words_for(unsigned width) { return (width + kWordBits - 1) / kWordBits; }

}  // namespace

Waves::Waves(std::unique_ptr<WaveSink> sink, WaveWindow window) : sink_(std::move(sink)), window_(std::move(window)) {
  if (window_.from_ps >= window_.to_ps) throw ConfigError("the window of a waveform ends before it begins");
}

Waves::~Waves() = default;

bool Waves::dumps(std::string_view scope) const {
  return window_.scopes.empty() || std::any_of(window_.scopes.begin(), window_.scopes.end(),
                                               [&](const std::string& group) { return lies_within(scope, group); });
}

WaveId Waves::declare(const WaveVariable& variable) {
  const std::string path = variable.scope + '.' + variable.name;
  RNIC_CHECK_MSG(!begun_, path + " is declared after the waveform began");
  RNIC_CHECK_MSG(variable.width >= 1, path);
  WaveId id;
  if (!dumps(variable.scope)) return id;
  id.index_ = variables_.size();
  variables_.push_back({variable, words_.size()});
  words_.resize(words_.size() + words_for(variable.width));
  shown_words_.resize(words_.size());
  return id;
}

void Waves::change(WaveId id, std::uint64_t time_ps, ByteSpan value) {
  if (!id.dumped()) return;
  const std::size_t words = words_for(variables_[id.index_].declared.width);
  for (std::size_t word = 0; word < words; ++word) {
    std::uint64_t bits = 0;
    for (unsigned octet = 0; octet < 8; ++octet) {
      const std::size_t from_end = word * 8 + octet;
      if (from_end < value.size()) bits |= std::uint64_t{value[value.size() - 1 - from_end]} << 8 * octet;
    }
    put(id.index_, time_ps, bits, word);
  }
}

std::uint64_t Waves::number_of(const std::string& text) {
  const auto [known, is_new] = text_numbers_.try_emplace(text, texts_.size());
  if (is_new) texts_.push_back(text);
  return known->second;
}

void Waves::put(std::size_t variable, std::uint64_t time_ps, std::uint64_t value, std::size_t word) {
  if (time_ps >= window_.to_ps) return;
  RNIC_CHECK_MSG(time_ps >= settled_ps_, variables_[variable].declared.scope + ": a change of a time that is over");
  waiting_.push_back({time_ps, sequence_++, variable, word, value});
  std::push_heap(waiting_.begin(), waiting_.end(), Later{});
}

void Waves::advance(std::uint64_t time_ps) {
  RNIC_CHECK(begun_);
  if (time_ps <= settled_ps_) return;
  apply_until(time_ps);
  settled_ps_ = time_ps;
  if (!started_ && settled_ps_ > window_.from_ps) start_window();
}

void Waves::close(std::uint64_t end_ps) {
  advance(end_ps + 1);
  if (!started_) start_window();  // readers refuse a file without values
  const std::uint64_t last = std::min(end_ps, window_.to_ps);
  if (last > shown_ps_) show_time(last);
  sink_->close();
}

WaveLayout Waves::layout() const {
  std::vector<LaidOut> list(variables_.size());
  for (const Variable& v : variables_) {
    const auto word = shown_words_.begin() + static_cast<std::ptrdiff_t>(v.first_word);
    const bool is_set = std::any_of(word, word + static_cast<std::ptrdiff_t>(words_for(v.declared.width)),
                                    [](std::uint64_t bits) { return bits != 0; });
    list[v.position] = {v.declared, v.moves, is_set};
  }
  return {list, window_.from_ps, shown_ps_, window_.marked_ps};
}

// Variables of one scope stay in the order of their declaration.
void Waves::begin() {
  RNIC_CHECK(!begun_);
  if (variables_.empty()) throw ConfigError("the waveform is empty: no variable lies in the scopes to be dumped");
  std::vector<std::size_t> order(variables_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return variables_[a].declared.scope < variables_[b].declared.scope;
  });
  std::vector<WaveVariable> sorted;
  for (const std::size_t i : order) {
    variables_[i].position = sorted.size();
    sorted.push_back(variables_[i].declared);
  }
  sink_->declare(sorted);
  begun_ = true;
}

void Waves::apply_until(std::uint64_t time_ps) {
  while (!waiting_.empty() && waiting_.front().time_ps < time_ps) {
    const std::uint64_t now = waiting_.front().time_ps;
    if (!started_ && now > window_.from_ps) start_window();
    for (; !waiting_.empty() && waiting_.front().time_ps == now; waiting_.pop_back()) {
      std::pop_heap(waiting_.begin(), waiting_.end(), Later{});
      apply(waiting_.back());
    }
    if (started_) show_changed(now);
  }
}

void Waves::apply(const Change& change) {
  Variable& variable = variables_[change.variable];
  std::uint64_t& word = words_[variable.first_word + change.word];
  if (variable.known && word == change.value) return;
  word = change.value;
  variable.known = true;
  if (!std::exchange(variable.changed, true)) changed_.push_back(change.variable);
}

// The file's first time shows every variable with its value before or at the beginning of the window.
void Waves::start_window() {
  started_ = true;
  show_time(window_.from_ps);
  for (const std::size_t i : changed_) variables_[i].changed = false;
  changed_.clear();
  for (Variable& variable : variables_) show(variable);
}

// A variable that changes and changes back within one instant is not written.
void Waves::show_changed(std::uint64_t time_ps) {
  std::sort(changed_.begin(), changed_.end());
  bool is_first = true;
  for (const std::size_t i : changed_) {
    variables_[i].changed = false;
    if (is_shown(variables_[i])) continue;
    if (std::exchange(is_first, false)) show_time(time_ps);
    show(variables_[i]);
    variables_[i].moves = true;
  }
  changed_.clear();
}

bool Waves::is_shown(const Variable& variable) const {
  const auto first = words_.begin() + static_cast<std::ptrdiff_t>(variable.first_word);
  const auto last = first + static_cast<std::ptrdiff_t>(words_for(variable.declared.width));
  const auto shown = shown_words_.begin() + static_cast<std::ptrdiff_t>(variable.first_word);
  return variable.shown_known && std::equal(first, last, shown);
}

void Waves::show_time(std::uint64_t time_ps) {
  sink_->time(time_ps);
  shown_ps_ = time_ps;
}

void Waves::show(Variable& variable) {
  const unsigned width = variable.declared.width;
  variable.shown_known = variable.known;
  for (std::size_t word = 0; word < words_for(width); ++word) {
    shown_words_[variable.first_word + word] = words_[variable.first_word + word];
  }
  if (variable.declared.is_text) return sink_->text(variable.position, texts_[words_[variable.first_word]]);
  bits_.assign(width, 'x');
  for (unsigned bit = 0; variable.known && bit < width; ++bit) {
    const std::uint64_t word = words_[variable.first_word + bit / kWordBits];
    bits_[width - 1 - bit] = (word >> bit % kWordBits & 1) != 0 ? '1' : '0';
  }
  sink_->value(variable.position, bits_);
}

}  // namespace rnic
