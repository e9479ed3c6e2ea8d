#include <paretopipe/core/error.hpp>
#include <paretopipe/stage/replicas.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace paretopipe::stage {

namespace {

/// How long the driver waits for one replica's entries before it looks at those of the others again.
constexpr std::chrono::milliseconds kPatience{20};

}  // namespace

void MeetingStore::set(const std::string& key, std::vector<std::uint8_t> value) {
  const std::lock_guard lock(mutex_);
  entries_[key] = value;
  written_[key] = std::move(value);
  changed_.notify_all();
}

bool MeetingStore::has(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  return entries_.contains(key);
}

std::vector<std::uint8_t> MeetingStore::get(const std::string& key, std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, timeout, [&] { return closed_ || entries_.contains(key); });
  const auto found = entries_.find(key);
  if (found != entries_.end()) return found->second;
  throw EnvironmentError(fmt::format("cannot connect the replicas: {} before the others said where they are",
                                     closed_ ? "the attempt was ended" : "the time was over"));
}

void MeetingStore::add(const StoreEntries& of_others) {
  const std::lock_guard lock(mutex_);
  entries_.insert(of_others.begin(), of_others.end());
  changed_.notify_all();
}

StoreWrites MeetingStore::take_written(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [this] { return finished_ || !written_.empty(); });
  return {std::exchange(written_, {}), finished_};
}

void MeetingStore::finish() {
  const std::lock_guard lock(mutex_);
  finished_ = true;
  changed_.notify_all();
}

void MeetingStore::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

ReplicaMeeting::ReplicaMeeting(JoinReplicas join, const ReplicaPlace& place)
    : thread_([this, join = std::move(join), place] {
        try {
          joined_ = join(place, store_);
        } catch (...) {
          error_ = std::current_exception();
        }
        store_->finish();
      }) {}

ReplicaMeeting::~ReplicaMeeting() {
  store_->close();
  if (thread_.joinable()) thread_.join();
}

StoreWrites ReplicaMeeting::go_on(const StoreEntries& of_others) {
  store_->add(of_others);
  auto writes = store_->take_written(kPatience);
  if (!writes.connected) return writes;
  if (thread_.joinable()) thread_.join();
  if (error_) std::rethrow_exception(error_);
  return writes;
}

void sum_gradients(std::span<float> gradients, bool in_double, AllReduce& replicas) {
  if (!in_double) {
    replicas.sum(gradients);
    return;
  }
  std::vector<double> wide(gradients.begin(), gradients.end());
  replicas.sum(std::span(wide));
  std::transform(wide.begin(), wide.end(), gradients.begin(), [](double sum) { return static_cast<float>(sum); });
}

}  // namespace paretopipe::stage
