#include <paretopipe/core/error.hpp>
#include <paretopipe/wire/frame.hpp>
#include <paretopipe/wire/rendezvous.hpp>

#include <future>
#include <optional>

namespace paretopipe::wire {
namespace {

/// Why nobody was accepted; empty if somebody was, or if this side gave it up.
std::string failure_of(std::future<Link>& accepted) {
  try {
    accepted.get();
  } catch (const Closed&) {
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace

RingLinks join_ring(Listener& listener, const RingPlace& place, Clock::time_point deadline) {
  auto accepted = std::async(std::launch::async, [&] { return accept_peer(listener, place.incoming, deadline); });
  std::optional<Link> next;
  try {
    next = connect_peer(place.next_host, place.next_port, place.outgoing, deadline);
  } catch (const Error& error) {
    listener.shutdown();
    const auto other = failure_of(accepted);
    throw Error(error.code(), error.what() + (other.empty() ? "" : "; and: " + other));
  }
  return {accepted.get(), *std::move(next)};
}

}  // namespace paretopipe::wire
