// harmonica verify: whether two stores hold and show the same, or how they differ.
#include <cstdio>

#include "commands.h"
#include "harmonica/extension/remote.h"
#include "output.h"

namespace harmonica::cli {
namespace {

constexpr std::size_t kDifferencesShown = 1'000;

// Both stores are here, but they are compared as if the second one were far away: so what is printed is what it costs.
class CountingChannel final : public Channel {
 public:
  explicit CountingChannel(RequestHandler& handler) : handler_(handler) {}

  Result<Bytes> exchange(ByteView request) override {
    Bytes response = handler_.handle(request);
    bytes_ += request.size() + response.size();
    return response;
  }
  std::uint64_t bytes() const { return bytes_; }

 private:
  RequestHandler& handler_;
  std::uint64_t bytes_ = 0;
};

struct Verification {
  Comparison comparison;
  std::uint64_t bytes = 0;
  std::optional<RepairReport> repaired;
};

Result<Verification> verify(Replica& first, Replica& second, Repair repair_wanted) {
  Verification verification;
  const std::unique_ptr<RequestHandler> endpoint = make_provider_endpoint(second.provider());
  CountingChannel channel(*endpoint);
  const std::unique_ptr<Provider> far = make_remote_provider(channel, {});
  Result<Comparison> compared = first.compare_with(*far, kDifferencesShown);
  if (!compared.ok()) return compared.status();
  verification.comparison = *std::move(compared);
  verification.bytes = channel.bytes();
  HARMONICA_RETURN_IF_ERROR(describe_differences(verification.comparison, first, second));
  if (repair_wanted == Repair::kYes) {
    Result<RepairReport> repaired = repair(verification.comparison, first, second);
    if (!repaired.ok()) return repaired.status();
    verification.repaired = *repaired;
  }
  return verification;
}

void print_json(const Verification& verification) {
  const Comparison& comparison = verification.comparison;
  rapidjson::StringBuffer document;
  JsonWriter json(document);
  json.StartObject();
  key(json, "equal");
  json.Bool(comparison.equal);
  member(json, "scope", comparison.scope);
  member(json, "first_knowledge", comparison.first_knowledge.to_text());
  member(json, "second_knowledge", comparison.second_knowledge.to_text());
  member(json, "exchanges", comparison.exchanges);
  member(json, "bytes", verification.bytes);
  member(json, "difference_count", comparison.difference_count);
  key(json, "differences");
  json.StartArray();
  for (const Difference& difference : comparison.differences) {
    json.StartObject();
    member(json, "item", difference.item.to_text());
    member(json, "what", difference.what);
    json.EndObject();
  }
  json.EndArray();
  if (verification.repaired) {
    key(json, "repaired");
    json.StartObject();
    member(json, "asked_again_first", verification.repaired->asked_again_first);
    member(json, "asked_again_second", verification.repaired->asked_again_second);
    member(json, "left_to_sync", verification.repaired->left_to_sync);
    member(json, "left", verification.repaired->left);
    json.EndObject();
  }
  json.EndObject();
  print(document);
}

void print_costs(const Verification& verification) {
  std::printf("compared in %llu round trips and %llu bytes\n",
              static_cast<unsigned long long>(verification.comparison.exchanges),
              static_cast<unsigned long long>(verification.bytes));
}

void print_repaired(const RepairReport& repaired) {
  std::printf(
      "asked again for %llu items at the first store and %llu at the second; %llu only wait for a sync, %llu stay\n",
      static_cast<unsigned long long>(repaired.asked_again_first),
      static_cast<unsigned long long>(repaired.asked_again_second), static_cast<unsigned long long>(repaired.left_to_sync),
      static_cast<unsigned long long>(repaired.left));
}

void print_differences(const Verification& verification) {
  const Comparison& comparison = verification.comparison;
  for (const Difference& difference : comparison.differences) {
    std::printf("%s: %s\n", difference.item.to_text().c_str(), display_text(difference.what).c_str());
  }
  const std::uint64_t unsaid = comparison.difference_count - comparison.differences.size();
  if (unsaid > 0) std::printf("and %llu more\n", static_cast<unsigned long long>(unsaid));
  if (verification.repaired) print_repaired(*verification.repaired);
  std::printf("not equal: sync the stores, then verify again\n");
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
  const Result<Verification> verification = verify(*first->replica, *second->replica, options.repair);
  if (!verification.ok()) return fail(options.common, verification.status().within(first->name + " and " + second->name));
  const Comparison& comparison = verification->comparison;
  if (options.common.json) {
    print_json(*verification);
  } else if (comparison.equal) {
    std::printf("equal for scope %s at knowledge %s\n", comparison.scope.c_str(),
                comparison.first_knowledge.to_text().c_str());
    if (verification->repaired &&
        verification->repaired->asked_again_first + verification->repaired->asked_again_second > 0) {
      print_repaired(*verification->repaired);
    }
    print_costs(*verification);
  } else {
    print_differences(*verification);
    print_costs(*verification);
  }
  return comparison.equal ? kExitDone : kExitFailed;
}

}  // namespace harmonica::cli
