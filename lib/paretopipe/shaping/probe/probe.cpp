#include <paretopipe/core/error.hpp>
#include <paretopipe/launch/interrupt.hpp>
#include <paretopipe/shaping/probe/probe.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <string_view>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

namespace paretopipe::shaping {
namespace {

constexpr Nanoseconds kPatienceForEvent = std::chrono::seconds(30);
constexpr const char* kAttempt = "probe a link";

/// Waits until one of the descriptors is ready for its requested events.
void wait_for(std::span<pollfd> events, int interrupt_descriptor) {
  if (launch::poll_interruptibly(events, Clock::now() + kPatienceForEvent, interrupt_descriptor, kAttempt) > 0) return;
  throw EnvironmentError("probe a link: it delivered nothing for 30 s");
}

/// The number of bytes sent; 0 if none can be sent right now.
std::int64_t try_send(int socket, const std::vector<char>& data, std::int64_t most) {
  const auto size = std::min(most, static_cast<std::int64_t>(data.size()));
  const auto sent = ::send(socket, data.data(), static_cast<std::size_t>(size), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent >= 0) return sent;
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return 0;
  throw system_error("probe a link: send", errno);
}

std::int64_t try_receive(int socket, std::vector<char>& buffer) {
  const auto got = ::recv(socket, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got > 0) return got;
  if (got == 0) throw EnvironmentError("probe a link: the other end closed it");
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return 0;
  throw system_error("probe a link: receive", errno);
}

void carry_one_byte(OneWay way, int interrupt_descriptor) {
  std::vector<char> byte(1);
  std::array writable{pollfd{way.from, POLLOUT, 0}};
  while (try_send(way.from, byte, 1) == 0) wait_for(writable, interrupt_descriptor);
  std::array readable{pollfd{way.to, POLLIN, 0}};
  while (try_receive(way.to, byte) == 0) wait_for(readable, interrupt_descriptor);
}

std::vector<Nanoseconds> round_trips(OneWay forward, OneWay backward, const ProbeOptions& options) {
  std::vector<Nanoseconds> durations;
  const int count = std::max(1, options.round_trips);
  for (int index = 0; index <= count; ++index) {
    const auto begin = Clock::now();
    carry_one_byte(forward, options.interrupt_descriptor);
    carry_one_byte(backward, options.interrupt_descriptor);
    if (index > 0) durations.push_back(Clock::now() - begin);  // the first one finds everything cold
  }
  std::sort(durations.begin(), durations.end());
  return durations;
}

/// Sets an option of TCP for its lifetime; other sockets have no such options and need none.
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

/// Sends for settling + measuring, or `most_bytes`, and receives all of it. One thread does both: neither end waits
/// while the other could proceed.
std::vector<Arrival> transfer(OneWay way, const ProbeOptions& options, std::int64_t most_in_flight) {
  // Little data waits unsent in the socket, so that a slow link is soon empty when a transfer ends.
  constexpr int kUnsentBytes = 256 * 1024;
  constexpr std::string_view kReno = "reno";
  const TcpOption unsent(way.from, TCP_NOTSENT_LOWAT, &kUnsentBytes, sizeof kUnsentBytes);
  const TcpOption congestion(way.from, TCP_CONGESTION, kReno.data(), kReno.size());
  std::vector<char> data(256 * 1024);
  std::vector<char> buffer(256 * 1024);
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
    if (events[1].revents != 0) sent += try_send(way.from, data, credit);
    if (events[0].revents == 0) continue;
    if (const auto got = try_receive(way.to, buffer); got > 0) {
      received += got;
      arrivals.push_back({Clock::now() - begin, received});
    }
  }
}

double goodput(OneWay way, const ProbeOptions& options, std::int64_t most_in_flight) {
  const auto duration = options.settling + options.measuring;
  const auto arrivals = transfer(way, options, most_in_flight);
  // Data that arrive after the last byte was sent are the end of a queue, at the same rate: they may count, but need
  // not.
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

}  // namespace paretopipe::shaping
