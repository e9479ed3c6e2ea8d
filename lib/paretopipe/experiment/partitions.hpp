#pragma once
#include <paretopipe/experiment/experiment.hpp>
#include <paretopipe/experiment/model_description.hpp>
#include <paretopipe/experiment/partition.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace paretopipe::experiment {

/// Converts a number of stages or blocks, which is an int as a person writes it, to a container index. `number` >= 0.
constexpr std::size_t index(int number) {
  return static_cast<std::size_t>(number);
}

// The ways to cut a chain of blocks into stages of at least one block. Pure.

/// The number of partitions: C(blocks - 1, stages - 1), or the type's maximum if that is exceeded.
std::uint64_t count_partitions(int blocks, int stages);

/// All partitions, in lexicographic order. count_partitions() tells how much memory that takes.
std::vector<SplitPoints> every_partition(int blocks, int stages);

/// `count` different partitions, in lexicographic order; all of them if there are no more. All are equally likely, and
/// the same seed chooses the same ones on every platform.
std::vector<SplitPoints> some_partitions(int blocks, int stages, int count, std::uint64_t seed);

// Named partitions. Pure.

/// The partition of a scheme that goes by the number of blocks. Every stage gets one block; each further block goes to
/// the stage farthest below its share. This is Sainte-Laguë's method of the highest averages, weight / (2 blocks + 1);
/// ties go to the earliest stage. Requires blocks >= stages, and a scheme other than equal_time.
SplitPoints share_blocks(Scheme scheme, int blocks, int stages);

/// The partitions of one model that the experiment asks for, baselines included, each once, in lexicographic order. An
/// entry without split points stands for data parallelism, which does not split the model. `equal_time`: the partition
/// of that scheme; read only if wants_equal_time(). Throws UsageError for split points outside the model, and for more
/// partitions than anybody would measure. Pure.
std::vector<SplitPoints> partitions_of(const Experiment& experiment, const ModelDescription& model,
                                       const SplitPoints& equal_time = {});

/// True if predictions are to choose among all partitions. Throws UsageError if other partitions are named beside them.
bool wants_best(const Experiment& experiment);

/// True if the experiment asks for the partition of Scheme::equal_time, which has to be measured before planning.
bool wants_equal_time(const Experiment& experiment);

}  // namespace paretopipe::experiment
