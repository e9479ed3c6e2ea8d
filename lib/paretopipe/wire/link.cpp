#include <paretopipe/core/clock.hpp>
#include <paretopipe/wire/control_body.hpp>
#include <paretopipe/wire/link.hpp>
#include <paretopipe/wire/tls.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>

#include <fcntl.h>
#include <sys/socket.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <nlohmann/json.hpp>

#include "sockets.hpp"

namespace paretopipe::wire {

namespace asio = boost::asio;
namespace {

static_assert(std::endian::native == std::endian::little, "tensor bodies cross the wire in the hosts' byte order");

/// Up to this size a tensor is handed to the kernel in one call. Larger ones do better in pieces that stay in the
/// processor's cache while the kernel copies them. Asio's composed operations, asio::write and asio::read, always cut
/// to 64 KiB, which costs a third of the rate at 100 KB; hence the loops over write_some and read_some.
constexpr std::size_t kWholeUpTo = std::size_t{4} << 20;
constexpr std::size_t kPiece = std::size_t{64} << 10;

std::size_t piece_for(std::size_t body) {
  return body <= kWholeUpTo ? body : kPiece;
}

int socket_option(int fd, int option) {
  int value = 0;
  socklen_t size = sizeof(value);
  if (::getsockopt(fd, SOL_SOCKET, option, &value, &size) != 0) throw system_error("make a link of a socket", errno);
  return value;
}

asio::generic::stream_protocol protocol_of(int fd) {
  if (socket_option(fd, SO_TYPE) != SOCK_STREAM) {
    throw EnvironmentError("make a link of a socket: expected a stream socket, got another type");
  }
  return {socket_option(fd, SO_DOMAIN), socket_option(fd, SO_PROTOCOL)};
}

void require_size(const TensorSpec& spec, std::size_t size) {
  if (static_cast<std::uint64_t>(byte_size(spec)) != size) {
    throw Error(ExitCode::internal, fmt::format("{} does not fit memory of {} bytes", to_string(spec), size));
  }
}

std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::size_t bytes_of(const TlsOutcome& outcome, boost::system::error_code& error) {
  if (outcome.end) error = asio::error::eof;
  if (outcome.error != 0) error.assign(outcome.error, boost::system::system_category());
  return outcome.bytes;
}

}  // namespace

/// Boost.Asio documents synchronous send, receive and shutdown on one socket as thread-safe with respect to each other
/// (basic_stream_socket, "Thread Safety"). The promise in link.hpp relies on that.
struct Link::Impl {
  asio::io_context context{1};  ///< a socket needs one; nothing asynchronous is ever started on it
  asio::generic::stream_protocol::socket socket{context};
  std::unique_ptr<TlsStream> tls;  ///< none: plain
  std::string peer;
  std::atomic<bool> shut_down = false;
  std::shared_ptr<Traffic> traffic = std::make_shared<Traffic>();

  Impl(FileDescriptor fd, std::unique_ptr<TlsStream> encryption);
  SendTimes send(std::span<const std::byte> header, std::span<const std::byte> body);
  FrameHeader receive_header();
  void receive(std::span<std::byte> into, const FrameHeader& header);
  std::size_t write_some(std::span<const std::byte> header, std::span<const std::byte> body,
                         boost::system::error_code& error);
  std::size_t read_some(std::span<std::byte> into, boost::system::error_code& error);
  std::string sentence(const std::string& what) const { return fmt::format("link with {}: {}", peer, what); }
  [[noreturn]] void fail(const boost::system::error_code& error, const std::string& attempt) const;
};

Link::Impl::Impl(FileDescriptor fd, std::unique_ptr<TlsStream> encryption) : tls(std::move(encryption)) {
  const auto protocol = protocol_of(fd.get());
  if (::fcntl(fd.get(), F_SETFD, FD_CLOEXEC) != 0) throw system_error("mark a socket close-on-exec", errno);
  send_at_once(fd.get());
  const auto address = peer_address(fd.get());
  peer = address ? to_string(*address) : "a peer that has gone";
  socket.assign(protocol, fd.get());
  fd.release();
}

void Link::Impl::fail(const boost::system::error_code& error, const std::string& attempt) const {
  if (shut_down) throw Closed(sentence("it was shut down on this side"));
  if (tls && error.value() == EBADMSG) {
    throw ProtocolError(sentence(fmt::format(
        "{} failed: what came was not encrypted with this link's keys; somebody changed it on its way", attempt)));
  }
  const bool at_the_end = error == asio::error::eof;
  throw ConnectionLost(
      sentence(fmt::format("{} failed: {}; the process there has probably ended, its own output says why", attempt,
                           at_the_end ? "the peer closed the connection" : error.message())));
}

SendTimes Link::Impl::send(std::span<const std::byte> header, std::span<const std::byte> body) {
  const std::size_t total = header.size() + body.size();
  const std::size_t piece = piece_for(body.size());
  SendTimes times{.begin_ns = now_ns()};
  for (std::size_t sent = 0; sent < total;) {
    const auto rest_of_header = header.subspan(std::min(sent, header.size()));
    const auto rest_of_body = body.subspan(sent - std::min(sent, header.size()));
    boost::system::error_code error;
    const auto taken = write_some(rest_of_header, rest_of_body.first(std::min(piece, rest_of_body.size())), error);
    sent += taken;
    traffic->sent.fetch_add(static_cast<std::int64_t>(taken), std::memory_order_relaxed);
    if (error && error != asio::error::interrupted) {
      fail(error, fmt::format("sending a frame, after {} of {} bytes,", sent, total));
    }
  }
  times.end_ns = now_ns();
  return times;
}

std::size_t Link::Impl::write_some(std::span<const std::byte> header, std::span<const std::byte> body,
                                   boost::system::error_code& error) {
  if (tls) return bytes_of(tls->write_some(header, body), error);
  const std::array buffers{asio::const_buffer(header.data(), header.size()),
                           asio::const_buffer(body.data(), body.size())};
  return socket.write_some(buffers, error);
}

/// Returns 0 bytes and no error after an interruption by a signal.
std::size_t Link::Impl::read_some(std::span<std::byte> into, boost::system::error_code& error) {
  const std::size_t got =
      tls ? bytes_of(tls->read_some(into), error) : socket.read_some(asio::buffer(into.data(), into.size()), error);
  if (error == asio::error::interrupted) error.clear();
  traffic->received.fetch_add(static_cast<std::int64_t>(got), std::memory_order_relaxed);
  return got;
}

FrameHeader Link::Impl::receive_header() {
  HeaderBytes bytes;
  for (std::size_t got = 0; got < bytes.size();) {
    boost::system::error_code error;
    got += read_some(std::span(bytes).subspan(got), error);
    if (error == asio::error::eof && got == 0 && !shut_down) throw Closed(sentence("the peer closed it"));
    if (error) fail(error, fmt::format("receiving a frame's header, after {} of {} bytes,", got, bytes.size()));
  }
  try {
    return decode(bytes);
  } catch (const ProtocolError& error) {
    throw ProtocolError(sentence(error.what()));
  }
}

void Link::Impl::receive(std::span<std::byte> into, const FrameHeader& header) {
  const std::size_t piece = piece_for(into.size());
  for (std::size_t got = 0; got < into.size();) {
    boost::system::error_code error;
    got += read_some(into.subspan(got, std::min(piece, into.size() - got)), error);
    if (error) {
      fail(error, fmt::format("receiving the body of {}, after {} of {} bytes,", to_string(header), got, into.size()));
    }
  }
}

Link::Link(int fd) : Link(fd, nullptr) {}
Link::Link(int fd, std::unique_ptr<TlsStream> tls)
    : impl_(std::make_unique<Impl>(FileDescriptor(fd), std::move(tls))) {}
Link::Link(Link&&) noexcept = default;
Link& Link::operator=(Link&&) noexcept = default;
Link::~Link() = default;

SendTimes Link::send_tensor(std::uint32_t tag, std::uint64_t sequence, const TensorSpec& spec,
                            std::span<const std::byte> bytes) {
  require_size(spec, bytes.size());
  return impl_->send(encode(TensorFrame{tag, sequence, spec}), bytes);
}

ReceiveTimes Link::receive_tensor(std::uint32_t tag, std::uint64_t sequence, const TensorSpec& announced,
                                  std::span<std::byte> into) {
  require_size(announced, into.size());
  const FrameHeader expected = TensorFrame{tag, sequence, announced};
  const FrameHeader header = impl_->receive_header();
  ReceiveTimes times{.begin_ns = now_ns()};
  if (header != expected) {
    throw ProtocolError(impl_->sentence(fmt::format("expected {}, got {}", to_string(expected), to_string(header))));
  }
  impl_->receive(into, header);
  times.end_ns = now_ns();
  return times;
}

SendTimes Link::send_encoded(std::uint32_t tag, std::uint64_t sequence, const TensorSpec& spec, std::uint8_t codec,
                             std::span<const std::byte> body) {
  return impl_->send(encode(TensorFrame{tag, sequence, spec, Encoding{codec, body.size()}}), body);
}

Encoded Link::receive_encoded(std::uint32_t tag, std::uint64_t sequence, const TensorSpec& announced,
                              std::uint8_t codec, std::span<std::byte> into) {
  const FrameHeader header = impl_->receive_header();
  const ReceiveTimes begin{.begin_ns = now_ns()};
  const auto* frame = std::get_if<TensorFrame>(&header);
  TensorFrame expected{tag, sequence, announced, Encoding{codec, into.size()}};
  if (frame != nullptr && frame->encoding && frame->encoding->body_bytes <= into.size()) {
    expected.encoding->body_bytes = frame->encoding->body_bytes;
  }
  if (frame == nullptr || *frame != expected) {
    throw ProtocolError(
        impl_->sentence(fmt::format("expected at most {}, got {}", to_string(expected), to_string(header))));
  }
  const auto body = into.first(expected.encoding->body_bytes);
  impl_->receive(body, header);
  return {{begin.begin_ns, now_ns()}, body};
}

void Link::send_message(const nlohmann::json& message) {
  send_control_body(encode_control_body(message));
}

void Link::send_control_body(const std::string& encoded) {
  impl_->send(encode(ControlFrame{encoded.size()}), as_bytes(encoded));
}

nlohmann::json Link::receive_message() {
  const FrameHeader header = impl_->receive_header();
  const auto* frame = std::get_if<ControlFrame>(&header);
  if (frame == nullptr) {
    throw ProtocolError(impl_->sentence(fmt::format("expected a control message, got {}", to_string(header))));
  }
  std::string text(frame->body_bytes, '\0');
  impl_->receive(std::as_writable_bytes(std::span(text)), header);
  try {
    return decode_control_body(text);
  } catch (const ProtocolError& error) {
    throw ProtocolError(impl_->sentence(error.what()));
  }
}

void Link::shutdown() noexcept {
  impl_->shut_down = true;
  boost::system::error_code gone_already;
  impl_->socket.shutdown(asio::socket_base::shutdown_both, gone_already);
}

std::shared_ptr<const Traffic> Link::traffic() const {
  return impl_->traffic;
}

int Link::native_handle() const {
  return impl_->socket.native_handle();
}

const std::string& Link::peer_name() const {
  return impl_->peer;
}

std::pair<Link, Link> make_link_pair() {
  std::array<int, 2> fds{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()) != 0) {
    throw system_error("make a socketpair", errno);
  }
  FileDescriptor second(fds[1]);
  Link first(fds[0]);
  return {std::move(first), Link(second.release())};
}

}  // namespace paretopipe::wire
