// notes FOLDER FOLDER: keeps two folders of text notes in sync.
#include <iostream>
#include <memory>
#include <string>

#include "harmonica/harmonica.h"
#include "harmonica/platform/system_environment.h"
#include "harmonica/providers/metadata.h"
#include "notes_store.h"

namespace {

using namespace harmonica;

// A folder of notes, and in it what Harmonica knows of it.
struct Notebook {
  std::unique_ptr<notes::NotesStore> store;
  std::unique_ptr<MetadataStore> metadata;
  std::unique_ptr<Replica> replica;
};

Result<Notebook> open_notebook(const std::string& folder, Environment& environment) {
  Notebook notebook;
  notebook.store = std::make_unique<notes::NotesStore>(folder);
  HARMONICA_ASSIGN_OR_RETURN(notebook.metadata, providers::open_sqlite_metadata(folder + "/.harmonica-notes.db"));
  HARMONICA_ASSIGN_OR_RETURN(notebook.replica, Replica::open(*notebook.store, *notebook.metadata, environment, {}));
  return notebook;
}

Status run(const std::string& first_folder, const std::string& second_folder) {
  HARMONICA_ASSIGN_OR_RETURN(const std::string state, platform::default_state_directory());
  const auto environment = platform::make_system_environment({.reservations_directory = state + "/reservations"});
  HARMONICA_ASSIGN_OR_RETURN(Notebook first, open_notebook(first_folder, *environment));
  HARMONICA_ASSIGN_OR_RETURN(Notebook second, open_notebook(second_folder, *environment));
  HARMONICA_ASSIGN_OR_RETURN(const SynchronizeReport report,
                             synchronize(first.replica->provider(), second.replica->provider(), {}));
  for (const SessionReport& session : {report.to_first, report.to_second}) {
    std::cout << session.created << " new, " << session.updated << " changed, " << session.deleted << " deleted, "
              << session.conflicts << " conflicts\n";
  }
  return {};
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count != 3) {
    std::cerr << "usage: notes FOLDER FOLDER\n";
    return 2;
  }
  const Status status = run(arguments[1], arguments[2]);
  if (status.ok()) return 0;
  std::cerr << "notes: " << status.to_text() << "\n";
  return 1;
}
