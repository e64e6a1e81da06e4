// What the cable does to frames, for logs and the capture.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/cable/cable_event.h"
#include "model/system/system.h"
#include "model/system/wire_capture.h"
#include "model/trace/event.h"
#include "model/trace/waves.h"

namespace rnic {

// An event belongs to the node that has sent the frame; to the other one if that is outside of the model. Its place is
// the direction, such as "cable.a_to_b".
class CableTrace final : public CableTap {
 public:
  // Tells the capture of frames that never arrive, with the reason as their comment.
  CableTrace(const std::vector<Station>& stations, WireCapture& capture);
  // Of events in ps, in the order of the stations.
  void record(const Recorder& recorder) { recorders_.push_back(&recorder); }

  // A text in the waveform for each direction: what happened last, from `from_ps` on.
  void draw(Waves& waves, std::uint64_t from_ps);

  void happened(const CableEvent& event) override;
  // What happened to a frame, for its comment; empty if nothing did. Once for each copy of it that arrives.
  std::string take_note(unsigned direction, const Frame& frame);

 private:
  struct Note {
    std::string text;
    unsigned copies = 1;  // of the frame, on their way to the capture
  };
  struct Way {
    std::string place;                                // "cable.a_to_b"
    std::unordered_map<std::uint32_t, Note> notes{};  // by serial number
    WaveId wave{};
    std::string shown{};  // in the waveform, at that time
    std::uint64_t shown_ps = 0;
  };
  void record(const CableEvent& event);
  void draw(const CableEvent& event);

  std::array<Way, 2> ways_;
  WireCapture& capture_;
  std::vector<const Recorder*> recorders_;
  Waves* waves_ = nullptr;
  std::uint64_t drawn_from_ps_ = 0;
};

// The scopes that a waveform may name.
std::vector<std::string> cable_scopes(const std::vector<Station>& stations);

}  // namespace rnic
