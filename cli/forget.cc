// harmonica forget: erases an item for good, here and on every peer.
#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

#include "commands.h"
#include "output.h"

namespace harmonica::cli {
namespace {

// An item as people know it, while it is still known.
struct Named {
  ItemId item;
  std::string type;
  std::string label;
};

class Erasure {
 public:
  explicit Erasure(OpenStore& store) : store_(store), replica_(*store.replica), schema_(replica_.schema()) {}

  // The one item that `wanted` means: a path as `show` has it, or an id, or the beginning of one.
  Result<ItemId> find(const std::string& wanted) {
    std::vector<ItemId> found;
    if (store_.store != nullptr) HARMONICA_RETURN_IF_ERROR(find_path(wanted, found));
    if (found.empty()) HARMONICA_RETURN_IF_ERROR(find_id(wanted, found));
    if (found.empty()) {
      return Status(StatusCode::kNotFound,
                    "item '" + display_text(wanted) + "': no item is shown under that path, and no id begins so");
    }
    if (found.size() == 1) return found.front();
    std::string ids;
    for (std::size_t index = 0; index < std::min(found.size(), kNamedMax); ++index) {
      ids += (index == 0 ? " " : ", ") + found[index].to_text();
    }
    return Status(StatusCode::kInvalidArgument, "item '" + display_text(wanted) + "': means " +
                                                    std::to_string(found.size()) + " items; give the id of one:" + ids +
                                                    (found.size() > kNamedMax ? ", ..." : ""));
  }

  // What was erased, by the names that it had.
  Result<std::vector<Named>> erase(const ItemId& item) {
    std::map<ItemId, Named> names;
    std::vector<ItemId> pending = {item};
    while (!pending.empty()) {
      const ItemId next = pending.back();
      pending.pop_back();
      HARMONICA_ASSIGN_OR_RETURN(const std::optional<ReplicaItem> held, replica_.find(next));
      if (!held || names.contains(next)) continue;
      names[next] = {next, type_name(schema_, held->item.type), label_of(schema_, held->item)};
      HARMONICA_ASSIGN_OR_RETURN(const std::vector<ReplicaItem> children, replica_.children(next));
      for (const ReplicaItem& child : children) pending.push_back(child.item.id);
    }
    HARMONICA_ASSIGN_OR_RETURN(const std::vector<ItemId> erased, replica_.forget(item));
    std::vector<Named> named;
    for (const ItemId& one : erased) {
      const auto name = names.find(one);
      named.push_back(name == names.end() ? Named{one, "item", one.to_text()} : name->second);
    }
    return named;
  }

  // Those that still stand in the store, because it could not be written.
  Result<std::size_t> standing(const std::vector<Named>& erased) {
    std::size_t standing = 0;
    for (const Named& one : erased) {
      HARMONICA_ASSIGN_OR_RETURN(const std::optional<ReplicaItem> held, replica_.find(one.item));
      if (held && !held->key.empty()) ++standing;
    }
    return standing;
  }

 private:
  static constexpr std::size_t kNamedMax = 5;

  // "toolbar/News/title". A title may hold a slash itself.
  Status find_path(const std::string& wanted, std::vector<ItemId>& found) {
    struct Place {
      ItemId parent;
      std::string path;
    };
    std::vector<Place> pending;
    for (const Root& root : schema_.roots) pending.push_back({root.id, root.name + '/'});
    if (schema_.roots.empty()) pending.push_back({});
    while (!pending.empty()) {
      const Place place = std::move(pending.back());
      pending.pop_back();
      if (!wanted.starts_with(place.path)) continue;
      HARMONICA_ASSIGN_OR_RETURN(const std::vector<ReplicaItem> children, replica_.children(place.parent));
      for (const ReplicaItem& child : children) {
        const std::string path = place.path + label_of(schema_, child.item);
        if (path == wanted) found.push_back(child.item.id);
        pending.push_back({child.item.id, path + '/'});
      }
    }
    return {};
  }

  Status find_id(const std::string& wanted, std::vector<ItemId>& found) {
    if (wanted.empty()) return {};
    return replica_.scan([&](const StoredItem& stored) -> Result<Visit> {
      if (!stored.item.erased() && stored.item.id.to_text().starts_with(wanted)) found.push_back(stored.item.id);
      return Visit::kContinue;
    });
  }

  OpenStore& store_;
  Replica& replica_;
  const Schema& schema_;
};

void print_text(const std::vector<Named>& erased, std::size_t standing) {
  for (const Named& one : erased) {
    std::printf("erased  %s (%s %s)\n", one.label.c_str(), one.type.c_str(), one.item.to_text().c_str());
  }
  if (standing != 0) {
    std::printf("%zu of them still stand in the store, which could not be written; the next sync tries again\n", standing);
  }
  std::printf("every peer erases the same when it next syncs; backups, and copies of your files, are beyond reach\n");
}

void print_json(const std::vector<Named>& erased, std::size_t standing) {
  rapidjson::StringBuffer document;
  JsonWriter json(document);
  json.StartObject();
  key(json, "erased");
  json.StartArray();
  for (const Named& one : erased) {
    json.StartObject();
    member(json, "id", one.item.to_text());
    member(json, "type", one.type);
    member(json, "label", one.label);
    json.EndObject();
  }
  json.EndArray();
  member(json, "standing", standing);
  json.EndObject();
  print(document);
}

Result<int> forget(const ForgetOptions& options, OpenStore& store) {
  Erasure erasure(store);
  // What was never looked at has no id yet.
  HARMONICA_ASSIGN_OR_RETURN(const DetectionReport detected, store.replica->detect());
  static_cast<void>(detected);
  HARMONICA_ASSIGN_OR_RETURN(const ItemId item, erasure.find(options.item));
  HARMONICA_ASSIGN_OR_RETURN(const std::vector<Named> erased, erasure.erase(item));
  HARMONICA_ASSIGN_OR_RETURN(const std::size_t standing, erasure.standing(erased));
  if (options.common.json) {
    print_json(erased, standing);
  } else {
    print_text(erased, standing);
  }
  return standing == 0 ? kExitDone : kExitWaiting;
}

}  // namespace

int run_forget(const ForgetOptions& options) {
  Result<std::unique_ptr<Environment>> environment = make_environment(options.common);
  if (!environment.ok()) return fail(options.common, environment.status());
  Result<OpenStore> store = open_store(options.store, options.common, **environment);
  if (!store.ok()) return fail(options.common, store.status());
  const Result<int> done = forget(options, *store);
  return done.ok() ? *done : fail(options.common, done.status().within(store->name));
}

}  // namespace harmonica::cli
