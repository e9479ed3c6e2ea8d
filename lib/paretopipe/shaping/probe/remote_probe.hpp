#pragma once
#include <paretopipe/core/clock.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

namespace paretopipe::shaping {

/// An address to listen on or to connect to.
struct Endpoint {
  std::string host;
  std::uint16_t port = 0;
};

/// "192.168.1.7:5000", "[::1]:5000", "raspberry.local:5000". Throws UsageError.
Endpoint parse_endpoint(const std::string& text);

// Measures a real network between two hosts over TCP, as people do by hand with ping and iperf. One host serves, the
// other probes. (probe.hpp is for links with both ends here.)

struct RemoteProbeOptions {
  int round_trips = 50;
  Nanoseconds settling{std::chrono::milliseconds(1000)};   ///< of a transfer, until TCP's slow start is over; dropped
  Nanoseconds measuring{std::chrono::milliseconds(2000)};  ///< of a transfer, after that
  std::function<void(const std::string&)> progress{};      ///< told what is being measured; may be empty
};

/// The longest settling + measuring that a server agrees to.
constexpr Nanoseconds kLongestTransfer{std::chrono::seconds(60)};

struct RemoteProbe {
  int round_trips = 0;
  Nanoseconds round_trip_min{0};
  Nanoseconds round_trip_median{0};
  Nanoseconds round_trip_deviation{0};  ///< standard deviation
  double forward_bit_per_s = 0;         ///< goodput from here to there: payload that arrived
  double backward_bit_per_s = 0;

  bool operator==(const RemoteProbe&) const = default;
};

void to_json(nlohmann::json& json, const RemoteProbe& probe);

/// Measures the network to a ProbeServer: small messages forth and back with nothing else under way, then a long
/// transfer in each direction. Blocks for about round_trips round trips (at most 5 s of them) and twice settling +
/// measuring. Gives up on a server that is silent for 10 s. Throws EnvironmentError if the server cannot be reached
/// within 5 s, if it is not one, and if the connection is lost.
RemoteProbe probe_host(const Endpoint& server, const RemoteProbeOptions& options);

/// A profile file (configs/networks/README.md) that reproduces what the probe found. The delay of each direction is
/// half the median round trip. Its jitter is the round trip's standard deviation / sqrt(2), because the variances of
/// two directions add up. Its rate is the goodput plus headers. Rates and delays beyond the limits of a profile are cut
/// to them.
nlohmann::json suggest_profile(const RemoteProbe& probe, const std::string& description);

/// The other end of a probe.
class ProbeServer {
 public:
  /// Throws EnvironmentError if it cannot listen at the address. Port 0 lets the kernel choose.
  explicit ProbeServer(const Endpoint& address);
  ~ProbeServer();
  ProbeServer(const ProbeServer&) = delete;
  ProbeServer& operator=(const ProbeServer&) = delete;

  /// "127.0.0.1:5000", with the port actually bound.
  const std::string& name() const;

  /// Waits for a prober, for ever, and serves it. Turns strangers away. Returns the prober's address; throws
  /// EnvironmentError if the probe ends prematurely.
  std::string serve_one();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The goodput of a transfer from the arrivals of its bytes, without those before it settled and after its end.
class GoodputMeter {
 public:
  GoodputMeter(Nanoseconds settling, Nanoseconds measuring) : settling_(settling), measuring_(measuring) {}

  /// Adds `bytes` that arrived at the time `at`, which never goes back.
  void add(Nanoseconds at, std::int64_t bytes);

  /// None if too little arrived to tell.
  std::optional<double> bit_per_s() const;

 private:
  struct Arrival {
    Nanoseconds at;
    std::int64_t total;
  };

  Nanoseconds settling_;
  Nanoseconds measuring_;
  std::int64_t total_ = 0;
  std::optional<Nanoseconds> start_;
  std::optional<Arrival> first_;
  std::optional<Arrival> last_;
};

}  // namespace paretopipe::shaping
