#include "output.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

#include "harmonica/utf8.h"

namespace harmonica::cli {

void key(JsonWriter& json, std::string_view name) { json.Key(name.data(), static_cast<rapidjson::SizeType>(name.size())); }

void string(JsonWriter& json, std::string_view text) {
  const std::string valid = repaired_utf8(text);
  json.String(valid.data(), static_cast<rapidjson::SizeType>(valid.size()));
}

void member(JsonWriter& json, std::string_view name, std::string_view text) {
  key(json, name);
  string(json, text);
}

void member(JsonWriter& json, std::string_view name, std::uint64_t number) {
  key(json, name);
  json.Uint64(number);
}

void member(JsonWriter& json, std::string_view name, const std::vector<std::string>& texts) {
  key(json, name);
  json.StartArray();
  for (const std::string& text : texts) string(json, text);
  json.EndArray();
}

void print(const rapidjson::StringBuffer& document) { std::printf("%s\n", document.GetString()); }

namespace {

void report(const CommonOptions& options, std::string_view code, std::string message) {
  // A copy has the path of what it is a copy of behind that of the trial's directory.
  const std::string& trial = options.trial_directory;
  for (std::size_t at = trial.empty() ? std::string::npos : message.find(trial); at != std::string::npos;
       at = message.find(trial)) {
    message.erase(at, trial.size());
  }
  std::fprintf(stderr, "harmonica: %s\n", display_text(message).c_str());
  if (!options.json) return;
  rapidjson::StringBuffer document;
  JsonWriter json(document);
  json.StartObject();
  key(json, "error");
  json.StartObject();
  member(json, "code", code);
  member(json, "message", message);
  json.EndObject();
  json.EndObject();
  print(document);
}

}  // namespace

int fail(const CommonOptions& options, const Status& status) {
  const bool is_guard = status.code() == StatusCode::kGuard;
  const std::string advice = is_guard ? " (" + std::string(kConfirmAdvice) + ")" : std::string();
  report(options, to_text(status.code()), status.message() + advice);
  return is_guard ? kExitGuard : kExitFailed;
}

int refuse(const CommonOptions& options, const std::string& what) {
  report(options, "usage", what);
  return kExitUsage;
}

bool waits(const ReplicaStatus& status) { return status.conflicts_deferred + status.unwritten > 0; }

std::string label_of(const Schema& schema, const Item& item) {
  const ItemType* type = schema.find_type(item.type);
  if (type == nullptr) return item.id.to_text();
  for (const std::string_view wanted : {"name", "title", "url"}) {
    for (const Unit& unit : type->units) {
      if (unit.name != wanted) continue;
      const std::string* text = item.value_of(unit.id).if_text();
      if (text != nullptr && !text->empty()) return display_text(*text);
    }
  }
  return item.id.to_text();
}

std::string item_path(Replica& replica, const Schema& schema, const ItemId& item) {
  constexpr std::size_t kFoldersShown = 3;
  std::string path;
  ItemId next = item;
  for (std::size_t above = 0; !next.is_zero(); ++above) {
    const auto root =
        std::find_if(schema.roots.begin(), schema.roots.end(), [&](const Root& one) { return one.id == next; });
    if (root != schema.roots.end()) return root->name + path;
    const Result<std::optional<ReplicaItem>> held = replica.find(next);
    if (!held.ok() || !*held) return path.empty() ? item.to_text() : "..." + path;
    if (above > kFoldersShown) return "..." + path;
    path = "/" + label_of(schema, (*held)->item) + path;
    next = (*held)->parent;
  }
  return path;
}

std::string display_text(std::string_view text) {
  constexpr std::size_t kShown = 400;
  std::string shown;
  for (const char character : text.substr(0, kShown)) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte < 0x20 || byte == 0x7f) {
      std::array<char, 8> escaped{};
      std::snprintf(escaped.data(), escaped.size(), "\\x%02x", byte);
      shown += escaped.data();
    } else {
      shown += character;
    }
  }
  if (text.size() > kShown) {
    while (!shown.empty() && (static_cast<unsigned char>(shown.back()) & 0xc0U) == 0x80U) shown.pop_back();
    shown += "...";
  }
  return shown;
}

std::string display(const Value& value) {
  if (const std::string* text = value.if_text()) return display_text(*text);
  return display_text(value.to_text());
}

std::string display_time(std::int64_t unix_ms) {
  const std::time_t seconds = static_cast<std::time_t>(unix_ms / 1000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts);
  return text.data();
}

const Unit* unit_of(const Schema& schema, TypeId type, UnitId unit) {
  const ItemType* found = schema.find_type(type);
  return found == nullptr ? nullptr : found->find_unit(unit);
}

std::string unit_name(const Schema& schema, TypeId type, UnitId unit) {
  if (unit == kExistenceUnit) return "existence";
  const Unit* known = unit_of(schema, type, unit);
  return known == nullptr ? "unit " + std::to_string(unit) : known->name;
}

std::string type_name(const Schema& schema, TypeId type) {
  const ItemType* found = schema.find_type(type);
  return found == nullptr ? "type " + std::to_string(type) : found->name;
}

}  // namespace harmonica::cli
