#pragma once
#include <paretopipe/core/clock.hpp>
#include <paretopipe/shaping/probe/remote_probe.hpp>
#include <paretopipe/wire/handshake.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Internal to the probes: what their ends have in common, and the protocol of the remote one.
namespace paretopipe::shaping {

constexpr int kProbeVersion = 2;

/// Everybody knows the key of probes. It keeps accidents out, and proves nothing.
inline wire::LinkSecurity probe_security() {
  return {.key = {}, .purpose = "probe"};
}

//  prober                                    server
//  the handshake of wire/, with probe_security
//                                       <-   "paretopipe-probe 2\n"
//  {"settling_ns": …, "measuring_ns": …}\n ->
//  kPing                                ->   (any number of times)
//                                       <-   kPing
//  kTransfer, bytes, end of stream      ->
//                                       <-   {"bit_per_s": …}\n (or {} if too little arrived), bytes, end of stream
constexpr char kPing = 'p';
constexpr char kTransfer = 't';

/// A connected socket, borrowed, on which nothing waits for ever. Every function throws EnvironmentError, beginning
/// with "probe <peer>: ", for a connection that is lost, ends early, or makes no progress for too long.
class ProbeStream {
 public:
  ProbeStream(int socket, std::string peer) : socket_(socket), peer_(std::move(peer)) {}

  void send(std::string_view bytes);
  char receive_byte();

  /// Returns the line without its newline. `patience`: for the whole line. A line longer than `most` is an error.
  std::string receive_line(std::size_t most, Nanoseconds patience);

  /// Sends for this time as fast as the network allows, and ends the stream in this direction.
  void send_for(Nanoseconds duration);

  /// Receives until the end of the stream, or until long after the meter is finished.
  std::optional<double> receive_transfer(Nanoseconds settling, Nanoseconds measuring);

  // Without waiting: how much was received (0 at the end of the stream, -1 if nothing is there yet) or sent.
  std::int64_t try_receive(char* bytes, std::size_t size);
  std::int64_t try_send(std::string_view bytes);

  [[noreturn]] void fail(const std::string& reason) const;

 private:
  /// `events`: of poll(2).
  void wait(short events, Clock::time_point deadline);
  char receive_byte(Clock::time_point deadline);

  int socket_;
  std::string peer_;
};

/// The sorted durations of `count` round trips. Once there are five, none begins after `give_up`.
template <class RoundTrip>
std::vector<Nanoseconds> time_round_trips(int count, Clock::time_point give_up, RoundTrip make) {
  std::vector<Nanoseconds> durations;
  for (int index = 0; index <= count; ++index) {
    const auto begin = Clock::now();
    if (index > 5 && begin > give_up) break;
    make();
    if (index > 0) durations.push_back(Clock::now() - begin);  // the first one finds everything cold
  }
  std::sort(durations.begin(), durations.end());
  return durations;
}

}  // namespace paretopipe::shaping
