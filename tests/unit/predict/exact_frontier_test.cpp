#include <paretopipe/analysis/predict/exact_frontier.hpp>
#include <paretopipe/core/error.hpp>

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>

#include <support/catch.hpp>
#include <support/message_of.hpp>

namespace {

using namespace paretopipe;
using predict::LinkTimes;
using predict::PlacedStage;
using predict::Solution;
using predict::StageTimes;

/// One run in so many is impossible in a case; 0: none.
constexpr int kForbidden[] = {0, 0, 20, 3};

/// Latency and period.
using Speed = std::pair<std::int64_t, std::int64_t>;

struct Case {
  std::vector<StageTimes> devices;
  std::vector<LinkTimes> links;
};

/// How fast these stages are, straight from the definition; nothing if a device cannot compute its blocks.
std::optional<Speed> speed_of(const Case& made, const std::vector<PlacedStage>& stages) {
  Speed speed{0, 0};
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const auto& device = made.devices[static_cast<std::size_t>(stages[i].device)];
    if (!device.possible(stages[i].begin, stages[i].end)) return std::nullopt;
    const auto time = device.at(stages[i].begin, stages[i].end);
    speed.first += time;
    speed.second = std::max(speed.second, time);
    if (stages.size() == 1) continue;
    const auto cut = static_cast<std::size_t>(stages[i].end);
    speed.first += made.links[i].latency_ns[cut];
    speed.second = std::max(speed.second, made.links[i].busy_ns[cut]);
  }
  return speed;
}

/// Adds every partition of the blocks from `begin` on over the remaining devices of `order`.
void enumerate(const Case& made, const std::vector<int>& order, int begin, std::vector<PlacedStage>& stages,
               std::vector<Speed>& found) {
  const int blocks = made.devices.front().blocks();
  if (stages.size() == order.size()) {
    if (begin != blocks) return;
    if (const auto speed = speed_of(made, stages)) found.push_back(*speed);
    return;
  }
  for (int end = begin + 1; end <= blocks; ++end) {
    stages.push_back({order[stages.size()], begin, end});
    enumerate(made, order, end, stages, found);
    stages.pop_back();
  }
}

/// Ascending latency, descending period.
std::vector<Speed> undominated(std::vector<Speed> speeds) {
  std::sort(speeds.begin(), speeds.end());
  std::vector<Speed> frontier;
  for (const auto& speed : speeds) {
    if (frontier.empty() || speed.second < frontier.back().second) frontier.push_back(speed);
  }
  return frontier;
}

std::vector<Speed> enumerated(const Case& made, const std::vector<int>& order) {
  std::vector<Speed> found;
  std::vector<PlacedStage> stages;
  enumerate(made, order, 0, stages, found);
  return undominated(std::move(found));
}

/// Every order of every choice of `stages` devices.
std::vector<Speed> enumerated_in_any_order(const Case& made, int stages) {
  std::vector<int> order(made.devices.size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<Speed> found;
  do {
    const auto some = enumerated(made, {order.begin(), order.begin() + stages});
    found.insert(found.end(), some.begin(), some.end());
  } while (std::next_permutation(order.begin(), order.end()));
  return undominated(std::move(found));
}

std::vector<Speed> speeds_of(const std::vector<Solution>& frontier) {
  std::vector<Speed> speeds;
  for (const auto& solution : frontier) speeds.emplace_back(solution.latency_ns, solution.period_ns);
  return speeds;
}

/// Each solution is as fast as it says, and uses every block once and no device twice.
void check_solutions(const Case& made, const std::vector<Solution>& frontier) {
  for (const auto& solution : frontier) {
    const auto speed = speed_of(made, solution.stages);
    REQUIRE(speed.has_value());
    REQUIRE(*speed == Speed{solution.latency_ns, solution.period_ns});
    std::set<int> devices;
    int begin = 0;
    for (const auto& stage : solution.stages) {
      REQUIRE(stage.begin == begin);
      REQUIRE(devices.insert(stage.device).second);
      begin = stage.end;
    }
    REQUIRE(begin == made.devices.front().blocks());
  }
}

/// Times from 0 to `most`: a small one makes many ties. A run takes any time, or about as long as its blocks. One run
/// in `forbidden` is impossible; 0: none.
Case random_case(std::mt19937_64& random, int blocks, int devices, int links, int most, int forbidden) {
  std::uniform_int_distribution<int> time(0, most);
  const bool additive = random() % 2 == 0;
  Case made;
  for (int device = 0; device < devices; ++device) {
    auto& times = made.devices.emplace_back(blocks);
    for (int begin = 0; begin < blocks; ++begin) {
      for (int end = begin + 1; end <= blocks; ++end) {
        times.set(begin, end, time(random) * (additive ? end - begin : 1));
        if (forbidden > 0 && random() % static_cast<unsigned>(forbidden) == 0) times.forbid(begin, end);
      }
    }
  }
  for (int i = 0; i < links; ++i) {
    LinkTimes link;
    for (int cut = 0; cut <= blocks; ++cut) {
      link.busy_ns.push_back(time(random));
      link.latency_ns.push_back(link.busy_ns.back() + time(random) / 2);
    }
    made.links.push_back(link);
  }
  return made;
}

TEST_CASE("in a given order the frontier is that of enumeration, with ties and impossible runs, in 4000 cases") {
  std::mt19937_64 random(1);
  int several = 0, empty = 0;
  for (int round = 0; round < 4000; ++round) {
    const int blocks = 1 + round % 12, devices = 1 + round / 12 % 5;
    const auto made = random_case(random, blocks, devices, devices, round % 3 == 0 ? 5 : 1000, kForbidden[round % 4]);
    std::vector<int> order(static_cast<std::size_t>(devices));
    std::iota(order.begin(), order.end(), 0);
    const auto frontier = predict::frontier_in_order(made.devices, made.links);
    CAPTURE(round, blocks, devices);
    REQUIRE(speeds_of(frontier) == enumerated(made, order));
    check_solutions(made, frontier);
    several += frontier.size() > 1 ? 1 : 0;
    empty += frontier.empty() ? 1 : 0;
  }
  CHECK(several > 400);  // the cases are no trivial ones
  CHECK(empty > 100);
}

TEST_CASE("in any order the frontier is that of all orders of all choices of devices, in 1000 cases") {
  std::mt19937_64 random(2);
  int several = 0;
  for (int round = 0; round < 1000; ++round) {
    const int blocks = 1 + round % (round % 10 == 0 ? 12 : 9), devices = 1 + round / 9 % 5,
              stages = 1 + static_cast<int>(random() % 5) % devices;
    auto made = random_case(random, blocks, devices, 1, round % 3 == 0 ? 5 : 1000, kForbidden[round % 4]);
    made.links.resize(static_cast<std::size_t>(stages), made.links.front());
    const auto frontier = predict::frontier_in_any_order(made.devices, stages, made.links.front());
    CAPTURE(round, blocks, devices, stages);
    REQUIRE(speeds_of(frontier) == enumerated_in_any_order(made, stages));
    check_solutions(made, frontier);
    several += frontier.size() > 1 ? 1 : 0;
  }
  CHECK(several > 40);
}

TEST_CASE("the better cut moves to the faster device, and a device's memory limit moves it back") {
  // Four blocks of 10 ms on the slow device and 2 ms on the fast one; nothing crosses for free.
  Case made;
  for (const int block_ms : {10, 2}) {
    auto& times = made.devices.emplace_back(4);
    for (int begin = 0; begin < 4; ++begin) {
      for (int end = begin + 1; end <= 4; ++end) times.set(begin, end, (end - begin) * block_ms * 1'000'000);
    }
  }
  made.links.assign(2, {{1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}});
  const auto free = predict::frontier_in_order(made.devices, made.links);
  REQUIRE(free.size() == 1);
  CHECK(free.front().stages == std::vector<PlacedStage>{{0, 0, 1}, {1, 1, 4}});
  made.devices[1].forbid(1, 4);
  made.devices[1].forbid(2, 4);
  const auto limited = predict::frontier_in_order(made.devices, made.links);
  REQUIRE(limited.size() == 1);
  CHECK(limited.front().stages == std::vector<PlacedStage>{{0, 0, 3}, {1, 3, 4}});
}

TEST_CASE("a model of fewer blocks than stages has no partition, and one device needs no link") {
  const std::vector<StageTimes> three(3, StageTimes(2));
  CHECK(predict::frontier_in_order(three, std::vector<LinkTimes>(3, {{0, 0, 0}, {0, 0, 0}})).empty());
  StageTimes alone(2);
  alone.set(0, 2, 7);
  const auto frontier = predict::frontier_in_order({&alone, 1}, {});
  REQUIRE(frontier.size() == 1);
  CHECK(frontier.front() == Solution{7, 7, {{0, 0, 2}}});
}

TEST_CASE("what cannot be a question is refused, and more devices than can be tried in a sentence") {
  StageTimes times(3);
  CHECK_THROWS_AS(StageTimes(0), std::invalid_argument);
  CHECK_THROWS_AS(times.set(1, 1, 5), std::invalid_argument);
  CHECK_THROWS_AS(times.set(0, 4, 5), std::invalid_argument);
  CHECK_THROWS_AS(times.set(0, 1, -1), std::invalid_argument);
  CHECK_THROWS_AS(times.forbid(-1, 1), std::invalid_argument);
  const std::vector<StageTimes> two(2, times);
  CHECK_THROWS_AS(predict::frontier_in_order(two, {}), std::invalid_argument);
  CHECK_THROWS_AS(predict::frontier_in_order(two, std::vector<LinkTimes>(2)), std::invalid_argument);
  const LinkTimes link{{0, 0, 0, 0}, {0, 0, 0, 0}};
  const std::vector<StageTimes> many(13, times);
  CHECK(support::contains(support::message_of<UsageError>([&] { predict::frontier_in_any_order(many, 2, link); }),
                          "NP-hard"));
  CHECK_THROWS_AS(predict::frontier_in_any_order(two, 3, link), UsageError);
  CHECK_THROWS_AS(predict::frontier_in_any_order(two, 0, link), UsageError);
}

}  // namespace
