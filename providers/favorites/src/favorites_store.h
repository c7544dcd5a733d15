// The item store over one favorites file.
#pragma once

#include <string>
#include <vector>

#include "favorites_digest.h"
#include "favorites_document.h"
#include "harmonica/platform/file_system.h"

namespace harmonica::providers {

class FavoritesStore final : public ItemStore {
 public:
  // `path` must be absolute; the codec must outlive the store.
  FavoritesStore(std::string path, const FavoritesCodec& codec, FavoritesOptions options);

  const Schema& schema() const override { return favorites_schema(); }
  WriteUnit write_unit() const override { return WriteUnit::kWholeStore; }
  Result<Enumeration> enumerate(const Bytes& anchor, const ShownItems& shown, EnumerationSink& sink) override;
  StoreKey key_for(const ItemId& item) const override { return codec_.key_for(item); }
  StoreItem as_held(StoreItem item) const override { return codec_.as_held(std::move(item)); }
  Value natural_form(TypeId type, UnitId unit, const Value& value) const override;
  Result<Written> apply(std::span<const StoreWrite> writes, const Bytes& anchor) override;

 private:
  Status report(FavoritesTree& tree, const FavoritesChanges* changes, EnumerationSink& sink) const;
  Status keep_copy() const;

  const std::string path_;
  const FavoritesCodec& codec_;
  const FavoritesOptions options_;
};

}  // namespace harmonica::providers
