#include <paretopipe/core/clock.hpp>
#include <paretopipe/host/wall_clock.hpp>

#include <chrono>

#include <support/catch.hpp>

using namespace paretopipe;

TEST_CASE("the wall clock's lead over the steady clock turns one reading into the other", "[wall_clock]") {
  using namespace std::chrono;
  const auto clock = host::read_wall_clock();
  const auto before = duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
  const auto told = now_ns() + clock.ahead_of_steady_ns;
  const auto after = duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
  CHECK(told >= before - 1'000'000);
  CHECK(told <= after + 1'000'000);
  CHECK(clock.error_bound_ns.value_or(0) >= 0);
  CHECK(nlohmann::json(clock).get<host::WallClock>() == clock);
}
