#include <paretopipe/core/error.hpp>
#include <paretopipe/shaping/emulated/emulated_link.hpp>

#include <future>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <sys/socket.h>
#include <sys/time.h>

#include <support/catch.hpp>
#include <support/thrown.hpp>

#include "tcp_pair.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using namespace std::chrono_literals;
using experiment::LinkConditions;
using shaping::EmulatedLink;
using support::check_contains;
using support::check_throws;

namespace {

LinkConditions conditions_of(Nanoseconds delay, std::optional<std::int64_t> rate_bit_per_s = std::nullopt) {
  LinkConditions conditions;
  conditions.delay = delay;
  conditions.rate_bit_per_s = rate_bit_per_s;
  return conditions;
}

/// A link that leads to a receiver, and a connection through it.
struct Joined {
  explicit Joined(const LinkConditions& both) : Joined(both, both) {}
  Joined(const LinkConditions& forward, const LinkConditions& backward)
      : link(std::make_unique<EmulatedLink>("127.0.0.1", forward, backward, 1)) {
    link->lead_to("127.0.0.1", receiver.port());
    pair = receiver.connect_through(*link);
  }

  TcpReceiver receiver;
  std::unique_ptr<EmulatedLink> link;
  TcpPair pair;
};

/// True if what `to` receives is what `from` sends.
bool arrives_intact(const FileDescriptor& from, const FileDescriptor& to, const std::vector<std::byte>& bytes) {
  auto sending = std::async(std::launch::async, [&] { return send_all(from, bytes); });
  const bool intact = receive(to, bytes.size()) == bytes;
  return sending.get() && intact;
}

LinkConditions scattered() {
  auto conditions = conditions_of(3ms, 400'000'000);
  conditions.jitter = 1ms;
  conditions.distribution = experiment::DelayDistribution::paretonormal;
  return conditions;
}

}  // namespace

TEST_CASE("bytes of any number arrive intact and in order, in both directions at once") {
  const bool shaped = GENERATE(false, true);
  CAPTURE(shaped);
  Joined joined(shaped ? scattered() : LinkConditions{});
  std::mt19937 random(11);
  std::vector<std::size_t> sizes{1, 2, 1499, 1500, 1501, 65'535, 65'536, 65'537};
  for (int i = 0; i < 5; ++i) sizes.push_back(std::uniform_int_distribution<std::size_t>(1, 3'000'000)(random));
  sizes.push_back(20'000'000);
  for (const std::size_t size : sizes) {
    CAPTURE(size);
    const auto forth = pattern(size, 1);
    const auto back = pattern(size, 2);
    auto backward =
        std::async(std::launch::async, [&] { return arrives_intact(joined.pair.receiver, joined.pair.sender, back); });
    CHECK(arrives_intact(joined.pair.sender, joined.pair.receiver, forth));
    CHECK(backward.get());
  }
}

TEST_CASE("the end of a stream arrives behind its last byte, and the other direction goes on") {
  Joined joined(conditions_of(20ms, 100'000'000));
  const auto bytes = pattern(100'000, 1);
  const auto start = Clock::now();
  REQUIRE(send_all(joined.pair.sender, bytes));
  end_stream(joined.pair.sender);
  CHECK(receive(joined.pair.receiver, bytes.size()) == bytes);
  CHECK(has_ended(joined.pair.receiver));
  CHECK(Clock::now() - start >= 28ms);

  CHECK(arrives_intact(joined.pair.receiver, joined.pair.sender, bytes));
  end_stream(joined.pair.receiver);
  CHECK(has_ended(joined.pair.sender));
}

TEST_CASE("a peer that dies is lost to the other side, after what it had sent") {
  Joined joined(conditions_of(10ms));
  const auto bytes = pattern(10'000, 1);
  const std::vector<std::byte> more_than_fits(100'000'000);  // in the link and all socket buffers
  SECTION("the sender") {
    REQUIRE(send_all(joined.pair.sender, bytes));
    // Once its bytes are here, the relay has read them: a reset would drop them from the sender's own buffers.
    CHECK(receive(joined.pair.receiver, bytes.size()) == bytes);
    const auto start = Clock::now();
    reset(joined.pair.sender);
    CHECK(was_reset(joined.pair.receiver));
    CHECK(Clock::now() - start >= 10ms);
  }
  SECTION("the receiver") {
    const auto start = Clock::now();
    reset(joined.pair.receiver);
    CHECK(was_reset(joined.pair.sender));
    CHECK(Clock::now() - start >= 10ms);
  }
  SECTION("the receiver, which had ended its own stream") {
    end_stream(joined.pair.receiver);
    CHECK(has_ended(joined.pair.sender));
    reset(joined.pair.receiver);
    CHECK_FALSE(send_all(joined.pair.sender, more_than_fits));
  }
  SECTION("the receiver, in the middle of a transfer") {
    auto sending = std::async(std::launch::async, [&] { return send_all(joined.pair.sender, more_than_fits); });
    CHECK(receive(joined.pair.receiver, 1'000'000).size() == 1'000'000);
    reset(joined.pair.receiver);
    CHECK_FALSE(sending.get());
  }
}

TEST_CASE("nothing is delivered before its delay and its turn at the rate, whatever its size") {
  for (const std::size_t size : {64, 1500, 100'000, 1'000'000}) {
    CAPTURE(size);
    Joined joined(conditions_of(15ms, 100'000'000));
    const double ideal = 15e-3 + static_cast<double>(size) * 8 / 100e6;
    for (int i = 0; i < 3; ++i) CHECK(transfer_seconds(joined.pair, pattern(size, 1)) >= ideal - 1e-6);
  }
}

TEST_CASE("each direction has its own conditions") {
  Joined joined(conditions_of(30ms), conditions_of(5ms));
  CHECK(round_trip_seconds(joined.pair, 64) >= 35e-3);
  CHECK(transfer_seconds(joined.pair, pattern(64, 1)) >= 30e-3);
  const TcpPair reversed{std::move(joined.pair.receiver), std::move(joined.pair.sender)};
  CHECK(transfer_seconds(reversed, pattern(64, 1)) >= 5e-3);
}

TEST_CASE("a burst goes at once, what follows at the rate") {
  auto conditions = conditions_of(5ms, 8'000'000);
  conditions.burst_bytes = 50'000;
  Joined joined(conditions);
  CHECK(transfer_seconds(joined.pair, pattern(150'000, 1)) >= 5e-3 + 100e-3 - 1e-6);
}

TEST_CASE("conditions change between transfers, on the connections that exist") {
  Joined joined(LinkConditions{});
  CHECK(arrives_intact(joined.pair.sender, joined.pair.receiver, pattern(1'000'000, 1)));
  joined.link->set_conditions(conditions_of(40ms), conditions_of(40ms), 2);
  CHECK(round_trip_seconds(joined.pair, 64) >= 80e-3);
  joined.link->set_conditions(conditions_of(0ms, 40'000'000), LinkConditions{}, 2);
  CHECK(transfer_seconds(joined.pair, pattern(250'000, 1)) >= 50e-3 - 1e-6);
}

TEST_CASE("a sender is held back as soon as the link and the kernel's buffers are full") {
  Joined joined(conditions_of(10ms, 800'000'000));
  std::size_t taken = 0;
  const auto piece = pattern(1 << 20, 1);
  const timeval moment{0, 500'000};
  ::setsockopt(joined.pair.sender.get(), SOL_SOCKET, SO_SNDTIMEO, &moment, sizeof(moment));
  // Nobody reads. A send that takes nothing in half a second, in which the link moves 50 MB, has found all full.
  for (ssize_t count = 1; count > 0; taken += static_cast<std::size_t>(std::max<ssize_t>(count, 0))) {
    count = ::send(joined.pair.sender.get(), piece.data(), piece.size(), MSG_NOSIGNAL);
    REQUIRE(taken < 200'000'000);
  }
  CHECK(taken >= 4 << 20);
  // The link's 5 MiB, and four socket buffers of the 4 to 6 MiB to which Linux lets them grow, twice over.
  CHECK(taken <= 64 << 20);
}

TEST_CASE("many connections pass one link, at once and one after another") {
  TcpReceiver receiver;
  EmulatedLink link("127.0.0.1", scattered(), scattered(), 1);
  link.lead_to("127.0.0.1", receiver.port());
  for (int round = 0; round < 3; ++round) {
    std::vector<TcpPair> pairs;
    for (int i = 0; i < 20; ++i) pairs.push_back(receiver.connect_through(link));
    std::vector<std::future<bool>> transfers;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      transfers.push_back(std::async(std::launch::async, [&pairs, i] {
        return arrives_intact(pairs[i].sender, pairs[i].receiver, pattern(50'000 + i, i));
      }));
    }
    for (auto& transfer : transfers) CHECK(transfer.get());
  }
}

TEST_CASE("connections that came before the link led anywhere are connected when it does") {
  TcpReceiver receiver;
  EmulatedLink link("127.0.0.1", LinkConditions{}, LinkConditions{}, 1);
  TcpPair pair;
  pair.sender = connect_to(link.port());
  const auto bytes = pattern(1000, 1);
  REQUIRE(send_all(pair.sender, bytes));
  link.lead_to("127.0.0.1", receiver.port());
  pair.receiver = receiver.accept();
  CHECK(receive(pair.receiver, bytes.size()) == bytes);
  CHECK(link.last_problem().empty());
}

TEST_CASE("a target that does not listen resets the caller, and the link says why") {
  EmulatedLink link("127.0.0.1", LinkConditions{}, LinkConditions{}, 1);
  const std::uint16_t closed_port = TcpReceiver().port();
  const auto caller = connect_to(link.port());
  link.lead_to("127.0.0.1", closed_port);
  CHECK(was_reset(caller));
  check_contains(link.last_problem(), {"connect an emulated link to 127.0.0.1:" + std::to_string(closed_port),
                                       "refused", "check that the receiving side is listening"});

  TcpReceiver receiver;
  link.lead_to("127.0.0.1", receiver.port());
  const auto pair = receiver.connect_through(link);
  CHECK(arrives_intact(pair.sender, pair.receiver, pattern(1000, 1)));
}

TEST_CASE("the end of a link ends its connections, whatever is under way") {
  Joined joined(conditions_of(10s, 8'000'000));
  REQUIRE(send_all(joined.pair.sender, pattern(100'000, 1)));
  joined.link.reset();
  CHECK(receive(joined.pair.receiver, 1).empty());
  CHECK(receive(joined.pair.sender, 1).empty());
}

TEST_CASE("conditions that a link cannot keep are refused with all reasons, and change nothing") {
  LinkConditions lossy = conditions_of(1ms);
  lossy.loss = 0.01;
  LinkConditions reordered = conditions_of(1ms);
  reordered.reorder = 0.01;
  check_throws<UsageError>([&] { EmulatedLink("127.0.0.1", lossy, reordered, 1); },
                           {"cannot lose packets", "cannot reorder packets"});

  Joined joined(conditions_of(20ms));
  check_throws<UsageError>([&] { joined.link->set_conditions(lossy, lossy, 1); }, {"cannot lose packets"});
  CHECK(round_trip_seconds(joined.pair, 64) >= 40e-3);
}

TEST_CASE("addresses that cannot be had are refused with what to do") {
  const LinkConditions none;
  check_throws<EnvironmentError>([&] { EmulatedLink("192.0.2.1", none, none, 1); }, {"192.0.2.1"});
  EmulatedLink link("127.0.0.1", none, none, 1);
  check_throws<EnvironmentError>([&] { link.lead_to("localhost", 1); },
                                 {"lead an emulated link to localhost:1", "give an IP address"});
}

TEST_CASE("a link to and from IPv6 loopback works, where there is one", "[needs:ipv6]") {
  try {
    EmulatedLink link("::1", LinkConditions{}, LinkConditions{}, 1);
    CHECK(link.port() != 0);
  } catch (const EnvironmentError& error) {
    support::skip(error.what());
  }
}
