#pragma once
#include <paretopipe/launch/file_descriptor.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace paretopipe::shaping {

/// Collects, in a child that is only forked, what it has to hand over. Async-signal-safe throughout.
class ChildAnswer {
 public:
  static constexpr std::size_t kMostDescriptors = 32;

  /// Notes a descriptor; false, with errno as the reason, if there is none. `step` says what was attempted.
  bool add(const char* step, int descriptor);

  /// Notes `step` as what failed, with errno as the reason, unless `succeeded`.
  bool check(const char* step, bool succeeded);

 private:
  friend std::vector<launch::FileDescriptor> descriptors_from_child(const std::function<bool(ChildAnswer&)>&);

  std::array<int, kMostDescriptors> descriptors_{};
  std::size_t count_ = 0;
  int reason_ = 0;
  std::array<char, 80> step_{};
};

/// Entering another namespace is for life, and a user namespace is entered by whole processes only. So a child that
/// lives for a moment does it, and hands the descriptors that it opened there to this process (SCM_RIGHTS). `work` runs
/// between fork and _exit: it may make system calls, and nothing else. When it returns false, EnvironmentError says
/// which step failed and why.
std::vector<launch::FileDescriptor> descriptors_from_child(const std::function<bool(ChildAnswer&)>& work);

}  // namespace paretopipe::shaping
