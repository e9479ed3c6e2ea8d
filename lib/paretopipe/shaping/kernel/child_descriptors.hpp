#pragma once
#include <paretopipe/core/file_descriptor.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <vector>

namespace paretopipe::shaping {

/// Collects what a forked child has to hand over. Async-signal-safe throughout.
class ChildAnswer {
 public:
  static constexpr std::size_t kMostDescriptors = 32;

  /// Records a descriptor. If there is none, returns false, with errno as the reason. `step` says what was attempted.
  bool add(const char* step, int descriptor);

  /// Records `step` as failed, with errno as the reason, unless `succeeded`.
  bool check(const char* step, bool succeeded);

 private:
  friend std::vector<FileDescriptor> descriptors_from_child(const std::function<bool(ChildAnswer&)>&);

  std::array<int, kMostDescriptors> descriptors_{};
  std::size_t count_ = 0;
  int reason_ = 0;
  std::array<char, 80> step_{};
};

/// Entering another namespace is permanent, and only whole processes enter a user namespace. So a short-lived child
/// does it and hands the descriptors that it opened there to this process (SCM_RIGHTS). `work` runs between fork and
/// _exit: it may only make system calls. If it returns false, this throws EnvironmentError with the failed step and the
/// reason.
std::vector<FileDescriptor> descriptors_from_child(const std::function<bool(ChildAnswer&)>& work);

}  // namespace paretopipe::shaping
