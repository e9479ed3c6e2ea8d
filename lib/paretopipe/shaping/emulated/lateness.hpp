#pragma once
#include <paretopipe/config/network_profile.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// How late an emulated link is: pure, without clock or sockets.
namespace paretopipe::shaping {

/// The lateness that an emulated link of this profile may have: 5 % of the one-way delay (of the shorter one if they
/// differ), at least 1 ms.
Nanoseconds lateness_tolerance(const config::NetworkProfile& profile);

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
  std::optional<config::Lateness> summary() const;

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
std::vector<std::string> judge(const config::Lateness& lateness);

}  // namespace paretopipe::shaping
