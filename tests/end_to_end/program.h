// Runs the harmonica program as a person would, in a directory of its own.
#pragma once

#include <string>
#include <vector>

#include "support/temporary_directory.h"

namespace harmonica::testing {

struct Outcome {
  int exit_code = -1;  // -1: it did not exit by itself
  std::string out;
  std::string err;
};

// What the system refuses the program.
enum class Handicap {
  kNone,
  kNotRoot,     // it runs as the user nobody
  kSmallFiles,  // no file can grow beyond 1 KiB, as on a disk that is full
};

// A directory for stores and one for what the program keeps of them; relative paths are those of stores.
class Program {
 public:
  Program();

  Outcome run(const std::vector<std::string>& arguments, Handicap handicap = Handicap::kNone) const;

  std::string path(const std::string& store) const { return stores_ / store; }
  void write(const std::string& store, const std::string& text) const { write_text(path(store), text); }
  std::string read(const std::string& store) const { return read_text(path(store)); }
  // Where the program keeps what it has to know.
  const std::string& state() const { return state_.path(); }

 private:
  TemporaryDirectory stores_;
  TemporaryDirectory state_;
};

}  // namespace harmonica::testing
