#include "png.hpp"

#include <paretopipe/core/error.hpp>
#include <paretopipe/launch/command.hpp>
#include <paretopipe/launch/file_descriptor.hpp>

#include <array>
#include <cerrno>

#include <sys/mman.h>
#include <unistd.h>

#include <fmt/format.h>

namespace paretopipe::cli {
namespace {

constexpr int kPatienceMs = 60'000;

std::filesystem::path renderer() {
  return launch::find_program("rsvg-convert", "librsvg2-bin");
}

/// A nameless file in memory: nothing is left behind, however this process ends.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(::memfd_create("paretopipe-picture", MFD_CLOEXEC)) {
    if (descriptor_.get() < 0) throw system_error("make a file in memory", errno);
  }

  /// The path for programs that this process starts.
  std::string path() const { return fmt::format("/proc/{}/fd/{}", ::getpid(), descriptor_.get()); }

  void write(std::string_view text) {
    while (!text.empty()) {
      const auto written = ::write(descriptor_.get(), text.data(), text.size());
      if (written < 0) throw system_error("write a file in memory", errno);
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  std::string read() const {
    std::string text;
    std::array<char, 65536> piece{};
    for (;;) {
      const auto got = ::pread(descriptor_.get(), piece.data(), piece.size(), static_cast<off_t>(text.size()));
      if (got < 0) throw system_error("read a file in memory", errno);
      if (got == 0) return text;
      text.append(piece.data(), static_cast<std::size_t>(got));
    }
  }

 private:
  launch::FileDescriptor descriptor_;
};

}  // namespace

void require_png_renderer() {
  renderer();
}

std::string render_png(std::string_view svg) {
  MemoryFile drawing;
  drawing.write(svg);
  const MemoryFile picture;
  const launch::ChildCommand command{
      {renderer().string(), "--zoom", "2", "--format", "png", "--output", picture.path(), drawing.path()}};
  const auto result = launch::run_command(command, kPatienceMs);
  auto png = picture.read();
  if (!result.succeeded || !png.starts_with("\x89PNG\r\n")) {
    throw EnvironmentError(fmt::format("draw a PNG: rsvg-convert {}: {}", result.how_it_ended, result.output));
  }
  return png;
}

}  // namespace paretopipe::cli
