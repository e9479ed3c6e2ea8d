#pragma once
#include <paretopipe/analysis/predict/prediction.hpp>
#include <paretopipe/core/error.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include <support/message_of.hpp>

#include "profiles.hpp"

// The frontier of small random questions, by looking at everything; and what questions are refused with.

namespace paretopipe::testing {

inline std::string refusal(const predict::Question& question) {
  return support::message_of<UsageError>([&] { predict::predict(question); });
}

/// Latency, throughput, and memory of the neediest stage.
using Numbers = std::tuple<double, double, std::int64_t>;

inline Numbers numbers_of(const predict::PredictedSplit& split, bool memory) {
  return {split.latency_ns.value, split.throughput_image_per_s.value, memory ? split.most_memory_bytes().value() : 0};
}

inline std::set<Numbers> numbers_of(const predict::Prediction& prediction, bool memory) {
  std::set<Numbers> numbers;
  for (const auto& split : prediction.frontier) numbers.insert(numbers_of(split, memory));
  return numbers;
}

/// By looking at every partition of two or three stages with every codec, both ends included.
inline std::set<Numbers> enumerated_frontier(const predict::Question& question, int blocks, bool memory) {
  std::vector<std::vector<int>> splits{std::vector<int>(static_cast<std::size_t>(predict::stages_of(question)) - 1, 0)};
  splits.push_back(std::vector<int>(splits.front().size(), blocks));
  for (int one = 1; one < blocks; ++one) {
    if (splits.front().size() == 1) splits.push_back({one});
    for (int two = one + 1; two < blocks && splits.front().size() == 2; ++two) splits.push_back({one, two});
  }
  std::set<Numbers> all, frontier;
  std::vector<experiment::Cut> cuts;
  for (const auto& codec : question.codecs) {
    for (const auto& points : splits) cuts.push_back({points, codec});
  }
  for (const auto& split : predict::predict_splits(question, cuts)) all.insert(numbers_of(split, memory));
  for (const auto& one : all) {
    const auto beats = [&](const Numbers& other) {
      return other != one && std::get<0>(other) <= std::get<0>(one) && std::get<1>(other) >= std::get<1>(one) &&
             std::get<2>(other) <= std::get<2>(one);
    };
    if (std::none_of(all.begin(), all.end(), beats)) frontier.insert(one);
  }
  return frontier;
}

/// Devices of random times, whose blocks need random memory.
inline predict::Question random_question(std::mt19937_64& random) {
  const auto draw = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
  const int blocks = draw(3, 8);
  std::vector<std::vector<int>> times(static_cast<std::size_t>(draw(2, 3)));
  for (auto& device : times) {
    for (int i = 0; i < blocks; ++i) device.push_back(draw(1, 60));
  }
  auto question = question_of(times);
  for (auto& device : question.profiles.front().devices) {
    for (auto& run : device.runs) *run.memory_bytes = (run.end - run.begin) * 1000 + draw(0, 5) * 100;
  }
  return question;
}

}  // namespace paretopipe::testing
