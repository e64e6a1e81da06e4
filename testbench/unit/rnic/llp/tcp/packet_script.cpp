#include "testbench/unit/rnic/llp/tcp/packet_script.h"

#include <algorithm>

#include "model/config/field.h"
#include "model/rnic/llp/link_address.h"

namespace rnic::test {
namespace {

constexpr std::uint64_t kUs = 1'000'000, kTolerance = kUs / 2, kStep = kUs / 50;
constexpr const char* kFlags = "FSRPAUEW";

std::uint64_t ps_of_us(const std::string& us) { return static_cast<std::uint64_t>(std::stod(us) * 1e6 + 0.5); }

std::pair<std::uint32_t, std::uint32_t> range(const std::string& text) {
  const auto colon = text.find(':');
  const auto first = static_cast<std::uint32_t>(std::stoul(text));
  return {first, colon == std::string::npos ? first : static_cast<std::uint32_t>(std::stoul(text.substr(colon + 1)))};
}

void put(Bytes& to, std::uint32_t v, int octets) {
  for (int i = octets - 1; i >= 0; --i) to.push_back(static_cast<std::uint8_t>(v >> (8 * i)));
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) parts.push_back(part);
  return parts;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// The option octets for a script's text; SACK blocks count from `base`.
Bytes option_octets(const std::string& text, std::uint32_t base) {
  Bytes o;
  for (const std::string& part : split(text, ',')) {
    const std::vector<std::string> w = words_of(part);
    if (w.empty()) continue;
    if (w[0] == "mss") {
      put(o, 0x0204, 2), put(o, static_cast<std::uint32_t>(std::stoul(w.at(1))), 2);
    } else if (w[0] == "ws") {
      put(o, 0x010303, 3), put(o, static_cast<std::uint32_t>(std::stoul(w.at(1))), 1);
    } else if (w[0] == "sackOK") {
      put(o, 0x01010402, 4);
    } else if (w[0] == "ts") {
      put(o, 0x0101080a, 4);
      for (std::size_t i : {1, 2}) put(o, static_cast<std::uint32_t>(std::stoul(w.at(i))), 4);
    } else if (w[0] == "sack") {
      put(o, 0x010105, 3), put(o, static_cast<std::uint32_t>(2 + 8 * (w.size() - 1)), 1);
      for (std::size_t i = 1; i < w.size(); ++i) {
        const auto [left, right] = range(w[i]);
        put(o, left + base, 4), put(o, right + base, 4);
      }
    } else {
      ADD_FAILURE() << "unknown option " << w[0];
    }
  }
  return o;
}

// A segment's options in the script's words.
std::string options_text(const Seen& s, std::uint32_t base) {
  std::string text;
  const auto add = [&text](const std::string& option) { text += (text.empty() ? "" : ", ") + option; };
  for (std::size_t i = 54; i < s.headers();) {
    const unsigned kind = s.frame[i];
    if (kind == 1) {
      ++i;
      continue;
    }
    const unsigned bytes = s.frame[i + 1];
    if (kind == 2) {
      add("mss " + std::to_string(s.u16(i + 2)));
    } else if (kind == 3) {
      add("ws " + std::to_string(s.frame[i + 2]));
    } else if (kind == 4) {
      add("sackOK");
    } else if (kind == 8) {
      add("ts " + std::to_string(s.u32(i + 2)) + " " + std::to_string(s.u32(i + 6)));
    } else if (kind == 5) {
      std::string blocks = "sack";
      for (std::size_t at = i + 2; at < i + bytes; at += 8) {
        blocks += " " + std::to_string(s.u32(at) - base) + ":" + std::to_string(s.u32(at + 4) - base);
      }
      add(blocks);
    } else {
      add("option " + std::to_string(kind));
    }
    if (bytes < 2) break;
    i += bytes;
  }
  return text;
}

bool matches(const std::string& pattern, const std::string& text) {
  const auto p = words_of(pattern), t = words_of(text);
  return p.size() == t.size() && std::equal(p.begin(), p.end(), t.begin(), [](const auto& a, const auto& b) {
           return a == b || a == "*" || (a == "*," && b.back() == ',');
         });
}

template <class Counters>
bool read_counter(const Counters& counters, const std::string& name, std::uint64_t& value) {
  bool found = false;
  auto visit = [&](const char* key, auto member, const char*, const char*) {
    if (name == key) value = counters.*member, found = true;
  };
  Counters::fields(visit);
  return found;
}

void configure(TcpConfig& config, const std::string& key, const std::string& value) {
  bool found = false;
  for_each_field(config, "", [&](const std::string& path, auto& member, const auto& spec) {
    if (path != key) return;
    found = true;
    using T = std::decay_t<decltype(member)>;
    if constexpr (std::is_enum_v<T>) {
      const auto at = std::find(spec.words.begin(), spec.words.end(), value);
      ASSERT_NE(at, spec.words.end()) << value;
      member = spec.values[static_cast<std::size_t>(at - spec.words.begin())];
    } else {
      member = static_cast<T>(std::stoull(value));
    }
  });
  EXPECT_TRUE(found) << "no key " << key;
}

// "accepted" for tcp_accepted.
std::string_view name_of(const LlpEvent& e) { return std::string_view(e.name()).substr(4); }

}  // namespace

PacketScript::PacketScript(std::string text) {
  config_.max_flows = 4;
  parse(text);
  chip_ = std::make_unique<TcpChip>("b", clk_, config_, LinkAddress{kMacB, {kIpB}, {{{kIpA}, kMacA}}}, pool_);
  chip_->mac_tx.ethernet.socket.bind(from_chip_.socket);
  peer_.out.socket.bind(chip_->mac_rx.socket);
}

void PacketScript::parse(const std::string& text) {
  unsigned number = 0;
  for (std::string raw : split(text, '\n')) {
    ++number;
    raw = raw.substr(0, raw.find('#'));
    Line line;
    line.number = number;
    if (const auto open = raw.find('{'); open != std::string::npos) {
      line.options = raw.substr(open + 1, raw.find('}') - open - 1);
      line.has_options = true;
      raw.erase(open);
    }
    line.words = words_of(raw);
    if (line.words.empty()) continue;
    if (line.words[0][0] == '+') {
      line.after_ps = ps_of_us(line.words[0].substr(1));
      line.words.erase(line.words.begin());
    }
    if (line.words.at(0) == "config") configure(config_, line.words.at(1), line.words.at(2));
    else lines_.push_back(line);
  }
}

void PacketScript::run() {
  for (const Line& line : lines_) {
    if (testing::Test::HasFatalFailure() || testing::Test::HasNonfatalFailure()) return;
    step(line);
  }
  Line end;
  end.words = {"end of the script"};
  expect_nothing(end, last_ps_);
}

void PacketScript::step(const Line& line) {
  const std::string& verb = line.words[0];
  if (verb == ">") return expect(line);
  expect_nothing(line, last_ps_ + line.after_ps);
  last_ps_ = std::max(last_ps_ + line.after_ps, static_cast<std::uint64_t>(sc_core::sc_time_stamp().value()));
  const auto number = [&line](std::size_t i) { return static_cast<std::uint32_t>(std::stoul(line.words.at(i))); };
  Firmware& fw = chip_->firmware;
  if (verb == "<") inject(line);
  else if (verb == "icmp") icmp(line);
  else if (verb == "handshake") handshake(line);
  else if (verb == "listen") fw.listen(5000);
  else if (verb == "open") fw.open(kIpA, 4000, 5000);
  else if (verb == "rdma") fw.enter_rdma(FlowId{0});
  else if (verb == "limits") limits(line);
  else if (verb == "close") fw.close(FlowId{0});
  else if (verb == "abort") fw.abort(FlowId{0});
  else if (verb == "fpdu")
    chip_->segmenter.send_now(FlowId{0}, line.words.size() > 2 ? std::stoul(line.words[2].substr(1)) : 1, number(1));
  else if (verb == "window") peer_window_ = static_cast<std::uint16_t>(number(1));
  else if (verb == "hold") chip_->deframer.hold_until = kNever;
  else if (verb == "release") chip_->deframer.release_now();
  else if (verb == "delivered") delivered(line);
  else if (verb == "count") count(line);
  else if (verb == "event") event(line);
  else if (verb == "silence") expect_nothing(line, last_ps_ += ps_of_us(line.words.at(1)));
  else ADD_FAILURE() << where(line) << "unknown step";
}

// limits [max_retries N] [keep_alive on|off]
void PacketScript::limits(const Line& line) {
  abi::TcpLimits limits;
  for (std::size_t i = 1; i + 1 < line.words.size(); i += 2) {
    const std::string& value = line.words[i + 1];
    if (line.words[i] == "max_retries") limits.max_retries = static_cast<std::uint8_t>(std::stoul(value));
    else if (line.words[i] == "keep_alive")
      limits.keep_alive = value == "on" ? abi::KeepAlive::kOn : abi::KeepAlive::kOff;
    else ADD_FAILURE() << where(line) << "unknown limit";
  }
  chip_->firmware.set_limits(FlowId{0}, limits);
}

void PacketScript::inject(const Line& line) {
  const auto [first, end] = range(line.words.at(2));
  PeerSegment s{line.words.at(1), first + peer_isn_};
  s.payload = counting_bytes(end - first, first - 1);
  s.window = peer_window_;
  for (std::size_t i = 3; i < line.words.size(); ++i) {
    const std::string& w = line.words[i];
    const auto value = [&] { return static_cast<std::uint32_t>(std::stoul(line.words.at(++i))); };
    if (w == "ack") s.ack = value() + chip_isn_;
    else if (w == "win") s.window = peer_window_ = static_cast<std::uint16_t>(value());
    else if (w == "ce") s.tos = 3;
    else if (w == "ect0") s.tos = 2;
    else ADD_FAILURE() << where(line) << "unknown word " << w;
  }
  s.options = option_octets(line.options, chip_isn_);
  const Bytes octets = s.frame();
  ASSERT_LE(octets.size(), pool_.block_bytes()) << where(line);
  put(octets);
}

// RFC 792 and RFC 1191 section 4, from a router at 10.9.9.9.
void PacketScript::icmp(const Line& line) {
  Bytes f = {2,  0, 0, 0,    0, 0xb, 2, 0, 0, 0,  0, 0xa, 8, 0,  0x45, 0, 0,
             56, 0, 1, 0x40, 0, 64,  1, 0, 0, 10, 9, 9,   9, 10, 0,    0, 2};
  const std::uint16_t ip_sum = static_cast<std::uint16_t>(~fold(sum_words(f, 14, 34)));
  f[24] = static_cast<std::uint8_t>(ip_sum >> 8);
  f[25] = static_cast<std::uint8_t>(ip_sum);
  const bool told = line.words.at(2) == "mtu";
  const unsigned mtu = told ? static_cast<unsigned>(std::stoul(line.words.at(3))) : 0;
  const unsigned type = told ? 3 : static_cast<unsigned>(std::stoul(line.words.at(3)));
  const unsigned code = told ? 4 : static_cast<unsigned>(std::stoul(line.words.at(5)));
  const auto seq = static_cast<std::uint32_t>(std::stoul(line.words.at(1))) + chip_isn_;
  for (unsigned octet : {type, code, 0u, 0u, 0u, 0u, mtu >> 8, mtu & 0xff})
    f.push_back(static_cast<std::uint8_t>(octet));
  for (std::uint8_t octet : {0x45, 0, 5, 0xdc, 0, 9, 0x40, 0, 63, 6, 0, 0, 10, 0, 0, 2, 10, 0, 0, 1})
    f.push_back(octet);
  for (unsigned octet : {5000u >> 8, 5000u & 0xff, 4000u >> 8, 4000u & 0xff})
    f.push_back(static_cast<std::uint8_t>(octet));
  for (int i = 3; i >= 0; --i) f.push_back(static_cast<std::uint8_t>(seq >> (8 * i)));
  const std::uint16_t sum = static_cast<std::uint16_t>(~fold(sum_words(f, 34, f.size())));
  f[36] = static_cast<std::uint8_t>(sum >> 8);
  f[37] = static_cast<std::uint8_t>(sum);
  put(f);
}

void PacketScript::put(const Bytes& octets) {
  Frame f;
  f.buf = pool_.take();
  f.bytes = static_cast<std::uint32_t>(octets.size());
  std::copy(octets.begin(), octets.end(), f.buf->bytes());
  peer_.out.send(f, last_ps_);
}

void PacketScript::expect(const Line& line) {
  const std::uint64_t from = last_ps_ + line.after_ps;
  run_to(from);
  if (!wait_for_segment(from + kTolerance)) {
    ADD_FAILURE() << where(line) << "nothing was sent";
    return;
  }
  const Seen& s = from_chip_.got.seen[seen_++];
  if (!chip_isn_known_) chip_isn_ = s.seq(), chip_isn_known_ = true;
  EXPECT_TRUE(s.ps >= from && s.ps <= from + kTolerance)
      << where(line) << "sent " << static_cast<double>(s.ps - last_ps_) / 1e6 << " us after the step before";
  expect_segment(line, s);
  last_ps_ = s.ps;
}

void PacketScript::expect_segment(const Line& line, const Seen& s) {
  std::string flags;
  for (const char* f = kFlags; *f != 0; ++f) {
    if (s.flags() >> (f - kFlags) & 1) flags += *f;
  }
  std::string expected = line.words.at(1);
  std::sort(expected.begin(), expected.end(),
            [](char a, char b) { return std::string(kFlags).find(a) < std::string(kFlags).find(b); });
  EXPECT_EQ(flags, expected) << where(line);
  const auto [first, end] = range(line.words.at(2));
  EXPECT_EQ(s.seq() - chip_isn_, first) << where(line);
  EXPECT_EQ(s.payload(), end - first) << where(line);
  if (end != first) {
    EXPECT_EQ(Bytes(s.frame.begin() + static_cast<std::ptrdiff_t>(s.headers()), s.frame.end()),
              counting_bytes(end - first, first - 1))
        << where(line);
  }
  EXPECT_EQ(s.u16(20), 0x4000u) << where(line) << "DF";
  unsigned ecn = 0;
  for (std::size_t i = 3; i < line.words.size(); ++i) {
    const std::string& w = line.words[i];
    const auto value = [&] { return static_cast<std::uint32_t>(std::stoul(line.words.at(++i))); };
    if (w == "ack") EXPECT_EQ(s.ack() - peer_isn_, value()) << where(line);
    else if (w == "win") EXPECT_EQ(s.window(), value()) << where(line);
    else if (w == "ect0") ecn = 2;
    else ADD_FAILURE() << where(line) << "unknown word " << w;
  }
  EXPECT_EQ(s.frame[15] & 3u, ecn) << where(line);
  const std::string options = options_text(s, peer_isn_);
  EXPECT_TRUE(!line.has_options || matches(line.options, options)) << where(line) << "options {" << options << '}';
}

void PacketScript::handshake(const Line& line) {
  std::string options;
  for (std::size_t i = 1; i < line.words.size(); ++i) options += line.words[i] + ' ';
  chip_->firmware.listen(5000);
  chip_->firmware.on_event = [this](const LlpEvent& e) {
    if (e.kind() == TcpEvents::kAccepted) chip_->firmware.enter_rdma(e.flow());
  };
  Line syn = line;
  syn.words = {"<", "S", "0"};
  syn.options = options;
  last_ps_ += kUs;
  run_to(last_ps_);
  inject(syn);
  ASSERT_TRUE(wait_for_segment(last_ps_ + kUs)) << where(line);
  chip_isn_ = from_chip_.got.seen[seen_++].seq();
  chip_isn_known_ = true;
  Line ack = line;
  ack.words = {"<", "A", "1", "ack", "1"};
  if (const auto ts = options.find("ts "); ts != std::string::npos) ack.options = options.substr(ts);
  last_ps_ += kUs;
  run_to(last_ps_);
  inject(ack);
  last_ps_ += kUs;
  run_to(last_ps_);
  events_ = 1;
}

void PacketScript::count(const Line& line) {
  const std::string& name = line.words.at(1);
  const auto dot = name.find('.');
  const std::string stage = name.substr(0, dot), key = name.substr(dot + 1);
  std::uint64_t value = 0;
  const bool found = stage == "tx"   ? read_counter(chip_->tcp_tx.counters(), key, value)
                     : stage == "rx" ? read_counter(chip_->tcp_rx.counters(), key, value)
                                     : read_counter(chip_->connection.counters(), key, value);
  EXPECT_TRUE(found) << where(line) << "no such counter";
  EXPECT_EQ(value, std::stoull(line.words.at(2))) << where(line);
}

void PacketScript::event(const Line& line) {
  const std::vector<LlpEvent>& events = chip_->firmware.events;
  ASSERT_LT(events_, events.size()) << where(line) << "no event";
  const LlpEvent& e = events[events_++];
  EXPECT_EQ(name_of(e), line.words.at(1)) << where(line);
  EXPECT_TRUE(line.words.size() < 3 || e.segment_limit() == std::stoul(line.words[2]))
      << where(line) << "EMSS " << e.segment_limit();
}

void PacketScript::delivered(const Line& line) {
  const Bytes& stream = chip_->deframer.stream[0];
  EXPECT_EQ(stream.size(), std::stoul(line.words.at(1))) << where(line);
  EXPECT_EQ(stream, counting_bytes(stream.size())) << where(line);
}

void PacketScript::run_to(std::uint64_t ps) {
  const auto now = static_cast<std::uint64_t>(sc_core::sc_time_stamp().value());
  if (ps > now) sc_core::sc_start(sc_core::sc_time::from_value(ps - now));
}

// In steps so short that the following lines are on time.
bool PacketScript::wait_for_segment(std::uint64_t until_ps) {
  while (from_chip_.got.seen.size() == seen_) {
    const auto now = static_cast<std::uint64_t>(sc_core::sc_time_stamp().value());
    if (now >= until_ps) return false;
    run_to(std::min(until_ps, now + kStep));
  }
  return true;
}

void PacketScript::expect_nothing(const Line& line, std::uint64_t until_ps) {
  run_to(until_ps);
  const auto& seen = from_chip_.got.seen;
  if (seen.size() > seen_ && seen[seen_].ps <= until_ps) {
    ADD_FAILURE() << where(line) << "nobody expected " << seen[seen_].text() << " of octet "
                  << seen[seen_].seq() - chip_isn_ << ", ack " << seen[seen_].ack() - peer_isn_;
  }
}

std::string PacketScript::where(const Line& line) const {
  std::string text = "line " + std::to_string(line.number) + ": ";
  for (const std::string& w : line.words) text += w + ' ';
  return text + ": ";
}

}  // namespace rnic::test
