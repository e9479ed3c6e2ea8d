// libFuzzer entry point: a file of weights, as a stranger offers it for download. The pickle is also run by itself: its
// archive's checksum would keep the fuzzer away from it.
#include <paretopipe/compute/files/pickle_machine.hpp>
#include <paretopipe/compute/files/weights_file.hpp>
#include <paretopipe/core/error.hpp>

#include <cstdint>
#include <cstdlib>
#include <numeric>

namespace {

using namespace paretopipe;

/// Reads every byte that a tensor claims, so that one outside of the file shows.
void touch(const files::StoredTensor& tensor) {
  const auto add = [](unsigned sum, std::byte byte) { return sum + static_cast<unsigned>(byte); };
  volatile auto sum = std::accumulate(tensor.bytes.begin(), tensor.bytes.end(), 0U, add);
  static_cast<void>(sum);
  verify(tensor);
}

void read(std::span<const std::byte> file) {
  try {
    for (const auto& [name, tensor] : files::read_tensors(file)) touch(tensor);
  } catch (const UsageError&) {
  }
}

void run(std::span<const std::byte> pickle) {
  try {
    files::PickleMachine machine(pickle);
    if (kind_of(machine.run()).empty()) std::abort();
  } catch (const UsageError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  read(bytes);
  run(bytes);
  return 0;
}
