#include <paretopipe/analysis/predict/long_model.hpp>
#include <paretopipe/analysis/predict/pipeline_model.hpp>
#include <paretopipe/analysis/stats/quantile.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace paretopipe::predict {

namespace {

/// Every other run, from the first or the second on.
template <class Run>
std::vector<Run> half_of(const std::vector<Run>& runs, std::size_t first) {
  std::vector<Run> half;
  for (std::size_t i = first; i < runs.size(); i += 2) half.push_back(runs[i]);
  return half;
}

/// Solves a symmetric system of three equations by elimination. An unknown that those before it determine is 0.
std::array<double, 3> solve(std::array<std::array<double, 3>, 3> matrix, std::array<double, 3> right) {
  const auto scale = matrix;
  std::array<double, 3> solution{};
  std::array<bool, 3> known{};
  for (std::size_t row = 0; row < 3; ++row) {
    known[row] = matrix[row][row] > 1e-9 * scale[row][row];
    for (std::size_t below = row + 1; known[row] && below < 3; ++below) {
      const auto factor = matrix[below][row] / matrix[row][row];
      for (std::size_t column = row; column < 3; ++column) matrix[below][column] -= factor * matrix[row][column];
      right[below] -= factor * right[row];
    }
  }
  for (std::size_t row = 3; row-- > 0;) {
    if (!known[row]) continue;
    auto rest = right[row];
    for (std::size_t column = row + 1; column < 3; ++column) rest -= matrix[row][column] * solution[column];
    solution[row] = rest / matrix[row][row];
  }
  return solution;
}

}  // namespace

LongModel::LongModel(const ProfiledDevice& device, int blocks) : until_(static_cast<std::size_t>(blocks) + 1, 0.0) {
  const auto usual_ns = [&](const ProfiledRun& run) { return band_of(device, run.compute_ns).value; };
  for (int block = 0; block < blocks; ++block) {
    const auto at = static_cast<std::size_t>(block);
    until_[at + 1] = until_[at] + usual_ns(*device.run(block, block + 1));
  }
  std::vector<Timed> several;
  for (const auto& run : device.runs) {
    if (run.end > run.begin + 1) several.push_back({&run, std::max(1.0, usual_ns(run))});
  }
  fit(half_of(several, 0));
  std::vector<double> errors;
  for (const auto& [run, measured] : half_of(several, 1)) {
    errors.push_back(std::abs(estimate_ns(run->begin, run->end) / measured - 1));
  }
  held_out_error_ = stats::quantile(errors, 0.95).value_or(0);
  fit(several);
}

LongModel::Terms LongModel::terms_of(int begin, int end) const {
  const auto sum = until_[static_cast<std::size_t>(end)] - until_[static_cast<std::size_t>(begin)];
  return {sum, static_cast<double>(end - begin), 1};
}

double LongModel::estimate_ns(int begin, int end) const {
  const auto terms = terms_of(begin, end);
  return std::max(0.0, std::inner_product(terms.begin(), terms.end(), factors_.begin(), 0.0));
}

void LongModel::fit(const std::vector<Timed>& runs) {
  std::array<std::array<double, 3>, 3> matrix{};
  std::array<double, 3> right{};
  for (const auto& [run, measured] : runs) {
    const auto terms = terms_of(run->begin, run->end);
    for (std::size_t i = 0; i < 3; ++i) {
      right[i] += terms[i] / measured;
      for (std::size_t j = 0; j < 3; ++j) matrix[i][j] += terms[i] * terms[j] / (measured * measured);
    }
  }
  factors_ = solve(matrix, right);
}

}  // namespace paretopipe::predict
