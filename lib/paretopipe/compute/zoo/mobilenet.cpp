#include "layers.hpp"
#include "zoo.hpp"

// Sandler et al., "MobileNetV2: inverted residuals and linear bottlenecks", arXiv:1801.04381.
namespace paretopipe::zoo {

namespace {

/// torchvision scales by PyTorch's fan_out, which ignores groups: in its untrained network, depthwise convolutions
/// shrink the signal to 1e-9 at the end. Scaling by fan_in keeps the activations' scale.
constexpr auto kScheme = Scheme::he_fan_in;

/// A row of the paper's table 2: expansion, output channels, repetitions, stride of the first repetition.
struct Group {
  std::int64_t expansion;
  std::int64_t channels;
  int repetitions;
  std::int64_t stride;
};

constexpr std::array<Group, 7> kGroups{
    {{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}}};

Layer conv_norm_relu6(const Scope& s, const ConvShape& shape) {
  return sequence({conv2d(s / "0", shape, kScheme), batch_norm2d(s / "1", shape.out), relu6()});
}

/// Expand (1x1), filter (3x3 depthwise), project (1x1, no activation).
Layer inverted_residual(const Scope& scope, std::int64_t in, std::int64_t out, std::int64_t expansion,
                        std::int64_t stride) {
  const auto hidden = in * expansion;
  std::vector<Layer> layers;
  const auto next = [&] { return scope / "conv" / std::to_string(layers.size()); };
  if (expansion != 1) layers.push_back(conv_norm_relu6(next(), {.in = in, .out = hidden}));
  layers.push_back(conv_norm_relu6(next(), {.in = hidden,
                                            .out = hidden,
                                            .kernel = square(3),
                                            .stride = square(stride),
                                            .padding = square(1),
                                            .groups = hidden}));
  layers.push_back(conv2d(next(), {.in = hidden, .out = out}, kScheme));
  layers.push_back(batch_norm2d(next(), out));
  auto body = sequence(std::move(layers));
  if (stride != 1 || in != out) return body;
  return [body = std::move(body)](at::Tensor x) { return body(x).add_(x); };
}

}  // namespace

std::vector<BlockPlan> mobilenet_v2(std::int64_t num_classes) {
  std::vector<BlockPlan> plan;
  add_feature(plan, [](const Scope& s) {
    return conv_norm_relu6(s, {.in = 3, .out = 32, .kernel = square(3), .stride = square(2), .padding = square(1)});
  });
  std::int64_t channels = 32;
  for (const auto& group : kGroups) {
    for (int i = 0; i < group.repetitions; ++i) {
      const auto stride = i == 0 ? group.stride : 1;
      add_feature(plan, [=](const Scope& s) {
        return inverted_residual(s, channels, group.channels, group.expansion, stride);
      });
      channels = group.channels;
    }
  }
  add_feature(plan, [channels](const Scope& s) { return conv_norm_relu6(s, {.in = channels, .out = 1280}); });
  plan.push_back({"head", [=](const Scope& root) {
                    return sequence({adaptive_avg_pool2d(1), flatten(), dropout(root, 0.2),
                                     linear(root / "classifier" / "1", 1280, num_classes, Scheme::small)});
                  }});
  return plan;
}

}  // namespace paretopipe::zoo
