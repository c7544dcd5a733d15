// Space that runs out: from a chosen write on a device cannot write anything, and does not die of it.
#pragma once

#include "harmonica/status.h"

namespace harmonica::simulation {

// The space of one device. Every durable operation asks it once, before its effect.
class Disk {
 public:
  // Has no space from the `operations`-th question on.
  void fill_in(int operations) { operations_left_ = operations; }
  void free() {
    full_ = false;
    operations_left_ = 0;
  }

  bool full() const { return full_; }
  // Counts one operation; true where there is no space for it.
  bool refuses() {
    if (operations_left_ > 0 && --operations_left_ == 0) full_ = true;
    return full_;
  }

  static Status status() { return Status(StatusCode::kIo, "the disk has no space left"); }

 private:
  int operations_left_ = 0;
  bool full_ = false;
};

}  // namespace harmonica::simulation
