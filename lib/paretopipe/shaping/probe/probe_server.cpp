#include <paretopipe/core/error.hpp>
#include <paretopipe/shaping/probe/remote_probe.hpp>
#include <paretopipe/wire/rendezvous.hpp>

#include <fmt/format.h>

#include "probe_stream.hpp"

namespace paretopipe::shaping {
namespace {

constexpr std::size_t kLongestRequest = 200;
constexpr Nanoseconds kPatienceForRequest{std::chrono::seconds(10)};

struct Request {
  Nanoseconds settling;
  Nanoseconds measuring;
};

/// A stranger's request must be within bounds, or it is refused.
Request receive_request(ProbeStream& stream) {
  const auto line = stream.receive_line(kLongestRequest, kPatienceForRequest);
  try {
    const auto json = nlohmann::json::parse(line);
    const Request request{Nanoseconds(json.at("settling_ns").get<std::int64_t>()),
                          Nanoseconds(json.at("measuring_ns").get<std::int64_t>())};
    const auto in_bounds = [](Nanoseconds time) { return time >= Nanoseconds(0) && time <= kLongestTransfer; };
    if (in_bounds(request.settling) && in_bounds(request.measuring) &&
        request.settling + request.measuring <= kLongestTransfer) {
      return request;
    }
  } catch (const nlohmann::json::exception&) {  // refused below
  }
  stream.fail("it asked for what is no probe's");
}

void answer_pings(ProbeStream& stream) {
  for (;;) {
    const char byte = stream.receive_byte();
    if (byte == kTransfer) return;
    if (byte != kPing) stream.fail("it sent something that is no probe's");
    stream.send(std::string_view(&byte, 1));
  }
}

void serve(ProbeStream& stream) {
  stream.send(fmt::format("paretopipe-probe {}\n", kProbeVersion));
  const auto request = receive_request(stream);
  answer_pings(stream);
  const auto forward = stream.receive_transfer(request.settling, request.measuring);
  auto answer = nlohmann::json::object();
  if (forward) answer["bit_per_s"] = *forward;
  stream.send(answer.dump() + "\n");
  stream.send_for(request.settling + request.measuring);
}

}  // namespace

struct ProbeServer::Impl {
  wire::Listener listener;
};

ProbeServer::ProbeServer(const Endpoint& address)
    : impl_(std::make_unique<Impl>(Impl{wire::Listener(address.host, address.port)})) {}

ProbeServer::~ProbeServer() = default;

const std::string& ProbeServer::name() const {
  return impl_->listener.name();
}

std::string ProbeServer::serve_one() {
  const auto link = wire::accept_peer(impl_->listener, kProbeToken, Clock::time_point::max());
  ProbeStream stream(link.native_handle(), link.peer_name());
  serve(stream);
  return link.peer_name();
}

}  // namespace paretopipe::shaping
