// Stores and channels that fail now and then, and a machine whose time and chance come from the seed.
#pragma once

#include <functional>
#include <map>
#include <utility>

#include "chance.h"
#include "harmonica/conformance/mesh.h"
#include "harmonica/extension/channel.h"
#include "harmonica/extension/environment.h"
#include "harmonica/platform/crypto.h"

namespace harmonica::conformance {

// The weather of one run, shared by all.
struct Weather {
  Chance chance;
  MeshMisfortunes misfortunes;
  std::uint64_t failures = 0;
  std::int64_t now_ms = 1'700'000'000'000;

  bool strikes(int permille) {
    const bool struck = chance.strikes(permille);
    failures += struck ? 1 : 0;
    return struck;
  }
};

class MeshEnvironment final : public Environment {
 public:
  explicit MeshEnvironment(Weather& weather) : weather_(weather) {}

  std::int64_t wall_clock_ms() override { return weather_.now_ms; }
  void randomize(std::span<std::uint8_t> bytes) override {
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(weather_.chance.next() >> 56);
  }
  Sha256 sha256(ByteView bytes) override { return platform::sha256(bytes); }
  void log(LogLevel, std::string_view) override {}
  Result<std::optional<Tick>> reserved_tick(const ReplicaId& replica) override {
    const auto found = reserved_.find(replica);
    return found == reserved_.end() ? std::optional<Tick>() : found->second;
  }
  Status set_reserved_tick(const ReplicaId& replica, Tick tick) override {
    reserved_[replica] = tick;
    return {};
  }

 private:
  Weather& weather_;
  std::map<ReplicaId, Tick> reserved_;
};

class UnreliableStore final : public ItemStore {
 public:
  // `user` edits the store behind the back of whoever writes it.
  UnreliableStore(ItemStore& inner, Weather& weather, std::function<void()> user)
      : inner_(inner), weather_(weather), user_(std::move(user)) {}

  const Schema& schema() const override { return inner_.schema(); }
  WriteUnit write_unit() const override { return inner_.write_unit(); }
  StoreKey key_for(const ItemId& item) const override { return inner_.key_for(item); }
  StoreItem as_held(StoreItem item) const override { return inner_.as_held(std::move(item)); }
  Value natural_form(TypeId type, UnitId unit, const Value& value) const override {
    return inner_.natural_form(type, unit, value);
  }
  MetadataStore* metadata() override { return inner_.metadata(); }

  Result<Enumeration> enumerate(const Bytes& anchor, const ShownItems& shown, EnumerationSink& sink) override {
    if (weather_.strikes(weather_.misfortunes.store_unreadable)) return Status(StatusCode::kIo, "cannot be read for now");
    return inner_.enumerate(anchor, shown, sink);
  }
  Result<Written> apply(std::span<const StoreWrite> writes, const Bytes& anchor) override {
    if (weather_.strikes(weather_.misfortunes.store_unwritable)) {
      return Status(StatusCode::kIo, "cannot be written for now");
    }
    // Where data and metadata commit as one, nobody else writes within the transaction.
    const bool shares_transaction = inner_.metadata() != nullptr;
    if (!shares_transaction && weather_.strikes(weather_.misfortunes.user_types)) user_();
    auto written = inner_.apply(writes, anchor);
    if (weather_.strikes(weather_.misfortunes.interrupted_write)) return Status(StatusCode::kIo, "the power went");
    return written;
  }

 private:
  ItemStore& inner_;
  Weather& weather_;
  std::function<void()> user_;
};

class DirectChannel final : public Channel {
 public:
  explicit DirectChannel(RequestHandler& handler) : handler_(handler) {}
  Result<Bytes> exchange(ByteView request) override { return handler_.handle(request); }

 private:
  RequestHandler& handler_;
};

class UnreliableChannel final : public Channel {
 public:
  UnreliableChannel(Channel& inner, Weather& weather) : inner_(inner), weather_(weather) {}

  Result<Bytes> exchange(ByteView request) override {
    const Status lost(StatusCode::kUnavailable, "no answer");
    if (weather_.strikes(weather_.misfortunes.request_lost)) return lost;
    auto answer = inner_.exchange(request);
    if (weather_.strikes(weather_.misfortunes.request_doubled)) answer = inner_.exchange(request);
    if (weather_.strikes(weather_.misfortunes.answer_lost)) return lost;
    return answer;
  }

 private:
  Channel& inner_;
  Weather& weather_;
};

}  // namespace harmonica::conformance
