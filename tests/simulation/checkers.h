// The laws, as checks that share no code with the kernel. docs/testing.md says what each means.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "simulation/device.h"

namespace harmonica::simulation {

// Checks one run's devices, and reports the first broken law to the world.
class Checkers {
 public:
  explicit Checkers(SharedWorld& world) : world_(world) {}

  // After every step: invariant M, own ticks everywhere, knowledge that only grows, a store that shows what is said to be
  // shown, views, nothing typed lost, nothing doubled.
  void after_step(Device& device);

  // A device is about to decide or restore a conflict, by which its record goes.
  void before_decision(Device& device);
  // A device is about to drop a conflict record.
  void before_drop(Device& device, const ConflictId& record);
  // A device is about to go back to a backup, by which it forgets the conflicts that it recorded and restored since.
  void before_restore(Device& device);

  // A device went back to a backup: its knowledge may shrink once, and what nobody else has is gone.
  void after_restore(Device& device, const std::vector<std::unique_ptr<Device>>& devices);

  // A device gave up what it claimed to know of some items, also of those that it holds, until they have come again.
  void after_repair(Device& device) {
    knowledge_.erase(&device);
    repaired_.insert(&device);
  }

  // After quiescence: all equal, also in conflict records, no write lost, no return of the deleted, metadata within bounds.
  void at_the_end(const std::vector<std::unique_ptr<Device>>& devices);

  // When the time of every device to keep its tombstones has passed, none is left where there never was a filter.
  void all_is_cleaned(const std::vector<std::unique_ptr<Device>>& devices);

  // Knowledge and registers as text; equal states have equal texts.
  std::string state_text(Device& device);
  std::string items_text(Device& device);
  // Without views, which a device without a store does not have.
  std::string registers_text(Device& device);
  // What the store shows, by item instead of by key.
  std::string store_text(Device& device);

 private:
  struct View {
    ReplicaStatus status;
    std::vector<StoredItem> items;
    std::map<ItemId, std::size_t> index;
  };

  bool look(Device& device, View& view);
  void fail(const std::string& law, Device& device, const std::string& what);
  void check_invariant(Device& device, const View& view);
  void check_own_ticks(Device& device, const View& view);
  void check_forgotten(Device& device, const View& view);
  void check_growth(Device& device, const View& view);
  void check_erased(Device& device, const View& view);
  void check_shown(Device& device, const View& view);
  void check_views(Device& device, const View& view);
  void check_typed(Device& device);
  void check_births(Device& device);
  void check_filtered(Device& first, Device& device);
  // Two copies of one replica may have changed it under one version, and there were restores.
  bool is_between_copies(const ItemId& item) const;
  bool is_split_between_copies(Device& first, Device& device);
  void check_records(const std::vector<std::unique_ptr<Device>>& devices);
  void check_equal(const std::vector<std::unique_ptr<Device>>& devices);
  void collect_recorded(Device& device, std::set<std::pair<ItemId, Version>>& recorded);
  void check_no_lost_write(const std::vector<std::unique_ptr<Device>>& devices);
  void check_bounded(const std::vector<std::unique_ptr<Device>>& devices);
  std::set<Version> outlived_restores(const std::vector<LedgerEntry>& entries, const Register* final_register) const;
  void check_no_trace(const std::vector<std::unique_ptr<Device>>& devices);
  void check_no_return(const std::vector<std::unique_ptr<Device>>& devices);
  bool is_typed_in_ledger(const Device::Typed& typed) const;

  SharedWorld& world_;
  bool at_the_end_ = false;
  std::map<const Device*, std::uint64_t> commits_;
  std::map<const Device*, std::pair<ReplicaId, Knowledge>> knowledge_;
  std::map<const Device*, std::set<StoreKey>> keys_of_erased_;  // that could not be taken out of the store at once
  std::set<const Device*> repaired_;
  bool any_restored_ = false;
  std::set<Version> lost_with_restore_;
  std::map<const Device*, std::set<std::pair<ItemId, Version>>> recorded_before_decision_;  // as lost
  std::set<std::pair<ItemId, Version>> recorded_before_restore_;
  std::set<ConflictId> dropped_;
};

}  // namespace harmonica::simulation
