#include <paretopipe/compute/files/weights_file.hpp>
#include <paretopipe/compute/files/write_tensor.hpp>
#include <paretopipe/compute/zoo/model_backend.hpp>
#include <paretopipe/core/error.hpp>

#include <algorithm>
#include <array>
#include <cstring>

#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/image_folder.hpp>
#include <support/message_of.hpp>
#include <support/temporary_folder.hpp>
#include <support/thrown.hpp>

namespace paretopipe::zoo {
namespace {

using namespace support;

std::vector<std::vector<float>> inputs(const std::string& data, int batch, int count, std::uint64_t seed = 1) {
  auto backend = make_model_backend();
  const auto activations =
      backend->make_inputs({.model = "resnet18", .num_classes = 10, .batch = batch, .seed = seed, .data = data}, count);
  std::vector<std::vector<float>> values;
  for (const auto& activation : activations) {
    CHECK(activation.spec ==
          wire::TensorSpec{wire::DType::float32, wire::MemoryFormat::contiguous, {batch, 3, 224, 224}});
    values.emplace_back(activation.bytes.size() / sizeof(float));
    std::memcpy(values.back().data(), activation.bytes.data(), activation.bytes.size());
  }
  return values;
}

constexpr std::size_t kPlane = 224 * 224;
constexpr std::array<float, 3> kMean{0.485F, 0.456F, 0.406F};
constexpr std::array<float, 3> kDeviation{0.229F, 0.224F, 0.225F};

float normalised(float pixel, std::size_t channel) {
  return (pixel / 255 - kMean[channel]) / kDeviation[channel];
}

TEST_CASE("random tokens are of the vocabulary, begin and end as sequences do, and depend on seed and batch alone") {
  const auto tokens = [](std::uint64_t seed, int batch) {
    const auto inputs = make_model_backend()->make_inputs(
        {.model = "roberta_base", .num_classes = 2, .batch = batch, .seed = seed, .data = "random"}, 2);
    const wire::TensorSpec spec{wire::DType::int64, wire::MemoryFormat::contiguous, {batch, 128}};
    std::vector<std::int64_t> values;
    for (const auto& input : inputs) {
      CHECK(input.spec == spec);
      const auto* first = reinterpret_cast<const std::int64_t*>(input.bytes.data());
      values.insert(values.end(), first, first + input.bytes.size() / sizeof(*first));
    }
    return values;
  };
  const auto values = tokens(1, 3);
  REQUIRE(values.size() == 2 * 3 * 128);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto place = i % 128;
    if (place == 0) CHECK(values[i] == 0);
    if (place == 127) CHECK(values[i] == 2);
    if (place > 0 && place < 127) CHECK((values[i] >= 4 && values[i] < 50265));
  }
  CHECK(tokens(1, 3) == values);
  CHECK(tokens(2, 3) != values);
  CHECK(std::vector(values.begin(), values.begin() + 384) != std::vector(values.begin() + 384, values.end()));
}

TEST_CASE("images are no tokens") {
  const auto wanted =
      stage::ModelRequest{.model = "roberta_base", .num_classes = 2, .batch = 1, .seed = 1, .data = "fashion-mnist"};
  check_throws<UsageError>([&] { make_model_backend()->make_inputs(wanted, 1); }, {"takes tokens", "--data random"});
}

TEST_CASE("CIFAR-10 images are normalised by channel, in the file's order, and wrap round") {
  const ImageFolder folder;
  folder.write("test_batch.bin", cifar10_file(3));
  const auto batches = inputs("cifar10:" + folder.path().string(), 2, 3);
  REQUIRE(batches.size() == 3);
  const std::vector<std::vector<int>> images{{0, 1}, {2, 0}, {1, 2}};
  for (std::size_t b = 0; b < 3; ++b) {
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t c = 0; c < 3; ++c) {
        const auto pixel = static_cast<float>(10 * images[b][i]) + static_cast<float>(c);
        const auto* plane = batches[b].data() + (i * 3 + c) * kPlane;
        CHECK(plane[0] == Approx(normalised(pixel, c)).margin(1e-6));
        CHECK(plane[kPlane - 1] == Approx(normalised(pixel, c)).margin(1e-6));
      }
    }
  }
}

TEST_CASE("grey images are resized bilinearly and replicated to three channels") {
  const ImageFolder folder;
  folder.write("t10k-images-idx3-ubyte", idx_file({0x803, 1, 2, 2}, 4));  // pixels 0 1 / 2 3
  const auto image = inputs("fashion-mnist:" + folder.path().string(), 1, 1).at(0);
  // Pixel centres aligned: output x reads the input at (x + 0.5) * 2 / 224 - 0.5, clamped to the image.
  const auto expected = [](std::size_t row, std::size_t column) {
    const auto weight = [](std::size_t i) {
      return std::clamp((static_cast<float>(i) + 0.5F) * 2 / 224 - 0.5F, 0.0F, 1.0F);
    };
    return 2 * weight(row) + weight(column);
  };
  for (std::size_t c = 0; c < 3; ++c) {
    for (const std::size_t row : {0, 57, 100, 223}) {
      for (const std::size_t column : {0, 60, 150, 223}) {
        CHECK(image[c * kPlane + row * 224 + column] == Approx(normalised(expected(row, column), c)).margin(1e-5));
      }
    }
  }
}

TEST_CASE("random inputs are distinct by batch and seed, and repeatable") {
  const auto batches = inputs("random", 1, 2);
  CHECK(batches[0] != batches[1]);
  CHECK(inputs("random", 1, 2) == batches);
  CHECK(inputs("random", 1, 1, 2)[0] != batches[0]);
}

TEST_CASE("an unknown data set is a usage error that lists the known ones") {
  check_throws<UsageError>([&] { inputs("imagenet", 1, 1); }, {"\"imagenet\"", "fashion-mnist", "cifar10"});
  CHECK_THROWS_AS(inputs("", 1, 1), UsageError);
  CHECK_THROWS_AS(inputs("random", 0, 1), UsageError);
}

TEST_CASE("a data set that is not there is an environment error that says how to get it") {
  const ImageFolder folder;
  const auto path = folder.path().string();
  check_throws<EnvironmentError>([&] { inputs("fashion-mnist:" + path, 1, 1); },
                                 {path, "t10k-images-idx3-ubyte.gz", "apt install dataset-fashion-mnist"});
  check_throws<EnvironmentError>([&] { inputs("cifar10:" + path, 1, 1); },
                                 {path, "test_batch.bin", "cifar-10-binary.tar.gz"});
}

TEST_CASE("Fashion-MNIST as Debian packages it is read", "[needs:fashion_mnist]") {
  if (!std::filesystem::exists("/usr/share/datasets/fashion-mnist/t10k-images-idx3-ubyte.gz")) {
    support::skip("dataset-fashion-mnist is not installed");
  }
  const auto batches = inputs("fashion-mnist", 4, 2);
  CHECK(batches.size() == 2);
  CHECK(batches[0] != batches[1]);
}

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
    write_file(path(name), content);
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

TEST_CASE(
    "an image that cannot be decoded is refused by its name, and an empty folder, or a model without images, at once") {
  const support::ImageFolder folder;
  std::filesystem::copy(kGolden / "a_colour.jpg", folder.path() / "a.jpg");
  std::filesystem::copy(kGolden / "refused" / "cmyk.jpg", folder.path() / "b.jpg");
  const auto wanted = request("densenet_cifar", "images:" + folder.path().string());
  CHECK_NOTHROW(inputs<float>(wanted, 1));
  CHECK(contains(message_of<UsageError>([&] { inputs<float>(wanted, 2); }), "b.jpg: its colours"));
  const support::TemporaryFolder empty;
  CHECK(contains(refusal(request("roberta_base", "images:" + kGolden.string())), "takes tokens"));
  CHECK(contains(refusal(request("densenet_cifar", "images:" + empty.path().string())), "it holds no file"));
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

TEST_CASE("labels are of the samples that the batches hold, each once, and others are refused at once") {
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
  const auto said = [&](const std::string& other) { return refusal(request("densenet_cifar", data, 1, other)); };
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
  folder.write("train-images-idx3-ubyte", support::idx_file({0x803, 2, 2, 2}, 8));
  folder.write("train-labels-idx1-ubyte", support::idx_file({0x801, 2}, 2));
  CHECK(own("fashion-mnist-train") == std::vector<std::int64_t>{0, 1});
  CHECK_THROWS_AS(own("fashion-mnist"), EnvironmentError);
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
