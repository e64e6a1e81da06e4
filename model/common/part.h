// A part of a device: a stage, a table, a port, a processor. It declares once all that outputs show of it.
#pragma once

namespace rnic {

class Description;

class Part {
 public:
  // Called before the run. Everything it names lives as long as the part.
  virtual void describe(const Description& d);

 protected:
  ~Part() = default;
};
inline void Part::describe(const Description&) {}

}  // namespace rnic
