#include "progress_bar.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace harmonica::cli {
namespace {

constexpr std::uint64_t kWidth = 24;

const char* stage_name(SessionStage stage) {
  switch (stage) {
    case SessionStage::kDetecting:
      return "looking";
    case SessionStage::kTransferring:
      return "syncing";
    case SessionStage::kWriting:
      return "writing";
    case SessionStage::kDone:
      return "done";
  }
  return "";
}

}  // namespace

ProgressBar::ProgressBar(bool for_programs) : draws_(!for_programs && isatty(STDERR_FILENO) == 1) {}

void ProgressBar::show(const std::string& what, const SessionProgress& progress) {
  if (!draws_) return;
  const std::uint64_t total = std::max<std::uint64_t>(progress.changes_total_estimate, 1);
  const std::uint64_t filled =
      progress.stage == SessionStage::kDetecting ? 0 : std::min(kWidth, progress.changes_done * kWidth / total);
  std::string bar(filled, '#');
  bar.resize(kWidth, '.');
  std::fprintf(stderr, "\r\x1b[K[%s] %s %llu  %.60s", bar.c_str(), stage_name(progress.stage),
               static_cast<unsigned long long>(progress.changes_done), what.c_str());
  std::fflush(stderr);
}

void ProgressBar::clear() const {
  if (draws_) std::fprintf(stderr, "\r\x1b[K");
}

}  // namespace harmonica::cli
