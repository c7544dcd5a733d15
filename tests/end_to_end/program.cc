#include "end_to_end/program.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace harmonica::testing {
namespace {

constexpr int kCannotStart = 127;
constexpr ::uid_t kNobody = 65534;
constexpr ::rlim_t kSmallFileBytes = 1024;

// In the child, before the program. Whether it worked.
bool take_on(Handicap handicap) {
  switch (handicap) {
    case Handicap::kNone:
      return true;
    case Handicap::kNotRoot:
      return ::geteuid() != 0 || (::setgid(kNobody) == 0 && ::setuid(kNobody) == 0);
    case Handicap::kSmallFiles: {
      const ::rlimit limit{kSmallFileBytes, kSmallFileBytes};
      return std::signal(SIGXFSZ, SIG_IGN) != SIG_ERR && ::setrlimit(RLIMIT_FSIZE, &limit) == 0;
    }
  }
  return false;
}

void send_to(const std::string& path, int descriptor) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0 || ::dup2(file, descriptor) < 0) ::_exit(kCannotStart);
}

}  // namespace

Program::Program() {
  // The user nobody has to get in.
  for (const TemporaryDirectory* directory : {&stores_, &state_}) {
    std::filesystem::permissions(directory->path(), std::filesystem::perms::all);
  }
}

Outcome Program::run(const std::vector<std::string>& arguments, Handicap handicap) const {
  const TemporaryDirectory output;
  std::vector<std::string> words = {HARMONICA_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  const ::pid_t child = ::fork();
  if (child == 0) {
    send_to(output / "out", STDOUT_FILENO);
    send_to(output / "err", STDERR_FILENO);
    const bool ready = ::setenv("XDG_STATE_HOME", state_.path().c_str(), 1) == 0 && ::chdir(stores_.path().c_str()) == 0 &&
                       take_on(handicap);
    if (ready) ::execv(argv.front(), argv.data());
    ::_exit(kCannotStart);
  }
  int status = 0;
  HARMONICA_ASSERT(child > 0 && ::waitpid(child, &status, 0) == child);
  Outcome outcome;
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  HARMONICA_ASSERT(outcome.exit_code != kCannotStart);
  outcome.out = read_text(output / "out");
  outcome.err = read_text(output / "err");
  return outcome;
}

}  // namespace harmonica::testing
