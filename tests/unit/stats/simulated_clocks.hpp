#pragma once
#include <paretopipe/analysis/stats/clock_bounds.hpp>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

/// Frames between stages whose clocks are known. Stage 0's clock tells the true time.
namespace paretopipe::testing {

struct SimulatedClock {
  std::int64_t ahead = 0;  ///< when stage 0's clock reads 0
  double drift = 0;        ///< how much faster it goes, 50e-6 is 50 ppm
  std::int64_t step_at = 0, step = 0;

  std::int64_t read(double true_ns) const {
    const auto stepped = step != 0 && true_ns >= static_cast<double>(step_at) ? step : 0;
    return ahead + stepped + static_cast<std::int64_t>(std::floor(true_ns + drift * true_ns));
  }

  /// What is to be added at `time`, while nothing is stepped.
  double to_add(std::int64_t time) const {
    const double gone = static_cast<double>(time - ahead);
    return -static_cast<double>(ahead) - gone * drift / (1 + drift);
  }
  double added_drift() const { return -drift / (1 + drift); }
};

struct SimulatedTrial {
  std::vector<SimulatedClock> clocks;  ///< one for each stage
  std::vector<double> delays_ns;       ///< of the links, at least
  bool star = false;                   ///< instead of a ring
  double jitter_ns = 0;                ///< mean of what comes on top
  double queueing_ns = 0;              ///< a tenth of all frames find a queue of up to this length
  double interval_ns = 20e6;           ///< between two batches
  double compute_ns = 3e6;             ///< at most, of a stage
  int batches = 400;
};

/// Frames of a link keep their order.
inline std::vector<stats::LinkFrames> simulate(const SimulatedTrial& trial, std::mt19937& random) {
  const int stages = static_cast<int>(trial.clocks.size());
  std::vector<stats::LinkFrames> links;
  for (int stage = 1; trial.star && stage < stages; ++stage) {
    links.insert(links.end(), {{0, stage, {}}, {stage, 0, {}}});
  }
  for (int stage = 0; !trial.star && stage < stages; ++stage) links.push_back({stage, (stage + 1) % stages, {}});
  std::uniform_real_distribution<double> share(0, 1);
  std::exponential_distribution<double> jitter(1);
  std::vector<double> link_free(links.size()), link_done(links.size());
  for (int batch = 0; batch < trial.batches; ++batch) {
    double now = 1e9 + batch * trial.interval_ns;
    for (std::size_t i = 0; i < links.size(); ++i) {
      const auto& from = trial.clocks[static_cast<std::size_t>(links[i].from)];
      const auto& to = trial.clocks[static_cast<std::size_t>(links[i].to)];
      const double sent = link_free[i] = std::max(now + share(random) * trial.compute_ns, link_free[i]);
      const double queue = share(random) < 0.1 ? share(random) * trial.queueing_ns : 0;
      const double delay = trial.delays_ns[i] + jitter(random) * trial.jitter_ns + queue;
      now = link_done[i] = std::max(sent + delay, link_done[i]);
      links[i].frames.push_back({from.read(sent), to.read(now)});
    }
  }
  return links;
}

inline std::vector<int> own_clocks(std::size_t stages) {
  std::vector<int> clocks(stages);
  for (std::size_t i = 0; i < stages; ++i) clocks[i] = static_cast<int>(i);
  return clocks;
}

}  // namespace paretopipe::testing
