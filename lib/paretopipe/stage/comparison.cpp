#include <paretopipe/core/error.hpp>
#include <paretopipe/stage/comparison.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

namespace paretopipe::stage {
namespace {

/// NaN and infinity count as infinitely different. JSON has neither.
double max_difference(std::span<const float> left, std::span<const float> right) {
  double largest = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const double difference = std::abs(double{left[i]} - double{right[i]});
    largest = std::max(largest, std::isfinite(difference) ? difference : std::numeric_limits<double>::max());
  }
  return largest;
}

}  // namespace

std::span<const float> as_floats(const Activation& activation) {
  return {reinterpret_cast<const float*>(activation.bytes.data()), activation.bytes.size() / sizeof(float)};
}

std::size_t argmax(std::span<const float> row) {
  return static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin());
}

double largest_magnitude(std::span<const Activation> outputs) {
  double largest = 0;
  for (const auto& output : outputs) {
    for (const float value : as_floats(output)) largest = std::max(largest, std::abs(double{value}));
  }
  return largest;
}

void Comparison::add(const Activation& result, const Activation& expected) {
  if (result.bytes.size() != expected.bytes.size()) {
    throw Error(ExitCode::internal, fmt::format("the result is {}, and the unsplit model's {}",
                                                wire::to_string(result.spec), wire::to_string(expected.spec)));
  }
  const auto images = expected.spec.shape.front();
  images_ += images;
  if (std::memcmp(result.bytes.data(), expected.bytes.data(), expected.bytes.size()) == 0) {
    agreeing_ += images;
    return;
  }
  const auto got = as_floats(result);
  const auto wanted = as_floats(expected);
  // Different bits of equal value (-0 and 0) also count as a difference: the smallest one that is not zero.
  max_abs_difference_ =
      std::max({max_abs_difference_, max_difference(got, wanted), double{std::numeric_limits<float>::denorm_min()}});
  const auto classes = wanted.size() / static_cast<std::size_t>(images);
  for (std::size_t i = 0; i < wanted.size(); i += classes) {
    agreeing_ += argmax(got.subspan(i, classes)) == argmax(wanted.subspan(i, classes));
  }
}

double Comparison::top1_agreement() const {
  return images_ == 0 ? 0 : static_cast<double>(agreeing_) / static_cast<double>(images_);
}

}  // namespace paretopipe::stage
