// Where a dry run has its copies.
#pragma once

#include <string>

#include "harmonica/status.h"

namespace harmonica::cli {

// A directory of the system's temporary ones, for this user alone; gone with the object, with all that is in it. A copy of
// a file stands in it under the file's whole path.
class TrialDirectory {
 public:
  static Result<TrialDirectory> make();
  TrialDirectory(TrialDirectory&& other) noexcept;
  TrialDirectory& operator=(TrialDirectory&&) = delete;
  ~TrialDirectory();

  const std::string& path() const { return path_; }

 private:
  explicit TrialDirectory(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

// Where in the trial the copy of the absolute `path` stands; its folder is made.
Result<std::string> place_in_trial(const std::string& trial_directory, const std::string& path);

}  // namespace harmonica::cli
