#pragma once
#include <paretopipe/core/clock.hpp>
#include <paretopipe/core/file_descriptor.hpp>
#include <paretopipe/shaping/emulated/emulated_link.hpp>
#include <paretopipe/wire/rendezvous.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace paretopipe::testing {

/// Bare blocking sockets, with a minute's limit on every call so that a lost byte fails a test rather than stops it.
struct TcpPair {
  FileDescriptor sender;
  FileDescriptor receiver;
};

/// A receiving stage's port, and connections to it through a link.
class TcpReceiver {
 public:
  TcpReceiver();
  std::uint16_t port() const { return listener_.port(); }
  FileDescriptor accept();
  /// A connection through `link`, which leads here.
  TcpPair connect_through(const shaping::EmulatedLink& link);

 private:
  wire::Listener listener_;
};

FileDescriptor connect_to(std::uint16_t port);

/// Bytes that tell where they belong.
std::vector<std::byte> pattern(std::size_t size, std::size_t seed);

/// False if the connection is lost before all is sent.
bool send_all(const FileDescriptor& socket, std::span<const std::byte> bytes);

/// As many bytes as came before the end of the stream, or its loss, at most `size`.
std::vector<std::byte> receive(const FileDescriptor& socket, std::size_t size);

/// What comes next is the stream's end; or the loss of the connection.
bool has_ended(const FileDescriptor& socket);
bool was_reset(const FileDescriptor& socket);

void end_stream(const FileDescriptor& socket);

/// Closes it as the kernel does for a process that was killed with unread bytes.
void reset(FileDescriptor& socket);

/// From before the first byte is handed to the sender's kernel until the last is in the receiver's memory, in seconds.
double transfer_seconds(const TcpPair& pair, std::span<const std::byte> bytes);

/// From `bytes` leaving one side until an answer of as many is back, in seconds. Forth and back on the same connection.
double round_trip_seconds(const TcpPair& pair, std::size_t bytes);

}  // namespace paretopipe::testing
