#include <paretopipe/analysis/predict/long_model.hpp>
#include <paretopipe/analysis/predict/prediction.hpp>

#include <cmath>
#include <random>
#include <set>

#include <support/catch.hpp>

#include "profiles.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;

namespace {

constexpr int kLongBlocks = 100;

/// Blocks of 1 to 3 ms, whose runs take less than their sum because a stage is optimized as a whole, and something to
/// begin and end.
struct Truth {
  std::vector<double> until{0.0};

  Truth() {
    std::mt19937_64 random(1);
    for (int i = 0; i < kLongBlocks; ++i)
      until.push_back(until.back() + std::uniform_real_distribution(1.0, 3.0)(random));
  }

  double ns(int begin, int end) const {
    const auto sum = until[static_cast<std::size_t>(end)] - until[static_cast<std::size_t>(begin)];
    return (0.9 * sum + (begin > 0 ? 0.3 : 0) + (end < kLongBlocks ? 0.2 : 0)) * kMs;
  }
};

/// With only the runs that are profiled of a long model. `stray`: the share by which they vary.
predict::Profile long_profile(const Truth& truth, double stray) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> factor(1 - stray, 1 + stray);
  auto profile = a_profile({std::vector<int>(kLongBlocks, 1), std::vector<int>(kLongBlocks, 1)});
  for (auto& device : profile.devices) {
    device.runs.clear();
    for (int begin = 0; begin < kLongBlocks; ++begin) {
      for (const int end : predict::profiled_ends(kLongBlocks, begin)) {
        const auto ns = static_cast<std::int64_t>(truth.ns(begin, end) * factor(random));
        device.runs.push_back({begin, end, {ns}, 1000 * (end - begin)});
      }
    }
  }
  return profile;
}

}  // namespace

TEST_CASE("of a long model few runs are profiled: those at its ends, single blocks, and some that are drawn") {
  std::size_t runs = 0;
  for (int begin = 0; begin < kLongBlocks; ++begin) {
    const auto ends = predict::profiled_ends(kLongBlocks, begin);
    CHECK(std::set(ends.begin(), ends.end()).size() == ends.size());
    CHECK(ends.front() == begin + 1);
    CHECK(ends.back() == kLongBlocks);
    CHECK(ends == predict::profiled_ends(kLongBlocks, begin));
    runs += ends.size();
  }
  CHECK(runs < 5 * kLongBlocks);
  CHECK(predict::profiled_ends(predict::kMostProfiledBlocks, 3).size() == predict::kMostProfiledBlocks - 3);
}

TEST_CASE("the other runs of a long model are estimated, as closely as it says of those that it held out") {
  const Truth truth;
  for (const double stray : {0.0, 0.05}) {
    CAPTURE(stray);
    const auto profile = long_profile(truth, stray);
    const predict::LongModel model(profile.devices.front(), kLongBlocks);
    int runs = 0, within = 0;
    for (int begin = 1; begin < kLongBlocks; ++begin) {
      for (int end = begin + 10; end < kLongBlocks; ++end) {
        ++runs;
        within += std::abs(model.estimate_ns(begin, end) / truth.ns(begin, end) - 1) <= model.held_out_error() + 1e-4;
      }
    }
    CHECK(within >= 0.9 * runs);
    CHECK((model.held_out_error() < 0.01) == (stray == 0));
  }
}

TEST_CASE("with a quota, the other runs of a long model are estimated from means, as those that were profiled are") {
  auto device = long_profile(Truth{}, 0).devices.front();
  const auto without = predict::LongModel(device, kLongBlocks).estimate_ns(30, 71);
  for (auto& run : device.runs) {
    const auto ns = run.compute_ns.front();
    run.compute_ns = {ns, ns, 4 * ns};
  }
  CHECK(predict::LongModel(device, kLongBlocks).estimate_ns(30, 71) == Approx(without));
  device.cpu_quota = 0.25;
  CHECK(predict::LongModel(device, kLongBlocks).estimate_ns(30, 71) == Approx(2 * without));
}

TEST_CASE("a long model is predicted, with a band for what was estimated, and its memory is no less than it needs") {
  const Truth truth;
  predict::Question question{.profiles = {long_profile(truth, 0.02)}, .depth = 100};
  for (auto& link : question.profiles.front().links) link.rate_bit_per_s = 8e9;
  const auto prediction = predict::predict(question);
  CHECK(prediction.estimated_within > 0);
  CHECK(prediction.frontier.back().stages.size() == 2);
  auto chain = question.profiles.front();
  chain.devices.push_back(chain.devices.front());
  chain.links = {{0, 1, 2'000'000, 8e9}, {1, 2, 2'000'000, 8e9}, {2, 0, 2'000'000, 8e9}};
  question.profiles = {chain};
  const auto split = predict_split(question, {{30, 71}});
  CHECK(split.stage_ns[1].contains(truth.ns(30, 71)));
  CHECK(split.memory_bytes[1].value() >= 41'000);
  CHECK(split.memory_bytes[1].value() <= 70'000);
  // A file of it is read as it was written.
  CHECK(nlohmann::json(chain).get<predict::Profile>() == chain);
}
