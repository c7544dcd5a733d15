#include "simulation/oracle_mesh.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

#include "harmonica/extension/remote.h"
#include "harmonica/limits.h"
#include "simulation/device.h"

namespace harmonica::simulation {
namespace {

constexpr std::int64_t kEpochMs = 1'700'000'000'000;
constexpr TypeId kThing = 1;
constexpr TypeId kFileType = 2;
constexpr UnitId kCalled = 1;  // what an item was created as
constexpr UnitId kU = 2;
constexpr UnitId kV = 3;
constexpr UnitId kFileName = 4;

Schema oracle_schema(DeletionRule deletion) {
  Unit called;
  called.id = kCalled;
  called.name = "called";
  Unit u = called;
  u.id = kU;
  u.name = "u";
  Unit v = called;
  v.id = kV;
  v.name = "v";
  Unit parent = called;
  parent.id = 5;
  parent.name = "parent";
  parent.kind = ValueKind::kIds;
  parent.role = UnitRole::kParent;
  Unit file_name = called;
  file_name.id = kFileName;
  file_name.name = "name";
  file_name.role = UnitRole::kName;

  Schema schema;
  schema.default_scope = "oracles";
  schema.types.push_back({kThing, "thing", deletion, {called, u, v}, {kCalled}});
  schema.types.push_back({kFileType, "file", deletion, {called, file_name, parent}, {kCalled}});
  return schema;
}

Schema schema_with_rule(ConflictRule rule, ValueKind kind) {
  Schema schema = oracle_schema(DeletionRule::kEditWins);
  Unit& u = schema.types.front().units[1];
  u.rule = rule;
  u.kind = kind;
  u.priority_unit = kV;
  return schema;
}

// "a,b" for a list.
Value value_of(ValueKind kind, const std::string& text) {
  if (kind == ValueKind::kInteger) return Value::integer(std::stoll(text));
  if (kind != ValueKind::kList) return Value::text(text);
  Value::List members;
  std::istringstream stream(text);
  for (std::string member; std::getline(stream, member, ',');) members.push_back(Value::text(member));
  return Value::list(std::move(members));
}

std::string text_of(const Value& value) {
  if (const std::string* text = value.if_text()) return *text;
  if (const Value::List* members = value.if_list()) {
    std::string text;
    for (const Value& member : *members) text += (text.empty() ? "" : ",") + text_of(member);
    return text;
  }
  return value.to_text();
}

UnitId unit_of(char unit) { return unit == 'v' ? kV : unit == 'n' ? kFileName : kU; }

const std::string* text_of(const StoreItem& item, UnitId unit) {
  for (const UnitValue& value : item.values) {
    if (value.unit == unit) return value.value.if_text();
  }
  return nullptr;
}

class OracleEnvironment final : public Environment {
 public:
  explicit OracleEnvironment(char letter) : letter_(letter), hash_world_(0), hash_(hash_world_, power_, disk_, 0) {}

  std::int64_t time = 0;

  std::int64_t wall_clock_ms() override { return kEpochMs + time; }
  // Replica ids in the order of their letters; whatever else is drawn rises.
  void randomize(std::span<std::uint8_t> bytes) override {
    for (std::uint8_t& byte : bytes) byte = 0;
    if (bytes.size() == ReplicaId::kSize) {
      bytes[0] = static_cast<std::uint8_t>(letter_);
      bytes[15] = ++draws_;
    } else if (!bytes.empty()) {
      bytes.front() = static_cast<std::uint8_t>(letter_);
      bytes.back() = ++draws_;
    }
  }
  Sha256 sha256(ByteView bytes) override { return hash_.sha256(bytes); }
  void log(LogLevel, std::string_view) override {}
  Result<std::optional<Tick>> reserved_tick(const ReplicaId& replica) override {
    const auto found = reserved_.find(replica);
    return found == reserved_.end() ? std::optional<Tick>() : std::optional<Tick>(found->second);
  }
  Status set_reserved_tick(const ReplicaId& replica, Tick tick) override {
    reserved_[replica] = tick;
    return {};
  }

  std::map<ReplicaId, Tick> reserved() const { return reserved_; }
  void set_reserved(std::map<ReplicaId, Tick> reserved) { reserved_ = std::move(reserved); }

 private:
  char letter_;
  std::uint8_t draws_ = 0;
  Power power_;
  Disk disk_;
  SharedWorld hash_world_;
  VirtualEnvironment hash_;
  std::map<ReplicaId, Tick> reserved_;
};

Status no_power() { return Power::status(); }

class OracleStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  std::set<StoreKey> failing;
  bool cut_after_write = false;
  bool dead = false;
  std::function<void()> before_write;

  Result<Enumeration> enumerate(const Bytes& anchor, const ShownItems& shown, EnumerationSink& sink) override {
    if (dead) return no_power();
    return inner_.enumerate(anchor, shown, sink);
  }
  Result<Written> apply(std::span<const StoreWrite> writes, const Bytes& anchor) override {
    if (dead) return no_power();
    if (const std::function<void()> what = std::exchange(before_write, nullptr)) what();
    std::vector<StoreWrite> rest;
    for (const StoreWrite& write : writes) {
      if (!failing.contains(write.item.key)) rest.push_back(write);
    }
    HARMONICA_ASSIGN_OR_RETURN(const Written partial, inner_.apply(rest, anchor));
    Written written{{}, partial.anchor};
    auto outcome = partial.outcomes.begin();
    for (const StoreWrite& write : writes) {
      written.outcomes.push_back(
          failing.contains(write.item.key)
              ? WriteOutcome{WriteState::kFailed, Status(StatusCode::kIo, "this item cannot be written")}
              : *outcome++);
    }
    if (cut_after_write) {
      dead = true;
      return no_power();
    }
    return written;
  }
};

enum class Cut { kNone, kBeforeCommit, kAfterCommit };

class OracleTransaction final : public ForwardingTransaction {
 public:
  OracleTransaction(std::unique_ptr<MetadataTransaction> inner, OracleStore& store, Cut& cut)
      : ForwardingTransaction(std::move(inner)), store_(store), cut_(cut) {}
  Status commit() override {
    if (store_.dead || cut_ == Cut::kBeforeCommit) {
      store_.dead = true;
      return no_power();
    }
    HARMONICA_RETURN_IF_ERROR(inner_->commit());
    if (cut_ != Cut::kAfterCommit) return {};
    store_.dead = true;
    return no_power();
  }

 private:
  OracleStore& store_;
  Cut& cut_;
};

class OracleMetadata final : public ForwardingMetadata {
 public:
  OracleMetadata(MetadataStore& inner, OracleStore& store) : ForwardingMetadata(inner), store_(store) {}
  Cut cut = Cut::kNone;
  Result<std::unique_ptr<MetadataTransaction>> begin(TransactionMode mode) override {
    if (store_.dead) return no_power();
    HARMONICA_ASSIGN_OR_RETURN(std::unique_ptr<MetadataTransaction> transaction, inner_.begin(mode));
    if (mode == TransactionMode::kRead) return transaction;
    return std::unique_ptr<MetadataTransaction>(std::make_unique<OracleTransaction>(std::move(transaction), store_, cut));
  }
  Status prepare(const PreparedWrite& write) override { return store_.dead ? no_power() : inner_.prepare(write); }

 private:
  OracleStore& store_;
};

class EndpointChannel final : public Channel {
 public:
  explicit EndpointChannel(RequestHandler& handler) : handler_(handler) {}
  Result<Bytes> exchange(ByteView request) override { return handler_.handle(request); }

 private:
  RequestHandler& handler_;
};

}  // namespace

struct OracleMesh::Machine {
  struct Backup {
    providers::MemoryItemStore store;
    providers::MemoryMetadataStore metadata;
    std::map<ReplicaId, Tick> reserved;
  };

  Machine(char letter, const Schema& schema)
      : environment(letter),
        store(schema, WriteUnit::kEachItem),
        faulty(store),
        watched(std::make_unique<OracleMetadata>(*metadata, faulty)) {}

  void boot() {
    replica.reset();
    faulty.dead = false;
    faulty.cut_after_write = false;
    watched->cut = Cut::kNone;
    Result<std::unique_ptr<Replica>> opened = Replica::open(
        faulty, *watched, environment, ReplicaOptions{.guard = Guard::kConfirmed, .tombstone_retention_ms = retention_ms});
    ASSERT_TRUE(opened.ok()) << opened.status().to_text();
    replica = *std::move(opened);
  }

  Backup back_up() const { return {store, *metadata, environment.reserved()}; }
  void bring_back(const Backup& held, Outside outside) {
    replica.reset();
    store = held.store;
    *metadata = held.metadata;
    if (outside == Outside::kGoesBackToo) environment.set_reserved(held.reserved);
    boot();
  }

  ValueKind kind_of_u() const { return store.schema().types.front().units[1].kind; }

  OracleEnvironment environment;
  std::int64_t retention_ms = limits::kTombstoneRetentionMs;
  providers::MemoryItemStore store;
  std::unique_ptr<providers::MemoryMetadataStore> metadata = std::make_unique<providers::MemoryMetadataStore>();
  OracleStore faulty;
  std::unique_ptr<OracleMetadata> watched;
  std::unique_ptr<Replica> replica;
  std::optional<Backup> backup;
};

OracleMesh::OracleMesh(std::string_view replicas, DeletionRule deletion) : OracleMesh(replicas, oracle_schema(deletion)) {}

OracleMesh::OracleMesh(std::string_view replicas, ConflictRule rule, ValueKind kind)
    : OracleMesh(replicas, schema_with_rule(rule, kind)) {}

OracleMesh::OracleMesh(std::string_view replicas, const Schema& schema) {
  for (const char letter : replicas) {
    auto machine = std::make_unique<Machine>(letter, schema);
    machine->boot();
    machines_.emplace(letter, std::move(machine));
  }
  // The first detection of a store takes its ticks from the items' own times; later ones from the clock, as the examples
  // do.
  for (const char letter : replicas) detect(letter);
}

OracleMesh::~OracleMesh() = default;

OracleMesh::Machine& OracleMesh::at(char replica) { return *machines_.at(replica); }

void OracleMesh::set_time(Machine& machine, std::int64_t time) { machine.environment.time = time; }

StoreKey OracleMesh::key_of(Machine& machine, const std::string& name) {
  for (const StoreKey& key : machine.store.children("")) {
    const std::string* called = text_of(*machine.store.find(key), kCalled);
    if (called != nullptr && *called == name) return key;
  }
  return {};
}

void OracleMesh::clean(char replica, std::int64_t time) {
  Machine& machine = at(replica);
  for (const auto& [letter, each] : machines_) {
    ASSERT_TRUE(each->replica
                    ->scan([&](const StoredItem& item) -> Result<Visit> {
                      if (const std::string* name = item.item.value_of(kCalled).if_text()) ids_[*name] = item.item.id;
                      return Visit::kContinue;
                    })
                    .ok());
  }
  set_time(machine, time);
  machine.retention_ms = 0;
  machine.boot();
  begin(replica);
  end(replica);
  machine.retention_ms = limits::kTombstoneRetentionMs;
  machine.boot();
}

void OracleMesh::clean_and_cut_power(char replica, std::int64_t time, char moment) {
  Machine& machine = at(replica);
  set_time(machine, time);
  machine.retention_ms = 0;
  machine.boot();
  detect(replica);
  cut_power_at(replica, moment);
  EXPECT_EQ(provider(replica).begin_destination({}).status().code(), StatusCode::kIo);
  machine.retention_ms = limits::kTombstoneRetentionMs;
  machine.boot();
}

void OracleMesh::set_filter(char replica, const std::string& text) {
  std::optional<Filter> filter;
  if (!text.empty()) {
    Result<Filter> parsed = Filter::parse(text, {});
    ASSERT_TRUE(parsed.ok()) << parsed.status().to_text();
    filter = *std::move(parsed);
  }
  const Status set = at(replica).replica->set_filter(filter);
  EXPECT_TRUE(set.ok()) << set.to_text();
}

void OracleMesh::set_retention(char replica, std::int64_t time, std::int64_t retention_ms) {
  Machine& machine = at(replica);
  set_time(machine, time);
  machine.retention_ms = retention_ms;
  machine.boot();
}

bool OracleMesh::holds(char replica, const std::string& name) { return stored(replica, name).has_value(); }

ClockVector OracleMesh::forgotten(char replica, const std::string& name) {
  const Result<ReplicaStatus> status = at(replica).replica->status();
  EXPECT_TRUE(status.ok()) << status.status().to_text();
  return status.ok() ? status->forgotten.at(id(name)) : ClockVector();
}

DetectionReport OracleMesh::detect(char replica) {
  const Result<DetectionReport> report = at(replica).replica->detect();
  EXPECT_TRUE(report.ok()) << report.status().to_text();
  return report.ok() ? *report : DetectionReport();
}

void OracleMesh::create(char replica, std::int64_t time, const std::string& name, const std::string& u,
                        const std::string& v) {
  StoreItem item;
  item.key = name;
  item.type = kThing;
  item.values = {{kCalled, Value::text(name)}, {kU, value_of(at(replica).kind_of_u(), u)}, {kV, Value::text(v)}};
  put_new(replica, time, std::move(item));
}

void OracleMesh::create_file(char replica, std::int64_t time, const std::string& name, const std::string& shown_name) {
  StoreItem item;
  item.key = name;
  item.type = kFileType;
  item.values = {{kCalled, Value::text(name)}, {kFileName, Value::text(shown_name)}};
  put_new(replica, time, std::move(item));
}

void OracleMesh::create_recognised(char replica, std::int64_t time, const std::string& name, const ItemId& id) {
  StoreItem item;
  item.type = kThing;
  item.values = {{kCalled, Value::text(name)}, {kU, Value::text("u")}, {kV, Value::text("v")}};
  item.identity = id;
  put_new(replica, time, std::move(item));
}

void OracleMesh::create_file_recognised(char replica, std::int64_t time, const std::string& name, const ItemId& id) {
  StoreItem item;
  item.type = kFileType;
  item.values = {{kCalled, Value::text(name)}, {kFileName, Value::text(name)}};
  item.identity = id;
  put_new(replica, time, std::move(item));
}

// What the store recognises stands under the key that its id gives.
void OracleMesh::put_new(char replica, std::int64_t time, StoreItem item) {
  Machine& machine = at(replica);
  set_time(machine, time);
  if (item.identity) item.key = machine.store.key_for(*item.identity);
  item.changed_ms = machine.environment.wall_clock_ms();
  ASSERT_TRUE(machine.store.put(std::move(item)).ok());
  detect(replica);
}

void OracleMesh::edit(char replica, std::int64_t time, const std::string& name, const std::string& value, char unit) {
  Machine& machine = at(replica);
  set_time(machine, time);
  const StoreKey key = key_of(machine, name);
  ASSERT_NE(key, "") << name << " is not shown at " << replica;
  StoreItem item = *machine.store.find(key);
  for (UnitValue& held : item.values) {
    if (held.unit == unit_of(unit)) held.value = value_of(held.unit == kU ? machine.kind_of_u() : ValueKind::kText, value);
  }
  ASSERT_TRUE(machine.store.put(std::move(item)).ok());
  detect(replica);
}

void OracleMesh::type_unseen(char replica, const std::string& name, const std::string& value) {
  Machine& machine = at(replica);
  const StoreKey key = key_of(machine, name);
  ASSERT_NE(key, "") << name << " is not shown at " << replica;
  StoreItem item = *machine.store.find(key);
  for (UnitValue& held : item.values) {
    if (held.unit == kU) held.value = value_of(machine.kind_of_u(), value);
  }
  ASSERT_TRUE(machine.store.put(std::move(item)).ok());
}

void OracleMesh::remove(char replica, std::int64_t time, const std::string& name) {
  Machine& machine = at(replica);
  set_time(machine, time);
  ASSERT_TRUE(machine.store.remove(key_of(machine, name)).ok()) << name << " is not shown at " << replica;
  detect(replica);
}

void OracleMesh::move_file(char replica, std::int64_t time, const std::string& name, const std::string& parent) {
  Machine& machine = at(replica);
  set_time(machine, time);
  StoreItem item = *machine.store.find(stored(replica, name)->shown->key);
  item.parent = parent.empty() ? StoreKey() : stored(replica, parent)->shown->key;
  ASSERT_TRUE(machine.store.put(std::move(item)).ok());
  detect(replica);
}

std::string OracleMesh::parent_of(char replica, const std::string& name) {
  const std::optional<StoredItem> item = stored(replica, name);
  if (!item || !item->shown) return "not shown";
  if (item->shown->parent.is_zero()) return "";
  for (const auto& [called, parent] : ids_) {
    if (parent == item->shown->parent) return called;
  }
  return item->shown->parent.to_text();
}

void OracleMesh::decide(char replica, std::int64_t time, const std::string& name, Decision decision) {
  Machine& machine = at(replica);
  set_time(machine, time);
  const Result<std::vector<ConflictRecord>> records = machine.replica->conflicts();
  ASSERT_TRUE(records.ok()) << records.status().to_text();
  for (const ConflictRecord& record : *records) {
    if (record.item != id(name) || record.state != ConflictState::kDeferred) continue;
    EXPECT_EQ(machine.replica->decide(record.id, decision), Status());
    return;
  }
  ADD_FAILURE() << "no conflict over " << name << " waits at " << replica;
}

void OracleMesh::retire(char replica, std::int64_t time, const ReplicaId& retired) {
  set_time(at(replica), time);
  EXPECT_EQ(at(replica).replica->retire(retired), Status());
}

std::size_t OracleMesh::erase(char replica, std::int64_t time, const std::string& name) {
  Machine& machine = at(replica);
  set_time(machine, time);
  const Result<std::vector<ItemId>> erased = machine.replica->forget(id(name));
  EXPECT_TRUE(erased.ok()) << erased.status().to_text();
  return erased.ok() ? erased->size() : 0;
}

bool OracleMesh::erased(char replica, const std::string& name) {
  const std::optional<StoredItem> item = stored(replica, name);
  return item && item->item.erased() && item->item.units.empty() && item->merge_bases.empty() && !item->shown;
}

SessionReport OracleMesh::sync(std::string_view arrow, Stop stop) {
  SessionOptions options;
  options.batch_bytes_max = stop.batches == 0 ? 0 : 1;
  SyncSession session(provider(arrow.front()), provider(arrow.back()), options);
  for (std::size_t batch = 0;; ++batch) {
    // The first step begins, each one after it carries a batch.
    if (stop.batches != 0 && batch == stop.batches + 1) session.cancel();
    const Result<StepState> state = session.step();
    if (!state.ok()) {
      const StatusCode expected = at(arrow.back()).faulty.dead ? StatusCode::kIo : StatusCode::kCancelled;
      EXPECT_EQ(state.status().code(), expected) << state.status().to_text();
      break;
    }
    if (*state == StepState::kDone) break;
  }
  return session.report();
}

SessionReport OracleMesh::sync_remotely(std::string_view arrow) {
  const std::unique_ptr<RequestHandler> endpoint = make_provider_endpoint(provider(arrow.front()));
  EndpointChannel channel(*endpoint);
  const std::unique_ptr<Provider> remote = make_remote_provider(channel, {});
  SyncSession session(*remote, provider(arrow.back()), {});
  const Status status = session.run();
  EXPECT_TRUE(status.ok()) << status.to_text();
  return session.report();
}

int OracleMesh::settle() {
  for (int round = 1; round <= 20; ++round) {
    bool quiet = true;
    for (const auto& [source, source_machine] : machines_) {
      for (const auto& [destination, destination_machine] : machines_) {
        if (source == destination) continue;
        const SessionReport report = sync(std::string{source, '-', '>', destination});
        quiet = quiet && report.quiet() && report.received == 0;
      }
    }
    if (quiet) return round;
  }
  ADD_FAILURE() << "no quiet round";
  return 0;
}

ChangeRequest OracleMesh::begin(char destination) {
  Result<ChangeRequest> request = provider(destination).begin_destination({});
  EXPECT_TRUE(request.ok()) << request.status().to_text();
  return request.ok() ? *std::move(request) : ChangeRequest();
}

std::vector<ChangeBatch> OracleMesh::batches(char source, const ChangeRequest& request, std::uint64_t batch_bytes_max) {
  ChangeRequest sized = request;
  if (batch_bytes_max != 0) sized.batch_bytes_max = batch_bytes_max;
  std::vector<ChangeBatch> all;
  const Result<ReplicaDescription> begun = provider(source).begin_source(sized);
  EXPECT_TRUE(begun.ok()) << begun.status().to_text();
  std::optional<ItemId> first = kFirstItemId;
  while (begun.ok() && first) {
    Result<ChangeBatch> batch = provider(source).get_change_batch(*first);
    EXPECT_TRUE(batch.ok()) << batch.status().to_text();
    if (!batch.ok()) break;
    first = batch->last ? std::nullopt : next(batch->range.last);
    all.push_back(*std::move(batch));
  }
  end(source);
  return all;
}

Result<BatchReport> OracleMesh::apply(char destination, const ChangeBatch& batch) {
  return provider(destination).process_change_batch(batch);
}

void OracleMesh::end(char replica) {
  const Result<BatchReport> ended = provider(replica).end();
  EXPECT_TRUE(ended.ok()) << ended.status().to_text();
}

ItemId OracleMesh::id(const std::string& name) {
  ItemId found;
  for (const auto& [letter, machine] : machines_) {
    const Status scanned = machine->replica->scan([&](const StoredItem& item) -> Result<Visit> {
      if (item.item.value_of(kCalled) == Value::text(name)) found = item.item.id;
      return Visit::kContinue;
    });
    EXPECT_TRUE(scanned.ok()) << scanned.to_text();
  }
  if (!found.is_zero()) ids_[name] = found;
  EXPECT_FALSE(ids_[name].is_zero()) << "no replica holds " << name;
  return ids_[name];
}

std::optional<StoredItem> OracleMesh::stored(char replica, const std::string& name) {
  const ItemId wanted = id(name);
  std::optional<StoredItem> found;
  const Status scanned = at(replica).replica->scan([&](const StoredItem& item) -> Result<Visit> {
    if (item.item.id == wanted) found = item;
    return Visit::kContinue;
  });
  EXPECT_TRUE(scanned.ok()) << scanned.to_text();
  return found;
}

bool OracleMesh::shows(char replica, const std::string& name) { return !key_of(at(replica), name).empty(); }

std::string OracleMesh::value(char replica, const std::string& name, char unit) {
  Machine& machine = at(replica);
  const StoreItem* item = machine.store.find(key_of(machine, name));
  if (item == nullptr) return {};
  const auto held = std::find_if(item->values.begin(), item->values.end(),
                                 [&](const UnitValue& value) { return value.unit == unit_of(unit); });
  return held == item->values.end() ? std::string() : text_of(held->value);
}

std::vector<std::string> OracleMesh::file_names(char replica) {
  Machine& machine = at(replica);
  std::vector<std::string> names;
  for (const StoreKey& key : machine.store.children("")) {
    if (const std::string* name = text_of(*machine.store.find(key), kFileName)) names.push_back(*name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Version OracleMesh::version(char replica, const std::string& name, char unit) {
  const std::optional<StoredItem> item = stored(replica, name);
  if (!item) return {};
  if (unit == 'x') return item->item.existence.version;
  const Register* content = item->item.find(unit_of(unit));
  return content == nullptr ? Version() : content->version;
}

bool OracleMesh::alive(char replica, const std::string& name) {
  const std::optional<StoredItem> item = stored(replica, name);
  return item && item->item.alive();
}

Knowledge OracleMesh::knowledge(char replica) {
  const Result<ReplicaStatus> status = at(replica).replica->status();
  EXPECT_TRUE(status.ok()) << status.status().to_text();
  return status.ok() ? status->knowledge : Knowledge();
}

bool OracleMesh::knows(char replica, const std::string& name, const Version& version) {
  return knowledge(replica).contains(id(name), version);
}

std::size_t OracleMesh::conflicts(char replica) {
  const Result<std::vector<ConflictRecord>> records = at(replica).replica->conflicts();
  EXPECT_TRUE(records.ok()) << records.status().to_text();
  return records.ok() ? records->size() : 0;
}

std::string OracleMesh::lost_value(char replica, const std::string& name, char unit) {
  const Result<std::vector<ConflictRecord>> records = at(replica).replica->conflicts();
  EXPECT_TRUE(records.ok()) << records.status().to_text();
  std::string lost;
  if (!records.ok()) return lost;
  const ItemId wanted = id(name);
  for (const ConflictRecord& record : *records) {
    if (record.item != wanted || record.unit != unit_of(unit)) continue;
    if (!record.lost.value.is_null()) lost = text_of(record.lost.value);
  }
  return lost;
}

std::string OracleMesh::state(char replica) {
  std::string text = knowledge(replica).to_text() + "\n";
  const Status scanned = at(replica).replica->scan([&](const StoredItem& item) -> Result<Visit> {
    text += item.item.to_text() + (item.view.visible ? " visible " : " ") + std::to_string(item.view.name_suffix) + "\n";
    return Visit::kContinue;
  });
  EXPECT_TRUE(scanned.ok()) << scanned.to_text();
  return text;
}

bool OracleMesh::equal(std::string_view replicas) {
  for (const char replica : replicas) {
    if (state(replica) != state(replicas.front())) return false;
  }
  return true;
}

Version OracleMesh::made(char replica, std::int64_t time, int counter) {
  return {replica_id(replica), first_tick_of(kEpochMs + time) + static_cast<Tick>(counter)};
}

ReplicaId OracleMesh::replica_id(char replica) {
  const Result<ReplicaStatus> status = at(replica).replica->status();
  EXPECT_TRUE(status.ok()) << status.status().to_text();
  return status.ok() ? status->replica : ReplicaId();
}

std::vector<ReplicaId> OracleMesh::former_ids(char replica) {
  const Result<ReplicaStatus> status = at(replica).replica->status();
  EXPECT_TRUE(status.ok()) << status.status().to_text();
  return status.ok() ? status->former_replicas : std::vector<ReplicaId>();
}

providers::MemoryItemStore& OracleMesh::store(char replica) { return at(replica).store; }

Provider& OracleMesh::provider(char replica) { return at(replica).replica->provider(); }

void OracleMesh::fail_writes_of(char replica, const std::string& name) {
  Machine& machine = at(replica);
  const StoreKey key = key_of(machine, name);
  machine.faulty.failing.insert(key.empty() ? machine.store.key_for(id(name)) : key);
}

void OracleMesh::heal(char replica) { at(replica).faulty.failing.clear(); }

void OracleMesh::cut_power_at(char replica, char moment) {
  Machine& machine = at(replica);
  machine.faulty.cut_after_write = moment == 's';
  machine.watched->cut = moment == 'c' ? Cut::kBeforeCommit : moment == 'd' ? Cut::kAfterCommit : Cut::kNone;
}

void OracleMesh::copy_device(char from, char to) { at(to).bring_back(at(from).back_up(), Outside::kGoesBackToo); }

void OracleMesh::back_up(char replica) { at(replica).backup = at(replica).back_up(); }

void OracleMesh::bring_back(char replica, std::int64_t time, Outside outside) {
  Machine& machine = at(replica);
  ASSERT_TRUE(machine.backup) << "no backup of " << replica;
  set_time(machine, time);
  machine.bring_back(*machine.backup, outside);
}

void OracleMesh::set_clock(char replica, std::int64_t time) { set_time(at(replica), time); }

void OracleMesh::forget_metadata(char replica, std::int64_t time) {
  Machine& machine = at(replica);
  set_time(machine, time);
  machine.replica.reset();
  machine.metadata = std::make_unique<providers::MemoryMetadataStore>();
  machine.watched = std::make_unique<OracleMetadata>(*machine.metadata, machine.faulty);
  machine.boot();
  detect(replica);
}

void OracleMesh::reboot(char replica) { at(replica).boot(); }

void OracleMesh::before_next_write(char replica, std::function<void()> what) {
  at(replica).faulty.before_write = std::move(what);
}

}  // namespace harmonica::simulation
