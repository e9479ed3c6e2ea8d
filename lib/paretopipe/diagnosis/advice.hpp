#pragma once
#include <paretopipe/diagnosis/diagnosis.hpp>

#include <cstdint>
#include <optional>

namespace paretopipe::diagnosis {

/// Another place for the cut before the link that bounds a configuration, where clearly less crosses it.
struct LighterCut {
  int block = 0;
  std::int64_t bytes = 0;
  const ConfigurationDiagnosis* measured = nullptr;  ///< with the other cuts where they are; null where nobody tried
};

/// What a change would bring to a configuration that has demands: only what follows from its numbers or was measured
/// with other splits of its group. What there is nothing to say of is absent.
struct Advice {
  std::optional<Constraint> next{};                 ///< the bound where the bottleneck is out of the way
  std::optional<int> depth{};                       ///< that puts it out of the way, where it is the depth
  std::optional<LighterCut> lighter{};              ///< where it is a link
  const ConfigurationDiagnosis* evenest = nullptr;  ///< where it is compute: the split whose slowest stage has less
  const ConfigurationDiagnosis* fastest = nullptr;  ///< where it is notably faster
};

/// Of `group`, which is `one`'s.
Advice advise(const GroupDiagnosis& group, const ConfigurationDiagnosis& one);

}  // namespace paretopipe::diagnosis
