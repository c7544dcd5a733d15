// harmonica unlink: a store leaves its scope, and keeps its data.
#include <cstdio>

#include "commands.h"
#include "output.h"

namespace harmonica::cli {

int run_unlink(const StoreOptions& options) {
  const Status unlinked = unlink_store(options.store, options.common);
  if (!unlinked.ok()) return fail(options.common, unlinked);
  if (options.common.json) {
    rapidjson::StringBuffer document;
    JsonWriter json(document);
    json.StartObject();
    member(json, "unlinked", options.store);
    json.EndObject();
    print(document);
  } else {
    std::printf("%s has left its scope and keeps what it holds; on another device: harmonica devices retire\n",
                options.store.c_str());
  }
  return kExitDone;
}

}  // namespace harmonica::cli
