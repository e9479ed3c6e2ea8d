#pragma once
#include <paretopipe/stage/messages.hpp>
#include <paretopipe/wire/rendezvous.hpp>

#include <cstdint>
#include <optional>

// Measures the way from one stage to another over a link of its own: one stage connects, measures and reports; the
// other listens and answers. Small messages come first, with nothing else under way. Then come transfers, each twice as
// long as the one before it, until one took long enough to tell the rate.
namespace paretopipe::stage {

/// The connecting side. Throws EnvironmentError if the other cannot be reached, or nothing more comes from it.
LinkProbed probe_link(const ProbeLink& request);

/// The other side, until the probe has ended. Throws likewise.
void answer_probe(wire::Listener& listener, const AnswerProbe& request);

/// The bytes of the first transfer.
inline constexpr std::int64_t kFirstTransfer = std::int64_t{64} << 10;

/// The bytes of the transfer that follows one of `bytes` which took `took_ns`. None if that one tells the rate, or has
/// `most` bytes or more. Both sides call this, so they agree.
std::optional<std::int64_t> next_transfer(std::int64_t bytes, std::int64_t took_ns, std::int64_t most);

}  // namespace paretopipe::stage
