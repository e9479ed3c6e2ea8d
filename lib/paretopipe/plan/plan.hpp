#pragma once
#include <paretopipe/plan/trial.hpp>

#include <vector>

namespace paretopipe::plan {

/// The networks of an experiment's sweep, and the kind of link that carries all of them.
struct Networks {
  std::vector<config::NetworkProfile> profiles{{}};
  config::Shaping shaping = config::Shaping::none;
};

/// What has to be known before planning.
struct PlanInputs {
  std::string weights_sha256{};  ///< of the weights file, if the experiment names one
  std::vector<std::vector<double>>
      block_times{};                     ///< of each model's blocks at the axes' first values, if needs_block_times()
  config::DataIdentity data_identity{};  ///< of the experiment's data
  std::vector<config::DeviceProfile> devices{};  ///< of the experiment (config::load_device_profiles)
};

/// The trials of an experiment, in the order in which they are to run. Models follow one another, so that a device
/// never holds two of them. The repetitions of a model follow one another. Each visits every combination of threads,
/// networks, batches, micro-batch sizes, depths and loads, and in it every split once, in an order of its own that the
/// seed decides; so drift of the machine favours no split. Within a repetition, what costs most to change changes least
/// often: processes are restarted only for other threads, a network is applied and probed once for each number of
/// threads, and inputs are made once for each batch over a network. The costliest setting that varies starts with its
/// last value of the repetition before. Pure: the same arguments give the same plan on every platform.
///
/// `models` holds the description of each of the experiment's models, in the same order. Throws UsageError as
/// partitions_of() does, and if the networks lack a link that a baseline needs.
std::vector<Trial> plan_trials(const config::Experiment& experiment,
                               const std::vector<config::ModelDescription>& models, const Networks& networks = {},
                               const PlanInputs& inputs = {});

}  // namespace paretopipe::plan
