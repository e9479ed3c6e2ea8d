#include <paretopipe/shaping/emulated/emulated_link.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <vector>

#include <fmt/format.h>
#include <support/catch.hpp>

#include "tcp_pair.hpp"

// Hidden: they measure, so they need a machine that has nothing else to do. Run them by name:
//   integration_emulated_link "[timing]"   asserts the promised accuracy, in ten seconds
//   integration_emulated_link "[bench]"    prints the whole grid, in about four minutes
using namespace paretopipe;
using namespace paretopipe::testing;
using experiment::LinkConditions;
using shaping::EmulatedLink;

namespace {

struct Profile {
  double delay_ms;  ///< one way
  double rate_mbit_per_s;
};

LinkConditions conditions_of(const Profile& profile) {
  LinkConditions conditions;
  conditions.delay = Nanoseconds(std::llround(profile.delay_ms * 1e6));
  conditions.rate_bit_per_s = std::llround(profile.rate_mbit_per_s * 1e6);
  return conditions;
}

template <class Measure>
double median_of(int times, Measure measure) {
  std::vector<double> values;
  for (int i = 0; i < times; ++i) values.push_back(measure());
  std::ranges::nth_element(values, values.begin() + times / 2);
  return values[static_cast<std::size_t>(times) / 2];
}

struct Accuracy {
  double rtt_ms;
  double ideal_rtt_ms;
  double goodput_mbit_per_s;  ///< of what comes after the first byte, at the receiver
  double transfer_ms;         ///< of 100 kB that find the link idle
  double ideal_transfer_ms;
  double cores;  ///< that this process used during the long transfer, sender and receiver included
};

double cpu_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

Accuracy measure(const Profile& profile, int times) {
  TcpReceiver receiver;
  EmulatedLink link("127.0.0.1", conditions_of(profile), conditions_of(profile), 1);
  link.lead_to("127.0.0.1", receiver.port());
  const auto pair = receiver.connect_through(link);
  const double byte_per_s = profile.rate_mbit_per_s * 1e6 / 8;
  constexpr std::size_t kMessage = 64;
  constexpr std::size_t kPayload = 100'000;

  Accuracy result{};
  result.ideal_rtt_ms = 2 * (profile.delay_ms + 1e3 * kMessage / byte_per_s);
  result.rtt_ms = 1e3 * median_of(times, [&] { return round_trip_seconds(pair, kMessage); });
  result.ideal_transfer_ms = profile.delay_ms + 1e3 * kPayload / byte_per_s;
  result.transfer_ms = 1e3 * median_of(times, [&] { return transfer_seconds(pair, pattern(kPayload, 1)); });

  const auto bytes = pattern(static_cast<std::size_t>(std::clamp(2 * byte_per_s, 250e3, 50e6)), 1);
  const double used_before = cpu_seconds();
  const double long_s = transfer_seconds(pair, bytes);
  result.cores = (cpu_seconds() - used_before) / long_s;
  result.goodput_mbit_per_s = static_cast<double>(bytes.size()) * 8e-6 / (long_s - profile.delay_ms * 1e-3);
  return result;
}

double deviation(double measured, double ideal) {
  return (measured - ideal) / ideal;
}

}  // namespace

TEST_CASE("round trips, goodput and transfers are what the profile says", "[.timing]") {
  const Profile profile = GENERATE(Profile{1, 500}, Profile{10, 50}, Profile{50, 5}, Profile{200, 500});
  const auto result = measure(profile, 5);
  CAPTURE(profile.delay_ms, profile.rate_mbit_per_s);
  CHECK(std::abs(result.rtt_ms - result.ideal_rtt_ms) <= std::max(1.0, 0.05 * result.ideal_rtt_ms));
  CHECK(std::abs(deviation(result.goodput_mbit_per_s, profile.rate_mbit_per_s)) <= 0.05);
  CHECK(std::abs(result.transfer_ms - result.ideal_transfer_ms) <= std::max(1.0, 0.05 * result.ideal_transfer_ms));
}

TEST_CASE("the accuracy over the grid of delays and rates, as a table", "[.bench]") {
  fmt::print("{:>8} {:>8} | {:>9} {:>9} {:>7} | {:>9} {:>7} | {:>10} {:>10} {:>7} | {:>5}\n", "delay", "rate", "RTT",
             "ideal", "error", "goodput", "error", "100 kB", "d + B/r", "error", "cores");
  for (const double delay_ms : {1.0, 10.0, 50.0, 200.0}) {
    for (const double rate : {1.0, 5.0, 50.0, 500.0}) {
      const auto result = measure({delay_ms, rate}, delay_ms < 100 ? 9 : 5);
      fmt::print(
          "{:>5} ms {:>3} Mb/s | {:>6.2f} ms {:>6.2f} ms {:>+6.2f}% | {:>9.3f} {:>+6.2f}% | {:>7.2f} ms {:>7.2f} ms "
          "{:>+6.2f}% | {:>5.2f}\n",
          delay_ms, rate, result.rtt_ms, result.ideal_rtt_ms, 100 * deviation(result.rtt_ms, result.ideal_rtt_ms),
          result.goodput_mbit_per_s, 100 * deviation(result.goodput_mbit_per_s, rate), result.transfer_ms,
          result.ideal_transfer_ms, 100 * deviation(result.transfer_ms, result.ideal_transfer_ms), result.cores);
      std::fflush(stdout);
    }
  }
}
