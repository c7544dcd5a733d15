// The harmonica program: reads the command line and runs one command.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "commands.h"
#include "output.h"

namespace harmonica::cli {
namespace {

void add_common(CLI::App& command, CommonOptions& options) {
  command.add_option("--state", options.state_directory, "Where metadata lives (default $XDG_STATE_HOME/harmonica)")
      ->type_name("DIR");
  command.add_flag("--json", options.json, "Print one JSON document on stdout");
  command.add_option("--log-level", options.log_level, "Log to stderr")
      ->type_name("WORD")
      ->check(CLI::IsMember({"debug", "notice", "warning", "error"}));
  command.add_option("--log-file", options.log_file, "Append the log to this file")->type_name("FILE");
}

// An option whose value is one of a few words.
template <typename Value>
void add_choice(CLI::App& command, const char* name, const char* what, Value& value,
                const std::vector<std::pair<std::string, Value>>& choices) {
  std::vector<std::string> words;
  words.reserve(choices.size());
  for (const auto& [word, choice] : choices) words.push_back(word);
  command
      .add_option_function<std::string>(
          name,
          [&value, choices](const std::string& given) {
            for (const auto& [word, choice] : choices) {
              if (word == given) value = choice;
            }
          },
          what)
      ->type_name("WORD")
      ->check(CLI::IsMember(words));
}

void add_sync(CLI::App& app, SyncOptions& options, int& exit_code) {
  CLI::App* command = app.add_subcommand("sync", "Sync two or more stores until they are equal");
  add_common(*command, options.common);
  command->add_option("STORE", options.stores, "favorites:PATH, records:PATH[#SCOPE], or a path; two or more")
      ->required()
      ->expected(-2);
  add_choice(*command, "--direction", "Which way changes go", options.direction,
             {{"both", Direction::kBoth}, {"to-first", Direction::kToFirst}, {"from-first", Direction::kFromFirst}});
  add_choice(*command, "--on-conflict", "How conflicts are decided in this run", options.on_conflict,
             {{"schema", OnConflict::kAsInSchema},
              {"manual", OnConflict::kManual},
              {"latest", OnConflict::kLatest},
              {"source-wins", OnConflict::kSourceWins},
              {"destination-wins", OnConflict::kDestinationWins}});
  command
      ->add_option("--limit-bytes", options.bytes_max, "Stop after about so many bytes of changes; the next sync goes on")
      ->type_name("BYTES")
      ->check(CLI::PositiveNumber);
  command->add_option("--limit-seconds", options.seconds_max, "Stop after about so many seconds; the next sync goes on")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--filter", options.filter,
                   "From now on the first store holds only what matches; '' holds everything again")
      ->type_name("EXPRESSION");
  command->add_option("--param", options.parameters, "A value for a :name in the filter")->type_name("NAME=VALUE");
  command->add_flag("--dry-run", options.dry_run, "Only say what would happen; write nothing");
  command->add_flag("--confirm", options.common.confirm, "Go through what the guard has stopped");
  command->callback([&] { exit_code = run_sync(options); });
}

void add_store_command(CLI::App& app, const char* name, const char* what, StoreOptions& options,
                       int (*run)(const StoreOptions&), int& exit_code) {
  CLI::App* command = app.add_subcommand(name, what);
  add_common(*command, options.common);
  command->add_option("STORE", options.store, "favorites:PATH, records:PATH[#SCOPE], or a path")->required();
  command->callback([&options, run, &exit_code] { exit_code = run(options); });
}

void add_verify(CLI::App& app, VerifyOptions& options, int& exit_code) {
  CLI::App* command = app.add_subcommand("verify", "Say that two stores are equal, or how they differ");
  add_common(*command, options.common);
  command->add_option("FIRST", options.first, "A store")->required();
  command->add_option("SECOND", options.second, "Another store")->required();
  command->add_flag_callback(
      "--repair", [&] { options.repair = Repair::kYes; }, "Let a store that claims what it does not hold be sent it again");
  command->callback([&] { exit_code = run_verify(options); });
}

void add_conflicts(CLI::App& app, ConflictsOptions& options, int& exit_code) {
  CLI::App* conflicts = app.add_subcommand("conflicts", "List what lost a conflict, and have it back");
  conflicts->require_subcommand(1);
  struct Action {
    const char* name;
    const char* what;
    ConflictsAction action;
  };
  for (const Action& action :
       {Action{"list", "One line a conflict", ConflictsAction::kList},
        Action{"show", "All about one conflict", ConflictsAction::kShow},
        Action{"restore", "Make what lost the current value", ConflictsAction::kRestore},
        Action{"keep", "End a waiting conflict by what this store has", ConflictsAction::kKeep},
        Action{"drop", "Forget a decided conflict and the value that lost", ConflictsAction::kDrop}}) {
    CLI::App* command = conflicts->add_subcommand(action.name, action.what);
    add_common(*command, options.common);
    command->add_option("STORE", options.store, "The store")->required();
    if (action.action != ConflictsAction::kList) {
      command->add_option("ID", options.id, "The conflict's id, or how it begins")->required();
    }
    command->callback([&options, &exit_code, which = action.action] {
      options.action = which;
      exit_code = run_conflicts(options);
    });
  }
}

void add_devices(CLI::App& app, DevicesOptions& options, int& exit_code) {
  CLI::App* devices = app.add_subcommand("devices", "List the devices of a scope, and retire those that are gone");
  devices->require_subcommand(1);
  CLI::App* list = devices->add_subcommand("list", "One line a device");
  CLI::App* retire = devices->add_subcommand("retire", "Say that a device has left for good");
  for (CLI::App* command : {list, retire}) {
    add_common(*command, options.common);
    command->add_option("STORE", options.store, "The store")->required();
    command->callback([&options, &exit_code, action = command == list ? DevicesAction::kList : DevicesAction::kRetire] {
      options.action = action;
      exit_code = run_devices(options);
    });
  }
  retire->add_option("ID", options.id, "The device's id, or how it begins")->required();
}

void add_forget(CLI::App& app, ForgetOptions& options, int& exit_code) {
  CLI::App* command = app.add_subcommand("forget", "Erase an item for good, here and on every peer");
  add_common(*command, options.common);
  command->add_option("STORE", options.store, "favorites:PATH, records:PATH[#SCOPE], or a path")->required();
  command->add_option("ITEM", options.item, "Its path, such as toolbar/News/title; or its id, or how that begins")
      ->required();
  command->callback([&] { exit_code = run_forget(options); });
}

// The word that stands where a command is expected and is none; empty: there is none.
std::string unknown_command(const CLI::App& app, std::span<const char* const> words) {
  const CLI::App* command = &app;
  for (const std::string_view word : words) {
    const std::vector<const CLI::App*> commands = command->get_subcommands([](const CLI::App*) { return true; });
    if (commands.empty() || word.starts_with('-')) return {};
    const auto found = std::ranges::find(commands, word, [](const CLI::App* one) { return one->get_name(); });
    if (found == commands.end()) return std::string(word);
    command = *found;
  }
  return {};
}

int run(int argc, char** argv) {
  CLI::App app("Keeps favorites in sync between devices, with nobody in charge.", "harmonica");
  app.require_subcommand(1);
  app.set_version_flag("--version", HARMONICA_VERSION);
  int exit_code = kExitDone;
  SyncOptions sync;
  StoreOptions show;
  StoreOptions status;
  VerifyOptions verify;
  ConflictsOptions conflicts;
  DevicesOptions devices;
  ForgetOptions forget;
  StoreOptions unlink;
  add_sync(app, sync, exit_code);
  add_store_command(app, "show", "Show the items as a tree", show, run_show, exit_code);
  add_store_command(app, "status", "Say what a store holds and what waits", status, run_status, exit_code);
  add_verify(app, verify, exit_code);
  add_conflicts(app, conflicts, exit_code);
  add_devices(app, devices, exit_code);
  add_forget(app, forget, exit_code);
  add_store_command(app, "unlink", "Leave the scope, keep the data", unlink, run_unlink, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    CommonOptions options;
    options.json = std::find(argv, argv + argc, std::string_view("--json")) != argv + argc;
    const std::string unknown = unknown_command(app, std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
    const std::string what = unknown.empty() ? error.what() : "there is no command '" + unknown + "'";
    return refuse(options, what + "; see harmonica --help");
  }
  if (std::fflush(stdout) != 0) {
    std::fprintf(stderr, "harmonica: what is to be printed cannot be written: %s\n", std::strerror(errno));
    return kExitFailed;
  }
  return exit_code;
}

}  // namespace
}  // namespace harmonica::cli

int main(int argc, char** argv) { return harmonica::cli::run(argc, argv); }
