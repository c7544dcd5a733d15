// How results reach people and programs: text or one JSON document on stdout, errors as one line on stderr.
#pragma once

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <string>
#include <string_view>
#include <vector>

#include "harmonica/harmonica.h"
#include "store_uri.h"

namespace harmonica::cli {

// What the process returns (DESIGN: exit codes); documented in README.md here.
enum ExitCode : int { kExitDone = 0, kExitFailed = 1, kExitUsage = 2, kExitWaiting = 3, kExitGuard = 4 };

using JsonWriter = rapidjson::Writer<rapidjson::StringBuffer>;

void key(JsonWriter& json, std::string_view name);
// Bytes that are not UTF-8 (a path may hold any) become U+FFFD.
void string(JsonWriter& json, std::string_view text);
void member(JsonWriter& json, std::string_view name, std::string_view text);
void member(JsonWriter& json, std::string_view name, std::uint64_t number);
void member(JsonWriter& json, std::string_view name, const std::vector<std::string>& texts);

// Prints the document and a line end.
void print(const rapidjson::StringBuffer& document);

// Prints "harmonica: MESSAGE" on stderr, with --json also {"error": {"code", "message"}} on stdout, and gives the exit code
// for the status, or for bad usage.
int fail(const CommonOptions& options, const Status& status);
int refuse(const CommonOptions& options, const std::string& what);

// How to go through with what a guard has stopped.
inline constexpr const char* kConfirmAdvice = "harmonica sync --confirm goes through with it";

// Whether something of the store waits for a person: a deferred conflict, or an item that is not yet written.
bool waits(const ReplicaStatus& status);

// "title" of the item for people: its title or name, else its url, else its id.
std::string label_of(const Schema& schema, const Item& item);

// "toolbar/News/title" of an item that the replica holds, with its last folders only; otherwise its id.
std::string item_path(Replica& replica, const Schema& schema, const ItemId& item);

// The value for people: text as it is, control characters escaped, long ones cut.
std::string display(const Value& value);
std::string display_text(std::string_view text);

// "2026-01-02 03:04:05" in UTC.
std::string display_time(std::int64_t unix_ms);

// Null: the schema does not have it.
const Unit* unit_of(const Schema& schema, TypeId type, UnitId unit);
std::string unit_name(const Schema& schema, TypeId type, UnitId unit);
std::string type_name(const Schema& schema, TypeId type);

}  // namespace harmonica::cli
