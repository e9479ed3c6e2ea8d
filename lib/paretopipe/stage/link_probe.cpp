#include <paretopipe/core/clock.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/stage/link_probe.hpp>
#include <paretopipe/wire/frame.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <span>
#include <thread>
#include <utility>
#include <vector>

namespace paretopipe::stage {

namespace {

/// Long enough that neither a burst nor the machine's own hiccups decide the rate.
constexpr std::int64_t kTellingNs = 500'000'000;

wire::TensorSpec spec_of(std::int64_t bytes) {
  return {wire::DType::float32, wire::MemoryFormat::contiguous, {bytes / 4}};
}

const wire::TensorSpec kMoment{wire::DType::int64, wire::MemoryFormat::contiguous, {}};

/// Ends a link on which nothing happens for too long: a receive has no limit of its own.
class Watchdog {
 public:
  Watchdog(wire::Link& link, std::chrono::seconds patience)
      : link_(link), patience_(patience), thread_([this] { watch(); }) {}
  ~Watchdog() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// To be called whenever something has happened on the link.
  void pat() {
    const std::lock_guard lock(mutex_);
    deadline_ = Clock::now() + patience_;
  }

  bool has_bitten() const { return bitten_; }

 private:
  void watch() {
    std::unique_lock lock(mutex_);
    while (!done_ && Clock::now() < deadline_) changed_.wait_until(lock, Clock::time_point(deadline_));
    if (done_) return;
    bitten_ = true;
    link_.shutdown();
  }

  wire::Link& link_;
  const std::chrono::seconds patience_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Clock::time_point deadline_ = Clock::now() + patience_;
  bool done_ = false;
  std::atomic<bool> bitten_ = false;
  std::thread thread_;
};

/// One side of the probe: numbered messages over a link that is watched.
class Side {
 public:
  Side(wire::Link link, const ProbeExtent& extent)
      : link_(std::move(link)), patience_(extent.patience_s), watchdog_(link_, patience_) {}

  void send(std::span<const std::byte> bytes) {
    attempt([&] { link_.send_tensor(0, sent_++, spec_of(std::ssize(bytes)), bytes); });
  }

  /// Returns how long the bytes took to come in, in nanoseconds.
  std::int64_t receive(std::span<std::byte> bytes) {
    wire::ReceiveTimes times;
    attempt([&] { times = link_.receive_tensor(0, received_++, spec_of(std::ssize(bytes)), bytes); });
    return times.end_ns - times.begin_ns;
  }

  void send_number(std::int64_t number) {
    attempt([&] { link_.send_tensor(0, sent_++, kMoment, std::as_bytes(std::span(&number, 1))); });
  }

  std::int64_t receive_number() {
    std::int64_t number = 0;
    attempt([&] { link_.receive_tensor(0, received_++, kMoment, std::as_writable_bytes(std::span(&number, 1))); });
    return number;
  }

 private:
  template <class Action>
  void attempt(const Action& action) {
    try {
      action();
    } catch (const wire::ProtocolError&) {
      if (!watchdog_.has_bitten()) throw;
      throw EnvironmentError(fmt::format(
          "nothing came for {} s over the connection with {}, though it was made; packets of full size may be lost on "
          "the way: compare the MTU of the interfaces, or ping -M do -s 1472",
          patience_.count(), link_.peer_name()));
    }
    watchdog_.pat();
  }

  wire::Link link_;
  const std::chrono::seconds patience_;
  Watchdog watchdog_;
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
};

/// More than any network needs.
constexpr int kMostRoundTrips = 1000;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;
constexpr int kMostPatience_s = 86'400;

void check(const ProbeExtent& extent) {
  if (extent.round_trips >= 1 && extent.round_trips <= kMostRoundTrips && extent.most_bytes <= kMostBytes &&
      extent.patience_s >= 1 && extent.patience_s <= kMostPatience_s) {
    return;
  }
  throw wire::ProtocolError(
      fmt::format("the driver asked for a probe that cannot be: {} round trips, transfers of up to {} bytes, {} s of "
                  "patience",
                  extent.round_trips, extent.most_bytes, extent.patience_s));
}

Clock::time_point deadline_of(int timeout_s) {
  return Clock::now() + std::chrono::seconds(timeout_s);
}

void measure_round_trip(Side& side, int count, LinkProbed& found) {
  std::array<std::byte, 4> ping{};
  std::vector<std::int64_t> round_trips;
  for (int i = 0; i < count; ++i) {
    const auto begin = now_ns();
    side.send(ping);
    side.receive(ping);
    round_trips.push_back(now_ns() - begin);
  }
  const auto middle = round_trips.begin() + count / 2;
  std::nth_element(round_trips.begin(), middle, round_trips.end());
  found.round_trip_ns = *middle;
  found.round_trip_min_ns = *std::min_element(round_trips.begin(), middle + 1);
}

}  // namespace

std::optional<std::int64_t> next_transfer(std::int64_t bytes, std::int64_t took_ns, std::int64_t most) {
  if (took_ns >= kTellingNs || bytes >= most) return std::nullopt;
  return 2 * bytes;
}

LinkProbed probe_link(const ProbeLink& request) {
  check(request.extent);
  Side side(wire::connect_peer(request.host, request.port, {request.key}, deadline_of(request.timeout_s)),
            request.extent);
  LinkProbed found;
  measure_round_trip(side, request.extent.round_trips, found);
  for (std::optional next = kFirstTransfer; next;) {
    const std::vector<std::byte> bytes(static_cast<std::size_t>(*next));
    const auto begin = now_ns();
    side.send(bytes);
    next = next_transfer(*next, side.receive_number(), request.extent.most_bytes);
    // The receiver's own time would leave out what the kernel had taken before the receiver came to read.
    found.took_ns = std::max<std::int64_t>(1, now_ns() - begin - found.round_trip_ns);
    found.bytes = std::ssize(bytes);
  }
  return found;
}

void answer_probe(wire::Listener& listener, const AnswerProbe& request) {
  check(request.extent);
  Side side(wire::accept_peer(listener, {request.key}, deadline_of(request.timeout_s)), request.extent);
  std::array<std::byte, 4> ping{};
  for (int i = 0; i < request.extent.round_trips; ++i) {
    side.receive(ping);
    side.send(ping);
  }
  for (std::optional next = kFirstTransfer; next;) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(*next));
    const auto took_ns = std::max<std::int64_t>(1, side.receive(bytes));
    side.send_number(took_ns);
    next = next_transfer(*next, took_ns, request.extent.most_bytes);
  }
}

}  // namespace paretopipe::stage
