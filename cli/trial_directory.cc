#include "trial_directory.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "harmonica/platform/file_system.h"

namespace harmonica::cli {

Result<TrialDirectory> TrialDirectory::make() {
  std::error_code error;
  std::string path = std::filesystem::temp_directory_path(error) / "harmonica-dry-run-XXXXXX";
  if (error || ::mkdtemp(path.data()) == nullptr) {
    return Status(StatusCode::kIo, path + ": cannot be made for a dry run; let TMPDIR name a folder with room for copies");
  }
  return TrialDirectory(std::move(path));
}

TrialDirectory::TrialDirectory(TrialDirectory&& other) noexcept : path_(std::exchange(other.path_, {})) {}

TrialDirectory::~TrialDirectory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

Result<std::string> place_in_trial(const std::string& trial_directory, const std::string& path) {
  std::string place = trial_directory + path;
  HARMONICA_RETURN_IF_ERROR(platform::create_directories(place.substr(0, place.rfind('/'))));
  return place;
}

}  // namespace harmonica::cli
