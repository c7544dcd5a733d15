// harmonica show: the items of a store as a tree.
#include <cstdio>
#include <utility>

#include "commands.h"
#include "output.h"

namespace harmonica::cli {
namespace {

// One line of the tree that is still to be printed.
struct Pending {
  ReplicaItem item;
  std::size_t depth = 0;
};

class Tree {
 public:
  Tree(Replica& replica, const Schema& schema) : replica_(replica), schema_(schema) {}

  Status print_text(const std::string& guard) {
    if (!guard.empty()) std::printf("as it was last synced: %s (%s)\n", guard.c_str(), kConfirmAdvice);
    return walk([&](const Root& root) { std::printf("%s\n", root.name.c_str()); },
                [&](const Pending& line) {
                  const std::string indent(2 * line.depth, ' ');
                  const std::string url = text_of(line.item.item, "url");
                  std::printf("%s%s%s%s\n", indent.c_str(), label_of(schema_, line.item.item).c_str(),
                              is_folder(line.item.item) ? "/" : "",
                              url.empty() ? "" : ("  <" + display_text(url) + ">").c_str());
                });
  }

  Status print_json(const std::string& guard) {
    rapidjson::StringBuffer document;
    JsonWriter json(document);
    json.StartObject();
    key(json, "items");
    json.StartArray();
    std::string root_name;
    const Status status = walk([&](const Root& root) { root_name = root.name; },
                               [&](const Pending& line) {
                                 json.StartObject();
                                 member(json, "id", line.item.item.id.to_text());
                                 member(json, "type", type_name(schema_, line.item.item.type));
                                 member(json, "root", root_name);
                                 member(json, "parent", line.item.parent.to_text());
                                 member(json, "depth", line.depth);
                                 for (const UnitValue& value : line.item.values) {
                                   member(json, unit_name(schema_, line.item.item.type, value.unit),
                                          value.value.if_text() ? *value.value.if_text() : value.value.to_text());
                                 }
                                 json.EndObject();
                               });
    HARMONICA_RETURN_IF_ERROR(status);
    json.EndArray();
    member(json, "guard", guard);
    json.EndObject();
    print(document);
    return {};
  }

 private:
  template <typename OnRoot, typename OnItem>
  Status walk(const OnRoot& on_root, const OnItem& on_item) {
    std::vector<Root> roots = schema_.roots;
    if (roots.empty()) roots.push_back({ItemId(), "/"});
    for (const Root& root : roots) {
      on_root(root);
      std::vector<Pending> pending;
      HARMONICA_RETURN_IF_ERROR(push_children(root.id, 1, pending));
      while (!pending.empty()) {
        const Pending line = std::move(pending.back());
        pending.pop_back();
        on_item(line);
        HARMONICA_RETURN_IF_ERROR(push_children(line.item.item.id, line.depth + 1, pending));
      }
    }
    return {};
  }

  Status push_children(const ItemId& parent, std::size_t depth, std::vector<Pending>& pending) {
    HARMONICA_ASSIGN_OR_RETURN(std::vector<ReplicaItem> children, replica_.children(parent));
    for (auto child = children.rbegin(); child != children.rend(); ++child) pending.push_back({std::move(*child), depth});
    return {};
  }

  std::string text_of(const Item& item, std::string_view name) const {
    const ItemType* type = schema_.find_type(item.type);
    if (type == nullptr) return {};
    for (const Unit& unit : type->units) {
      if (unit.name == name && item.value_of(unit.id).if_text()) return *item.value_of(unit.id).if_text();
    }
    return {};
  }

  bool is_folder(const Item& item) const { return type_name(schema_, item.type) == "folder"; }

  Replica& replica_;
  const Schema& schema_;
};

}  // namespace

int run_show(const StoreOptions& options) {
  Result<std::unique_ptr<Environment>> environment = make_environment(options.common);
  if (!environment.ok()) return fail(options.common, environment.status());
  Result<OpenStore> store = open_store(options.store, options.common, **environment);
  if (!store.ok()) return fail(options.common, store.status());
  const Result<Look> look = look_at(*store);
  if (!look.ok()) return fail(options.common, look.status());
  if (store->store == nullptr) return show_records(options, *store);
  Tree tree(*store->replica, store->replica->schema());
  const Status status = options.common.json ? tree.print_json(look->guard) : tree.print_text(look->guard);
  return status.ok() ? kExitDone : fail(options.common, status);
}

}  // namespace harmonica::cli
