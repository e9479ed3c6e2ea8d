#include <paretopipe/compute/train/gloo.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/wire/frame.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#ifdef USE_C10D_GLOO
#include <ATen/ops/from_blob.h>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#endif

namespace paretopipe::train {

#ifdef USE_C10D_GLOO

namespace {

using std::chrono::milliseconds;

/// The first line of what LibTorch or Gloo says. The rest is a stack trace.
std::string first_line(const std::exception& error) {
  const std::string text = error.what();
  return text.substr(0, text.find('\n'));
}

/// What a group needs of c10d's Store, over the control link. The group only ever sets keys and gets those of others.
class ControlLinkStore final : public c10d::Store {
 public:
  ControlLinkStore(std::shared_ptr<stage::MeetingStore> store, milliseconds timeout)
      : Store(timeout), store_(std::move(store)) {}

  void set(const std::string& key, const std::vector<std::uint8_t>& value) override { store_->set(key, value); }
  std::vector<std::uint8_t> get(const std::string& key) override { return store_->get(key, timeout_); }
  bool check(const std::vector<std::string>& keys) override {
    return std::all_of(keys.begin(), keys.end(), [this](const auto& key) { return store_->has(key); });
  }
  void wait(const std::vector<std::string>& keys) override { wait(keys, timeout_); }
  void wait(const std::vector<std::string>& keys, const milliseconds& timeout) override {
    for (const auto& key : keys) store_->get(key, timeout);
  }

  std::int64_t add(const std::string&, std::int64_t) override { refuse("add"); }
  bool deleteKey(const std::string&) override { refuse("deleteKey"); }
  std::int64_t getNumKeys() override { refuse("getNumKeys"); }

 private:
  [[noreturn]] static void refuse(const char* what) {
    throw Error(ExitCode::internal, fmt::format("Gloo asked the store of the replicas for {}, which it has not", what));
  }

  std::shared_ptr<stage::MeetingStore> store_;
};

class GlooAllReduce final : public stage::AllReduce {
 public:
  explicit GlooAllReduce(c10::intrusive_ptr<c10d::ProcessGroupGloo> group) : group_(std::move(group)) {}

  void sum(std::span<float> numbers) override { sum(numbers.data(), numbers.size(), at::kFloat); }
  void sum(std::span<double> numbers) override { sum(numbers.data(), numbers.size(), at::kDouble); }

 private:
  void sum(void* numbers, std::size_t count, at::ScalarType type) {
    if (count == 0) return;
    try {
      std::vector<at::Tensor> tensors{
          at::from_blob(numbers, {static_cast<std::int64_t>(count)}, at::TensorOptions(type))};
      // Waits as long as Gloo waits for its peers, which is the group's timeout: Gloo uses the numbers until it gives
      // up.
      group_->allreduce(tensors)->wait();
    } catch (const std::exception& error) {
      throw wire::ConnectionLost(fmt::format("cannot add up the gradients of all replicas: {}", first_line(error)));
    }
  }

  c10::intrusive_ptr<c10d::ProcessGroupGloo> group_;
};

}  // namespace

std::unique_ptr<stage::AllReduce> join_by_gloo(const stage::ReplicaPlace& place,
                                               std::shared_ptr<stage::MeetingStore> store) {
  const auto timeout = std::chrono::duration_cast<milliseconds>(std::chrono::seconds(place.timeout_s));
  try {
    auto options = c10d::ProcessGroupGloo::Options::create(timeout);
    options->threads = 1;
    options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname(place.address));
    auto entries = c10::make_intrusive<ControlLinkStore>(std::move(store), timeout);
    return std::make_unique<GlooAllReduce>(
        c10::make_intrusive<c10d::ProcessGroupGloo>(std::move(entries), place.rank, place.size, std::move(options)));
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw EnvironmentError(fmt::format("cannot connect replica {} with the others from {} by Gloo: {}", place.rank,
                                       place.address, first_line(error)));
  }
}

#else

std::unique_ptr<stage::AllReduce> join_by_gloo(const stage::ReplicaPlace&, std::shared_ptr<stage::MeetingStore>) {
  throw EnvironmentError(
      "this paretopipe-stage was built without Gloo, which adds up the gradients of replicas: build it with Gloo's "
      "headers (Debian: libgloo-dev) and a LibTorch that has Gloo, or leave --baseline data-parallel out");
}

#endif

}  // namespace paretopipe::train
