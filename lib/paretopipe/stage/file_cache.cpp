#include <paretopipe/core/error.hpp>
#include <paretopipe/core/file_descriptor.hpp>
#include <paretopipe/core/hash.hpp>
#include <paretopipe/stage/file_cache.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <set>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace paretopipe::stage {

namespace {

constexpr std::int64_t kElementBytes = 8;

constexpr std::size_t kSha256Digits = 64;

bool is_sha256(std::string_view text) {
  const auto digit = [](char letter) { return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'f'); };
  return text.size() == kSha256Digits && std::all_of(text.begin(), text.end(), digit);
}

void check_sha256(const std::string& text) {
  if (is_sha256(text)) return;
  throw wire::ProtocolError("the driver named a file by something else than a SHA-256");
}

EnvironmentError cannot_keep(const std::filesystem::path& folder, int reason) {
  const auto said = system_error(fmt::format("keep a file in {}", folder.string()), reason);
  if (reason != ENOSPC && reason != EDQUOT && reason != EFBIG) return said;
  return EnvironmentError(
      fmt::format("{}; make room there (paretopipe devices clean empties this folder)", said.what()));
}

std::filesystem::path folder_of(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

/// Appended to the SHA-256 while a file is incomplete; mkostemp(3) puts letters and digits in place of each X.
constexpr std::string_view kIncomplete = ".XXXXXX";

/// Removes the files of stages that were killed. Those of living stages are locked, and where the file system has no
/// locks, all stay. A folder of links has such a name, too ("SHA256.folder"), and is no file.
void remove_left_files(const std::filesystem::path& folder) {
  std::error_code error;
  std::error_code unknown;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const auto name = entry->path().filename().string();
    if (name.size() != kSha256Digits + kIncomplete.size() || name[kSha256Digits] != kIncomplete.front()) continue;
    if (!is_sha256(std::string_view(name).substr(0, kSha256Digits)) || !entry->is_regular_file(unknown)) continue;
    const FileDescriptor file(::open(entry->path().c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    if (file.get() >= 0 && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0) ::unlink(entry->path().c_str());
  }
}

}  // namespace

wire::TensorSpec tensor_of(const TakeChunk& chunk) {
  check_sha256(chunk.sha256);
  if (chunk.bytes < 1 || chunk.bytes > kChunkBytes || chunk.total < chunk.bytes || chunk.total > kLargestFileBytes ||
      chunk.offset < 0 || chunk.offset > chunk.total - chunk.bytes) {
    throw wire::ProtocolError(fmt::format("the driver sent a piece of a file that cannot be: {} bytes at {} of {}",
                                          chunk.bytes, chunk.offset, chunk.total));
  }
  const auto elements = (chunk.bytes + kElementBytes - 1) / kElementBytes;
  return {wire::DType::int64, wire::MemoryFormat::contiguous, {elements}};
}

std::filesystem::path users_file_cache() {
  auto folder = folder_of("XDG_CACHE_HOME");
  if (folder.empty() && !folder_of("HOME").empty()) folder = folder_of("HOME") / ".cache";
  if (!folder.empty()) return folder / "paretopipe" / "files";
  throw EnvironmentError(
      "keep a file in $HOME/.cache/paretopipe/files: the login has no HOME; set HOME or XDG_CACHE_HOME there");
}

/// A file that is still incomplete. It has another name until it is complete, and is removed at the end of life unless
/// it was kept. It is locked until then, which tells it from a file that a killed stage left.
class FileCache::Incoming {
 public:
  Incoming(const std::filesystem::path& folder, const TakeChunk& first)
      : folder_(folder), sha256_(first.sha256), total_(first.total) {
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    if (error) throw cannot_keep(folder_, error.value());
    remove_left_files(folder_);
    while (!make_locked()) {
    }
  }
  ~Incoming() {
    if (!name_.empty()) ::unlink(name_.c_str());
  }
  Incoming(const Incoming&) = delete;
  Incoming& operator=(const Incoming&) = delete;

  bool continues_with(const TakeChunk& chunk) const {
    return chunk.sha256 == sha256_ && chunk.total == total_ && chunk.offset == written_;
  }

  /// A file that does not fit is refused at once rather than minutes later. Not every file system can tell.
  void reserve() {
    if (::fallocate(file_.get(), FALLOC_FL_KEEP_SIZE, 0, total_) == 0) return;
    if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG) throw cannot_keep(folder_, errno);
  }

  void add(std::span<const std::byte> bytes) {
    const int error = write_all(file_.get(), {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    if (error != 0) throw cannot_keep(folder_, error);
    written_ += std::ssize(bytes);
  }

  bool complete() const { return written_ == total_; }

  /// Verifies what the disk has, and gives it its name.
  std::filesystem::path keep() {
    if (::fsync(file_.get()) != 0) throw cannot_keep(folder_, errno);
    if (const auto found = sha256_of_file(name_); found != sha256_) {
      throw EnvironmentError(
          fmt::format("keep a file in {}: what arrived has the SHA-256 {} rather than {}; the file was changed while "
                      "it was sent, or damaged",
                      folder_.string(), found, sha256_));
    }
    const auto path = folder_ / sha256_;
    if (::rename(name_.c_str(), path.c_str()) != 0) throw cannot_keep(folder_, errno);
    name_.clear();
    return path;
  }

 private:
  /// False if another stage removed the file before it was locked. Not every file system has locks.
  bool make_locked() {
    name_ = (folder_ / (sha256_ + std::string(kIncomplete))).string();
    file_ = FileDescriptor(::mkostemp(name_.data(), O_CLOEXEC));
    if (file_.get() < 0) throw cannot_keep(folder_, errno);
    struct stat status {};
    return ::flock(file_.get(), LOCK_EX) != 0 || ::fstat(file_.get(), &status) != 0 || status.st_nlink > 0;
  }

  std::filesystem::path folder_;
  std::string sha256_;
  std::int64_t total_;
  std::int64_t written_ = 0;
  std::string name_;
  FileDescriptor file_;
};

FileCache::FileCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

FileCache::~FileCache() = default;

std::filesystem::path FileCache::find(const std::string& sha256) const {
  check_sha256(sha256);
  const auto path = folder_ / sha256;
  std::error_code unknown;
  return std::filesystem::is_regular_file(path, unknown) ? path : std::filesystem::path();
}

std::filesystem::path FileCache::take(const TakeChunk& chunk, std::span<const std::byte> bytes) {
  auto incoming = std::exchange(incoming_, nullptr);  // an error leaves nothing behind
  const auto announced = static_cast<std::size_t>(wire::byte_size(tensor_of(chunk)));
  if (chunk.offset == 0) {
    incoming.reset();  // its room may be needed
    incoming = std::make_unique<Incoming>(folder_, chunk);
    incoming->reserve();
  }
  if (!incoming || !incoming->continues_with(chunk) || bytes.size() != announced) {
    throw wire::ProtocolError(fmt::format("the driver sent bytes {} to {} of a file of {} out of order", chunk.offset,
                                          chunk.offset + chunk.bytes, chunk.total));
  }
  incoming->add(bytes.first(static_cast<std::size_t>(chunk.bytes)));
  if (incoming->complete()) return incoming->keep();
  incoming_ = std::move(incoming);
  return {};
}

namespace {

void check_names(const FindFolder& request) {
  const auto plain = [](const std::string& name) {
    return !name.empty() && name != "." && name != ".." && name.find('/') == name.npos && name.find('\0') == name.npos;
  };
  const std::set<std::string> different(request.names.begin(), request.names.end());
  if (!request.names.empty() && request.names.size() == request.sha256s.size() &&
      different.size() == request.names.size() && std::ranges::all_of(request.names, plain)) {
    return;
  }
  throw wire::ProtocolError("the driver asked for a folder whose files have no names, or some that cannot be");
}

/// The name follows from what the folder holds, so that the same files are linked once.
std::string name_of_folder(const FindFolder& request) {
  std::string list;
  for (std::size_t i = 0; i < request.names.size(); ++i) {
    list += fmt::format("{}  {}\n", request.sha256s[i], request.names[i]);
  }
  return sha256_of_text(list) + ".folder";
}

/// Makes a folder of links, which gets its name once it is complete. Another stage may make the same at the same time.
void link_files(const FindFolder& request, const std::filesystem::path& into) {
  auto name = into.string() + ".XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) throw cannot_keep(into.parent_path(), errno);
  std::error_code error;
  for (std::size_t i = 0; i < request.names.size() && !error; ++i) {
    const auto file = std::filesystem::path("..") / request.sha256s[i];
    std::filesystem::create_symlink(file, std::filesystem::path(name) / request.names[i], error);
  }
  if (!error) std::filesystem::rename(name, into, error);
  if (!error) return;
  std::error_code ignored;
  std::filesystem::remove_all(name, ignored);
  if (!std::filesystem::is_directory(into, ignored)) throw cannot_keep(into.parent_path(), error.value());
}

}  // namespace

FolderFound FileCache::find_folder(const FindFolder& request) const {
  check_names(request);
  std::set<std::string> missing;
  for (const auto& sha256 : request.sha256s) {
    if (find(sha256).empty()) missing.insert(sha256);
  }
  if (!missing.empty()) return {{}, {missing.begin(), missing.end()}};
  const auto path = folder_ / name_of_folder(request);
  std::error_code unknown;
  if (!std::filesystem::is_directory(path, unknown)) link_files(request, path);
  return {path.string(), {}};
}

}  // namespace paretopipe::stage
