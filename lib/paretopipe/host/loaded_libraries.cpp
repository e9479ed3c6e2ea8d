#include <paretopipe/host/loaded_libraries.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <spawn.h>

namespace paretopipe::host {
namespace {

/// The standard output of `program`, run without arguments and with `variable` added to its environment. Absent if it
/// fails.
std::optional<std::string> output_of(const std::filesystem::path& program, std::string variable) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return std::nullopt;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);

  std::vector<char*> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.push_back(*entry);
  environment.insert(environment.end(), {variable.data(), nullptr});
  std::string name = program.string();
  std::array<char*, 2> arguments{name.data(), nullptr};
  pid_t child = -1;
  const int error = posix_spawn(&child, name.c_str(), &actions, nullptr, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  ::close(pipe[1]);

  std::string output;
  std::array<char, 4096> piece{};
  for (ssize_t count = 0; error == 0 && (count = ::read(pipe[0], piece.data(), piece.size())) > 0;) {
    output.append(piece.data(), static_cast<std::size_t>(count));
  }
  ::close(pipe[0]);
  int status = -1;
  if (error != 0 || ::waitpid(child, &status, 0) != child || status != 0) return std::nullopt;
  return output;
}

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char letter) { return std::tolower(letter); });
  return text;
}

bool name_contains(const std::filesystem::path& path, std::string_view part) {
  return lower_case(path.string()).find(part) != std::string::npos;
}

}  // namespace

LoadedLibraries parse_loaded_libraries(std::string_view text) {
  constexpr std::string_view kArrow = " => ";
  LoadedLibraries libraries;
  while (!text.empty()) {
    auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const auto arrow = line.find(kArrow);
    if (arrow == std::string_view::npos) continue;
    const auto begin = std::min(line.find_first_not_of(" \t"), arrow);
    const auto name = line.substr(begin, arrow - begin);
    const auto target = line.substr(arrow + kArrow.size());
    if (target.starts_with("not found")) libraries.missing.emplace_back(name);
    if (target.starts_with('/')) libraries.found.emplace_back(target.substr(0, target.rfind(" (")));
  }
  return libraries;
}

std::optional<LoadedLibraries> read_loaded_libraries(const std::filesystem::path& program) {
  const auto output = output_of(program, "LD_TRACE_LOADED_OBJECTS=1");
  if (!output) return std::nullopt;
  auto libraries = parse_loaded_libraries(*output);
  for (auto& library : libraries.found) {
    std::error_code ignored;
    if (auto resolved = std::filesystem::canonical(library, ignored); !ignored) library = std::move(resolved);
  }
  return libraries;
}

std::optional<Blas> find_blas(const std::vector<std::filesystem::path>& libraries) {
  const auto find = [&](std::string_view part) {
    return std::find_if(libraries.begin(), libraries.end(),
                        [&](const auto& path) { return name_contains(path, part); });
  };
  if (find("libtorch") == libraries.end()) return std::nullopt;
  for (const auto* optimised : {"openblas", "mkl", "blis", "atlas", "armpl", "flexiblas"}) {
    if (const auto found = find(optimised); found != libraries.end()) {
      return Blas{.kind = Blas::Kind::optimised, .library = found->string()};
    }
  }
  const auto plain = find("libblas.so");
  if (plain == libraries.end()) return Blas{};
  return Blas{.kind = Blas::Kind::reference, .library = plain->string()};
}

}  // namespace paretopipe::host
