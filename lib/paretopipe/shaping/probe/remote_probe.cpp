#include <paretopipe/core/error.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/core/units.hpp>
#include <paretopipe/shaping/probe/probe.hpp>
#include <paretopipe/shaping/probe/remote_probe.hpp>
#include <paretopipe/wire/rendezvous.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "probe_stream.hpp"

namespace paretopipe::shaping {

Endpoint parse_endpoint(const std::string& text) {
  const auto colon = text.rfind(':');
  auto host = text.substr(0, colon == std::string::npos ? 0 : colon);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string::npos) {
    host.clear();  // an IPv6 address whose end is ambiguous
  }
  const auto port = colon == std::string::npos ? std::string() : text.substr(colon + 1);
  const auto number = parse_number<std::uint16_t>(port);
  if (host.empty() || !number) {
    throw UsageError(
        fmt::format("\"{}\" is not an address with a port; write it like 192.168.1.7:5000 or [::1]:5000", text));
  }
  return {host, *number};
}

namespace {

using namespace std::chrono_literals;

constexpr Nanoseconds kReachable = 5s;
constexpr Nanoseconds kLongestPinging = 5s;
constexpr std::size_t kLongestLine = 200;

std::string printable(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

/// Recognises a stranger's port by its first words, or by its silence.
void expect_server(ProbeStream& stream) {
  constexpr const char* kAdvice =
      "is it `paretopipe net probe --listen` of the same release that runs there? Check the port";
  std::string line;
  try {
    line = stream.receive_line(kLongestLine, kReachable);
  } catch (const EnvironmentError&) {
    stream.fail(fmt::format("somebody is there, but does not answer like a probe; {}", kAdvice));
  }
  const std::string expected = "paretopipe-probe ";
  if (!line.starts_with(expected)) {
    stream.fail(fmt::format("somebody else is there, who says \"{}\"; {}", printable(line.substr(0, 60)), kAdvice));
  }
  if (line != expected + std::to_string(kProbeVersion)) {
    stream.fail(fmt::format("the other side speaks version {} of the probe, this one speaks {}; {}",
                            printable(line.substr(expected.size())), kProbeVersion, kAdvice));
  }
}

/// At least five, and no more than fit into five seconds.
std::vector<Nanoseconds> round_trips(ProbeStream& stream, int count) {
  return time_round_trips(count, Clock::now() + kLongestPinging, [&] {
    stream.send(std::string_view(&kPing, 1));
    if (stream.receive_byte() != kPing) stream.fail("the other side sent something that is not a probe's");
  });
}

double forward_goodput(ProbeStream& stream, const RemoteProbeOptions& options) {
  stream.send(std::string_view(&kTransfer, 1));
  stream.send_for(options.settling + options.measuring);
  const auto line = stream.receive_line(kLongestLine, 30s);
  const auto answer = nlohmann::json::parse(line, nullptr, false);
  if (!answer.is_object()) stream.fail("the other side sent something that is not a probe's");
  const auto found = answer.find("bit_per_s");
  if (found == answer.end() || !found->is_number()) stream.fail("too little arrived to tell a rate; measure longer");
  return found->get<double>();
}

double backward_goodput(ProbeStream& stream, const RemoteProbeOptions& options) {
  const auto measured = stream.receive_transfer(options.settling, options.measuring);
  if (!measured) stream.fail("too little arrived to tell a rate; measure longer");
  return *measured;
}

void note_round_trips(const std::vector<Nanoseconds>& sorted, RemoteProbe& probe) {
  probe.round_trips = static_cast<int>(sorted.size());
  probe.round_trip_min = sorted.front();
  probe.round_trip_median = sorted[sorted.size() / 2];
  const auto mean = static_cast<double>(std::accumulate(sorted.begin(), sorted.end(), Nanoseconds(0)).count()) /
                    static_cast<double>(sorted.size());
  double squares = 0;
  for (const auto duration : sorted) squares += std::pow(static_cast<double>(duration.count()) - mean, 2);
  probe.round_trip_deviation = Nanoseconds(std::llround(std::sqrt(squares / static_cast<double>(sorted.size() - 1))));
}

/// In whole microseconds, as tc stores them.
std::string time_text(Nanoseconds time) {
  return fmt::format("{:.6g} ms", std::round(static_cast<double>(time.count()) / 1e3) / 1e3);
}

nlohmann::json suggest_direction(const RemoteProbe& probe, double goodput_bit_per_s) {
  auto direction = nlohmann::json::object();
  const auto delay = std::min<Nanoseconds>(probe.round_trip_median / 2, 60s);
  const auto scatter = std::llround(static_cast<double>(probe.round_trip_deviation.count()) / std::sqrt(2.0));
  const auto jitter = std::min(Nanoseconds(scatter), delay);
  if (delay >= 1us) direction["delay"] = time_text(delay);
  if (delay >= 1us && jitter >= 1us) {
    direction["jitter"] = time_text(jitter);
    direction["distribution"] = "normal";
  }
  const double rate = std::clamp(goodput_bit_per_s / kTcpPayloadShare, 1e4, 1e11);
  const double step = std::pow(10, std::floor(std::log10(rate)) - 3);  // four digits, more than is known
  direction["rate"] = format_rate(std::llround(std::round(rate / step) * step));
  return direction;
}

}  // namespace

void to_json(nlohmann::json& json, const RemoteProbe& probe) {
  json = {{"round_trips", probe.round_trips},
          {"round_trip_min_ns", probe.round_trip_min.count()},
          {"round_trip_median_ns", probe.round_trip_median.count()},
          {"round_trip_standard_deviation_ns", probe.round_trip_deviation.count()},
          {"forward_bit_per_s", probe.forward_bit_per_s},
          {"backward_bit_per_s", probe.backward_bit_per_s}};
}

RemoteProbe probe_host(const Endpoint& server, const RemoteProbeOptions& options) {
  const auto tell = [&](const std::string& what) {
    if (options.progress) options.progress(what);
  };
  const auto link = wire::connect_peer(server.host, server.port, probe_security(), Clock::now() + kReachable);
  ProbeStream stream(link.native_handle(), link.peer_name());
  expect_server(stream);
  stream.send(
      nlohmann::json{{"settling_ns", options.settling.count()}, {"measuring_ns", options.measuring.count()}}.dump() +
      "\n");
  RemoteProbe probe;
  tell("round trips");
  note_round_trips(round_trips(stream, std::max(5, options.round_trips)), probe);
  tell("the rate from here to there");
  probe.forward_bit_per_s = forward_goodput(stream, options);
  tell("the rate from there to here");
  probe.backward_bit_per_s = backward_goodput(stream, options);
  return probe;
}

nlohmann::json suggest_profile(const RemoteProbe& probe, const std::string& description) {
  return {{"description", description},
          {"forward", suggest_direction(probe, probe.forward_bit_per_s)},
          {"backward", suggest_direction(probe, probe.backward_bit_per_s)}};
}

void GoodputMeter::add(Nanoseconds at, std::int64_t bytes) {
  if (!start_) start_ = at;
  total_ += bytes;
  const auto since = at - *start_;
  if (since < settling_) return;
  const Arrival arrival{at, total_};
  if (!first_) {
    first_ = arrival;
  } else if (since <= settling_ + measuring_) {
    last_ = arrival;
  }
}

std::optional<double> GoodputMeter::bit_per_s() const {
  if (!first_ || !last_ || last_->at <= first_->at) return std::nullopt;
  return static_cast<double>(last_->total - first_->total) * 8 /
         std::chrono::duration<double>(last_->at - first_->at).count();
}

}  // namespace paretopipe::shaping
