#include <paretopipe/compute/files/bytes.hpp>
#include <paretopipe/compute/files/weights_file.hpp>
#include <paretopipe/compute/files/write_tensor.hpp>

#include <fstream>

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

TEST_CASE("what Python wrote and is no state_dict is told as what it is, and no command in it is run", "[weights]") {
  CHECK(contains(open_refusal(kGolden / "legacy.pth"), "PyTorch's format before 1.6"));
  CHECK(contains(open_refusal(kGolden / "script.pt"), "it is a TorchScript archive, a whole model; save the weights"));
  CHECK(contains(open_refusal(kGolden / "checkpoint.pth"), "save the weights alone"));
  CHECK(contains(open_refusal(kGolden / "hostile.pth"), "system\""));
  CHECK(contains(open_refusal(kGolden / "hostile.pth"), "hostile.pth"));
}

TEST_CASE("a file that cannot be opened is refused with its name and the reason", "[weights]") {
  const support::TemporaryFolder folder;
  CHECK(contains(open_refusal("/nowhere/w.pth"), "open /nowhere/w.pth: No such file"));
  CHECK(contains(open_refusal(folder.path()), "Is a directory"));
  CHECK(contains(open_refusal("/dev/null"), "not a regular file"));
  const auto pipe = folder.path() / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(contains(open_refusal(pipe), "not a regular file"));
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

namespace {

const std::vector<float> kValues{1, -2, 0.5F, 4, 5, 6};
const std::string kBytes = elements(kValues);

DenseTensor a_tensor(DType dtype = DType::float32, std::vector<std::int64_t> shape = {2, 3}) {
  return {dtype, std::move(shape), bytes_of(kBytes)};
}

/// As torch.save writes it.
std::string saved(const std::string& tensor, const std::string& storage = kBytes) {
  return torch_file(pickle::whole(tensor), {storage});
}

std::string tensor_refusal(const std::string& file) {
  return support::message_of<UsageError>([&] { read_tensor(bytes_of(file)); });
}

}  // namespace

TEST_CASE("a tensor that is written comes back as it was, in both formats", "[weights]") {
  const auto tensor = GENERATE(a_tensor(), a_tensor(DType::float32, {6}), a_tensor(DType::float32, {1, 2, 1, 3}),
                               a_tensor(DType::bfloat16, {12}), a_tensor(DType::int64, {3, 1}),
                               DenseTensor{DType::float32, {0, 3}, {}});
  for (const auto& file : {torch_file_of(tensor), safetensors_file_of({{"output", tensor}})}) {
    const auto read = read_tensor(bytes_of(file));
    CHECK(read.dtype == tensor.dtype);
    CHECK(read.shape == tensor.shape);
    CHECK(read.strides == dense_layout(tensor.shape)->strides);
    CHECK(text_of(read.bytes) == text_of(tensor.bytes));
    CHECK_NOTHROW(verify(read));
  }
}

TEST_CASE("weights that are written come back under their names, in both formats", "[weights]") {
  const NamedTensors weights{{"conv.weight", a_tensor()},
                             {"conv.bias", a_tensor(DType::float32, {6})},
                             {"bn.num_batches_tracked", {DType::int64, {}, bytes_of(kBytes).first(8)}},
                             {"head.empty", {DType::float32, {0}, {}}}};
  for (const auto* name : {"w.pth", "w.pt", "w.safetensors"}) {
    CAPTURE(name);
    const auto file = weights_file_of(weights, name);
    const auto read = read_tensors(bytes_of(file));
    CHECK(read.size() == weights.size());
    for (const auto& [key, tensor] : weights) {
      const auto& found = read.at(key);
      CHECK(found.dtype == tensor.dtype);
      CHECK(found.shape == tensor.shape);
      CHECK(text_of(found.bytes) == text_of(tensor.bytes));
      CHECK_NOTHROW(verify(found));
    }
    CHECK(file == weights_file_of(weights, name));
  }
  CHECK_THROWS_AS(weights_file_of(weights, "w.npz"), UsageError);
  CHECK(contains(support::message_of<UsageError>([&] { read_tensor(bytes_of(torch_file_of(weights))); }),
                 "it holds a dictionary, not a tensor"));
}

TEST_CASE("the same tensor makes the same file, whose name says its format", "[weights]") {
  CHECK(torch_file_of(a_tensor()) == torch_file_of(a_tensor()));
  CHECK(tensor_file_of(a_tensor(), "a/b.pt") == torch_file_of(a_tensor()));
  CHECK(tensor_file_of(a_tensor(), "b.pth") == torch_file_of(a_tensor()));
  CHECK(tensor_file_of(a_tensor(), "b.safetensors") == safetensors_file_of({{"output", a_tensor()}}));
  for (const auto* name : {"b.npy", "b", "pt", ".pt", "b.PT"}) {
    CAPTURE(name);
    CHECK_THROWS_AS(check_tensor_file_name(name), UsageError);
  }
  // What is no tensor of its shape is not written.
  CHECK_THROWS_AS(torch_file_of(a_tensor(DType::float32, {2, 4})), Error);
  CHECK_THROWS_AS(safetensors_file_of({{"x", a_tensor(DType::float32, {2, -3})}}), Error);
  CHECK_THROWS_AS(torch_file_of(a_tensor(DType::boolean, {24})), Error);
}

TEST_CASE("a tensor as torch.save writes it is read where it lies, with strides of its own", "[weights]") {
  const auto file = saved(pickle::tensor(pickle::storage("FloatStorage", "0", 6), 1, {2, 2}, {1, 2}));
  const auto tensor = read_tensor(bytes_of(file));
  CHECK(tensor.shape == std::vector<std::int64_t>{2, 2});
  CHECK(tensor.strides == std::vector<std::int64_t>{1, 2});
  CHECK(element<float>(tensor, 0) == -2);
  CHECK(element<float>(tensor, 3) == 5);
}

TEST_CASE("a file of something else than one tensor is refused with what to do", "[weights]") {
  const auto tensor = pickle::tensor(pickle::storage("FloatStorage", "0", 6), 0, {6}, {1});
  CHECK(contains(tensor_refusal(""), "it is empty"));
  CHECK(contains(tensor_refusal("\x93NUMPY"), "torch.save(tensor, FILE)"));
  CHECK(contains(tensor_refusal(saved(pickle::dictionary({pickle::text("x"), tensor}))), "it holds a dictionary, not"));
  CHECK(contains(tensor_refusal(saved(pickle::tuple({tensor}))), "it holds a tuple"));
  const auto two = safetensors_file(
      R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,12]},"b":{"dtype":"F32","shape":[3],"data_offsets":[12,24]}})",
      kBytes);
  CHECK(contains(tensor_refusal(two), "it holds 2 tensors; save one tensor alone"));
  const auto model =
      zip_file({{"m/data.pkl", "."}, {"m/constants.pkl", "."}, {"m/code/m.py", "def"}}, {.method = kDeflated});
  CHECK(contains(tensor_refusal(model), "it is a TorchScript archive, a whole model; save one tensor alone"));
  const support::TemporaryFolder folder;
  const auto refusal = [&](const char* name) {
    return support::message_of<UsageError>([&] { TensorFile{folder.path() / name}; });
  };
  CHECK(contains(refusal("missing.pt"), "missing.pt: No such file"));
  std::ofstream(folder.path() / "text.pt") << "text";
  CHECK(contains(refusal("text.pt"), "text.pt: it is neither"));
}

TEST_CASE("a hostile file of a tensor is refused, and nothing is executed", "[weights]") {
  const auto storage = pickle::storage("FloatStorage", "0", 6);
  const auto command = pickle::call(pickle::global("posix", "system"), pickle::tuple({pickle::text("true")}));
  CHECK(contains(tensor_refusal(saved(command)), "posix.system"));
  CHECK(contains(tensor_refusal(saved(pickle::tensor(storage, 0, {7}, {1}))), "beyond its storage"));
  CHECK(contains(tensor_refusal(saved(pickle::tensor(storage, -1, {1}, {1}))), "beyond its storage"));
  CHECK(contains(tensor_refusal(saved(pickle::tensor(storage, 0, {INT64_MAX, 3}, {1, 1}))), "beyond its storage"));
  CHECK(contains(tensor_refusal(saved(pickle::tensor(storage, 0, {6}, {1}), kBytes + "more")), "6 elements"));
}

TEST_CASE("whatever is damaged in a written tensor is refused or harmless", "[weights]") {
  const auto good = torch_file_of(a_tensor());
  for (std::size_t length = 0; length < good.size(); ++length) {
    CHECK(tensor_refusal(good.substr(0, length)) != "(nothing was thrown)");
  }
  for (std::size_t i = 0; i < good.size(); ++i) {
    auto damaged = good;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x80);
    try {
      const auto tensor = read_tensor(bytes_of(damaged));
      verify(tensor);
      CHECK(text_of(tensor.bytes) == kBytes);
    } catch (const UsageError&) {
    }
  }
}
