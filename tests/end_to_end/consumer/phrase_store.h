// A store of one's own: a file with a phrase a line. docs/writing-a-provider.md walks through it and through
// phrase_store_test.cc.
#pragma once

#include <fstream>
#include <map>
#include <string>
#include <utility>

#include "harmonica/extension/item_store.h"
#include "harmonica/platform/file_system.h"

namespace phrases {

using namespace harmonica;

// Every line is "NAME TEXT": a name without blanks, which is the key, and a text without line ends. The whole file is read
// and written at once, but its lines can change one by one.
class PhraseStore : public ItemStore {
 public:
  static constexpr TypeId kPhrase = 1;
  static constexpr UnitId kText = 1;

  explicit PhraseStore(std::string path) : path_(std::move(path)) {
    const Unit text{.id = kText, .name = "text"};
    const ItemType phrase{.id = kPhrase, .name = "phrase", .units = {text}, .natural_key = {kText}};
    schema_ = {.default_scope = "phrases", .types = {phrase}};
  }

  const Schema& schema() const override { return schema_; }
  WriteUnit write_unit() const override { return WriteUnit::kEachItem; }
  StoreKey key_for(const ItemId& item) const override { return item.to_text(); }

  // A text loses its line ends here, and what it says of itself must be true.
  StoreItem as_held(StoreItem item) const override {
    for (UnitValue& value : item.values) {
      std::string text = value.value.if_text() == nullptr ? std::string() : *value.value.if_text();
      for (char& c : text) c = c == '\n' ? ' ' : c;
      value.value = Value::text(std::move(text));
    }
    return item;
  }

  Result<Enumeration> enumerate(const Bytes&, const ShownItems&, EnumerationSink& sink) override {
    HARMONICA_ASSIGN_OR_RETURN(const Lines lines, read());
    for (const auto& [key, text] : lines) HARMONICA_RETURN_IF_ERROR(sink.item(phrase(key, text)));
    return Enumeration{.kind = EnumerationKind::kEverything, .anchor = {}};
  }

  Result<Written> apply(std::span<const StoreWrite> writes, const Bytes&) override {
    HARMONICA_ASSIGN_OR_RETURN(Lines lines, read());
    Written written;
    for (const StoreWrite& write : writes) written.outcomes.push_back({change(lines, write), {}});
    std::string content;
    for (const auto& [key, text] : lines) content += key + " " + text + "\n";
    HARMONICA_RETURN_IF_ERROR(platform::replace_file(path_, as_bytes(content)));
    return written;
  }

 private:
  using Lines = std::map<StoreKey, std::string>;

  static StoreItem phrase(const StoreKey& key, const std::string& text) {
    return {.key = key, .type = kPhrase, .values = {{kText, Value::text(text)}}};
  }

  // A file that is not there is an error: else every phrase would count as deleted.
  Result<Lines> read() const {
    std::ifstream file(path_);
    if (!file) return Status(StatusCode::kNotFound, path_ + ": no such file");
    Lines lines;
    std::string line;
    while (std::getline(file, line)) {
      const std::size_t blank = line.find(' ');
      if (blank == std::string::npos) return Status(StatusCode::kCorruption, path_ + ": a line without a name: " + line);
      lines[line.substr(0, blank)] = line.substr(blank + 1);
    }
    return lines;
  }

  WriteState change(Lines& lines, const StoreWrite& write) const {
    const StoreKey& key = write.item.key;
    const auto found = lines.find(key);
    const bool stands = found != lines.end();
    const auto says = [&](const StoreItem& item) { return stands && text_of(item) == found->second; };
    const bool is_done = write.kind == WriteKind::kPut ? says(write.item) : !stands;
    if (is_done) return WriteState::kWritten;
    if (write.expected ? !says(*write.expected) : stands) return WriteState::kChanged;
    if (write.kind == WriteKind::kPut) {
      lines[key] = text_of(write.item);
    } else {
      lines.erase(key);
    }
    return WriteState::kWritten;
  }

  std::string text_of(const StoreItem& item) const {
    const StoreItem held = as_held(item);
    return held.values.empty() ? std::string() : *held.values.front().value.if_text();
  }

  std::string path_;
  Schema schema_;
};

}  // namespace phrases
