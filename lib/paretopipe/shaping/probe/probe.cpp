#include <paretopipe/core/error.hpp>
#include <paretopipe/core/units.hpp>
#include <paretopipe/launch/interrupt.hpp>
#include <paretopipe/shaping/probe/probe.hpp>

#include <array>
#include <cmath>
#include <span>
#include <string_view>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <fmt/format.h>

#include "probe_stream.hpp"

namespace paretopipe::shaping {

namespace {

constexpr Nanoseconds kPatienceForEvent = std::chrono::seconds(30);
constexpr const char* kLink = "a link";  // the peer's name in errors

/// Waits until one of the descriptors is ready for its requested events.
void wait_for(std::span<pollfd> events, int interrupt_descriptor) {
  if (launch::poll_interruptibly(events, Clock::now() + kPatienceForEvent, interrupt_descriptor, "probe a link") > 0)
    return;
  throw EnvironmentError("probe a link: it delivered nothing for 30 s");
}

/// Returns 0 if nothing is there yet.
std::int64_t receive_some(ProbeStream& stream, std::span<char> into) {
  const auto got = stream.try_receive(into.data(), into.size());
  if (got == 0) stream.fail("the other end closed it");
  return std::max<std::int64_t>(got, 0);
}

void carry_one_byte(OneWay way, int interrupt_descriptor) {
  ProbeStream from(way.from, kLink), to(way.to, kLink);
  std::array byte{'\0'};
  std::array writable{pollfd{way.from, POLLOUT, 0}};
  while (from.try_send({byte.data(), 1}) == 0) wait_for(writable, interrupt_descriptor);
  std::array readable{pollfd{way.to, POLLIN, 0}};
  while (receive_some(to, byte) == 0) wait_for(readable, interrupt_descriptor);
}

std::vector<Nanoseconds> round_trips(OneWay forward, OneWay backward, const ProbeOptions& options) {
  return time_round_trips(std::max(1, options.round_trips), Clock::time_point::max(), [&] {
    carry_one_byte(forward, options.interrupt_descriptor);
    carry_one_byte(backward, options.interrupt_descriptor);
  });
}

/// Sets a TCP option of a socket for its lifetime. Sockets of other kinds have no such options and need none.
class TcpOption {
 public:
  TcpOption(int socket, int option, const void* value, socklen_t size) : socket_(socket), option_(option) {
    size_ = former_.size();
    tcp_ = ::getsockopt(socket_, IPPROTO_TCP, option_, former_.data(), &size_) == 0;
    if (tcp_) ::setsockopt(socket_, IPPROTO_TCP, option_, value, size);
  }
  ~TcpOption() {
    if (tcp_) ::setsockopt(socket_, IPPROTO_TCP, option_, former_.data(), size_);
  }
  TcpOption(const TcpOption&) = delete;
  TcpOption& operator=(const TcpOption&) = delete;

 private:
  int socket_;
  int option_;
  bool tcp_ = false;
  alignas(int) std::array<char, 32> former_{};
  socklen_t size_ = 0;
};

struct Arrival {
  Clock::duration at;  ///< since the transfer began
  std::int64_t bytes;  ///< in total
};

/// Sends for settling + measuring, or `most_bytes`, and receives all of it. One thread does both, so neither end waits
/// while the other could proceed.
std::vector<Arrival> transfer(OneWay way, const ProbeOptions& options, std::int64_t most_in_flight) {
  // Little data waits unsent in the socket, so that a slow link is soon empty when a transfer ends.
  constexpr int kUnsentBytes = 256 * 1024;
  constexpr std::string_view kReno = "reno";
  const TcpOption unsent(way.from, TCP_NOTSENT_LOWAT, &kUnsentBytes, sizeof kUnsentBytes);
  const TcpOption congestion(way.from, TCP_CONGESTION, kReno.data(), kReno.size());
  ProbeStream from(way.from, kLink), to(way.to, kLink);
  std::vector<char> buffer(256 * 1024);
  const std::vector<char> zeros(buffer.size());
  const std::string_view data(zeros.data(), zeros.size());
  std::vector<Arrival> arrivals;
  std::int64_t sent = 0;
  std::int64_t received = 0;
  const auto begin = Clock::now();
  for (;;) {
    const bool sending = sent < options.most_bytes && Clock::now() - begin < options.settling + options.measuring;
    if (!sending && received == sent) return arrivals;
    const auto credit = most_in_flight - (sent - received);
    std::array events{pollfd{way.to, POLLIN, 0}, pollfd{way.from, POLLOUT, 0}};
    wait_for(std::span(events).first(sending && credit > 0 ? 2 : 1), options.interrupt_descriptor);
    if (events[1].revents != 0) sent += from.try_send(data.substr(0, static_cast<std::size_t>(credit)));
    if (events[0].revents == 0) continue;
    if (const auto got = receive_some(to, buffer); got > 0) {
      received += got;
      arrivals.push_back({Clock::now() - begin, received});
    }
  }
}

double goodput(OneWay way, const ProbeOptions& options, std::int64_t most_in_flight) {
  const auto duration = options.settling + options.measuring;
  const auto arrivals = transfer(way, options, most_in_flight);
  // Data that arrive after the last byte was sent come from the end of a queue, at the same rate. They may count, but
  // need not.
  const auto total = arrivals.empty() ? 0 : arrivals.back().bytes;
  const bool cut_short = total >= options.most_bytes;
  const auto settled = [&](const Arrival& arrival) {
    return cut_short ? arrival.bytes >= total / 2 : arrival.at >= options.settling;
  };
  const auto begin = std::find_if(arrivals.begin(), arrivals.end(), settled);
  const auto late = [&](const Arrival& arrival) { return arrival.at > duration; };
  auto end = std::find_if(begin, arrivals.end(), late);
  if (end - begin < 2) end = arrivals.end();
  if (end - begin < 2) throw EnvironmentError("probe a link: too little arrived to tell its rate; measure longer");
  const auto last = end - 1;
  return static_cast<double>(last->bytes - begin->bytes) * 8 /
         std::chrono::duration<double>(last->at - begin->at).count();
}

}  // namespace

Probe probe_link(OneWay forward, OneWay backward, const ProbeOptions& options) {
  const auto durations = round_trips(forward, backward, options);
  Probe probe;
  probe.round_trip_min = durations.front();
  probe.round_trip_median = durations[durations.size() / 2];
  probe.forward_bit_per_s = goodput(forward, options, options.forward_in_flight);
  probe.backward_bit_per_s = goodput(backward, options, options.backward_in_flight);
  return probe;
}

namespace {

using namespace std::chrono_literals;
using Seconds = std::chrono::duration<double>;

constexpr std::int64_t kPingFrameBytes = 67;  // one byte, and the headers of TCP, IP and Ethernet

Nanoseconds time_at(double bytes, std::int64_t rate_bit_per_s) {
  return std::chrono::duration_cast<Nanoseconds>(Seconds(bytes * 8 / static_cast<double>(rate_bit_per_s)));
}

/// The bytes that fill one direction and half of its queue. The way back is not counted: data that have arrived are no
/// longer in flight, though their acknowledgement is.
std::int64_t most_in_flight(const experiment::LinkConditions& conditions) {
  if (!conditions.rate_bit_per_s) return std::numeric_limits<std::int64_t>::max();
  const auto queued = conditions.queue_latency.value_or(default_queue_latency(conditions)) / 2;
  const auto bytes = Seconds(conditions.delay + 4 * conditions.jitter + queued).count() *
                     static_cast<double>(*conditions.rate_bit_per_s) / 8;
  return std::max(8 * kSegmentBytes, static_cast<std::int64_t>(bytes));
}

std::optional<double> expected_goodput(const experiment::LinkConditions& conditions, double payload_share) {
  if (!conditions.rate_bit_per_s || conditions.loss > 0 || conditions.duplicate > 0 || conditions.reorder > 0)
    return std::nullopt;
  return static_cast<double>(*conditions.rate_bit_per_s) * payload_share;
}

std::string rate_text(double bit_per_s) {
  return bit_per_s < 1e9 ? fmt::format("{:.4g} Mbit/s", bit_per_s / 1e6)
                         : fmt::format("{:.4g} Gbit/s", bit_per_s / 1e9);
}

void judge_goodput(const char* direction, const std::optional<double>& expected, double measured,
                   std::vector<std::string>& sentences) {
  if (!expected || std::abs(measured - *expected) <= kTolerance * *expected) return;
  sentences.push_back(fmt::format("{}: a long transfer reached {}, where {} (within 5 %) were to be expected",
                                  direction, rate_text(measured), rate_text(*expected)));
}

}  // namespace

ProbeOptions probe_options(const experiment::NetworkProfile& profile) {
  ProbeOptions options;
  const auto round_trip = profile.forward.delay + profile.backward.delay;
  for (const auto* conditions : {&profile.forward, &profile.backward}) {
    if (!conditions->rate_bit_per_s) continue;
    const auto rate = *conditions->rate_bit_per_s;
    const double segments =
        Seconds(round_trip).count() * static_cast<double>(rate) / 8 / static_cast<double>(kFrameBytes);
    const auto rounds = static_cast<int>(std::ceil(std::log2(std::max(1.0, segments / 10)))) + 4;
    options.settling = std::max<Nanoseconds>(options.settling, 200ms + rounds * round_trip);
    options.measuring =
        std::max<Nanoseconds>({options.measuring, 500ms, 4 * round_trip, time_at(50.0 * kFrameBytes, rate)});
  }
  options.forward_in_flight = most_in_flight(profile.forward);
  options.backward_in_flight = most_in_flight(profile.backward);
  if (round_trip > 0ns) options.round_trips = static_cast<int>(std::clamp<std::int64_t>(2s / round_trip, 7, 30));
  return options;
}

Expectation expectation(const experiment::NetworkProfile& profile, double payload_share) {
  Expectation expected;
  expected.round_trip_least = profile.forward.delay + profile.backward.delay;
  expected.round_trip_most = expected.round_trip_least;
  for (const auto* conditions : {&profile.forward, &profile.backward}) {
    if (conditions->rate_bit_per_s) expected.round_trip_most += time_at(kPingFrameBytes, *conditions->rate_bit_per_s);
  }
  expected.forward_bit_per_s = expected_goodput(profile.forward, payload_share);
  expected.backward_bit_per_s = expected_goodput(profile.backward, payload_share);
  return expected;
}

std::vector<std::string> judge(const experiment::NetworkProfile& profile, const Probe& probe, double payload_share) {
  const auto expected = expectation(profile, payload_share);
  const auto& [forward, backward] = std::pair(profile.forward, profile.backward);
  const auto jitter = forward.jitter + backward.jitter;
  const bool scattered = jitter > 0ns || forward.reorder > 0 || backward.reorder > 0;
  const auto measured = scattered ? probe.round_trip_median : probe.round_trip_min;
  const auto tolerance = tolerance_of(expected.round_trip_most) + jitter;

  std::vector<std::string> sentences;
  if (measured < expected.round_trip_least - tolerance || measured > expected.round_trip_most + tolerance) {
    const auto text = [](Nanoseconds time) { return format_duration(static_cast<double>(time.count())); };
    sentences.push_back(fmt::format("the {} round trip is {}, where {} (within {}) were to be expected",
                                    scattered ? "median" : "smallest", text(measured), text(expected.round_trip_most),
                                    text(tolerance)));
  }
  judge_goodput("forward", expected.forward_bit_per_s, probe.forward_bit_per_s, sentences);
  judge_goodput("backward", expected.backward_bit_per_s, probe.backward_bit_per_s, sentences);
  return sentences;
}

}  // namespace paretopipe::shaping
