#include <fmt/format.h>

#include "layers.hpp"
#include "zoo.hpp"

// He et al., "Deep residual learning for image recognition", arXiv:1512.03385. ResNet-50 and ResNet-101 have the stride
// in the 3x3 convolution ("v1.5"), as in torchvision.
namespace paretopipe::zoo {

namespace {

/// A residual block: `width` channels inside, `out` channels at the end.
struct Residual {
  std::int64_t in;
  std::int64_t width;
  std::int64_t out;
  std::int64_t stride;
};

constexpr std::array<std::int64_t, 4> kWidths{64, 128, 256, 512};

Layer conv1x1(const Scope& scope, std::int64_t in, std::int64_t out, std::int64_t stride = 1) {
  return conv2d(scope, {.in = in, .out = out, .stride = square(stride)}, Scheme::he_fan_out);
}

Layer conv3x3(const Scope& scope, std::int64_t in, std::int64_t out, std::int64_t stride = 1) {
  const ConvShape shape{.in = in, .out = out, .kernel = square(3), .stride = square(stride), .padding = square(1)};
  return conv2d(scope, shape, Scheme::he_fan_out);
}

/// Computes relu(body(x) + shortcut(x)). The shortcut is the identity if the shape does not change.
Layer residual(const Scope& scope, const Residual& r, Layer body) {
  Layer shortcut;
  if (r.stride != 1 || r.in != r.out) {
    const auto downsample = scope / "downsample";
    shortcut = sequence({conv1x1(downsample / "0", r.in, r.out, r.stride), batch_norm2d(downsample / "1", r.out)});
  }
  return [body = std::move(body), shortcut = std::move(shortcut)](at::Tensor x) {
    auto y = body(x);
    y.add_(shortcut ? shortcut(std::move(x)) : x);
    return y.relu_();
  };
}

Layer basic_block(const Scope& s, const Residual& r) {
  return residual(s, r,
                  sequence({conv3x3(s / "conv1", r.in, r.width, r.stride), batch_norm2d(s / "bn1", r.width), relu(),
                            conv3x3(s / "conv2", r.width, r.out), batch_norm2d(s / "bn2", r.out)}));
}

Layer bottleneck(const Scope& s, const Residual& r) {
  return residual(s, r,
                  sequence({conv1x1(s / "conv1", r.in, r.width), batch_norm2d(s / "bn1", r.width), relu(),
                            conv3x3(s / "conv2", r.width, r.width, r.stride), batch_norm2d(s / "bn2", r.width), relu(),
                            conv1x1(s / "conv3", r.width, r.out), batch_norm2d(s / "bn3", r.out)}));
}

Layer stem(const Scope& root) {
  const ConvShape shape{.in = 3, .out = 64, .kernel = square(7), .stride = square(2), .padding = square(3)};
  return sequence({conv2d(root / "conv1", shape, Scheme::he_fan_out), batch_norm2d(root / "bn1", 64), relu(),
                   max_pool2d({.kernel = 3, .stride = 2, .padding = 1})});
}

std::vector<BlockPlan> resnet(Layer (*block)(const Scope&, const Residual&), std::int64_t expansion,
                              std::array<int, 4> depths, std::int64_t num_classes) {
  std::vector<BlockPlan> plan{{"stem", stem}};
  std::int64_t channels = 64;
  for (std::size_t layer = 0; layer < depths.size(); ++layer) {
    for (int i = 0; i < depths[layer]; ++i) {
      const Residual r{.in = channels,
                       .width = kWidths[layer],
                       .out = kWidths[layer] * expansion,
                       .stride = layer > 0 && i == 0 ? 2 : 1};
      const auto name = fmt::format("layer{}.{}", layer + 1, i);
      plan.push_back(named_block(name, [=](const Scope& s) { return block(s, r); }));
      channels = r.out;
    }
  }
  plan.push_back({"head", [=](const Scope& root) {
                    return pooled_linear(root / "fc", channels, num_classes, Scheme::pytorch_default);
                  }});
  return plan;
}

}  // namespace

std::vector<BlockPlan> resnet18(std::int64_t num_classes) {
  return resnet(basic_block, 1, {2, 2, 2, 2}, num_classes);
}

std::vector<BlockPlan> resnet50(std::int64_t num_classes) {
  return resnet(bottleneck, 4, {3, 4, 6, 3}, num_classes);
}

std::vector<BlockPlan> resnet101(std::int64_t num_classes) {
  return resnet(bottleneck, 4, {3, 4, 23, 3}, num_classes);
}

}  // namespace paretopipe::zoo
