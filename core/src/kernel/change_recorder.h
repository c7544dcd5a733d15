// What a detection has found becomes versions: which change gets which tick, and what it changes in the item.
#pragma once

#include <map>
#include <vector>

#include "harmonica/replica.h"
#include "kernel/filtering.h"
#include "kernel/found_items.h"
#include "kernel/replica_context.h"
#include "kernel/views.h"

namespace harmonica::kernel {

// Whether the replica detects for the first time.
struct FirstTime {
  bool by_their_times = false;  // what is found gets ticks from the items' own times
  bool holds_nothing = false;   // no item is held yet
};

// Records one part of a detection in its transaction, with the views that follow. All arguments must outlive it.
class ChangeRecorder {
 public:
  ChangeRecorder(ReplicaContext& context, MetadataTransaction& transaction, FoundItems& found, KnownItems& known,
                 FirstTime first_time, DetectionReport& report);

  // `undone_removals`: items that a lost write had removed; they are not shown, and wait to be.
  Status record(const std::vector<ItemId>& undone_removals);
  // What versions were made for.
  std::vector<MadeItem> take_made() { return std::move(made_); }

 private:
  Status show(std::vector<ViewInput>& inputs);
  std::vector<Version> assign_versions();
  Version version_at(Tick tick) const { return {context_.replica, tick}; }
  Result<ViewInput> change_of(Found& found, const Version& version);
  Value recorded(const ItemType& type, const UnitValue& value, const Value* seen, const Value& held,
                 const Version& version) const;
  Status record_unseen(const ItemType& type, const StoredItem& before, const UnitValue& seen, const Register& edited);
  Status record_overruled(const ItemType& type, const Item& item, const UnitValue& value, const Version& version);
  Status edit_of_deleted(const ItemType& type, const Version& version, Item& item);
  Result<Value> ancestors_of(const Found& found);
  Result<ViewInput> deletion_of(const ItemId& item);

  ReplicaContext& context_;
  MetadataTransaction& transaction_;
  FoundItems& found_;
  KnownItems& known_;
  const FirstTime first_time_;
  DetectionReport& report_;
  std::map<ItemId, Version> folder_versions_;
  std::vector<MadeItem> made_;
};

}  // namespace harmonica::kernel
