#include <paretopipe/compute/zoo/zoo.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include <c10/core/InferenceMode.h>
#include <support/catch.hpp>

namespace paretopipe::zoo {
namespace {

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
