#pragma once
#include <paretopipe/core/clock.hpp>
#include <paretopipe/experiment/network_profile.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace paretopipe::shaping {

/// The deviations of delays from their mean, in units of the jitter, as in tc-netem(8): the kernel's uniform
/// distribution (-1 … 1, standard deviation 0.577), or iproute2's tables (normal.dist, pareto.dist, paretonormal.dist),
/// which end at ±4. Because of that end, netem's Pareto tables do not quite have mean 0 and standard deviation 1:
/// pareto -0.033 and 0.82, paretonormal -0.025 and 0.83. The same holds here, so that emulated and netem agree.
///
/// The sequence is the same for the same seed, on every machine.
class EmulatedJitter {
 public:
  EmulatedJitter(experiment::DelayDistribution distribution, std::uint64_t seed);

  double next();

 private:
  double uniform();
  double normal();

  experiment::DelayDistribution distribution_;
  std::mt19937_64 random_;
};

// The emulated link's arithmetic, without clock or sockets.

/// The conditions that an emulated link cannot do, as sentences for a person; empty if it can do all. It handles a byte
/// stream, not packets: nothing can be lost, overtake or come twice, and TCP has nothing to react to. Queue limits have
/// no effect: nothing is dropped, the sender waits.
std::vector<std::string> unsupported(const experiment::LinkConditions& conditions);

/// Decides, for one direction of one connection, when arriving bytes come out at the other end. Bytes leave through a
/// token bucket (rate r, burst b; tc-tbf(8)) and then travel for the delay, with jitter, never before earlier bytes. So
/// B bytes that arrive at once at an idle link are delivered in full after d + (B - b)/r, but not before d.
///
/// Without a burst in the profile b is 0: bits leave one after the other, which takes d + B/r. The rate counts the
/// stream's bytes; there are no packet headers.
///
/// Jitter that keeps the order makes the mean longer than d if bytes follow one another faster than the jitter, because
/// the slowest holds up those behind it. TCP streams over netem behave the same. The delay never goes below 0.
class EmulatedSchedule {
 public:
  EmulatedSchedule(const experiment::LinkConditions& conditions, std::uint64_t seed);

  /// The moment at which the last of `bytes` (0 or more) that arrive together comes out. Arrivals must not go back in
  /// time.
  Clock::time_point deliver(Clock::time_point arrival, std::int64_t bytes);

  /// Sets other conditions from now on, with a full bucket. New bytes still do not overtake earlier ones.
  void set_conditions(const experiment::LinkConditions& conditions, std::uint64_t seed);

 private:
  Clock::time_point leave(Clock::time_point arrival, std::int64_t bytes);
  Nanoseconds travel();

  experiment::LinkConditions conditions_;
  EmulatedJitter jitter_;
  Clock::time_point
      bucket_empty_{};  ///< as if tokens were spent at the rate: no later than now - b/r means a full bucket
  Clock::time_point last_{};
};

/// The size of the pieces into which arriving bytes are cut, so that they come out at the rate rather than in lumps:
/// what passes in 250 us, from 1500 bytes (a packet) to 64 KiB. 15.6 kB at 500 Mbit/s.
std::int64_t piece_bytes(const experiment::LinkConditions& conditions);

/// The most bytes that one direction of a connection holds: those on their way (rate times the delay with its jitter;
/// 10 Gbit/s if no rate is set) and 4 MiB like a socket's buffer, 256 MiB in all. Beyond this nothing is read from the
/// sender until something has come out.
std::size_t buffer_limit(const experiment::LinkConditions& conditions);

// How late an emulated link is: pure, without clock or sockets.

/// The lateness that an emulated link of this profile may have: 5 % of the one-way delay (of the shorter one if they
/// differ), at least 1 ms.
Nanoseconds lateness_tolerance(const experiment::NetworkProfile& profile);

/// Counts pieces of a stream by their lateness. It stores their number in classes of lateness, not the pieces: its size
/// is fixed, and adding one costs nanoseconds.
class LatenessMeter {
 public:
  explicit LatenessMeter(Nanoseconds tolerance) : tolerance_(tolerance) {}

  /// Adds a piece that was passed on `lateness` (0 or more) after its moment.
  void add(Nanoseconds lateness);

  /// Adds all that `other` has counted; it must have the same tolerance.
  void add(const LatenessMeter& other);

  /// None if nothing was passed on.
  std::optional<experiment::Lateness> summary() const;

  /// All that was counted, for another process; empty classes are left out. Reading throws nlohmann::json::exception,
  /// or std::out_of_range for a class that does not exist.
  friend void to_json(nlohmann::json& json, const LatenessMeter& meter);
  friend void from_json(const nlohmann::json& json, LatenessMeter& meter);

 private:
  /// Each nanosecond below 16 ns has its own class; above, each power of two has 16 classes of equal width. The values
  /// in a class differ by at most 6 %, as in HdrHistogram.
  static constexpr int kClassesPerPower = 16;
  static constexpr std::size_t kClasses = 60 * kClassesPerPower;

  static std::size_t class_of(std::int64_t lateness_ns);
  static std::int64_t end_of(std::size_t lateness_class);
  std::int64_t quantile(double q) const;

  Nanoseconds tolerance_;
  std::int64_t deliveries_ = 0;
  std::int64_t late_ = 0;
  Nanoseconds sum_{0};
  Nanoseconds max_{0};
  std::array<std::int64_t, kClasses> counts_{};
};

/// A sentence if the lateness affected the measurement; empty if not. It did if more than 5 % of the deliveries were
/// late: a median of few batches and every high quantile may then be from late ones. It also did if the mean lateness
/// exceeds the tolerance: one pause was then long enough to shift means and throughput. One late delivery among many on
/// time shifts neither, because lateness does not add up: the following deliveries keep their moments.
/// `device`: where the relay is; empty: on this machine.
std::vector<std::string> judge(const experiment::Lateness& lateness, const std::string& device = {});

}  // namespace paretopipe::shaping
