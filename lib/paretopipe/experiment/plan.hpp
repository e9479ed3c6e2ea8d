#pragma once
#include <paretopipe/experiment/device.hpp>
#include <paretopipe/experiment/trial.hpp>

#include <cstdint>
#include <vector>

namespace paretopipe::experiment {

/// The networks of an experiment's sweep, and the kind of link that carries all of them.
struct Networks {
  std::vector<NetworkProfile> profiles{{}};
  Shaping shaping = Shaping::none;
};

/// What has to be known before planning.
struct PlanInputs {
  std::string weights_sha256{};           ///< of the weights file, if the experiment names one
  std::vector<SplitPoints> equal_time{};  ///< of each model at the axes' first values, if wants_equal_time()
  DataIdentity data_identity{};           ///< of the experiment's data
  std::vector<DeviceProfile> devices{};   ///< of the experiment (experiment::load_device_profiles)
  std::vector<Device> on{};               ///< of each stage, if the experiment names them (experiment::find_devices)
};

/// The common part of all trials of one of the experiment's models, with each axis at its first value. Pure.
UncutTrial uncut_trial(const Experiment& experiment, const ModelSource& model, Shaping shaping,
                       const PlanInputs& inputs);

/// The trials of an experiment, in the order in which they are to run. Models follow one another, so that a device
/// never holds two of them. The repetitions of a model follow one another. Each visits every combination of threads,
/// networks, batches, micro-batch sizes, depths and loads, and in each combination every split once. A repetition has
/// an order of splits of its own, which the seed decides, so that drift of the machine favours no split. Within a
/// repetition, what costs most to change changes least often: processes are restarted only for other threads, a network
/// is applied and probed once for each number of threads, and inputs are made once for each batch over a network. The
/// costliest setting that varies starts with its last value of the repetition before. Pure: the same arguments give the
/// same plan on every platform.
///
/// `models` holds the description of each of the experiment's models, in the same order. Throws UsageError as
/// partitions_of() does, and if the networks lack a link that a baseline needs.
std::vector<Trial> plan_trials(const Experiment& experiment, const std::vector<ModelDescription>& models,
                               const Networks& networks = {}, const PlanInputs& inputs = {});

/// The arrival times of a Server phase's queries: `count` moments of a Poisson process with `rate_per_s` arrivals per
/// second (more than 0), ascending, in nanoseconds since its beginning. Gaps are exponential, by inversion of the
/// distribution function (Devroye, Non-Uniform Random Variate Generation, 1986, II.2). The same seed draws the same
/// gaps at every rate, in proportion to 1 / rate (common random numbers). So in a queue whose service does not depend
/// on the rate, no query waits longer at a lower rate.
std::vector<std::int64_t> poisson_arrivals(double rate_per_s, int count, std::uint64_t seed);

/// The seed of a trial's schedule, derived from its own seed and its repetition. So an interval over the repetitions
/// includes the chance of arrivals, and compared splits meet the same arrivals in the same repetition.
std::uint64_t arrivals_seed(const Trial& trial);

}  // namespace paretopipe::experiment
