#include <cstdlib>
#include <fstream>

#include <sys/resource.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include <support/files.hpp>
#include <support/temporary_folder.hpp>

#include "refused.hpp"

using namespace paretopipe;
using namespace paretopipe::files;
using support::contains;

namespace {

const std::filesystem::path kGolden = PARETOPIPE_SOURCE_DIR "/tests/golden/weights";

std::string open_refusal(const std::filesystem::path& file) {
  return support::message_of<UsageError>([&] { WeightsFile{file}; });
}

/// The element at each place of the tensor in row-major order, whatever its strides.
std::vector<double> values_of(const StoredTensor& tensor) {
  std::vector<std::size_t> places{0};
  for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
    std::vector<std::size_t> next;
    for (const auto place : places) {
      for (std::int64_t i = 0; i < tensor.shape[d]; ++i)
        next.push_back(place + static_cast<std::size_t>(i * tensor.strides[d]));
    }
    places = std::move(next);
  }
  std::vector<double> values;
  for (const auto place : places) {
    values.push_back(tensor.dtype == DType::int64 ? static_cast<double>(element<std::int64_t>(tensor, place))
                                                  : static_cast<double>(element<float>(tensor, place)));
  }
  return values;
}

/// Bytes of mapped files that this process has in memory.
std::int64_t resident_file_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssFile:")) return std::stoll(line.substr(8)) * 1024;
  }
  return -1;
}

}  // namespace

TEST_CASE("files that other programs wrote hold what they were told to write", "[weights]") {
  const auto file = GENERATE(as<std::string>(), "small.pth", "parameters.pth", "small.safetensors");
  CAPTURE(file);
  const WeightsFile weights(kGolden / file);
  const auto expected = nlohmann::json::parse(support::read_file(kGolden / "small.json"));
  REQUIRE(weights.tensors().size() == expected.size());
  for (const auto& item : expected.items()) {
    CAPTURE(item.key());
    const auto& tensor = weights.tensors().at(item.key());
    CHECK(to_string(tensor.dtype) == item.value().at("dtype").get<std::string>());
    CHECK(tensor.shape == item.value().at("shape").get<std::vector<std::int64_t>>());
    CHECK(values_of(tensor) == item.value().at("values").get<std::vector<double>>());
    CHECK_NOTHROW(verify(tensor));
  }
}

TEST_CASE("PyTorch's old format and its TorchScript archives are told apart from a state_dict", "[weights]") {
  CHECK(contains(open_refusal(kGolden / "legacy.pth"), "PyTorch's format before 1.6"));
  CHECK(contains(open_refusal(kGolden / "script.pt"), "it is a TorchScript archive, a whole model; save the weights"));
  CHECK(contains(open_refusal(kGolden / "checkpoint.pth"), "save the weights alone"));
}

TEST_CASE("a pickle made by Python to run a command is refused, and the command is not run", "[weights]") {
  const auto message = open_refusal(kGolden / "hostile.pth");
  CHECK(contains(message, "system\""));
  CHECK(contains(message, "hostile.pth"));
}

TEST_CASE("a file that cannot be opened is refused with its name and the reason", "[weights]") {
  const support::TemporaryFolder folder;
  CHECK(contains(open_refusal("/nowhere/w.pth"), "open /nowhere/w.pth: No such file"));
  CHECK(contains(open_refusal(folder.path()), "Is a directory"));
  CHECK(contains(open_refusal("/dev/null"), "no regular file"));
  const auto pipe = folder.path() / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(contains(open_refusal(pipe), "no regular file"));
  support::write_file(folder.path() / "empty", "");
  CHECK(contains(open_refusal(folder.path() / "empty"), "empty: it is empty"));
}

TEST_CASE("opening a file of a gigabyte reads its header, and a tensor's bytes when they are touched", "[weights]") {
  const support::TemporaryFolder folder;
  const auto path = folder.path() / "large.safetensors";
  constexpr std::int64_t kLarge = std::int64_t{1} << 30;
  const auto header = R"({"large":{"dtype":"F32","shape":[268435456],"data_offsets":[0,1073741824]},)"
                      R"("small":{"dtype":"F32","shape":[1],"data_offsets":[1073741824,1073741828]}})";
  const auto beginning = safetensors_file(header, "");
  support::write_file(path, beginning);
  std::filesystem::resize_file(path, beginning.size() + kLarge + 4);  // a hole: it takes no room on the disk
  const auto before = resident_file_bytes();
  REQUIRE(before > 0);
  const WeightsFile file(path);
  CHECK(file.tensors().at("large").bytes.size() == kLarge);
  CHECK(element<float>(file.tensors().at("small"), 0) == 0);
  CHECK(resident_file_bytes() - before < 16 << 20);
}
