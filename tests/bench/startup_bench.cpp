#include <paretopipe/analysis/stats/quantile.hpp>
#include <paretopipe/core/clock.hpp>
#include <paretopipe/core/error.hpp>

#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <spawn.h>

#include "benches.hpp"
#include "report.hpp"

namespace paretopipe::bench {
namespace {

double run_once_ms(std::vector<std::string> command) {
  std::vector<char*> argv;
  for (auto& word : command) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t quiet;
  ::posix_spawn_file_actions_init(&quiet);
  ::posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = -1;
  const auto begin = now_ns();
  const int failed = ::posix_spawn(&child, argv.front(), &quiet, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&quiet);
  if (failed != 0) throw system_error("start " + command.front(), failed);
  ::waitpid(child, nullptr, 0);
  return static_cast<double>(now_ns() - begin) * 1e-6;
}

}  // namespace

void bench_startup(const std::filesystem::path& driver) {
  for (const auto& arguments : {std::vector<std::string>{"--version"}, {"frontier", "--help"}, {"models", "--help"}}) {
    std::vector<std::string> command{driver.string()};
    command.insert(command.end(), arguments.begin(), arguments.end());
    std::vector<double> times;
    for (int i = 0; i < 21; ++i) times.push_back(run_once_ms(command));
    const auto median = *stats::median(times);
    print_row(fmt::format("start-up of paretopipe: {}", fmt::join(arguments, " ")), fmt::format("{:.1f} ms", median),
              "under 20 ms", median < 20);
  }
}

}  // namespace paretopipe::bench
