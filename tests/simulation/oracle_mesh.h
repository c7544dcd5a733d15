// A few replicas over memory stores, told what to do in the words of the worked examples.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harmonica/extension/provider.h"
#include "harmonica/providers/memory.h"
#include "harmonica/replica.h"
#include "harmonica/session.h"
#include "simulation/forwarding.h"

namespace harmonica::simulation {

// Ends a session early: after so many batches of one change each. 0: all in one batch.
struct Stop {
  std::size_t batches = 0;
};

// Its items are things with the units "u" and "v", files with a name and a parent, and folders with a name and a parent. An
// item is called what it was created as, on every replica and for ever. Replicas are capital letters.
//
// Time: `A(5)` is the version that A makes when its clock says 5 and no tick it has learned of is later; the counters of
// the examples, such as A5, are such times.
class OracleMesh {
 public:
  explicit OracleMesh(std::string_view replicas, DeletionRule deletion = DeletionRule::kEditWins);
  // The unit "u" under another rule; its values are texts, numbers, or members between commas.
  OracleMesh(std::string_view replicas, ConflictRule rule, ValueKind kind = ValueKind::kText);
  ~OracleMesh();
  OracleMesh(const OracleMesh&) = delete;
  OracleMesh& operator=(const OracleMesh&) = delete;

  // What a user does at a replica at a time, found at once. A unit's value is a text.
  void create(char replica, std::int64_t time, const std::string& name, const std::string& u, const std::string& v = "v");
  void edit(char replica, std::int64_t time, const std::string& name, const std::string& value, char unit = 'u');
  void remove(char replica, std::int64_t time, const std::string& name);
  // A file called `shown_name`; below "" or a folder.
  void create_file(char replica, std::int64_t time, const std::string& name, const std::string& shown_name);
  // Cleans every tombstone, at a time when all deletions have happened.
  void clean(char replica, std::int64_t time);
  // The power fails while that commits, as in `cut_power_at`; then it is back.
  void clean_and_cut_power(char replica, std::int64_t time, char moment);
  // What the replica wants to hold; empty: everything.
  void set_filter(char replica, const std::string& text);
  // From now on, how long it keeps tombstones; the clock goes on to `time`.
  void set_retention(char replica, std::int64_t time, std::int64_t retention_ms);
  // An edit without detection: the store changes, nobody has looked.
  void type_unseen(char replica, const std::string& name, const std::string& value);
  // A thing, and a file called after itself, that the store recognises as the item `id` and keeps under its key.
  void create_recognised(char replica, std::int64_t time, const std::string& name, const ItemId& id);
  void create_file_recognised(char replica, std::int64_t time, const std::string& name, const ItemId& id);

  // Puts a file below another one; "": at the top.
  void move_file(char replica, std::int64_t time, const std::string& name, const std::string& parent);
  // The file that it is shown in; "": at the top.
  std::string parent_of(char replica, const std::string& name);

  // Ends the conflict over an item that waits.
  void decide(char replica, std::int64_t time, const std::string& name, Decision decision);
  void retire(char replica, std::int64_t time, const ReplicaId& retired);
  void retire(char replica, std::int64_t time, char retired) { retire(replica, time, replica_id(retired)); }
  // Erases an item for good, with all that is shown below it; how many.
  std::size_t erase(char replica, std::int64_t time, const std::string& name);

  // Sessions. "A->B": one direction.
  SessionReport sync(std::string_view arrow, Stop stop = {});
  // One direction through a remote provider and its endpoint.
  SessionReport sync_remotely(std::string_view arrow);
  // Every direction between all replicas until a round is quiet; the rounds it took.
  int settle();

  // A session by hand.
  ChangeRequest begin(char destination);
  std::vector<ChangeBatch> batches(char source, const ChangeRequest& request, std::uint64_t batch_bytes_max = 0);
  Result<BatchReport> apply(char destination, const ChangeBatch& batch);
  void end(char replica);

  // What a replica holds and shows.
  bool shows(char replica, const std::string& name);
  std::string value(char replica, const std::string& name, char unit = 'u');  // in the store; "" if not shown
  std::vector<std::string> file_names(char replica);                          // as shown, sorted
  Version version(char replica, const std::string& name, char unit = 'u');    // 'x': the existence
  bool alive(char replica, const std::string& name);
  bool holds(char replica, const std::string& name);  // alive or as a tombstone
  bool erased(char replica, const std::string& name);
  ClockVector forgotten(char replica, const std::string& name);
  bool knows(char replica, const std::string& name, const Version& version);
  Knowledge knowledge(char replica);
  std::size_t conflicts(char replica);
  std::string lost_value(char replica, const std::string& name,
                         char unit = 'u');  // of the youngest record; "" if there is none
  ItemId id(const std::string& name);
  // Knowledge, registers and views; equal for equal replicas.
  std::string state(char replica);
  bool equal(std::string_view replicas);

  Version made(char replica, std::int64_t time, int counter = 0);
  ReplicaId replica_id(char replica);
  std::vector<ReplicaId> former_ids(char replica);
  providers::MemoryItemStore& store(char replica);
  Provider& provider(char replica);

  // Faults.
  void fail_writes_of(char replica, const std::string& name);  // until `heal`
  void heal(char replica);
  // The power fails at the next write into the store ('s': just after it) or commit ('c': just before, 'd': just after it).
  void cut_power_at(char replica, char moment);
  // From what is durable.
  void reboot(char replica);
  // The whole device is copied over another one, which has not been used: store, metadata, and what is kept outside of
  // backups. Both go on.
  void copy_device(char from, char to);
  // Store and metadata as they are now; and their return, with what is kept outside of backups or without it.
  enum class Outside : std::uint8_t { kStays, kGoesBackToo };
  void back_up(char replica);
  void bring_back(char replica, std::int64_t time, Outside outside = Outside::kStays);
  // What the clock says at a replica from now on.
  void set_clock(char replica, std::int64_t time);
  // All that was known of the store is lost, the store is not.
  void forget_metadata(char replica, std::int64_t time);
  // Runs once, just before the next write into the store.
  void before_next_write(char replica, std::function<void()> what);

  DetectionReport detect(char replica);

 private:
  struct Machine;

  OracleMesh(std::string_view replicas, const Schema& schema);

  Machine& at(char replica);
  StoreKey key_of(Machine& machine, const std::string& name);
  std::optional<StoredItem> stored(char replica, const std::string& name);
  void set_time(Machine& machine, std::int64_t time);
  void put_new(char replica, std::int64_t time, StoreItem item);

  std::map<char, std::unique_ptr<Machine>> machines_;
  std::map<std::string, ItemId> ids_;  // of what was ever asked for
};

}  // namespace harmonica::simulation
