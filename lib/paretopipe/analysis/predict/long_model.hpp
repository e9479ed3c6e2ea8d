#pragma once
#include <paretopipe/analysis/predict/profile.hpp>

#include <array>
#include <vector>

namespace paretopipe::predict {

/// Estimates what a device takes for the runs of a long model, of which only some were profiled: those that begin with
/// the first block or end with the last one, single blocks, and a few drawn ones for each beginning (profiled_ends).
///
/// A run takes about the sum of its blocks alone. But each block alone is begun and ended, while the run is begun and
/// ended once. So its time is a factor times the sum, less something for each block, plus something to begin and end.
/// These three factors are fitted to all runs of several blocks by least squares of relative errors.
class LongModel {
 public:
  /// The device must have the runs that profiled_ends() names.
  LongModel(const ProfiledDevice& device, int blocks);

  double estimate_ns(int begin, int end) const;

  /// 95 % of the runs that were held out are estimated within this share of what was measured. For that, every other
  /// run of several blocks was fitted, and the rest was held out.
  double held_out_error() const { return held_out_error_; }

 private:
  /// What the three factors multiply: the sum of the blocks alone, their number, and one.
  using Terms = std::array<double, 3>;
  Terms terms_of(int begin, int end) const;

  /// A run of several blocks, and what it takes.
  struct Timed {
    const ProfiledRun* run;
    double ns;
  };
  void fit(const std::vector<Timed>& runs);

  std::vector<double> until_;  ///< [i]: the sum of the first i blocks, each alone
  Terms factors_{1, 0, 0};
  double held_out_error_ = 0;
};

}  // namespace paretopipe::predict
