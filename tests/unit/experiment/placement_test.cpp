#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/placement.hpp>

#include <support/catch.hpp>
#include <support/message_of.hpp>

using namespace paretopipe;
using namespace paretopipe::experiment;
using support::contains;
using support::message_of;

TEST_CASE("a placement reads and writes as a list of devices", "[placement]") {
  CHECK(parse_placement("0,1,0") == Placement{0, 1, 0});
  CHECK(to_string({0, 1, 0}) == "0,1,0");
  for (const auto* text : {"", "0,", ",0", "0;1", "0,-1", "a", "0,1,99999999999"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_placement(text), UsageError);
  }
}

TEST_CASE("a placement fits its stages, begins at the source, and leaves no device out", "[placement]") {
  CHECK_NOTHROW(check_placement({}, 3));
  CHECK_NOTHROW(check_placement({0, 1, 0}, 3));
  CHECK_NOTHROW(check_placement({0, 2, 1, 0}, 4));
  CHECK(contains(message_of<UsageError>([] { check_placement({0, 1}, 3); }), "for each of the 3 stages"));
  CHECK(contains(message_of<UsageError>([] {
                   check_placement({1, 0}, 2);
                 }),
                 "the first stage is the source, on device 0"));
  CHECK(contains(message_of<UsageError>([] { check_placement({0, 2, 0}, 3); }), "no stage is on device 1"));
  CHECK(contains(message_of<UsageError>([] { check_placement({0, -1}, 2); }), "numbered from 0"));
}

TEST_CASE("a device for each stage in order is what there is without a placement", "[placement]") {
  CHECK(simplified({0, 1, 2}).empty());
  CHECK(simplified({0, 2, 1}) == Placement{0, 2, 1});
  CHECK(device_of({}, 2) == 2);
  CHECK(device_of({0, 1, 0}, 2) == 0);
  CHECK(device_count({}, 3) == 3);
  CHECK(device_count({0, 1, 0}, 3) == 2);
}

TEST_CASE("the farthest stage is the last one, or the last on the highest device", "[placement]") {
  CHECK(farthest_stage({}, 3) == 2);
  CHECK(farthest_stage({0, 1, 0}, 3) == 1);
  CHECK(farthest_stage({0, 1, 1, 0}, 4) == 2);
}

TEST_CASE("a link leads away from the source, back towards it, or nowhere", "[placement]") {
  CHECK(way_between({}, 0, 1) == Way::forward);
  CHECK(way_between({}, 2, 0) == Way::backward);
  CHECK(way_between({0, 1, 0}, 0, 1) == Way::forward);
  CHECK(way_between({0, 1, 0}, 1, 2) == Way::backward);
  CHECK(way_between({0, 1, 0}, 2, 0) == Way::within);
}

TEST_CASE("on the way back a profile's directions are swapped, and within a device it does nothing", "[placement]") {
  NetworkProfile profile{"mobile", {}, {}};
  profile.forward.rate_bit_per_s = 5'000'000;
  profile.backward.rate_bit_per_s = 20'000'000;
  CHECK(along(profile, Way::forward) == profile);
  CHECK(along(profile, Way::backward).forward == profile.backward);
  CHECK(along(profile, Way::backward).backward == profile.forward);
  CHECK_FALSE(along(profile, Way::within).shaped());
}
