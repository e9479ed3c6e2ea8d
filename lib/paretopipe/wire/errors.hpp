#pragma once
#include <paretopipe/core/error.hpp>

namespace paretopipe::wire {

/// Something else came over a link than was agreed. The text says what was expected and what came. Except for `Closed`,
/// the stream may have stopped in the middle of a frame: the link is useless and should be destroyed.
class ProtocolError : public Error {
 public:
  explicit ProtocolError(const std::string& message) : Error(ExitCode::environment, message) {}
};

/// The stream ended at a valid point: the peer closed it between two frames, or this side called Link::shutdown.
class Closed : public ProtocolError {
 public:
  using ProtocolError::ProtocolError;
};

/// The peer vanished without closing properly: a truncated frame, a reset, a write to a closed connection.
class ConnectionLost : public ProtocolError {
 public:
  using ProtocolError::ProtocolError;
};

}  // namespace paretopipe::wire
