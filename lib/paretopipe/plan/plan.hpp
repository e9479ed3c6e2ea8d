#pragma once
#include <paretopipe/plan/trial.hpp>

#include <vector>

namespace paretopipe::plan {

/// The networks of an experiment's sweep, and the one kind of link that carries them all.
struct Networks {
  std::vector<config::NetworkProfile> profiles{{}};
  config::Shaping shaping = config::Shaping::none;
};

/// What has to be found out before there is a plan.
struct Groundwork {
  std::string weights_sha256{};  ///< of the file of weights, where the experiment names one
  std::vector<std::vector<double>>
      block_times{};                     ///< of each model's blocks at the axes' first values, if needs_block_times()
  config::DataIdentity data_identity{};  ///< of the experiment's data
  std::vector<config::DeviceProfile> devices{};  ///< of the experiment (config::load_device_profiles)
};

/// The trials of an experiment, in the order in which they are to run. Models follow one another, so that a device
/// never holds two of them, networks within a model, so that each is applied and probed once, and within a network the
/// combinations of threads, batches, sizes of chunks and depths, and of each its loads, so that processes, inputs and
/// outputs are made once for each; within these every repetition visits all its splits once, in an order shuffled by
/// the seed, so that drift of the machine does not look like a split's merit. Pure: the same arguments give the same
/// plan on every platform.
///
/// `models` holds the description of each of the experiment's models, in the same order. Throws UsageError as
/// partitions_of() does, and where the networks lack a link that a baseline needs.
std::vector<Trial> plan_trials(const config::Experiment& experiment,
                               const std::vector<config::ModelDescription>& models, const Networks& networks = {},
                               const Groundwork& groundwork = {});

}  // namespace paretopipe::plan
