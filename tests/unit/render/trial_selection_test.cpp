#include <paretopipe/core/error.hpp>
#include <paretopipe/render/exports.hpp>

#include <algorithm>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "../frontier/measured.hpp"
#include "sweep.hpp"

using namespace paretopipe;
using support::contains;
using Selection = render::TrialSelection;

TEST_CASE("trials are selected by the beginning of their id, their split and their repetition") {
  const auto records = testing::sweep();
  const auto id = records[4].trial.id();
  const auto count = [&](const Selection& selection) { return render::select_trials(records, selection).size(); };
  CHECK(count({}) == records.size());
  CHECK(count({.id_prefix = id}) == 1);
  auto upper = id.substr(0, 6);
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
  CHECK(render::select_trials(records, {.id_prefix = upper}).at(0).trial == records[4].trial);
  CHECK(count({.split = "3"}) == 2);
  CHECK(render::select_trials(records, {.split = "3", .repetition = 2}).at(0).trial.repetition == 1);
  CHECK(count({.split = "7"}) == 3);  // two groups
}

TEST_CASE("a selection of several cuts is written as they are") {
  auto record = testing::make_failure(testing::make_trial(3), "gone");
  record.trial.split_points = {3, 7};
  CHECK(render::select_trials(std::vector{record}, {.split = "3,7"}).size() == 1);
  CHECK_THROWS_AS(render::select_trials(std::vector{record}, {.split = "3"}), UsageError);
}

TEST_CASE("trials are selected by the name of their network") {
  const std::vector records{testing::measured(3, 0, 10, 20, "wifi"), testing::measured(3, 0, 10, 20, "wan")};
  CHECK(render::select_trials(records, {.network = "wan"}).at(0).trial == records[1].trial);
  const auto message = support::message_of<UsageError>([&] { render::select_trials(records, {.network = "lan\x1b"}); });
  CHECK(contains(message, "no trial over the network lan?; there are"));
}

TEST_CASE("a selection that nothing matches is refused with what there is") {
  const auto records = testing::sweep();
  const auto message = support::message_of<UsageError>(
      [&] { render::select_trials(records, {.id_prefix = "zz\x1b", .split = "99", .repetition = 7}); });
  CHECK(contains(message, "no trial whose id begins with zz? of split 99 of repetition 7"));
  CHECK(contains(message, records.front().trial.id()));
  CHECK(contains(message, "resnet18 split 6/10 batch 8 repetition 1, failed"));
  CHECK(render::select_trials({}, {.split = "99"}).empty());  // no records is another message
}
