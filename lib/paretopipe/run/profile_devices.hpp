#pragma once
#include <paretopipe/analysis/predict/profile.hpp>
#include <paretopipe/run/prepare_sweep.hpp>

#include <functional>
#include <string>

namespace paretopipe::run {

/// Profiles the only model of an experiment on the devices of its stages, with the experiment's codecs and under the
/// conditions of its trials (CPUs, threads, mode, limits). Nothing is shaped on the links. Throws UsageError for an
/// experiment of several models, batches or numbers of threads, for a shaped network, for codecs of each cut, for a
/// model of more than predict::kMostBlocks blocks, and for a device whose memory cannot hold the whole model. Throws
/// what PipelineExecutor::profile does.
predict::Profile profile_devices(const experiment::Experiment& experiment, const SweepInputs& inputs, int rounds,
                                 PipelineExecutor& executor,
                                 const std::function<void(const std::string&)>& progress = {});

/// Why a profile that this machine made does not, or no longer, describe what would be measured now: a clause such as
/// "it was made by another stage program". Empty if nothing is known against it. Devices that got slower show only when
/// a few splits are measured.
std::string why_outdated(const predict::Profile& profile, const std::vector<experiment::Trial>& plan,
                         const record::Provenance& now);

}  // namespace paretopipe::run
