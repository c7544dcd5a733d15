// One line on a terminal that says how far a session is.
#pragma once

#include <string>

#include "harmonica/session.h"

namespace harmonica::cli {

// Draws on stderr if that is a terminal and the output is for people; otherwise it draws nothing.
class ProgressBar {
 public:
  explicit ProgressBar(bool for_programs);
  void show(const std::string& what, const SessionProgress& progress);
  // Takes the line away.
  void clear() const;

 private:
  bool draws_;
};

}  // namespace harmonica::cli
