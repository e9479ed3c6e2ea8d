#pragma once
#include <paretopipe/wire/frame.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json_fwd.hpp>

namespace paretopipe::wire {

/// Steady-clock nanoseconds of this host (paretopipe::now_ns).
struct SendTimes {
  std::int64_t begin_ns = 0;  ///< before the first byte of the header was handed to the kernel
  std::int64_t end_ns = 0;    ///< the kernel had accepted the last byte; it may not have left the host yet
};

/// Steady-clock nanoseconds of this host (paretopipe::now_ns).
struct ReceiveTimes {
  std::int64_t begin_ns = 0;  ///< the header had arrived
  std::int64_t end_ns = 0;    ///< the last byte was in the tensor
};

/// An encoded tensor that came.
struct Encoded {
  ReceiveTimes times;
  std::span<const std::byte> body;  ///< the first part of the receiver's memory
};

/// Bytes of all frames that have crossed one end of a link so far, including headers, as the kernel takes and delivers
/// them, without what encryption adds. Any thread may read them at any time.
struct Traffic {
  std::atomic<std::int64_t> sent = 0;
  std::atomic<std::int64_t> received = 0;
};

class TlsStream;

/// A framed, blocking byte stream to one peer, over TCP or a socketpair, encrypted or not. Frames arrive in the order
/// of sending.
///
/// Threads: one sender and one receiver may use a link at the same time; `shutdown` and `native_handle` may be called
/// from any thread. All calls must have returned before the link is moved or destroyed.
///
/// Blocking: every send waits until the kernel has taken the whole frame, and every receive until a whole frame has
/// come, however long that takes; `shutdown` ends both. To wait with a limit, poll native_handle() for POLLIN first:
/// nothing is read ahead of the frame that is received.
///
/// Errors of send and receive: Closed if the stream ended between two frames, or after `shutdown` on this side;
/// ConnectionLost if the peer vanished; ProtocolError if it sent something other than agreed. After an error the link
/// is unusable. Signal handlers that run meanwhile cause no error, and SIGPIPE is never raised.
class Link {
 public:
  /// Takes ownership of a connected stream socket in blocking mode, marks it close-on-exec and, on TCP, turns Nagle's
  /// algorithm off. Leaves buffer sizes to the kernel, whose autotuning measures better than any fixed size. Closes
  /// `fd` and throws EnvironmentError if it is not a stream socket.
  explicit Link(int fd);
  /// Does so for a socket that has been encrypted, or for a plain one if `tls` is null.
  Link(int fd, std::unique_ptr<TlsStream> tls);
  Link(Link&&) noexcept;
  Link& operator=(Link&&) noexcept;
  ~Link();

  /// Sends straight from `bytes`, whose size must be byte_size(spec); header and body leave in one write.
  SendTimes send_tensor(std::uint32_t tag, std::uint64_t sequence, const TensorSpec& spec,
                        std::span<const std::byte> bytes);

  /// Receives the tensor that the two sides have agreed on, by whatever means, straight into `into`, whose size must be
  /// byte_size(announced). Any other header throws ProtocolError before a byte of the body is read. The length that the
  /// peer claims never decides how much is read or allocated.
  ReceiveTimes receive_tensor(std::uint32_t tag, std::uint64_t sequence, const TensorSpec& announced,
                              std::span<std::byte> into);

  /// Sends what a codec made of a tensor of this spec, likewise. `codec` is its number in the frame.
  SendTimes send_encoded(std::uint32_t tag, std::uint64_t sequence, const TensorSpec& spec, std::uint8_t codec,
                         std::span<const std::byte> body);

  /// Receives what this codec made of the announced tensor. `into` has room for the most bytes that it can make. A
  /// header that claims more throws ProtocolError, like any other that was not announced.
  Encoded receive_encoded(std::uint32_t tag, std::uint64_t sequence, const TensorSpec& announced, std::uint8_t codec,
                          std::span<std::byte> into);

  /// Limits and treatment of unusual values: see encode_control_body and decode_control_body.
  void send_message(const nlohmann::json& message);
  void send_control_body(const std::string& encoded);  ///< of a message that encode_control_body has encoded
  nlohmann::json receive_message();

  /// Ends both directions and wakes blocked threads with Closed. The peer still receives the bytes that the kernel has
  /// accepted, and then sees the stream end. Idempotent; never throws.
  void shutdown() noexcept;

  /// Goes on counting and outlives the link.
  std::shared_ptr<const Traffic> traffic() const;

  /// For poll, and for passing one end to a child process. The link keeps ownership.
  int native_handle() const;

  /// The peer's name in error messages: "127.0.0.1:5000", "[::1]:5000" or "socketpair".
  const std::string& peer_name() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Two connected links within this host (AF_UNIX, close-on-exec). Throws EnvironmentError if the kernel refuses.
std::pair<Link, Link> make_link_pair();

}  // namespace paretopipe::wire
