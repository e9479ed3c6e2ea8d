#pragma once
#include <paretopipe/diagnosis/diagnosis.hpp>

#include <cstdint>
#include <optional>

namespace paretopipe::diagnosis {

/// Another place for the cut at the link that bounds a configuration, where clearly less crosses it.
struct LighterCut {
  int block = 0;
  std::int64_t bytes = 0;
  const ConfigurationDiagnosis* measured = nullptr;  ///< with the other cuts unchanged; null if not measured
};

/// What a change would bring to a configuration that has demands. It contains only what follows from its numbers or was
/// measured with other splits of its group; the rest is absent.
struct Advice {
  std::optional<Constraint> next{};                 ///< the bound if the bottleneck were removed
  std::optional<int> depth{};                       ///< if the depth is the bottleneck: one that is sufficient
  std::optional<LighterCut> lighter{};              ///< if a link is the bottleneck
  const ConfigurationDiagnosis* evenest = nullptr;  ///< if compute is: the split whose slowest stage does the least
  const ConfigurationDiagnosis* fastest = nullptr;  ///< if it is notably faster
};

/// `group` must be the group of `one`.
Advice advise(const GroupDiagnosis& group, const ConfigurationDiagnosis& one);

}  // namespace paretopipe::diagnosis
