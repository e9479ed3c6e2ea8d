// Every block of every model against the reference in Python (torchvision, or a definition next to it), with the
// weights and the input that tests/golden/torchvision/make_references.py describes.
#include <paretopipe/compute/torch/samples.hpp>
#include <paretopipe/compute/zoo/zoo.hpp>
#include <paretopipe/core/hash.hpp>

#include <cmath>
#include <fstream>
#include <span>

#include <ATen/ops/empty.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <support/catch.hpp>

namespace paretopipe::zoo {
namespace {

/// Of the largest absolute value in a block's output. The references are of one machine; kernels of other releases of
/// LibTorch and for other processors add in another order (MobileNetV2's last blocks are off by 2.2e-5 with LibTorch 2,
/// and by 2.3e-5 where the processor has AMX). A wrong stride, padding or tensor is off by 1e-3 and more.
constexpr double kTolerance = 5e-5;

nlohmann::json read_reference(std::string_view model) {
  const auto path = fmt::format(PARETOPIPE_SOURCE_DIR "/tests/golden/torchvision/{}.json", model);
  std::ifstream file(path);
  REQUIRE(file.is_open());
  return nlohmann::json::parse(file);
}

std::span<float> values_of(const at::Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

/// reference_values() of the Python program, bit for bit: the scales below are powers of two, so every value is rounded
/// once, whether or not the compiler fuses the multiplication and the addition.
void fill_like_reference(const NamedTensor& entry) {
  if (entry.tensor.scalar_type() != at::kFloat) return;
  const auto values = values_of(entry.tensor);
  const auto key = fnv1a64(entry.name);
  if (entry.tensor.dim() > 1) {
    const auto fan_in = static_cast<double>(entry.tensor.numel() / entry.tensor.size(0));
    compute::fill_uniform(values, key, static_cast<float>(std::sqrt(6.0 / fan_in)));
    return;
  }
  const bool mean_or_bias = entry.name.ends_with("running_mean") || entry.name.ends_with("bias");
  const float centre = mean_or_bias ? 0.0F : 1.0F;
  const float scale = entry.name.ends_with("running_var") ? 0.5F : entry.name.ends_with("bias") ? 0.125F : 0.25F;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = centre + scale * compute::hashed_uniform(key, i);
}

void check_block(const at::Tensor& output, const nlohmann::json& expected) {
  REQUIRE(output.is_contiguous());
  CHECK(output.sizes().vec() == expected.at("shape").get<std::vector<std::int64_t>>());
  const auto values = values_of(output);
  double sum = 0;
  double sum_abs = 0;
  double max_abs = 0;
  for (const double value : values) {
    sum += value;
    sum_abs += std::abs(value);
    max_abs = std::max(max_abs, std::abs(value));
  }
  const auto count = static_cast<double>(values.size());
  const double margin = kTolerance * expected.at("max_abs").get<double>();
  CHECK(sum / count == Approx(expected.at("mean").get<double>()).margin(margin).epsilon(0));
  CHECK(sum_abs / count == Approx(expected.at("mean_abs").get<double>()).margin(margin).epsilon(0));
  CHECK(max_abs == Approx(expected.at("max_abs").get<double>()).margin(margin).epsilon(0));
  const auto key = fnv1a64("samples/" + expected.at("name").get<std::string>());
  const auto samples = expected.at("samples").get<std::vector<double>>();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    CHECK(values[compute::hashed_bits(key, i) % values.size()] == Approx(samples[i]).margin(margin).epsilon(0));
  }
}

void check_logits(const at::Tensor& output, const std::vector<double>& expected) {
  const auto logits = values_of(output);
  REQUIRE(logits.size() == expected.size());
  double largest = 0;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(logits[i] == Approx(expected[i]).margin(kTolerance * largest).epsilon(0));
  }
}

at::Tensor reference_input(const Model& model) {
  auto input = at::empty(model.input_shape(1), model.input_type());
  const auto key = fnv1a64("input");
  if (!model.takes_tokens()) {
    compute::fill_uniform(values_of(input), key, 2);
    return input;
  }
  for (std::int64_t i = 0; i < input.numel(); ++i) {  // 0 to 3 mean something of their own
    const auto words = static_cast<std::uint64_t>(model.vocabulary - 4);
    input.data_ptr<std::int64_t>()[i] =
        4 + static_cast<std::int64_t>(compute::hashed_bits(key, static_cast<std::uint64_t>(i)) % words);
  }
  return input;
}

/// Ready to compute what the reference's blocks do.
Block block_of_reference(const Model& model, const BlockPlan& plan) {
  auto block = build_block(model.name, plan, std::nullopt);
  for (const auto& entry : block.tensors) fill_like_reference(entry);
  return block;
}

void compare_with_reference(const Model& model) {
  const c10::InferenceMode inference;
  const auto reference = read_reference(model.name);
  const auto input_shape = reference.at("input_shape").get<std::vector<std::int64_t>>();
  REQUIRE(input_shape == model.input_shape(1));
  compute::Tensors crossing{reference_input(model)};

  const auto plan = model.plan(reference.at("num_classes").get<int>());
  const auto& blocks = reference.at("blocks");
  REQUIRE(plan.size() == blocks.size());
  nlohmann::json tensors;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    INFO("block " << plan[i].name);
    CHECK(plan[i].name == blocks[i].at("name").get<std::string>());
    const auto block = block_of_reference(model, plan[i]);
    for (const auto& entry : block.tensors) tensors[entry.name] = entry.tensor.sizes().vec();
    crossing = block.forward(std::move(crossing));
    check_block(crossing.front(), blocks[i]);
  }
  CHECK(tensors == reference.at("tensors"));
  check_logits(crossing.front(), reference.at("logits").get<std::vector<double>>());
}

TEST_CASE("every model computes what its definition in Python does, block by block, with tensors of the same names") {
  for (const auto& model : models()) {
    INFO(model.name);
    compare_with_reference(model);
  }
}

TEST_CASE("RoBERTa gives sequences that padding fills up the logits that its definition in Python gives them") {
  const c10::InferenceMode inference;
  const auto& model = find_model("roberta_base");
  const auto reference = read_reference(model.name);
  const auto& padded = reference.at("padded");
  const auto rows = static_cast<std::int64_t>(padded.size());
  auto tokens = reference_input(model).repeat({rows, 1});
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto begin = padded[static_cast<std::size_t>(row)].at("tokens").get<std::int64_t>();
    tokens.select(0, row).slice(0, begin).fill_(compute::kPadding);
  }
  compute::Tensors crossing{std::move(tokens)};
  for (const auto& plan : model.plan(reference.at("num_classes").get<int>())) {
    crossing = block_of_reference(model, plan).forward(std::move(crossing));
  }
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto& expected = padded[static_cast<std::size_t>(row)];
    CAPTURE(expected.at("tokens").get<int>());
    check_logits(crossing.front().select(0, row), expected.at("logits").get<std::vector<double>>());
  }
}

}  // namespace
}  // namespace paretopipe::zoo
