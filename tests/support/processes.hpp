#pragma once
#include <cstddef>
#include <filesystem>
#include <vector>

#include <sys/types.h>

namespace paretopipe::support {

/// Processes whose parent is `parent`, zombies included, ascending.
std::vector<pid_t> children_of(pid_t parent);

/// Children of this process.
std::vector<pid_t> own_children();

/// How many sockets a process has open.
std::size_t sockets_of(pid_t process);

/// Waits until it has so many more than `before`, over five looks in a row: not for a moment only. False if it has not
/// after five minutes.
bool wait_for_more_sockets(pid_t process, std::size_t before, std::size_t more);

/// The end of a process that need not be a child of this one.
class ProcessWatch {
 public:
  /// The process must exist, or be a zombie.
  explicit ProcessWatch(pid_t pid);
  ProcessWatch(ProcessWatch&& other) noexcept;
  ProcessWatch& operator=(ProcessWatch&&) = delete;
  ~ProcessWatch();

  /// Waits until the process has ended. False if it still runs after five minutes.
  bool ended() const;

 private:
  int descriptor_;
};

std::vector<ProcessWatch> watch(const std::vector<pid_t>& pids);
bool all_ended(const std::vector<ProcessWatch>& processes);

/// Waits until somebody has written and closed `file`. False if nobody has after five minutes.
bool wait_until_written(const std::filesystem::path& file);

}  // namespace paretopipe::support
