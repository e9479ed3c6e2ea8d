// Weights out of files, in both formats, as the backend and a person see them.
#include <paretopipe/compute/zoo/model_backend.hpp>
#include <paretopipe/compute/zoo/stored_weights.hpp>
#include <paretopipe/compute/zoo/zoo.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/host/process_usage.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include <malloc.h>

#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>
#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/message_of.hpp>
#include <support/temporary_folder.hpp>

#include "weight_files.hpp"

namespace paretopipe::zoo {
namespace {

using support::contains;
using support::message_of;

constexpr std::uint64_t kSeed = 7;

std::vector<NamedTensor> tensors_of(const Model& model, std::int64_t num_classes, std::optional<std::uint64_t> seed) {
  const c10::InferenceMode inference;
  std::vector<NamedTensor> tensors;
  for (const auto& plan : model.plan(num_classes)) {
    for (auto& tensor : build_block(model.name, plan, seed).tensors) tensors.push_back(std::move(tensor));
  }
  return tensors;
}

stage::ModelRequest stored_request_for(const std::string& model, const std::filesystem::path& weights = {}) {
  return {.model = model, .num_classes = 10, .batch = 1, .seed = 1, .data = "random", .weights = weights.string()};
}

std::string whole_output(const stage::ModelRequest& request, const stage::Activation& input) {
  auto backend = make_model_backend();
  backend->configure({});
  const experiment::BlockRange all{0, backend->describe(request).block_count()};
  backend->load(request, all);
  const auto output = backend->forward(all, input);
  return {reinterpret_cast<const char*>(output.bytes.data()), output.bytes.size()};
}

std::string refusal_to_describe(const stage::ModelRequest& request) {
  return message_of<UsageError>([&] { make_model_backend()->describe(request); });
}

NamedTensor& named(std::vector<NamedTensor>& tensors, std::string_view name) {
  return *std::ranges::find(tensors, name, &NamedTensor::name);
}

/// What is said of MobileNetV2's weights after a change.
std::string refusal_after(const std::function<void(std::vector<NamedTensor>&)>& change) {
  const support::TemporaryFolder folder;
  const c10::InferenceMode inference;
  auto tensors = tensors_of(find_model("mobilenet_v2"), 10, std::nullopt);
  change(tensors);
  write_hollow_safetensors(folder.path() / "w", tensors);
  return refusal_to_describe(stored_request_for("mobilenet_v2", folder.path() / "w"));
}

TEST_CASE("weights out of a file, in either format, compute what the same weights computed before") {
  const support::TemporaryFolder folder;
  const auto tensors = tensors_of(find_model("mobilenet_v2"), 10, kSeed);
  write_safetensors(folder.path() / "safetensors", tensors);
  write_state_dict(folder.path() / "pth", tensors);
  auto request = stored_request_for("mobilenet_v2");
  const auto input = make_model_backend()->make_inputs(request, 1).at(0);
  const auto other = whole_output(request, input);
  request.seed = kSeed;
  const auto expected = whole_output(request, input);
  REQUIRE(expected != other);
  CHECK(whole_output(stored_request_for("mobilenet_v2", folder.path() / "safetensors"), input) == expected);
  CHECK(whole_output(stored_request_for("mobilenet_v2", folder.path() / "pth"), input) == expected);
}

TEST_CASE("weights in 16 bits, in either format, compute what the same numbers compute in 32") {
  const auto type = GENERATE(at::kHalf, at::kBFloat16);
  const support::TemporaryFolder folder;
  auto halves = tensors_of(find_model("mobilenet_v2"), 10, kSeed);
  auto same_numbers = halves;
  for (std::size_t i = 0; i < halves.size(); ++i) {
    if (is_counter(halves[i])) continue;
    const c10::InferenceMode inference;
    halves[i].tensor = halves[i].tensor.to(type);
    same_numbers[i].tensor = halves[i].tensor.to(at::kFloat);
  }
  write_safetensors(folder.path() / "wide", same_numbers);
  write_safetensors(folder.path() / "safetensors", halves);
  write_state_dict(folder.path() / "pth", halves);
  REQUIRE(std::filesystem::file_size(folder.path() / "safetensors") <
          std::filesystem::file_size(folder.path() / "wide") * 6 / 10);
  const auto input = make_model_backend()->make_inputs(stored_request_for("mobilenet_v2"), 1).at(0);
  const auto expected = whole_output(stored_request_for("mobilenet_v2", folder.path() / "wide"), input);
  CHECK(whole_output(stored_request_for("mobilenet_v2", folder.path() / "safetensors"), input) == expected);
  CHECK(whole_output(stored_request_for("mobilenet_v2", folder.path() / "pth"), input) == expected);
}

TEST_CASE("weights with more digits than the model computes with are refused, not rounded") {
  const auto message = refusal_after([](std::vector<NamedTensor>& tensors) {
    named(tensors, "features.0.1.bias").tensor = at::zeros({32}, at::kDouble);
  });
  CHECK(contains(message, "\"features.0.1.bias\" is float64 [32], not float32 [32]"));
}

TEST_CASE("blocks with other weights of the same model are not kept") {
  const support::TemporaryFolder folder;
  write_safetensors(folder.path() / "a", tensors_of(find_model("mobilenet_v2"), 10, kSeed));
  auto backend = make_model_backend();
  backend->load(stored_request_for("mobilenet_v2"), {0, 5});
  const auto held = backend->held_parameter_bytes();
  backend->load(stored_request_for("mobilenet_v2", folder.path() / "a"), {0, 1});
  CHECK(backend->held_parameter_bytes() < held);
}

TEST_CASE("missing, extra and mis-shaped tensors are counted and named in one sentence") {
  const auto message = refusal_after([](std::vector<NamedTensor>& tensors) {
    named(tensors, "features.0.0.weight").name = "features.0.0.wieght";
    named(tensors, "features.0.1.bias").tensor = at::zeros({31});
    named(tensors, "features.0.1.running_mean").tensor = at::zeros({32}, at::kLong);
  });
  CAPTURE(message);
  CHECK(contains(message,
                 "it does not fit mobilenet_v2: 1 tensor is missing (\"features.0.0.weight\"); 1 tensor is "
                 "extra (\"features.0.0.wieght\"); 2 tensors are of another shape or type"));
  CHECK(contains(message, "\"features.0.1.bias\" is float32 [31], not float32 [32]"));
  CHECK(contains(message, "\"features.0.1.running_mean\" is int64 [32], not float32 [32]"));
  CHECK_FALSE(contains(message, "--classes"));
}

TEST_CASE("of many tensors that do not fit the first are named") {
  const auto message = refusal_after([](std::vector<NamedTensor>& tensors) {
    for (auto& entry : tensors) entry.name.insert(0, "module.");
  });
  CAPTURE(message);
  CHECK(contains(message, "262 tensors are missing (\"features.0.0.weight\", \"features.0.1.weight\", "));
  CHECK(contains(message, "262 tensors are extra (\"module."));
  CHECK(contains(message, ", ...)"));
  CHECK(message.size() < 1000);
}

TEST_CASE("weights of another number of classes are refused with the flag that makes them fit") {
  const support::TemporaryFolder folder;
  write_hollow_safetensors(folder.path() / "w", tensors_of(find_model("resnet18"), 1000, std::nullopt));
  auto request = stored_request_for("resnet18", folder.path() / "w");
  const auto message = refusal_to_describe(request);
  CAPTURE(message);
  CHECK(contains(message, "2 tensors are of another shape or type"));
  CHECK(contains(message, "\"fc.weight\" is float32 [1000, 512], not float32 [10, 512]"));
  CHECK(contains(message, "its classifier has 1000 classes, not 10: add --classes 1000"));
  request.num_classes = 1000;
  CHECK_NOTHROW(make_model_backend()->describe(request));
}

TEST_CASE("what evaluation does not use may be missing, and may be there") {
  const support::TemporaryFolder folder;
  auto tensors = tensors_of(find_model("inception_v3"), 10, std::nullopt);
  std::erase_if(tensors, is_counter);
  tensors.push_back({"AuxLogits.fc.bias", at::zeros({10}), true});
  tensors.push_back({"roberta.embeddings.position_ids", at::zeros({1, 514}, at::kLong), false});
  write_hollow_safetensors(folder.path() / "w", tensors);
  auto backend = make_model_backend();
  const auto request = stored_request_for("inception_v3", folder.path() / "w");
  CHECK_NOTHROW(backend->describe(request));
  CHECK_NOTHROW(backend->load(request, {0, 1}));
}

TEST_CASE("loading checks a block's own tensors, and no others") {
  const support::TemporaryFolder folder;
  auto tensors = tensors_of(find_model("mobilenet_v2"), 10, std::nullopt);
  const auto path = folder.path() / "w";
  write_state_dict(path, tensors);
  auto file = support::read_file(path);
  const auto storage = file.find("archive/data/0");  // features.0.0.weight
  file[file.find("archive/data/1", storage) - 100] ^= 1;
  support::write_file(path, file);
  auto backend = make_model_backend();
  const auto request = stored_request_for("mobilenet_v2", path);
  CHECK_NOTHROW(backend->describe(request));
  CHECK_NOTHROW(backend->load(request, {1, 20}));
  const auto message = message_of<UsageError>([&] { backend->load(request, {0, 1}); });
  CHECK(contains(message, "\"features.0.0.weight\" is damaged: its bytes have the CRC-32"));
}

/// By how much the process grew at most while a fresh backend loaded the blocks, and what it holds of them afterwards.
struct Growth {
  std::int64_t peak_bytes = 0;
  std::int64_t held_bytes = 0;
};

Growth growth_of_loading(const stage::ModelRequest& request, experiment::BlockRange blocks) {
  auto backend = make_model_backend();
  backend->configure({});
  ::malloc_trim(0);  // or what other tests have freed would be used again, and nothing grow
  REQUIRE(host::reset_peak_rss());
  const auto before = host::read_peak_rss_bytes().value();
  backend->load(request, blocks);
  return {host::read_peak_rss_bytes().value() - before, backend->held_parameter_bytes()};
}

TEST_CASE("loading the last blocks of VGG-16 never takes the memory of the first ones, wherever weights come from") {
  constexpr std::int64_t kOther = 32 << 20;
  const support::TemporaryFolder folder;
  write_hollow_safetensors(folder.path() / "w", tensors_of(find_model("vgg16"), 10, std::nullopt));
  const auto request =
      stored_request_for("vgg16", GENERATE(false, true) ? folder.path() / "w" : std::filesystem::path());
  const int blocks = make_model_backend()->describe(request).block_count();
  const auto last = growth_of_loading(request, {blocks - 2, blocks});
  CHECK(last.held_bytes > kOther);
  CHECK(last.peak_bytes < 2 * last.held_bytes + kOther);  // out of a file they are seen twice: mapped, and copied
  const auto all = growth_of_loading(request, {0, blocks});
  CHECK(all.held_bytes > 4 * last.held_bytes + kOther);
  CHECK(all.peak_bytes > all.held_bytes / 2);  // or the measurement above would prove nothing
}

TEST_CASE("loading a block whose tensors are not in the file is refused, whether or not it was described") {
  const support::TemporaryFolder folder;
  auto tensors = tensors_of(find_model("mobilenet_v2"), 10, std::nullopt);
  named(tensors, "features.0.0.weight").name = "x";
  named(tensors, "features.1.conv.0.0.weight").tensor = at::zeros({1});
  write_hollow_safetensors(folder.path() / "w", tensors);
  auto backend = make_model_backend();
  const auto request = stored_request_for("mobilenet_v2", folder.path() / "w");
  const auto load = [&](int block) {
    return message_of<UsageError>([&] { backend->load(request, {block, block + 1}); });
  };
  CHECK(contains(load(0), "\"features.0.0.weight\" is missing"));
  CHECK(contains(load(1), "\"features.1.conv.0.0.weight\" is float32 [1], not float32 [32, 1, 3, 3]"));
  CHECK_NOTHROW(backend->load(request, {2, 3}));
}

TEST_CASE("a file of weights that is none is refused with its name") {
  const support::TemporaryFolder folder;
  support::write_file(folder.path() / "w.pth", "hello");
  CHECK(contains(refusal_to_describe(stored_request_for("resnet18", folder.path() / "w.pth")), "w.pth: it is neither"));
  CHECK(contains(refusal_to_describe(stored_request_for("resnet18", "/nowhere/w.pth")), "No such file"));
}

bool same_tensors(const Block& a, const Block& b) {
  return std::ranges::equal(a.tensors, b.tensors, [](const NamedTensor& x, const NamedTensor& y) {
    return x.name == y.name && x.tensor.nbytes() == y.tensor.nbytes() &&
           std::memcmp(x.tensor.data_ptr(), y.tensor.data_ptr(), x.tensor.nbytes()) == 0;
  });
}

const at::Tensor& tensor_named(const Block& block, std::string_view name) {
  return std::ranges::find(block.tensors, name, &NamedTensor::name)->tensor;
}

double standard_deviation(const at::Tensor& tensor) {
  double squares = 0;
  const std::span values(tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel()));
  for (const double value : values) squares += value * value;
  return std::sqrt(squares / static_cast<double>(values.size()));
}

TEST_CASE("a block built alone has the weights that it has in the whole chain") {
  const c10::InferenceMode inference;
  const auto& model = find_model("resnet18");
  const auto plan = model.plan(10);
  std::vector<Block> chain;
  for (const auto& block : plan) chain.push_back(build_block(model.name, block, 7));
  for (std::size_t i = plan.size(); i-- > 0;) {
    INFO(plan[i].name);
    CHECK(same_tensors(build_block(model.name, plan[i], 7), chain[i]));
  }
}

TEST_CASE("seed, model and tensor name each decide the weights") {
  const c10::InferenceMode inference;
  const auto plan = find_model("resnet18").plan(10);
  const auto block = build_block("resnet18", plan[2], 1);
  CHECK(same_tensors(block, build_block("resnet18", plan[2], 1)));
  CHECK_FALSE(same_tensors(block, build_block("resnet18", plan[2], 2)));
  CHECK_FALSE(same_tensors(block, build_block("another", plan[2], 1)));
  const auto& first = tensor_named(block, "layer1.1.conv1.weight");
  const auto& second = tensor_named(block, "layer1.1.conv2.weight");
  REQUIRE(first.nbytes() == second.nbytes());
  CHECK(std::memcmp(first.data_ptr(), second.data_ptr(), first.nbytes()) != 0);
}

TEST_CASE("weights have the standard deviation of their initialisation scheme") {
  const c10::InferenceMode inference;
  const auto built = [](std::string_view model, std::size_t index) {
    return build_block(model, find_model(model).plan(10)[index], 1);
  };
  const auto alexnet = built("alexnet", 3);  // PyTorch's default: uniform within 1 / sqrt(fan_in)
  CHECK(standard_deviation(tensor_named(alexnet, "features.3.weight")) ==
        Approx(std::sqrt(1.0 / (3 * 1600))).epsilon(0.02));
  CHECK(standard_deviation(tensor_named(alexnet, "features.3.bias")) ==
        Approx(std::sqrt(1.0 / (3 * 1600))).epsilon(0.2));
  const auto resnet = built("resnet18", 3);  // He, fan_out = 128 * 9
  CHECK(standard_deviation(tensor_named(resnet, "layer2.0.conv1.weight")) ==
        Approx(std::sqrt(2.0 / 1152)).epsilon(0.02));
  const auto mobilenet = built("mobilenet_v2", 2);  // He, fan_in of a depthwise convolution = 9
  CHECK(standard_deviation(tensor_named(mobilenet, "features.2.conv.1.0.weight")) ==
        Approx(std::sqrt(2.0 / 9)).epsilon(0.05));
  const auto vgg = built("vgg16", 34);
  CHECK(standard_deviation(tensor_named(vgg, "classifier.6.weight")) == Approx(0.01).epsilon(0.02));
  CHECK(standard_deviation(tensor_named(vgg, "classifier.6.bias")) == 0);
}

}  // namespace
}  // namespace paretopipe::zoo
