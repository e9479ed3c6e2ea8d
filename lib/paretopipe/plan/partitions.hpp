#pragma once
#include <paretopipe/config/experiment.hpp>
#include <paretopipe/config/model_description.hpp>

#include <span>
#include <vector>

namespace paretopipe::plan {

/// The partitions of one model that the experiment asks for, baselines included, each once, in lexicographic order. An
/// entry without split points stands for data parallelism, which does not split the model. `block_times`: times of the
/// model's blocks, in any unit; read only if needs_block_times(). Throws UsageError for split points outside the model,
/// and for more partitions than anybody would measure. Pure.
std::vector<config::SplitPoints> partitions_of(const config::Experiment& experiment,
                                               const config::ModelDescription& model,
                                               std::span<const double> block_times = {});

/// Whether the experiment asks for a partition that depends on the time of each block.
bool needs_block_times(const config::Experiment& experiment);

}  // namespace paretopipe::plan
