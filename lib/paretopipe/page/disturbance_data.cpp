#include "page_parts.hpp"

namespace paretopipe::page {

Json disturbances_data(const report::FrontierGroup& group) {
  auto trials = Json::array();
  for (const auto& incident : group.incidents) {
    auto causes = incident.disturbances;
    if (!incident.reason.empty()) causes.push_back(incident.reason);
    trials.push_back({{"split", incident.split},
                      {"repetition", incident.repetition + 1},
                      {"happened", report::what_happened(incident)},
                      {"causes", std::move(causes)}});
  }
  return {{"summary", report::summarise(group.incidents)}, {"trials", std::move(trials)}};
}

}  // namespace paretopipe::page
