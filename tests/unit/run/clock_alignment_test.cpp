#include <paretopipe/run/pipeline.hpp>

#include <cstdlib>
#include <random>
#include <vector>

#include <support/catch.hpp>

using namespace paretopipe::run;

namespace {

/// An exchange with a peer whose clock is `offset` ahead, begun at `sent`: `there` and `back` on the way, `busy` at the
/// peer.
ClockExchange exchange(std::int64_t sent, std::int64_t offset, std::int64_t there, std::int64_t busy,
                       std::int64_t back) {
  return {sent, sent + there + offset, sent + there + busy + offset, sent + there + busy + back};
}

}  // namespace

TEST_CASE("an exchange gives round trip, offset and the bound of its error") {
  const auto symmetric = exchange(1000, 500, 30, 7, 30);
  CHECK(symmetric.round_trip() == 60);
  CHECK(symmetric.offset() == 500);
  CHECK(symmetric.error_bound() == 30);
  CHECK(symmetric.midpoint() == 1033);
  const auto one_way = exchange(1000, -500, 60, 0, 0);
  CHECK(one_way.offset() == -470);
  CHECK(one_way.error_bound() == 30);
}

TEST_CASE("the true offset is within the error bound of the measured one, however unequal the two ways") {
  std::mt19937 random(5);
  std::uniform_int_distribution<std::int64_t> delay(0, 1'000'000);
  std::uniform_int_distribution<std::int64_t> clock(-1'000'000'000'000'000, 1'000'000'000'000'000);
  for (int i = 0; i < 1000; ++i) {
    const auto offset = clock(random);
    const auto measured = exchange(std::abs(clock(random)), offset, delay(random), delay(random), delay(random));
    // Half nanoseconds are cut off twice.
    REQUIRE(std::abs(measured.offset() - offset) <= measured.error_bound() + 1);
  }
}

TEST_CASE("the exchange with the shortest round trip is the best, however long the peer was busy") {
  const std::vector<ClockExchange> exchanges{exchange(0, 5, 40, 0, 40), exchange(100, 5, 10, 9999, 11),
                                             exchange(200, 5, 11, 0, 11)};
  CHECK(best_exchange(exchanges).sent == 100);
  CHECK(best_exchange(std::vector{exchanges.back()}).sent == 200);
}

TEST_CASE("on the same clock nothing is mapped, and there is no error") {
  const ClockAlignment same;
  CHECK(same.to_ours(123'456'789'012'345'678) == 123'456'789'012'345'678);
  CHECK(same.relation() == paretopipe::record::ClockRelation{});
}

TEST_CASE("a constant offset is taken off exactly, before, between and after the exchanges") {
  for (const std::int64_t offset : {std::int64_t{0}, std::int64_t{-77}, std::int64_t{987'654'321'987'654}}) {
    const ClockAlignment alignment(exchange(1000, offset, 20, 5, 20), exchange(2'000'000'000, offset, 30, 5, 30));
    for (const auto ours : std::initializer_list<std::int64_t>{0, 1022, 500'000'001, 1'999'999'999, 3'000'000'000}) {
      CHECK(alignment.to_ours(ours + offset) == ours);
    }
    CHECK(alignment.relation().offset_before_ns == -offset);
    CHECK(alignment.relation().offset_after_ns == -offset);
    CHECK(alignment.relation().error_bound_ns == 30);
    CHECK_FALSE(alignment.relation().same_clock);
  }
}

TEST_CASE("a clock that drifts is mapped by its two offsets, and in between in proportion") {
  // Over ten seconds of ours the peer gains 100 us.
  const std::int64_t start = 5'000'000'000;
  const std::int64_t span = 10'000'000'000;
  const ClockAlignment alignment(exchange(start - 10, 1'000'000, 10, 0, 10),
                                 exchange(start + span - 10, 1'100'000, 10, 0, 10));
  CHECK(alignment.to_ours(start + 1'000'000) == start);
  CHECK(alignment.to_ours(start + span + 1'100'000) == start + span);
  CHECK(alignment.to_ours(start + span / 2 + 1'050'000) == start + span / 2);
}

TEST_CASE("mapping keeps the order of moments, whichever way the clock drifts") {
  for (const std::int64_t drift : {-200'000, 200'000}) {
    const ClockAlignment alignment(exchange(0, 50'000, 10, 0, 10), exchange(1'000'000'000, 50'000 + drift, 10, 0, 10));
    std::int64_t before = alignment.to_ours(0);
    for (std::int64_t moment = 0; moment < 1'100'000'000; moment += 1'100'003) {
      for (const auto close : {moment, moment + 1}) {
        REQUIRE(alignment.to_ours(close) >= before);
        before = alignment.to_ours(close);
      }
    }
  }
}

TEST_CASE("two exchanges at the same moment do not divide by zero") {
  const auto only = exchange(1000, 40, 5, 0, 5);
  CHECK(ClockAlignment(only, only).to_ours(2040) == 2000);
}
