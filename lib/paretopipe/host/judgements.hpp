#pragma once
#include <paretopipe/host/health.hpp>

#include <vector>

/// The parts of `judge`. Internal to this folder.
namespace paretopipe::host {

std::vector<Finding> judge_installation(const Observations& seen);  ///< programs, libraries, data
std::vector<Finding> judge_cpus(const Observations& seen);          ///< how many, how steady, how shared; the clock
std::vector<Finding> judge_memory(const Observations& seen);

}  // namespace paretopipe::host
