#pragma once
#include <paretopipe/config/network_profile.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// How late an emulated link is: pure, without clock or sockets.
namespace paretopipe::shaping {

/// Later than this is late, on an emulated link of this profile: 5 % of the delay of one way (of the shorter one, where
/// they differ), at least 1 ms.
Nanoseconds lateness_tolerance(const config::NetworkProfile& profile);

/// Counts pieces of a stream by how late they were handed on. It keeps their number in classes of lateness, not the
/// pieces: its size is fixed, and adding one costs nanoseconds.
class LatenessMeter {
 public:
  explicit LatenessMeter(Nanoseconds tolerance) : tolerance_(tolerance) {}

  /// A piece that was handed on so long (0 or more) after its moment.
  void add(Nanoseconds lateness);

  /// All that `other` has counted, with the same tolerance.
  void add(const LatenessMeter& other);

  /// None if nothing was handed on.
  std::optional<config::Lateness> summary() const;

 private:
  /// Of what is below 16 ns each nanosecond has a class, and then each power of two has 16 of the same width: whatever
  /// lies in a class differs by 6 % at most, as in HdrHistogram.
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

/// A sentence if the lateness touched what was measured meanwhile; empty if it did not. It did where more than 5 % of
/// the deliveries were late, for then a median of few batches and every high quantile may be those of late ones; or
/// where the mean lateness is beyond the tolerance, for then one pause was so long that it moves means and throughput.
/// A late delivery among many on time moves neither, for lateness does not add up: those behind it keep their moments.
std::vector<std::string> judge(const config::Lateness& lateness);

}  // namespace paretopipe::shaping
