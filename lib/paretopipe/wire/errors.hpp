#pragma once
#include <paretopipe/core/error.hpp>

namespace paretopipe::wire {

/// What came over a link is not what was agreed. The text says what was expected and what came. Unless it is `Closed`,
/// the stream may stop in the middle of a frame: the link is of no further use and should be destroyed.
class ProtocolError : public Error {
 public:
  explicit ProtocolError(const std::string& message) : Error(ExitCode::environment, message) {}
};

/// The stream ended where it may end: the peer closed it between two frames, or this side called Link::shutdown.
class Closed : public ProtocolError {
 public:
  using ProtocolError::ProtocolError;
};

/// The peer is gone without a goodbye: a truncated frame, a reset, a write to a closed connection.
class ConnectionLost : public ProtocolError {
 public:
  using ProtocolError::ProtocolError;
};

}  // namespace paretopipe::wire
