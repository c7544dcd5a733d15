// harmonica verify: whether two stores hold and show the same, or how they differ.
#include <cstdio>

#include "commands.h"
#include "output.h"

namespace harmonica::cli {
namespace {

constexpr std::size_t kDifferencesShown = 1'000;

void print_json(const Comparison& comparison) {
  rapidjson::StringBuffer document;
  JsonWriter json(document);
  json.StartObject();
  key(json, "equal");
  json.Bool(comparison.equal);
  member(json, "scope", comparison.scope);
  member(json, "first_knowledge", comparison.first_knowledge.to_text());
  member(json, "second_knowledge", comparison.second_knowledge.to_text());
  key(json, "differences");
  json.StartArray();
  for (const Difference& difference : comparison.differences) {
    json.StartObject();
    member(json, "item", difference.item.to_text());
    member(json, "what", difference.what);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  print(document);
}

}  // namespace

int run_verify(const VerifyOptions& options) {
  Result<std::unique_ptr<Environment>> environment = make_environment(options.common);
  if (!environment.ok()) return fail(options.common, environment.status());
  Result<OpenStore> first = open_store(options.first, options.common, **environment);
  if (!first.ok()) return fail(options.common, first.status());
  Result<OpenStore> second = open_store(options.second, options.common, **environment);
  if (!second.ok()) return fail(options.common, second.status());
  if (is_same_file(*first, *second)) {
    return refuse(options.common, first->name + " and " + second->name + " are the same file; name different stores");
  }
  const Result<Comparison> comparison = compare(*first->replica, *second->replica, kDifferencesShown);
  if (!comparison.ok()) return fail(options.common, comparison.status().within(first->name + " and " + second->name));
  if (options.common.json) {
    print_json(*comparison);
  } else if (comparison->equal) {
    std::printf("equal for scope %s at knowledge %s\n", comparison->scope.c_str(),
                comparison->first_knowledge.to_text().c_str());
  } else {
    for (const Difference& difference : comparison->differences) {
      std::printf("%s: %s\n", difference.item.to_text().c_str(), display_text(difference.what).c_str());
    }
    std::printf("not equal: sync the stores, then verify again\n");
  }
  return comparison->equal ? kExitDone : kExitFailed;
}

}  // namespace harmonica::cli
