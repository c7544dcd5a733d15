#include "notes_store.h"

#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "harmonica/limits.h"
#include "harmonica/platform/file_system.h"

namespace notes {

using namespace harmonica;

namespace {

constexpr std::string_view kEnding = ".txt";

Schema notes_schema() {
  const Unit text{.id = kTextUnit, .name = "text"};
  const ItemType note{.id = kNoteType, .name = "note", .units = {text}, .natural_key = {kTextUnit}};
  return {.default_scope = "notes", .types = {note}};
}

// Harmonica's own files and those of editors begin with a dot.
bool is_note_name(std::string_view name) { return name.ends_with(kEnding) && !name.starts_with('.'); }

Status folder_error(const std::string& folder, const std::error_code& error) {
  return Status(StatusCode::kIo, folder + ": cannot list the folder: " + error.message());
}

// In order, so that the same folder is always enumerated alike.
Result<std::set<std::string>> note_names(const std::string& folder) {
  std::set<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  if (error) return folder_error(folder, error);
  while (entry != std::filesystem::directory_iterator()) {
    const std::string name = entry->path().filename().string();
    if (is_note_name(name)) names.insert(name);
    entry.increment(error);
    if (error) return folder_error(folder, error);
  }
  return names;
}

const std::string& text_of(const StoreItem& note) {
  static const std::string kNone;
  const std::string* text = note.values.empty() ? nullptr : note.values.front().value.if_text();
  return text == nullptr ? kNone : *text;
}

// Whether both sides are the same note as far as this store holds it, or both are none.
bool same_note(const std::optional<StoreItem>& a, const std::optional<StoreItem>& b) {
  if (!a || !b) return !a && !b;
  return text_of(*a) == text_of(*b);
}

}  // namespace

NotesStore::NotesStore(std::string folder) : folder_(std::move(folder)), schema_(notes_schema()) {}

Result<Enumeration> NotesStore::enumerate(const Bytes&, const ShownItems&, EnumerationSink& sink) {
  HARMONICA_RETURN_IF_ERROR(check_folder());
  HARMONICA_ASSIGN_OR_RETURN(const std::set<std::string> names, note_names(folder_));
  for (const StoreKey& key : names) {
    Result<std::optional<StoreItem>> note = read(key);
    if (!note.ok()) {
      sink.skipped(key, note.status().to_text());
    } else if (note->has_value()) {
      HARMONICA_RETURN_IF_ERROR(sink.item(*std::move(*note)));
    }
  }
  return Enumeration{.kind = EnumerationKind::kEverything, .anchor = {}};
}

StoreKey NotesStore::key_for(const ItemId& item) const { return item.to_text() + std::string(kEnding); }

Result<Written> NotesStore::apply(std::span<const StoreWrite> writes, const Bytes&) {
  HARMONICA_RETURN_IF_ERROR(check_folder());
  Written written;
  for (const StoreWrite& one : writes) written.outcomes.push_back(write(one));
  return written;
}

WriteOutcome NotesStore::write(const StoreWrite& write) {
  const StoreKey& key = write.item.key;
  const Result<std::optional<StoreItem>> current = read(key);
  if (!current.ok()) return {WriteState::kFailed, current.status()};

  std::optional<StoreItem> wanted;
  if (write.kind == WriteKind::kPut) wanted = write.item;
  if (same_note(*current, wanted)) return {};
  if (!same_note(*current, write.expected)) return {WriteState::kChanged, {}};

  const Status status =
      wanted ? platform::replace_file(path_of(key), as_bytes(text_of(*wanted))) : platform::remove_file(path_of(key));
  if (!status.ok()) return {WriteState::kFailed, status};
  return {};
}

// A folder that is not there is an error, not a folder without notes: else every note would count as deleted.
Status NotesStore::check_folder() const {
  std::error_code error;
  if (std::filesystem::is_directory(folder_, error)) return {};
  return Status(StatusCode::kNotFound, folder_ + ": no such folder");
}

std::string NotesStore::path_of(const StoreKey& key) const { return folder_ + "/" + key; }

Result<std::optional<StoreItem>> NotesStore::read(const StoreKey& key) const {
  Result<platform::FileContent> file = platform::read_file(path_of(key), limits::kValueBytesMax);
  if (file.status().code() == StatusCode::kNotFound) return std::optional<StoreItem>();
  if (!file.ok()) return file.status();
  StoreItem note{.key = key, .type = kNoteType};
  note.values = {{kTextUnit, Value::text(std::string(as_text(file->bytes)))}};
  note.changed_ms = file->stamp.modified_ns / 1'000'000;
  const auto id = ItemId::parse(std::string_view(key).substr(0, key.size() - kEnding.size()));
  if (id && is_shaped_item_id(*id)) note.identity = id;
  return std::optional<StoreItem>(std::move(note));
}

}  // namespace notes
