// libFuzzer entry point: a TorchScript archive, before LibTorch sees anything of it. Its pickles and its code are also
// looked through by themselves: the archive's checksums would keep the fuzzer away from them.
#include <paretopipe/compute/archive/container.hpp>
#include <paretopipe/compute/files/saved_archive.hpp>
#include <paretopipe/core/error.hpp>

#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string>
#include <string_view>

#include <sys/mman.h>
#include <unistd.h>

namespace {

using namespace paretopipe;

/// Reads every byte that a storage claims, so that one outside of the file shows.
void touch(std::span<const std::byte> bytes) {
  const auto add = [](unsigned sum, std::byte byte) { return sum + static_cast<unsigned>(byte); };
  volatile auto sum = std::accumulate(bytes.begin(), bytes.end(), 0U, add);
  static_cast<void>(sum);
}

void open(std::span<const std::byte> file) {
  const int memory = ::memfd_create("archive", MFD_CLOEXEC);
  if (memory < 0 || ::write(memory, file.data(), file.size()) != static_cast<ssize_t>(file.size())) std::abort();
  try {
    const auto container = archive::open_container("/proc/self/fd/" + std::to_string(memory));
    for (const auto& storage : container.storages_of_data) touch(storage.bytes);
    for (const auto& storage : container.storages_of_constants) touch(storage.bytes);
  } catch (const UsageError&) {
  }
  ::close(memory);
}

void look_through(std::span<const std::byte> bytes) {
  const std::string_view code(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (archive::deepest_statement(code) > code.size()) std::abort();
  const files::ZipEntry numbers{.bytes = bytes};
  try {
    files::check_archive_pickle(bytes, [&](std::string_view) { return &numbers; });
  } catch (const UsageError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  open(bytes);
  look_through(bytes);
  return 0;
}
