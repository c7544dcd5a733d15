// A store of one's own: a folder of text files, each of them a note. docs/writing-a-provider.md walks through it.
#pragma once

#include <optional>
#include <string>

#include "harmonica/extension/item_store.h"

namespace notes {

// The types and units of the scope `notes`. Numbers are for ever.
inline constexpr harmonica::TypeId kNoteType = 1;
inline constexpr harmonica::UnitId kTextUnit = 1;

// Every file `NAME.txt` of a folder is a note; its text is the file's content, its key the file's name. Other files are
// left alone. Thread-compatible.
class NotesStore : public harmonica::ItemStore {
 public:
  // The folder must exist whenever the store is used.
  explicit NotesStore(std::string folder);

  const harmonica::Schema& schema() const override { return schema_; }
  harmonica::WriteUnit write_unit() const override { return harmonica::WriteUnit::kEachItem; }
  harmonica::Result<harmonica::Enumeration> enumerate(const harmonica::Bytes& anchor, const harmonica::ShownItems& shown,
                                                      harmonica::EnumerationSink& sink) override;
  harmonica::StoreKey key_for(const harmonica::ItemId& item) const override;
  harmonica::Result<harmonica::Written> apply(std::span<const harmonica::StoreWrite> writes,
                                              const harmonica::Bytes& anchor) override;

 private:
  harmonica::Status check_folder() const;
  std::string path_of(const harmonica::StoreKey& key) const;
  // Nothing if there is no such note.
  harmonica::Result<std::optional<harmonica::StoreItem>> read(const harmonica::StoreKey& key) const;
  harmonica::WriteOutcome write(const harmonica::StoreWrite& write);

  std::string folder_;
  harmonica::Schema schema_;
};

}  // namespace notes
