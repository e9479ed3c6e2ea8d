// A person's own images, tensors, tokens and labels, as a model gets them.
#include <paretopipe/compute/files/weights_file.hpp>
#include <paretopipe/compute/files/write_tensor.hpp>
#include <paretopipe/compute/zoo/model_backend.hpp>
#include <paretopipe/core/error.hpp>

#include <algorithm>
#include <cstring>
#include <fstream>

#include <support/catch.hpp>
#include <support/image_folder.hpp>
#include <support/message_of.hpp>
#include <support/temporary_folder.hpp>

namespace paretopipe::zoo {
namespace {

using support::contains;
using support::message_of;

const std::filesystem::path kGolden = PARETOPIPE_SOURCE_DIR "/tests/golden/images";

stage::ModelRequest request(const std::string& model, const std::string& data, int batch = 1,
                            const std::string& labels = {}) {
  return {.model = model, .num_classes = 10, .batch = batch, .seed = 1, .data = data, .labels = labels};
}

template <class Number>
std::vector<Number> inputs(const stage::ModelRequest& request, int count) {
  std::vector<Number> values;
  for (const auto& input : make_model_backend()->make_inputs(request, count)) {
    const auto* first = reinterpret_cast<const Number*>(input.bytes.data());
    values.insert(values.end(), first, first + input.bytes.size() / sizeof(Number));
  }
  return values;
}

/// What is said of a request when the model is described, before anything is made for it.
std::string refusal(const stage::ModelRequest& request) {
  return message_of<UsageError>([&] { make_model_backend()->describe(request); });
}

/// A folder for files with what a person brings.
class OwnFiles {
 public:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  std::string text(const std::string& name, const std::string& content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }

  template <class Number>
  std::string tensor(const std::string& name, std::vector<std::int64_t> shape,
                     const std::vector<Number>& values) const {
    const auto dtype = sizeof(Number) == 8 ? files::DType::int64 : files::DType::float32;
    const files::DenseTensor dense{dtype, std::move(shape), std::as_bytes(std::span(values))};
    return text(name, files::tensor_file_of(dense, name));
  }

 private:
  support::TemporaryFolder folder_;
};

constexpr std::size_t kSmall = 3 * 32 * 32;  // of densenet_cifar

std::vector<float> ascending(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i);
  return values;
}

TEST_CASE("a folder's images are prepared as torchvision prepares them, in the order of their names") {
  const files::TensorFile expected(kGolden / "expected.pt");
  const auto& stored = expected.tensor();
  const auto count = static_cast<int>(stored.shape.front());
  const auto found = inputs<float>(request("densenet_cifar", "images:" + kGolden.string()), count + 1);
  std::vector<float> wanted(stored.bytes.size() / sizeof(float));
  std::memcpy(wanted.data(), stored.bytes.data(), stored.bytes.size());
  REQUIRE(wanted.size() == static_cast<std::size_t>(count) * kSmall);
  REQUIRE(found.size() == wanted.size() + kSmall);
  // A level of 255 that was rounded the other way is 0.017 away.
  std::size_t rounded = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    REQUIRE(found[i] == Approx(wanted[i]).margin(0.02));
    rounded += std::abs(found[i] - wanted[i]) > 1e-5F ? 1 : 0;
  }
  CHECK(rounded <= wanted.size() / 1000);
  CHECK(std::equal(found.begin(), found.begin() + kSmall, found.end() - kSmall));  // from the first again
}

TEST_CASE("an image that cannot be decoded, or is too narrow to be cropped, is refused by its name") {
  const support::ImageFolder folder;
  std::filesystem::copy(kGolden / "a_colour.jpg", folder.path() / "a.jpg");
  std::filesystem::copy(kGolden / "refused" / "cmyk.jpg", folder.path() / "b.jpg");
  const auto wanted = request("densenet_cifar", "images:" + folder.path().string());
  CHECK_NOTHROW(inputs<float>(wanted, 1));
  CHECK(contains(message_of<UsageError>([&] { inputs<float>(wanted, 2); }), "b.jpg: its colours"));
}

TEST_CASE("images are for models that take images, and an empty folder is refused at once") {
  const support::TemporaryFolder folder;
  CHECK(contains(refusal(request("roberta_base", "images:" + kGolden.string())), "takes tokens"));
  CHECK(contains(refusal(request("densenet_cifar", "images:" + folder.path().string())), "it holds no file"));
}

TEST_CASE("a file's tensor is taken as it is, row by row, in both formats") {
  const OwnFiles files;
  const auto values = ascending(2 * kSmall);
  for (const auto* name : {"x.pt", "x.safetensors"}) {
    const auto file = files.tensor(name, {2, 3, 32, 32}, values);
    auto wanted = values;
    wanted.insert(wanted.end(), values.begin(), values.begin() + kSmall);
    wanted.insert(wanted.end(), values.begin() + kSmall, values.end());
    CHECK(inputs<float>(request("densenet_cifar", "tensor:" + file, 2), 2) == wanted);
    CHECK(inputs<float>(request("densenet_cifar", "tensor:" + file, 4), 1) == wanted);
    wanted.resize(3 * kSmall);
    CHECK(inputs<float>(request("densenet_cifar", "tensor:" + file, 3), 1) == wanted);
  }
}

TEST_CASE("a tensor of another shape, type or range is refused with what the model takes") {
  const OwnFiles files;
  const auto said_of = [&](const std::string& model, const std::string& file) {
    return refusal(request(model, "tensor:" + file));
  };
  CHECK(contains(said_of("densenet_cifar", files.tensor("a.pt", {3, 32, 32}, ascending(kSmall))),
                 "a.pt: its shape is [3, 32, 32], and the model takes [samples, 3, 32, 32]"));
  CHECK(contains(said_of("densenet_cifar", files.tensor("b.pt", {0, 3, 32, 32}, std::vector<float>{})),
                 "its shape is [0"));
  CHECK(contains(said_of("roberta_base", files.tensor("c.pt", {1, 128}, ascending(128))),
                 "it is float32, and the model takes int64; save tensor.to(torch.int64)"));
  CHECK(contains(said_of("densenet_cifar", files.text("d.pt", "text")), "d.pt: it is neither"));
  CHECK(contains(said_of("densenet_cifar", files.path("missing.pt")), "missing.pt: No such file"));
  std::vector<std::int64_t> tokens(128, 50264);
  CHECK(said_of("roberta_base", files.tensor("e.pt", {1, 128}, tokens)) == "(nothing was thrown)");
  CHECK(inputs<std::int64_t>(request("roberta_base", "tensor:" + files.path("e.pt")), 1) == tokens);
  for (const auto outside : {std::int64_t{-1}, std::int64_t{50265}}) {
    tokens.back() = outside;
    CHECK(contains(said_of("roberta_base", files.tensor("f.pt", {1, 128}, tokens)), "and the model knows 0 to 50264"));
  }
  auto damaged = ascending(kSmall);
  auto bytes = files::torch_file_of({files::DType::float32, {1, 3, 32, 32}, std::as_bytes(std::span(damaged))});
  bytes[bytes.size() / 2] ^= 1;
  CHECK(contains(said_of("densenet_cifar", files.text("g.pt", bytes)), "g.pt: it is damaged"));
}

TEST_CASE("tokens are read a line a sample; short ones are padded, long ones keep their end") {
  const OwnFiles files;
  std::string longer = "0";
  for (int i = 0; i < 200; ++i) longer += " 7";
  const auto file = files.text("tokens.txt", "0 5 6 2\n" + longer + " 2\n");
  const auto tokens = inputs<std::int64_t>(request("roberta_base", "tokens:" + file, 3), 1);
  REQUIRE(tokens.size() == 3 * 128);
  std::vector<std::int64_t> first(128, 1);
  std::copy_n(std::vector<std::int64_t>{0, 5, 6, 2}.begin(), 4, first.begin());
  std::vector<std::int64_t> second(128, 7);
  second.front() = 0;
  second.back() = 2;
  CHECK(std::equal(first.begin(), first.end(), tokens.begin()));
  CHECK(std::equal(second.begin(), second.end(), tokens.begin() + 128));
  CHECK(std::equal(first.begin(), first.end(), tokens.begin() + 256));
}

TEST_CASE("tokens are for models that take tokens, and of their vocabulary") {
  const OwnFiles files;
  CHECK(
      contains(refusal(request("densenet_cifar", "tokens:" + files.text("a.txt", "1\n"))), "takes samples of 3x32x32"));
  CHECK(contains(refusal(request("roberta_base", "tokens:" + files.text("b.txt", "1\n2 50265\n"))),
                 "b.txt: line 2 holds 50265, and the model knows 0 to 50264"));
  CHECK(
      contains(refusal(request("roberta_base", "tokens:" + files.text("c.txt", "1\nword\n"))), "c.txt: line 2 holds"));
}

TEST_CASE("labels are of the samples that the batches hold, each once") {
  const OwnFiles files;
  const auto data = "tensor:" + files.tensor("x.pt", {5, 3, 32, 32}, ascending(5 * kSmall));
  const auto labels = files.text("labels.txt", "4\n3\n2\n1\n0\n");
  const auto made = [&](int batch, int count) {
    return make_model_backend()->make_labels(request("densenet_cifar", data, batch, labels), count);
  };
  CHECK(made(2, 1) == std::vector<std::int64_t>{4, 3});
  CHECK(made(2, 2) == std::vector<std::int64_t>{4, 3, 2, 1});
  CHECK(made(2, 3) == std::vector<std::int64_t>{4, 3, 2, 1, 0});
  CHECK(made(7, 1) == std::vector<std::int64_t>{4, 3, 2, 1, 0});
  CHECK(make_model_backend()->make_labels(request("densenet_cifar", data), 3).empty());
}

TEST_CASE("labels that do not belong to the data are refused at once") {
  const OwnFiles files;
  const auto data = "tensor:" + files.tensor("x.pt", {2, 3, 32, 32}, ascending(2 * kSmall));
  const auto said = [&](const std::string& labels) { return refusal(request("densenet_cifar", data, 1, labels)); };
  CHECK(contains(said(files.text("one.txt", "1\n")), "one.txt holds the classes of 1 samples, and tensor:"));
  CHECK(contains(said(files.path("missing.txt")), "missing.txt: No such file"));
  CHECK(contains(said("own"), "no labels of its own"));
  CHECK(contains(refusal(request("densenet_cifar", "random", 1, files.path("one.txt"))), "has no labels"));
}

TEST_CASE("a data set's own labels are read with it") {
  const support::ImageFolder folder;
  folder.write("test_batch.bin", support::cifar10_file(3));
  folder.write("t10k-images-idx3-ubyte", support::idx_file({0x803, 2, 2, 2}, 8));
  const auto own = [&](const std::string& set) {
    return make_model_backend()->make_labels(request("densenet_cifar", set + ":" + folder.path().string(), 2, "own"),
                                             2);
  };
  CHECK(own("cifar10") == std::vector<std::int64_t>{0, 1, 2});
  CHECK_THROWS_AS(own("fashion-mnist"), EnvironmentError);  // there are none
  folder.write("t10k-labels-idx1-ubyte", support::idx_file({0x801, 2}, 2));
  CHECK(own("fashion-mnist") == std::vector<std::int64_t>{0, 1});
  folder.write("t10k-labels-idx1-ubyte", support::idx_file({0x801, 3}, 3));
  CHECK(contains(message_of<UsageError>([&] { own("fashion-mnist"); }), "the classes of 3 samples"));
  folder.write("t10k-labels-idx1-ubyte", support::idx_file({0x803, 2}, 2));
  CHECK(contains(message_of<EnvironmentError>([&] { own("fashion-mnist"); }), "not an IDX file of labels"));
  folder.write("t10k-labels-idx1-ubyte", support::idx_file({0x801, 4'000'000'000}, 2));
  CHECK(contains(message_of<EnvironmentError>([&] { own("fashion-mnist"); }), "claims 4000000000 labels"));
}

}  // namespace
}  // namespace paretopipe::zoo
