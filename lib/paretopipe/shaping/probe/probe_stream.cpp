#include "probe_stream.hpp"

#include <paretopipe/core/error.hpp>
#include <paretopipe/core/file_descriptor.hpp>
#include <paretopipe/wire/rendezvous.hpp>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <vector>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <fmt/format.h>

namespace paretopipe::shaping {

namespace {

using namespace std::chrono_literals;

constexpr Nanoseconds kPatienceForBytes = 10s;
constexpr std::size_t kPieceBytes = 256 * 1024;
/// Little data waits unsent in the socket, so that a slow network is soon empty when a transfer ends.
constexpr int kUnsentBytes = 64 * 1024;
/// The extra time of a transfer, until the queues on its way are empty.
constexpr Nanoseconds kDraining = 20s;

std::string reason_of(int error_number) {
  return std::generic_category().message(error_number);
}

bool must_wait(int error_number) {
  return error_number == EAGAIN || error_number == EWOULDBLOCK || error_number == EINTR;
}

}  // namespace

void ProbeStream::fail(const std::string& reason) const {
  throw EnvironmentError(fmt::format("probe {}: {}", peer_, reason));
}

void ProbeStream::wait(short events, Clock::time_point deadline) {
  pollfd event{socket_, events, 0};
  while (Clock::now() < deadline) {
    const int ready = ::poll(&event, 1, poll_timeout(deadline));
    if (ready > 0) return;
    if (ready < 0 && errno != EINTR) fail(reason_of(errno));
  }
  fail("nothing moved for too long; check that the network between the two hosts is up");
}

std::int64_t ProbeStream::try_receive(char* bytes, std::size_t size) {
  const auto got = ::recv(socket_, bytes, size, MSG_DONTWAIT);
  if (got < 0 && !must_wait(errno)) fail("receive: " + reason_of(errno));
  return got;
}

std::int64_t ProbeStream::try_send(std::string_view bytes) {
  const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0 && !must_wait(errno)) fail("send: " + reason_of(errno));
  return std::max<std::int64_t>(sent, 0);
}

void ProbeStream::send(std::string_view bytes) {
  const auto deadline = Clock::now() + kPatienceForBytes;
  while (!bytes.empty()) {
    wait(POLLOUT, deadline);
    bytes.remove_prefix(static_cast<std::size_t>(try_send(bytes)));
  }
}

char ProbeStream::receive_byte() {
  return receive_byte(Clock::now() + kPatienceForBytes);
}

char ProbeStream::receive_byte(Clock::time_point deadline) {
  for (;;) {
    wait(POLLIN, deadline);
    char byte = 0;
    const auto got = try_receive(&byte, 1);
    if (got == 0) fail("the other side ended the connection too early");
    if (got > 0) return byte;
  }
}

std::string ProbeStream::receive_line(std::size_t most, Nanoseconds patience) {
  const auto deadline = Clock::now() + patience;
  std::string line;
  // Byte by byte, because the data behind the line are not text.
  for (char byte = receive_byte(deadline); byte != '\n'; byte = receive_byte(deadline)) {
    line.push_back(byte);
    if (line.size() > most) fail("the other side sent something that is not a probe's");
  }
  return line;
}

void ProbeStream::send_for(Nanoseconds duration) {
  ::setsockopt(socket_, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kUnsentBytes, sizeof kUnsentBytes);
  const std::string piece(kPieceBytes, '\0');
  const auto end = Clock::now() + duration;
  while (Clock::now() < end) {
    wait(POLLOUT, Clock::now() + kPatienceForBytes);
    try_send(piece);
  }
  if (::shutdown(socket_, SHUT_WR) != 0) fail("end a transfer: " + reason_of(errno));
}

std::optional<double> ProbeStream::receive_transfer(Nanoseconds settling, Nanoseconds measuring) {
  GoodputMeter meter(settling, measuring);
  std::vector<char> buffer(kPieceBytes);
  const auto start = Clock::now();
  while (Clock::now() < start + settling + measuring + kDraining) {
    wait(POLLIN, Clock::now() + kPatienceForBytes);
    const auto got = try_receive(buffer.data(), buffer.size());
    if (got == 0) break;
    if (got > 0) meter.add(Clock::now() - start, got);
  }
  return meter.bit_per_s();
}

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
  stream.fail("it asked for something that is not a probe's");
}

void answer_pings(ProbeStream& stream) {
  for (;;) {
    const char byte = stream.receive_byte();
    if (byte == kTransfer) return;
    if (byte != kPing) stream.fail("it sent something that is not a probe's");
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
    : impl_(std::make_unique<Impl>(Impl{wire::Listener(address.host, {address.port, address.port})})) {}

ProbeServer::~ProbeServer() = default;

const std::string& ProbeServer::name() const {
  return impl_->listener.name();
}

std::string ProbeServer::serve_one() {
  const auto link = wire::accept_peer(impl_->listener, probe_security(), Clock::time_point::max());
  ProbeStream stream(link.native_handle(), link.peer_name());
  serve(stream);
  return link.peer_name();
}

}  // namespace paretopipe::shaping
