#include "mesh_device.h"

namespace harmonica::conformance {

MeshDevice::MeshDevice(std::unique_ptr<StoreSubject> subject, Weather& weather, Typed& typed, const ReplicaOptions& options)
    : weather_(weather),
      subject_(std::move(subject)),
      user_(*subject_, weather.chance, typed),
      environment_(weather),
      options_(options) {
  options_.guard = Guard::kConfirmed;
}

Status MeshDevice::open() {
  ItemStore& inner = subject_->store();
  store_.emplace(inner, weather_, [this] { user_.edit(); });
  MetadataStore* shared = inner.metadata();
  MetadataStore& metadata = shared != nullptr ? *shared : own_metadata_;
  HARMONICA_ASSIGN_OR_RETURN(replica_, Replica::open(*store_, metadata, environment_, options_));
  return {};
}

Status MeshDevice::restart() {
  replica_.reset();
  store_.reset();
  subject_->reopen();
  return open();
}

Result<std::map<ItemId, std::string>> MeshDevice::standing(std::vector<std::string>& findings) {
  std::map<StoreKey, const StoredItem> shown;
  HARMONICA_RETURN_IF_ERROR(replica_->scan([&](const StoredItem& stored) -> Result<Visit> {
    if (stored.shown) shown.emplace(stored.shown->key, stored);
    return Visit::kContinue;
  }));
  EnumeratedItems found;
  HARMONICA_RETURN_IF_ERROR(subject_->store().enumerate({}, EnumeratedItems(), found).status());
  const auto id_of = [&](const StoreKey& key) {
    const auto item = shown.find(key);
    return item == shown.end() ? key : item->second.item.id.to_text();
  };
  std::map<ItemId, std::string> lines;
  std::map<StoreKey, StoreKey> last_of;  // of each parent so far
  for (const StoreItem& item : found.items) {
    const auto known = shown.find(item.key);
    if (known == shown.end()) {
      findings.push_back("the store holds " + item.key + ", which is nobody's edit");
      continue;
    }
    const StoredItem& stored = known->second;
    if (stored.shown->values != item.values) {
      findings.push_back("the store holds other values under " + item.key + " than were written");
    }
    std::string line = std::to_string(item.type) + " below '" + id_of(item.parent) + "'";
    const ItemType* type = subject_->store().schema().find_type(item.type);
    if (type != nullptr && type->find_role(UnitRole::kPosition) != nullptr) {
      line += " after '" + id_of(last_of[item.parent]) + "'";
      last_of[item.parent] = item.key;
    }
    for (const UnitValue& value : item.values) line += " " + std::to_string(value.unit) + "=" + value.value.to_text();
    if (!lines.emplace(stored.item.id, std::move(line)).second) findings.push_back("twice in the store: " + item.key);
  }
  for (const auto& [key, stored] : shown) {
    if (!lines.contains(stored.item.id)) findings.push_back("the store lost " + key + ", which was written");
  }
  return lines;
}

}  // namespace harmonica::conformance
