#pragma once
#include <paretopipe/experiment/network_profile.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace paretopipe::shaping {

/// A program's name and its arguments; no shell is involved. Pure: nothing here runs it.
using Command = std::vector<std::string>;

/// The Ethernet frame of a full packet, which a qdisc counts: 1500 bytes of IP and 14 of header.
constexpr std::int64_t kFrameBytes = 1514;
/// TCP payload of such a frame: 1500 less 20 of IP, 20 of TCP, and 12 of time stamps.
constexpr std::int64_t kSegmentBytes = 1448;

/// A rate that slows nothing that we could send. netem keeps packets in order only with a rate. Without one, a packet
/// with a small random delay overtakes one with a large delay, which TCP takes for loss. So jitter without a rate is
/// given this one. Read-back treats it as no rate.
constexpr std::int64_t kOrderKeepingRate = 1'000'000'000'000;  // bit/s

/// How a direction is shaped:
/// - nothing asked: no qdisc, hence no command;
/// - a rate, with or without burst and queue latency: tbf alone, which works where the kernel has no netem;
/// - anything else: netem and its own rate, which paces every frame exactly and has no bucket; tbf below netem, as
///   people write it, if a burst or a queue latency is asked for.
bool needs_netem(const experiment::LinkConditions& conditions);
bool needs_tbf(const experiment::LinkConditions& conditions);

/// The place and handle of our first qdisc; one below it gets the next handle.
struct Place {
  Command under{"root"};
  std::uint16_t handle = 1;
};

/// The tc commands that shape what leaves `interface`, for an interface without a root qdisc of its own, or what goes
/// through the class that `place` names. Traps, and what is done about each:
/// - netem's queue: its default of 1000 packets holds those under way too, so that at 100 ms it drops at
///   121 Mbit/s; the limit is computed (default_queue_packets).
/// - tbf's burst: less than the rate delivers between two timer ticks, and the rate is not reached; less than a frame,
///   and nothing passes. It is computed (default_burst_bytes); one that was asked for is kept, see warnings().
/// - tbf's queue has no default in tc; it is computed (default_queue_latency).
/// - Super-packets: TCP hands an interface up to 64 KiB at a time (TSO, GSO), which netem delays, loses and paces as
///   one packet, and tbf has to cut up: see offload_off_command, and plan_peer_shaping for an interface of others.
/// - Jitter reorders: see kOrderKeepingRate.
/// - A delay counts once in the round trip, for it is on one egress. Both directions' delays add up to the round trip.
std::vector<Command> shape_commands(const std::string& interface, const experiment::LinkConditions& conditions,
                                    const Place& place = {});

/// Removes what shape_commands added. Fails if there is nothing to remove.
Command clear_command(const std::string& interface);

/// Prints what the kernel has applied, as JSON (see read_back).
Command show_command(const std::string& interface);

/// Makes TCP hand over one frame at a time. Needs no ethtool; kernel and iproute2 of Debian 12 support it. Existing
/// connections keep their setting.
Command offload_off_command(const std::string& interface);

/// A bucket that keeps the rate: two frames, and what the rate delivers in 4 ms, the tick of a kernel with HZ=250
/// (timers are rarely later than that). A larger bucket would let the start of a transfer pass unpaced.
std::int64_t default_burst_bytes(std::int64_t rate_bit_per_s);

/// How long a frame may wait for the rate: a round trip over two such directions, but at least 100 ms and the time of
/// 16 frames, so that TCP keeps the link busy.
Nanoseconds default_queue_latency(const experiment::LinkConditions& conditions);

/// netem's limit: twice the number of full frames that are under way or wait at the rate (10 Gbit/s without one). Never
/// less than the kernel's default of 1000, because acknowledgements and messages are packets too.
std::int64_t default_queue_packets(const experiment::LinkConditions& conditions);

/// Sentences on requests that will not do what a person expects. Empty if all is well.
std::vector<std::string> warnings(const experiment::LinkConditions& conditions);

}  // namespace paretopipe::shaping
