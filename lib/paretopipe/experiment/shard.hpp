#pragma once
#include <paretopipe/experiment/trial.hpp>

#include <string>
#include <vector>

namespace paretopipe::experiment {

/// A part of a plan that is measured by itself, as one task of a Slurm array or one job of a CI matrix does. It is no
/// setting: a trial has the same identity in whichever shard it is measured.
struct Shard {
  int number = 1;  ///< 1-based
  int count = 1;

  bool operator==(const Shard&) const = default;
};

/// The most shards that a plan is divided into.
inline constexpr int kMostShards = 100'000;

/// Parses "3/16", the third of sixteen. Throws UsageError.
Shard parse_shard(const std::string& text);

/// "3/16"
std::string to_string(const Shard& shard);

/// The trials of a plan that belong to the shard, in the order of the plan. All repetitions of a configuration are in
/// one shard, so that a median is over repetitions on one machine. Every trial is in exactly one shard, and numbers of
/// configurations differ by at most one. Configurations are dealt out in the order in which they first occur in the
/// plan. Whenever every shard has got one, the order of the shards is drawn anew, because a fixed order could give one
/// shard the same split of every group. Pure: only the positions in the plan decide, and nothing that differs between
/// machines.
std::vector<Trial> trials_of(const Shard& shard, const std::vector<Trial>& plan);

}  // namespace paretopipe::experiment
