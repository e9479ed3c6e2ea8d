#pragma once
#include <paretopipe/core/clock.hpp>
#include <paretopipe/shaping/probe/remote_probe.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Internal to the remote probe: what both of its ends do with their connection.
namespace paretopipe::shaping {

/// The version of what follows; it is in the token of the greeting, too.
constexpr int kProbeVersion = 1;
constexpr std::uint64_t kProbeToken = 0x70726f6265000000 + kProbeVersion;  // "probe"

//  prober                                    server
//  greeting of wire/, with kProbeToken  ->
//                                       <-   "paretopipe-probe 1\n"
//  {"settling_ns": …, "measuring_ns": …}\n ->
//  kPing                                ->   (any number of times)
//                                       <-   kPing
//  kTransfer, bytes, end of stream      ->
//                                       <-   {"bit_per_s": …}\n (or {} if too little arrived), bytes, end of stream
constexpr char kPing = 'p';
constexpr char kTransfer = 't';

/// A connected socket, borrowed, on which nothing waits for ever. Every function throws EnvironmentError, which begins
/// with "probe <peer>: ", for a connection that is lost, that ends early, or on which nothing moves for too long.
class ProbeStream {
 public:
  ProbeStream(int socket, std::string peer) : socket_(socket), peer_(std::move(peer)) {}

  void send(std::string_view bytes);
  char receive_byte();

  /// Without the newline. `patience`: for the whole line. A longer line than `most` is an error.
  std::string receive_line(std::size_t most, Nanoseconds patience);

  /// Sends for so long, whatever the network takes, and ends the stream in this direction.
  void send_for(Nanoseconds duration);

  /// Receives to the end of the stream, or until long after the meter's interest is over.
  std::optional<double> receive_transfer(Nanoseconds settling, Nanoseconds measuring);

  [[noreturn]] void fail(const std::string& reason) const;

 private:
  /// `events`: of poll(2).
  void wait(short events, Clock::time_point deadline);
  /// 0 at the end of the stream, -1 if nothing is there yet.
  std::int64_t try_receive(char* bytes, std::size_t size);
  /// 0 if nothing can be sent yet.
  std::size_t try_send(std::string_view bytes);

  int socket_;
  std::string peer_;
};

}  // namespace paretopipe::shaping
