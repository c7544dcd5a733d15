// Power cuts: a device dies at a chosen step and forgets all that was not durable.
#pragma once

#include "harmonica/status.h"

namespace harmonica::simulation {

// The power of one device. Every durable operation asks it twice, before and after its effect, so a cut can fall between
// any two of them. A dead device answers every operation with `status`.
class Power {
 public:
  // Dies at the `steps`-th question from now on; 0: not at all.
  void cut_in(int steps) { steps_left_ = steps; }
  void restore() {
    dead_ = false;
    steps_left_ = 0;
  }

  bool dead() const { return dead_; }
  // Counts one step; true from the cut on.
  bool fails() {
    if (!dead_ && steps_left_ > 0 && --steps_left_ == 0) dead_ = true;
    return dead_;
  }

  static Status status() { return Status(StatusCode::kIo, "the device has no power"); }

 private:
  int steps_left_ = 0;
  bool dead_ = false;
};

}  // namespace harmonica::simulation
