#include <paretopipe/compute/files/bytes.hpp>
#include <paretopipe/core/file_descriptor.hpp>

#include <cerrno>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

namespace paretopipe::files {

std::string in_quotes(std::string_view name) {
  constexpr std::size_t kLongest = 120;
  const auto text = nlohmann::json(name.substr(0, kLongest))
                        .dump(-1, ' ', /*ensure_ascii=*/true, nlohmann::json::error_handler_t::replace);
  return name.size() > kLongest ? fmt::format("{}...", text) : text;
}

namespace {

[[noreturn]] void refuse(const char* attempt, const std::filesystem::path& file, int error) {
  throw UsageError(system_error(fmt::format("{} {}", attempt, file.string()), error).what());
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& file) {
  // O_NONBLOCK: a pipe is refused instead of waiting for its writer
  const FileDescriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (descriptor.get() < 0) refuse("open", file, errno);
  struct stat status {};
  if (::fstat(descriptor.get(), &status) != 0) refuse("look at", file, errno);
  if (S_ISDIR(status.st_mode)) refuse("open", file, EISDIR);
  if (!S_ISREG(status.st_mode)) throw UsageError(fmt::format("open {}: it is not a regular file", file.string()));
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return;
  auto* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, descriptor.get(), 0);
  if (memory == MAP_FAILED) refuse("map", file, errno);
  bytes_ = {static_cast<const std::byte*>(memory), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void MappedFile::forget(Bytes part) const {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(part.data()) + page - 1) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(part.data() + part.size()) / page * page;
  // This is advice: if the kernel does not follow it, pages stay until their memory is needed.
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace paretopipe::files
