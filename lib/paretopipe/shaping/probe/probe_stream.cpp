#include "probe_stream.hpp"

#include <paretopipe/core/error.hpp>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <vector>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

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
  for (;;) {
    const auto rest = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (rest <= 0) fail("nothing moved for too long; check that the network between the two hosts is up");
    pollfd event{socket_, events, 0};
    const int ready = ::poll(&event, 1, static_cast<int>(rest));
    if (ready > 0) return;
    if (ready < 0 && errno != EINTR) fail(reason_of(errno));
  }
}

std::int64_t ProbeStream::try_receive(char* bytes, std::size_t size) {
  const auto got = ::recv(socket_, bytes, size, MSG_DONTWAIT);
  if (got < 0 && !must_wait(errno)) fail("receive: " + reason_of(errno));
  return got;
}

std::size_t ProbeStream::try_send(std::string_view bytes) {
  const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0 && !must_wait(errno)) fail("send: " + reason_of(errno));
  return sent < 0 ? 0 : static_cast<std::size_t>(sent);
}

void ProbeStream::send(std::string_view bytes) {
  const auto deadline = Clock::now() + kPatienceForBytes;
  while (!bytes.empty()) {
    wait(POLLOUT, deadline);
    bytes.remove_prefix(try_send(bytes));
  }
}

char ProbeStream::receive_byte() {
  const auto deadline = Clock::now() + kPatienceForBytes;
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
  for (;;) {
    wait(POLLIN, deadline);
    char byte = 0;
    const auto got = try_receive(&byte, 1);
    if (got == 0) fail("the other side ended the connection too early");
    if (got < 0) continue;
    if (byte == '\n') return line;
    line.push_back(byte);
    if (line.size() > most) fail("the other side sent something that is no probe's");
  }
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

}  // namespace paretopipe::shaping
