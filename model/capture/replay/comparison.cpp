#include "model/capture/replay/comparison.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/capture/replay/terminate_comparison.h"
#include "model/capture/replay/terminate_reader.h"

namespace rnic::replay {

using wire::Opcode;

std::size_t Comparison::unexplained() const {
  return static_cast<std::size_t>(std::count_if(differences.begin(), differences.end(),
                                                [](const Difference& d) { return d.explained_by.empty(); }));
}

namespace {

// Messages of a class keep their order; different classes may overtake each other (RFC 5040 section 5.5).
enum class Class : std::uint8_t { kRequest, kResponse, kTerminate };
constexpr const char* kClassNames[] = {"message", "response", "Terminate"};

Class class_of(Opcode op) {
  return op == Opcode::kTerminate      ? Class::kTerminate
         : op == Opcode::kReadResponse ? Class::kResponse
                                       : Class::kRequest;
}

std::vector<const Message*> of_class(const std::vector<Message>& messages, Class c) {
  std::vector<const Message*> list;
  for (const Message& m : messages) {
    if (class_of(m.header.opcode) == c) list.push_back(&m);
  }
  return list;
}

class Comparer {
 public:
  Comparer(const Outcome& outcome, Comparison& out) : outcome_(outcome), script_(*outcome.script), out_(out) {}

  void run() {
    const auto real = read_terminates();
    if (script_.refused) refusal();
    startup();
    for (const Class c : {Class::kRequest, Class::kResponse}) sequence(c);
    terminate(real);
    if (!outcome_.stream_error.empty()) tell("stream", "MPA and RDMAP", outcome_.stream_error, "");
    if (outcome_.rest != 0) tell("end of the stream", "a whole FPDU", fmt::format("{} octets", outcome_.rest), "");
    for (const std::string& text : outcome_.misplaced)
      tell("placement", "the octets that were sent", text, why_dropped());
    if (!outcome_.stalled.empty() && out_.unexplained() == before_)
      tell("end", "both sides close", outcome_.stalled, "");
  }

 private:
  struct Terminates {
    const Message* real = nullptr;
    const Message* model = nullptr;
  };
  Terminates read_terminates() const {
    const auto first = [](const std::vector<Message>& messages) {
      const auto list = of_class(messages, Class::kTerminate);
      return list.empty() ? nullptr : list.front();
    };
    return {first(script_.real.messages()), first(outcome_.messages)};
  }

  void tell(std::string what, std::string expected, std::string got, std::string why) {
    out_.differences.push_back(
        {script_.name + ": " + std::move(what), std::move(expected), std::move(got), std::move(why)});
  }
  // Counts one message; it matches if nothing is reported about it.
  template <class F>
  void message(F&& compare_it) {
    const std::size_t told = out_.differences.size();
    ++out_.messages;
    compare_it();
    out_.matched += told == out_.differences.size() ? 1 : 0;
  }

  void refusal() {
    message([&] {
      if (script_.model == Side::kResponder && !outcome_.refused) tell("SYN", "RST", "no RST", "");
    });
  }

  void startup() {
    if (!script_.real.started() && outcome_.startup.empty()) return;
    message([&] {
      if (!script_.real.started()) return tell("startup frame", "none", hex_text(outcome_.startup), "");
      const ByteSpan expected = ByteSpan(script_.real.octets()).subspan(0, script_.real.startup_bytes());
      if (outcome_.startup.empty()) return tell("startup frame", hex_text(expected), "none", "");
      startup_fields(expected, outcome_.startup);
    });
  }

  void startup_fields(ByteSpan expected, ByteSpan got) {
    constexpr std::uint8_t kReserved = 0x0f;
    const unsigned wanted = expected[wire::kMpaKeyBytes] & kReserved, found = got[wire::kMpaKeyBytes] & kReserved;
    field("reserved flags", fmt::format("{:#x}", wanted), fmt::format("{:#x}", found),
          found == 0 ? "MPA-7.1.1-09: siw's try_gso sets one" : "");
    const wire::MpaFrame e = script_.real.startup();
    const wire::MpaFrame g = wire::decode_mpa_frame(got, e.kind, wire::kMpaRev2).frame;
    field("flags and revision", options(e), options(g), "");
    const bool needs_none = e.rejected && g.rejected && g.enhanced && g.enhanced->ord == 0;
    field("IRD and ORD", depths(e), depths(g),
          needs_none ? "MPA-ENH-9.1-07: a reject names the ORD that was needed; siw repeats the request's depths" : "");
    field("private data", hex_text(e.private_data), hex_text(g.private_data), "");
  }

  void field(const char* name, const std::string& expected, const std::string& got, const char* why) {
    if (expected != got) tell(fmt::format("startup frame, {}", name), expected, got, why);
  }
  static std::string options(const wire::MpaFrame& f) {
    std::string text = fmt::format("M{:d} C{:d} R{:d} Rev {}", f.markers, f.crc, f.rejected, f.rev);
    if (!f.enhanced) return text;
    const wire::MpaEnhanced& w = *f.enhanced;
    return text + fmt::format(" A{:d} B{:d} C{:d} D{:d}", w.peer_to_peer, w.rtr_send, w.rtr_write, w.rtr_read);
  }
  static std::string depths(const wire::MpaFrame& f) {
    return f.enhanced ? fmt::format("IRD {}, ORD {}", f.enhanced->ird, f.enhanced->ord) : "none";
  }

  void sequence(Class c) {
    const auto expected = of_class(script_.real.messages(), c), got = of_class(outcome_.messages, c);
    for (std::size_t i = 0; i < std::max(expected.size(), got.size()); ++i) {
      const std::string what = fmt::format("{} {}", kClassNames[static_cast<unsigned>(c)], i + 1);
      message([&] {
        if (i >= got.size()) return tell(what, describe(*expected[i]), "nothing", why_nothing());
        if (i >= expected.size()) return tell(what, "nothing", describe(*got[i]), why_more(c, i, *got[i]));
        one(what, *expected[i], *got[i]);
      });
    }
  }

  // The model's stream ends with a Terminate, which is always reported and must be explained. A Terminate for the end
  // of the peer's stream does not count: it follows everything else.
  bool ended_early() const {
    const Terminates t = read_terminates();
    if (t.model == nullptr || t.real != nullptr) return false;
    const auto model = read_terminate(t.model->payload);
    return !model || model->cause != wire::mpa::kConnectionLost;
  }
  // In a capture that ends, everything that the real side said came before the model's Terminate.
  bool said_all() const {
    const auto count = [](const std::vector<Message>& messages) {
      return messages.size() - of_class(messages, Class::kTerminate).size();
    };
    return script_.partial && count(outcome_.messages) >= count(script_.real.messages());
  }
  std::string why_nothing() const { return ended_early() ? "RDMAP-7.4-06: nothing follows the Terminate" : ""; }
  std::string why_dropped() const { return ended_early() ? "DDP-7.1-13: segments after the error are dropped" : ""; }

  // A real side that was killed, or left, owes answers that the model gives. So does one whose capture ends.
  std::string why_more(Class c, std::size_t index, const Message& got) const {
    const Terminates t = read_terminates();
    const bool left = script_.model_closes_first && t.real == nullptr && t.model == nullptr;
    if (c != Class::kResponse || !answers(index, got)) return "";
    if (left) return "RDMAP-7.2.2-07: the answer to a Read Request that the real side had not answered when it closed";
    return script_.partial ? "the capture ends before the answer to this Read Request" : "";
  }
  // True if `got` answers the peer's Read Request `index`, counted from 0.
  bool answers(std::size_t index, const Message& got) const {
    for (const Message& m : script_.fed.messages()) {
      if (m.header.opcode != Opcode::kReadRequest || index-- != 0) continue;
      const auto r = wire::ReadRequest::parse(m.payload);
      return r && got.header.last && got.payload.size() == r->size &&
             (r->size == 0 || (got.header.stag == r->sink_stag && got.header.to == r->sink_to));
    }
    return false;
  }

  void one(const std::string& what, const Message& expected, const Message& got) {
    // The real side was killed during this message, so its full length is not known.
    Message shown = got;
    if (!expected.header.last) {
      shown.header.last = false;
      shown.payload.resize(std::min(got.payload.size(), expected.payload.size()));
    }
    const std::string e = describe(expected), g = describe(shown);
    if (e != g || expected.header.qn != got.header.qn) return tell(what, e, g, why_header(expected, got));
    if (expected.header.opcode == Opcode::kReadRequest) return;  // the description covers it fully
    const auto at = std::mismatch(expected.payload.begin(), expected.payload.end(), got.payload.begin());
    if (at.first == expected.payload.end()) return;
    tell(fmt::format("{} ({}), octet {} of the payload", what, e, at.first - expected.payload.begin()),
         fmt::format("{:#04x}", *at.first), fmt::format("{:#04x}", *at.second), "");
  }

  // Without octets, STag and TO have no meaning.
  std::string why_header(const Message& expected, const Message& got) const {
    const bool same = expected.header.opcode == got.header.opcode && expected.header.last == got.header.last;
    if (same && expected.header.tagged && expected.payload.empty() && got.payload.empty()) {
      return "choices.md 20: STag and TO of a zero-length tagged message are not checked";
    }
    const auto e = wire::ReadRequest::parse(expected.payload), g = wire::ReadRequest::parse(got.payload);
    const bool empty_read =
        same && expected.header.opcode == Opcode::kReadRequest && e && g && e->size == 0 && g->size == 0;
    return empty_read && expected.header.msn == got.header.msn
               ? "choices.md 20: STags and TOs of a zero-length Read are not checked"
               : "";
  }

  void terminate(const Terminates& t) {
    if (t.real == nullptr && t.model == nullptr) return;
    message([&] {
      if (t.model != nullptr && t.model != &outcome_.messages.back()) {
        tell("after the Terminate", "nothing", describe(outcome_.messages.back()), "");
      }
      for (Difference& d : compare_terminates(script_, t.real, t.model)) {
        if (t.real == nullptr && said_all() && d.explained_by.empty()) {
          d.explained_by = "the capture ends before a Terminate of the real side";
        }
        tell(std::move(d.what), std::move(d.expected), std::move(d.got), std::move(d.explained_by));
      }
    });
  }

  const Outcome& outcome_;
  const Script& script_;
  Comparison& out_;
  const std::size_t before_ = out_.unexplained();
};

}  // namespace

void compare(const Outcome& outcome, Comparison& comparison) { Comparer(outcome, comparison).run(); }

}  // namespace rnic::replay
