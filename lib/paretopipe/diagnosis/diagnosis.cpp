#include <paretopipe/diagnosis/diagnosis.hpp>
#include <paretopipe/report/format.hpp>
#include <paretopipe/stats/disturbances.hpp>
#include <paretopipe/stats/slow_downs.hpp>

#include <algorithm>

namespace paretopipe::diagnosis {
namespace {

using Records = std::span<const record::TrialRecord>;

void add_once(std::vector<std::string>& sentences, std::string sentence) {
  if (std::find(sentences.begin(), sentences.end(), sentence) == sentences.end()) {
    sentences.push_back(std::move(sentence));
  }
}

/// Removes the configuration's unwanted repetitions if any of its repetitions is wanted. Returns whether one is.
bool narrow(stats::Configuration& configuration, Records records, const std::set<std::string>& wanted) {
  const auto is_wanted = [&](std::size_t index) { return wanted.contains(records[index].trial.id()); };
  const std::initializer_list<std::vector<std::size_t>*> all{&configuration.ok, &configuration.failed,
                                                             &configuration.invalid};
  const bool any = std::any_of(all.begin(), all.end(), [&](const auto* indices) {
    return std::any_of(indices->begin(), indices->end(), is_wanted);
  });
  if (!any) return false;
  for (auto* indices : all) std::erase_if(*indices, [&](std::size_t index) { return !is_wanted(index); });
  return true;
}

bool same_place(const Constraint& left, const Constraint& right) {
  return left.kind == right.kind && left.stage == right.stage;
}

void measure(ConfigurationDiagnosis& diagnosis, Records records) {
  std::vector<Demands> repetitions;
  for (const auto index : diagnosis.configuration.ok) {
    if (diagnosis.trial().data_parallel == 0 && !diagnosis.lacks_phase()) {
      repetitions.push_back(demands_of(records[index]));
    }
    auto disturbances = stats::slow_down_sentences(records[index]);
    for (auto& sentence : stats::disturbances(records[index])) disturbances.push_back(std::move(sentence));
    diagnosis.disturbed += disturbances.empty() ? 0 : 1;
    for (const auto& sentence : disturbances) {
      add_once(diagnosis.disturbances, report::printable(sentence));
    }
  }
  if (repetitions.empty()) return;
  diagnosis.demands = median_demands(repetitions);
  diagnosis.bounds = constraints(*diagnosis.demands);
  diagnosis.agreeing =
      static_cast<std::size_t>(std::count_if(repetitions.begin(), repetitions.end(), [&](const auto& one) {
        return same_place(constraints(one).front(), diagnosis.bounds.front());
      }));
}

ConfigurationDiagnosis diagnose(stats::Configuration configuration, Records records,
                                const std::set<std::string>& wanted) {
  ConfigurationDiagnosis diagnosis;
  diagnosis.wanted = narrow(configuration, records, wanted);
  diagnosis.configuration = std::move(configuration);
  for (const auto* indices : {&diagnosis.configuration.failed, &diagnosis.configuration.invalid}) {
    for (const auto index : *indices) {
      const auto& failure = records[index].failure;
      add_once(diagnosis.reasons, failure ? report::printable(report::describe(*failure)) : "no reason is recorded");
    }
  }
  measure(diagnosis, records);
  return diagnosis;
}

void add_block_names(GroupDiagnosis& group, const stats::Configuration& configuration, Records records) {
  for (const auto index : configuration.ok) {
    for (const auto& stage : records[index].stages) {
      if (!stage.last_block.empty()) group.block_names[stage.blocks.end] = report::printable(stage.last_block);
    }
  }
}

}  // namespace

bool GroupDiagnosis::all_wanted() const {
  return std::all_of(configurations.begin(), configurations.end(), [](const auto& one) { return one.wanted; });
}

std::ptrdiff_t GroupDiagnosis::measured_count() const {
  return std::count_if(configurations.begin(), configurations.end(),
                       [](const auto& one) { return one.demands.has_value(); });
}

const ConfigurationDiagnosis* GroupDiagnosis::all_local() const {
  const auto found = std::find_if(configurations.begin(), configurations.end(),
                                  [](const auto& one) { return one.demands && one.trial().all_local(); });
  return found == configurations.end() ? nullptr : &*found;
}

const ConfigurationDiagnosis* GroupDiagnosis::data_parallel() const {
  const auto found = std::find_if(configurations.begin(), configurations.end(),
                                  [](const auto& one) { return one.trial().data_parallel > 0 && one.has_result(); });
  return found == configurations.end() ? nullptr : &*found;
}

const ConfigurationDiagnosis* GroupDiagnosis::fastest() const {
  const ConfigurationDiagnosis* best = nullptr;
  for (const auto& one : configurations) {
    if (!one.demands) continue;
    if (best == nullptr || one.demands->throughput_image_per_s > best->demands->throughput_image_per_s) best = &one;
  }
  return best;
}

const ConfigurationDiagnosis* GroupDiagnosis::measured(const std::vector<int>& split_points) const {
  const auto found = std::find_if(configurations.begin(), configurations.end(), [&](const auto& one) {
    return one.demands && one.trial().split_points == split_points;
  });
  return found == configurations.end() ? nullptr : &*found;
}

std::vector<GroupDiagnosis> diagnose(Records records, const std::set<std::string>& wanted) {
  std::vector<GroupDiagnosis> groups;
  for (auto& group : stats::aggregate(records)) {
    GroupDiagnosis diagnosis;
    for (auto& configuration : group.configurations) {
      add_block_names(diagnosis, configuration, records);
      diagnosis.configurations.push_back(diagnose(std::move(configuration), records, wanted));
    }
    const auto& all = diagnosis.configurations;
    if (std::any_of(all.begin(), all.end(), [](const auto& one) { return one.wanted; })) {
      groups.push_back(std::move(diagnosis));
    }
  }
  return groups;
}

}  // namespace paretopipe::diagnosis
