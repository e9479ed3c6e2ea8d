#pragma once
#include <paretopipe/config/model_description.hpp>
#include <paretopipe/launch/cgroup.hpp>
#include <paretopipe/plan/trial.hpp>
#include <paretopipe/record/record.hpp>

#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace paretopipe::run {

/// The devices of a trial that are emulated on this machine: a cgroup for each whose profile limits CPU time or memory.
/// Must outlive the stages that run in them. Without such limits it makes nothing and needs no privilege.
class EmulatedDevices {
 public:
  /// Throws EnvironmentError for limits that cannot be had here.
  explicit EmulatedDevices(const plan::Trial& trial);

  /// Whether there is a cgroup.
  bool limited() const { return !cgroups_.empty(); }

  /// For launch::ChildCommand::cgroups of a stage. Borrowed.
  std::vector<int> cgroups(int stage) const;

  /// Why the trial cannot run: the weights of a device's blocks alone are more than its memory. Pure.
  static std::optional<record::Failure> too_small_for(const plan::Trial& trial, const config::ModelDescription& model);

  /// Which trial comes, so that a death can be told with what its stages needed.
  void expect(const plan::Trial& trial, const config::ModelDescription& model);

  /// Why the process of a stage was killed, if the kernel did it for its memory: ": it went over …"; otherwise nothing.
  std::string cause_of_death(int stage) const;

  /// Adds to the stages of a record what their devices were.
  void describe_in(record::TrialRecord& record) const;

 private:
  const launch::Cgroup* cgroup_of(int stage) const;

  plan::Trial trial_;
  std::optional<launch::CgroupParents> parents_;
  std::vector<std::int64_t> weights_;                  // of each stage in the coming trial
  std::deque<std::optional<launch::Cgroup>> cgroups_;  // one per device; a cgroup does not move
};

}  // namespace paretopipe::run
