#include <paretopipe/compute/zoo/model_backend.hpp>
#include <paretopipe/core/error.hpp>

#include <cstring>

#include <support/catch.hpp>
#include <support/image_folder.hpp>
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

}  // namespace
}  // namespace paretopipe::zoo
