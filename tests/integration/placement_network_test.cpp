#include <paretopipe/shaping/network.hpp>

#include <support/catch.hpp>

using namespace paretopipe;

namespace {

constexpr std::uint16_t kPort = 4711;

/// Whether a stage connects to another one itself, and not to a relay.
bool direct(shaping::Network& network, int from, int to) {
  return network.route(from, to, kPort).port == kPort;
}

}  // namespace

TEST_CASE("an emulated network has a relay between devices, and none between two stages of one") {
  const auto alone = shaping::make_network(experiment::Shaping::emulated, 3);
  CHECK_FALSE(direct(*alone, 0, 1));
  CHECK_FALSE(direct(*alone, 1, 2));
  CHECK_FALSE(direct(*alone, 2, 0));
  const auto u_shape = shaping::make_network(experiment::Shaping::emulated, 3, {0, 1, 0});
  CHECK_FALSE(direct(*u_shape, 0, 1));
  CHECK_FALSE(direct(*u_shape, 1, 2));
  CHECK(direct(*u_shape, 2, 0));
  const auto late_cut = shaping::make_network(experiment::Shaping::emulated, 3, {0, 0, 1});
  CHECK(direct(*late_cut, 0, 1));
  CHECK_FALSE(direct(*late_cut, 1, 2));
  CHECK_FALSE(direct(*late_cut, 2, 0));
}
