#include <paretopipe/compute/files/bytes.hpp>
#include <paretopipe/compute/files/weights_file.hpp>
#include <paretopipe/compute/files/write_tensor.hpp>

#include <fstream>

#include <support/temporary_folder.hpp>

#include "refused.hpp"

using namespace paretopipe;
using namespace paretopipe::files;
using support::contains;

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
                               a_tensor(DType::bfloat16, {12}), a_tensor(DType::int64, {3, 1}));
  for (const auto& file : {torch_file_of(tensor), safetensors_file_of(tensor, "output")}) {
    const auto read = read_tensor(bytes_of(file));
    CHECK(read.dtype == tensor.dtype);
    CHECK(read.shape == tensor.shape);
    CHECK(read.strides == dense_layout(tensor.shape)->strides);
    CHECK(text_of(read.bytes) == kBytes);
    CHECK_NOTHROW(verify(read));
  }
}

TEST_CASE("a tensor without elements is written and read too", "[weights]") {
  const DenseTensor none{DType::float32, {0, 3}, {}};
  CHECK(read_tensor(bytes_of(torch_file_of(none))).shape == none.shape);
  CHECK(read_tensor(bytes_of(safetensors_file_of(none, "x"))).shape == none.shape);
}

TEST_CASE("a model where a tensor is expected is told as what it is", "[weights]") {
  const auto file =
      zip_file({{"m/data.pkl", "."}, {"m/constants.pkl", "."}, {"m/code/m.py", "def"}}, {.method = kDeflated});
  CHECK(contains(tensor_refusal(file), "it is a TorchScript archive, a whole model; save one tensor alone"));
}

TEST_CASE("the same tensor makes the same file, whose name says its format", "[weights]") {
  CHECK(torch_file_of(a_tensor()) == torch_file_of(a_tensor()));
  CHECK(tensor_file_of(a_tensor(), "a/b.pt") == torch_file_of(a_tensor()));
  CHECK(tensor_file_of(a_tensor(), "b.pth") == torch_file_of(a_tensor()));
  CHECK(tensor_file_of(a_tensor(), "b.safetensors") == safetensors_file_of(a_tensor(), "output"));
  for (const auto* name : {"b.npy", "b", "pt", ".pt", "b.PT"}) {
    CAPTURE(name);
    CHECK_THROWS_AS(check_tensor_file_name(name), UsageError);
  }
}

TEST_CASE("what is no tensor of its shape is not written", "[weights]") {
  CHECK_THROWS_AS(torch_file_of(a_tensor(DType::float32, {2, 4})), Error);
  CHECK_THROWS_AS(safetensors_file_of(a_tensor(DType::float32, {2, -3}), "x"), Error);
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

TEST_CASE("a file of a tensor that cannot be opened, or read, is refused by its name", "[weights]") {
  const support::TemporaryFolder folder;
  const auto refusal = [&](const char* name) {
    return support::message_of<UsageError>([&] { TensorFile{folder.path() / name}; });
  };
  CHECK(contains(refusal("missing.pt"), "missing.pt: No such file"));
  std::ofstream(folder.path() / "text.pt") << "text";
  CHECK(contains(refusal("text.pt"), "text.pt: it is neither"));
}
