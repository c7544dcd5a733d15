// What stands in place of an item store where a replica has none of its own.
#pragma once

#include "harmonica/extension/item_store.h"

namespace harmonica::kernel {

// Holds nothing and shows nothing; has the schema that was taken up from peers. Thread-compatible.
class Storeless final : public ItemStore {
 public:
  // `metadata` must outlive it.
  explicit Storeless(MetadataStore& metadata) : metadata_(metadata) {}

  void take_up(Schema schema) { schema_ = std::move(schema); }

  const Schema& schema() const override { return schema_; }
  WriteUnit write_unit() const override { return WriteUnit::kEachItem; }
  Result<Enumeration> enumerate(const Bytes& anchor, const ShownItems& shown, EnumerationSink& sink) override;
  StoreKey key_for(const ItemId& item) const override;
  Result<Written> apply(std::span<const StoreWrite> writes, const Bytes& anchor) override;
  MetadataStore* metadata() override { return &metadata_; }

 private:
  MetadataStore& metadata_;
  Schema schema_;
};

}  // namespace harmonica::kernel
