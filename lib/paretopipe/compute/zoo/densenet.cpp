#include <fmt/format.h>

#include "layers.hpp"
#include "zoo.hpp"

// Huang et al., "Densely connected convolutional networks", arXiv:1608.06993: DenseNet-121 as in torchvision, and the
// small one for CIFAR of github.com/kuangliu/pytorch-cifar. Between two layers of a dense block there is one tensor
// with all features so far, so the network can be cut there.
namespace paretopipe::zoo {

namespace {

constexpr std::array<int, 4> kDepths{6, 12, 24, 16};
constexpr std::int64_t kBottleneck = 4;  ///< output channels of a layer's first convolution, in multiples of the growth

/// How the two definitions differ, and what they call their parts.
struct Family {
  std::int64_t growth;  ///< channels that a layer adds
  std::string_view norm;
  bool newest_first;  ///< a layer's output comes before its input
};

constexpr Family kTorchvision{.growth = 32, .norm = "norm", .newest_first = false};
constexpr Family kCifar{.growth = 12, .norm = "bn", .newest_first = true};

Layer norm_relu_conv(const Scope& norm, const Scope& conv, const ConvShape& shape) {
  return sequence({batch_norm2d(norm, shape.in), relu(), conv2d(conv, shape, Scheme::he_fan_in)});
}

/// Maps `in` channels to `in` + growth.
Layer dense_layer(const Scope& s, const Family& family, std::int64_t in) {
  const auto norm = [&](int i) { return s / fmt::format("{}{}", family.norm, i); };
  const auto width = kBottleneck * family.growth;
  const ConvShape wide{.in = width, .out = family.growth, .kernel = square(3), .padding = square(1)};
  auto added = sequence(
      {norm_relu_conv(norm(1), s / "conv1", {.in = in, .out = width}), norm_relu_conv(norm(2), s / "conv2", wide)});
  const Layer kept = [](at::Tensor x) { return x; };
  return family.newest_first ? concat({std::move(added), kept}) : concat({kept, std::move(added)});
}

/// Halves the channels and quarters the pixels.
Layer transition(const Scope& s, const Family& family, std::int64_t in) {
  return sequence(
      {norm_relu_conv(s / family.norm, s / "conv", {.in = in, .out = in / 2}), avg_pool2d({.kernel = 2, .stride = 2})});
}

/// The four dense blocks with the transitions between them. append() takes the number of channels in and returns the
/// number out. Names are functions of the block and the layer, both from 0.
struct Trunk {
  const Family& family;
  std::string (*layer_name)(std::size_t block, int layer);
  std::string (*transition_name)(std::size_t block);

  std::int64_t append(std::vector<BlockPlan>& plan, std::int64_t channels) const {
    for (std::size_t block = 0; block < kDepths.size(); ++block) {
      for (int layer = 0; layer < kDepths[block]; ++layer) {
        plan.push_back(named_block(layer_name(block, layer), [&family = family, channels](const Scope& s) {
          return dense_layer(s, family, channels);
        }));
        channels += family.growth;
      }
      if (block + 1 == kDepths.size()) break;
      plan.push_back(named_block(transition_name(block), [&family = family, channels](const Scope& s) {
        return transition(s, family, channels);
      }));
      channels /= 2;
    }
    return channels;
  }
};

Layer torchvision_stem(const Scope& root) {
  const auto s = root / "features";
  const ConvShape shape{.in = 3, .out = 64, .kernel = square(7), .stride = square(2), .padding = square(3)};
  return sequence({conv2d(s / "conv0", shape, Scheme::he_fan_in), batch_norm2d(s / "norm0", 64), relu(),
                   max_pool2d({.kernel = 3, .stride = 2, .padding = 1})});
}

Layer cifar_stem(const Scope& root) {
  const ConvShape shape{.in = 3, .out = 2 * kCifar.growth, .kernel = square(3), .padding = square(1)};
  return conv2d(root / "conv1", shape, Scheme::he_fan_in);
}

Layer densenet_head(const Scope& norm, const Scope& classifier, std::int64_t channels, std::int64_t num_classes) {
  return sequence({batch_norm2d(norm, channels), relu(),
                   pooled_linear(classifier, channels, num_classes, Scheme::pytorch_default)});
}

}  // namespace

std::vector<BlockPlan> densenet121(std::int64_t num_classes) {
  std::vector<BlockPlan> plan{{"stem", torchvision_stem}};
  const Trunk trunk{kTorchvision,
                    [](std::size_t block, int layer) {
                      return fmt::format("features.denseblock{}.denselayer{}", block + 1, layer + 1);
                    },
                    [](std::size_t block) { return fmt::format("features.transition{}", block + 1); }};
  const auto channels = trunk.append(plan, 64);
  plan.push_back({"head", [=](const Scope& root) {
                    return densenet_head(root / "features" / "norm5", root / "classifier", channels, num_classes);
                  }});
  return plan;
}

std::vector<BlockPlan> densenet_cifar(std::int64_t num_classes) {
  std::vector<BlockPlan> plan{{"stem", cifar_stem}};
  const Trunk trunk{kCifar, [](std::size_t block, int layer) { return fmt::format("dense{}.{}", block + 1, layer); },
                    [](std::size_t block) { return fmt::format("trans{}", block + 1); }};
  const auto channels = trunk.append(plan, 2 * kCifar.growth);
  plan.push_back(
      {"head", [=](const Scope& root) { return densenet_head(root / "bn", root / "linear", channels, num_classes); }});
  return plan;
}

}  // namespace paretopipe::zoo
