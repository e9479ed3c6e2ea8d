#pragma once
#include <filesystem>
#include <string>

#include <support/scoped_variable.hpp>
#include <support/temporary_folder.hpp>

namespace paretopipe::support {

/// Stage processes that misbehave once, as FAULT says: "kill@0-1@3" (tests/fakes/faulty_backend.hpp).
class FaultOnce {
 public:
  explicit FaultOnce(const std::string& fault)
      : marker_(folder_.path() / "happened"), variable_("FAKE_STAGE_FAULT", fault + "@" + marker_.string()) {}

  /// Holds the id of the process, once it has misbehaved.
  const std::filesystem::path& marker() const { return marker_; }

 private:
  TemporaryFolder folder_;
  std::filesystem::path marker_;
  ScopedVariable variable_;
};

}  // namespace paretopipe::support
