#pragma once
#include <paretopipe/core/json_fields.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

// Replicas: stages that each train the whole model on their share of a step, and add up their gradients over the
// connections of a library. How the library connects its processes is its own affair. It only needs a store, in which
// one process writes what the others read. The store's entries travel over the control links, so nothing listens for
// them.
namespace paretopipe::stage {

/// A replica among the others.
struct ReplicaPlace {
  int rank = 0;
  int size = 1;
  std::string address;  ///< of this stage, numeric; nothing may listen at another one
  int timeout_s = 600;  ///< of everything that waits for another replica

  bool operator==(const ReplicaPlace&) const = default;
};
PARETOPIPE_JSON(ReplicaPlace, rank, size, address, timeout_s)

using StoreEntries = std::map<std::string, std::vector<std::uint8_t>>;

/// Asks a stage to begin to connect with the other replicas. Answered with StoreWrites.
struct OpenReplicas {
  static constexpr std::string_view kType = "open_replicas";
  ReplicaPlace place;
};
PARETOPIPE_JSON(OpenReplicas, place)

/// Brings what the other replicas wrote. Answered with StoreWrites.
struct TakeStoreWrites {
  static constexpr std::string_view kType = "take_store_writes";
  StoreEntries entries;
};
PARETOPIPE_JSON(TakeStoreWrites, entries)

/// The entries that a replica wrote. The answer comes at once when it wrote something or is connected with all others,
/// and after a moment in any case: it may be busy connecting with one that still lacks the entries of a third.
struct StoreWrites {
  static constexpr std::string_view kType = "store_writes";
  StoreEntries entries;  ///< since the last such message
  bool connected = false;
};
PARETOPIPE_JSON(StoreWrites, entries, connected)

/// The store of one replica. What the library's thread writes waits here for the session's, and the other way round.
/// Thread-safe.
class MeetingStore {
 public:
  // For the library.
  void set(const std::string& key, std::vector<std::uint8_t> value);
  bool has(const std::string& key) const;
  /// Blocks until the entry is there. Throws EnvironmentError after `timeout`, or once the store is closed.
  std::vector<std::uint8_t> get(const std::string& key, std::chrono::milliseconds timeout);

  // For the session.
  void add(const StoreEntries& of_others);
  /// Waits for the library to write something or to be done, but no longer than `patience`.
  StoreWrites take_written(std::chrono::milliseconds patience);
  void finish();
  /// Releases whoever waits.
  void close();

 private:
  mutable std::mutex mutex_;  ///< guards what follows
  std::condition_variable changed_;
  StoreEntries entries_, written_;
  bool finished_ = false;
  bool closed_ = false;
};

/// Adds up numbers over all replicas, each of which calls with equally many. Throws wire::ConnectionLost if another
/// replica is gone or does not come before the timeout; the group is then useless.
class AllReduce {
 public:
  virtual ~AllReduce() = default;

  /// Replaces each number by the sum of those of all replicas. The order of the additions is open, but all replicas get
  /// the same sum to the bit.
  virtual void sum(std::span<float> numbers) = 0;
  virtual void sum(std::span<double> numbers) = 0;
};

/// Connects the calling process with the other replicas. Blocks until it is connected, and throws EnvironmentError if
/// it cannot be.
using JoinReplicas =
    std::function<std::unique_ptr<AllReduce>(const ReplicaPlace& place, std::shared_ptr<MeetingStore> store)>;

/// Connects on a thread of its own, as far as the known entries of the other replicas allow.
class ReplicaMeeting {
 public:
  ReplicaMeeting(JoinReplicas join, const ReplicaPlace& place);
  ~ReplicaMeeting();
  ReplicaMeeting(const ReplicaMeeting&) = delete;
  ReplicaMeeting& operator=(const ReplicaMeeting&) = delete;

  /// Adds the others' entries, and returns what this replica wrote. Throws what the library throws.
  StoreWrites go_on(const StoreEntries& of_others);

  /// The group of replicas; only once connected.
  std::unique_ptr<AllReduce> take() { return std::move(joined_); }

 private:
  std::shared_ptr<MeetingStore> store_ = std::make_shared<MeetingStore>();
  std::unique_ptr<AllReduce> joined_;
  std::exception_ptr error_;
  std::thread thread_;  ///< the last member: it uses all others
};

/// Replaces gradients by their sum over all replicas. With `in_double` they are added as numbers of 64 bits: then the
/// sum of a few floats does not depend on the order, unless their magnitudes are very far apart. Otherwise they are
/// added as they are.
void sum_gradients(std::span<float> gradients, bool in_double, AllReduce& replicas);

}  // namespace paretopipe::stage
