#include <paretopipe/core/error.hpp>
#include <paretopipe/core/file_descriptor.hpp>
#include <paretopipe/render/output.hpp>

#include <cerrno>
#include <cstdio>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace paretopipe::render {

namespace {

/// A new file next to its final place; removed again unless it is committed.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& target)
      : name_(target.string() + ".XXXXXX"), descriptor_(::mkostemp(name_.data(), O_CLOEXEC)) {
    if (descriptor_.get() < 0) throw system_error("make a temporary file beside " + target.string(), errno);
  }
  ~TemporaryFile() {
    if (!name_.empty()) ::unlink(name_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  int descriptor() const { return descriptor_.get(); }

  /// Gives the file its name, with the permissions of an ordinary new file or of the one that it replaces.
  void commit(const std::filesystem::path& target) {
    struct stat replaced {};
    const mode_t mask = ::umask(0);
    ::umask(mask);
    const mode_t mode = ::stat(target.c_str(), &replaced) == 0 ? replaced.st_mode & 07777 : 0666 & ~mask;
    const int descriptor = descriptor_.release();
    const bool written = ::fchmod(descriptor, mode) == 0 && (::fsync(descriptor) == 0 || errno == EINVAL);
    const int reason = errno;
    if (::close(descriptor) != 0) throw system_error("write " + target.string(), errno);
    if (!written) throw system_error("write " + target.string(), reason);
    if (::rename(name_.c_str(), target.c_str()) != 0) throw system_error("rename to " + target.string(), errno);
    name_.clear();
  }

 private:
  std::string name_;
  FileDescriptor descriptor_;
};

/// True for /dev/stdout and its like: they name what a shell has opened, which may have content already.
bool names_open_file(const std::filesystem::path& file) {
  const auto is_descriptor = [](const std::filesystem::path& name) {
    const auto folder = name.parent_path().string();
    return folder == "/dev/fd" || (folder.starts_with("/proc/") && folder.ends_with("/fd"));
  };
  std::error_code no_link;
  return is_descriptor(file) || is_descriptor(std::filesystem::read_symlink(file, no_link));
}

void write_in_place(const std::filesystem::path& file, std::string_view text) {
  FileDescriptor descriptor(::open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (descriptor.get() < 0) throw system_error("open " + file.string(), errno);
  int reason = write_all(descriptor.get(), text);
  if (::close(descriptor.release()) != 0 && reason == 0) reason = errno;
  if (reason != 0) throw system_error("write " + file.string(), reason);
}

}  // namespace

void check_target(const std::filesystem::path& file) {
  if (file.empty()) throw UsageError("there is no name of a file to write to");
  const auto folder = file.has_parent_path() ? file.parent_path() : ".";
  std::error_code unknown;
  if (std::filesystem::is_directory(folder, unknown)) return;
  throw UsageError(
      fmt::format("there is no folder {} to write {} to; make it first", folder.string(), file.filename().string()));
}

void write_file(const std::filesystem::path& file, std::string_view text) {
  check_target(file);
  std::error_code ignored;
  const auto status = std::filesystem::status(file, ignored);
  const bool device = std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
  if (device || names_open_file(file)) return write_in_place(file, text);
  // A rename would replace a symbolic link itself rather than the file it points to.
  const auto target =
      std::filesystem::is_symlink(file, ignored) ? std::filesystem::weakly_canonical(file, ignored) : file;
  TemporaryFile temporary(target);
  if (const int reason = write_all(temporary.descriptor(), text))
    throw system_error("write " + target.string(), reason);
  temporary.commit(target);
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw system_error("make the folder " + folder.string(), error.value());
}

void write_standard_output(std::string_view text) {
  if (std::fflush(stdout) != 0) throw system_error("write to standard output", errno);
  if (const int reason = write_all(STDOUT_FILENO, text)) throw system_error("write to standard output", reason);
}

}  // namespace paretopipe::render
