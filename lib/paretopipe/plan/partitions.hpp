#pragma once
#include <paretopipe/config/experiment.hpp>
#include <paretopipe/config/model_description.hpp>

#include <span>
#include <vector>

namespace paretopipe::plan {

/// What the experiment asks for of one model, baselines included: each partition once, in lexicographic order. One
/// without split points stands for data parallelism, where the model is not split.
/// `block_times`: of the model's blocks, in any unit; only read if needs_block_times(). Throws UsageError for split
/// points outside of the model, and for more partitions than anybody would measure. Pure.
std::vector<config::SplitPoints> partitions_of(const config::Experiment& experiment,
                                               const config::ModelDescription& model,
                                               std::span<const double> block_times = {});

/// Whether a partition is asked for that depends on how long every block takes.
bool needs_block_times(const config::Experiment& experiment);

}  // namespace paretopipe::plan
