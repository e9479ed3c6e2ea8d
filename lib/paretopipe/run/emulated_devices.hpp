#pragma once
#include <paretopipe/experiment/model_description.hpp>
#include <paretopipe/experiment/trial.hpp>
#include <paretopipe/launch/cgroup.hpp>
#include <paretopipe/record/record.hpp>

#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace paretopipe::run {

/// The devices of a trial that are emulated on this machine: one cgroup for each whose profile limits CPU time or
/// memory. Must outlive the stages that run in them. Without such limits it creates nothing and needs no privilege.
class EmulatedDevices {
 public:
  /// Throws EnvironmentError for limits that are not available here.
  explicit EmulatedDevices(const experiment::UncutTrial& trial);

  /// True if there is a cgroup.
  bool limited() const { return !cgroups_.empty(); }

  /// The value of launch::ChildCommand::cgroups for a stage. The descriptors are borrowed.
  std::vector<int> cgroups(int stage) const;

  /// Why the trial cannot run: a device's memory is smaller than what its blocks hold at any batch size. Pure.
  static std::optional<record::Failure> too_small_for(const experiment::Trial& trial,
                                                      const experiment::ModelDescription& model);

  /// Announces the next trial, so that cause_of_death() can tell what its stages needed.
  void expect(const experiment::Trial& trial, const experiment::ModelDescription& model);

  /// Why the kernel killed the process of a stage, if it did so for its memory: ": over its memory limit of …".
  /// Otherwise empty.
  std::string cause_of_death(int stage) const;

  /// The device of a stage, for the record; nothing if it is not emulated.
  std::optional<record::EmulatedDevice> describe(int stage) const;

 private:
  const launch::Cgroup* cgroup_of(int stage) const;

  experiment::UncutTrial trial_;
  std::optional<launch::CgroupParents> parents_;
  std::vector<std::int64_t> weights_;                  // of each stage in the coming trial
  std::deque<std::optional<launch::Cgroup>> cgroups_;  // one per device; a cgroup does not move
};

}  // namespace paretopipe::run
