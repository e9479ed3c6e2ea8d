#include "layers.hpp"
#include "zoo.hpp"

// Simonyan, Zisserman, "Very deep convolutional networks for large-scale image recognition", arXiv:1409.1556.
namespace paretopipe::zoo {

namespace {

/// Configuration D: output channels of 3x3 convolutions, each followed by a ReLU; 0 is a max pooling.
constexpr std::int64_t kPool = 0;
constexpr std::array<std::int64_t, 18> kConfigurationD{64,    64,  kPool, 128, 128,   kPool, 256, 256, 256,
                                                       kPool, 512, 512,   512, kPool, 512,   512, 512, kPool};

constexpr auto kClassifierScheme = Scheme::small;

}  // namespace

std::vector<BlockPlan> vgg16(std::int64_t num_classes) {
  std::vector<BlockPlan> plan;
  std::int64_t channels = 3;
  for (const auto out : kConfigurationD) {
    if (out == kPool) {
      add_feature(plan, [](const Scope&) { return max_pool2d({.kernel = 2, .stride = 2}); });
      continue;
    }
    const ConvShape shape{.in = channels, .out = out, .kernel = square(3), .padding = square(1)};
    add_feature(plan, [shape](const Scope& s) { return conv2d_with_bias(s, shape, Scheme::he_fan_out); });
    add_feature(plan, [](const Scope&) { return relu(); });
    channels = out;
  }
  plan.push_back({"avgpool", [](const Scope&) { return sequence({adaptive_avg_pool2d(7), flatten()}); }});
  const auto classifier = [](std::int64_t in) {
    return [in](const Scope& s) { return sequence({linear_relu(s, in, 4096, kClassifierScheme), dropout(s, 0.5)}); };
  };
  plan.push_back(named_block("classifier.0", classifier(512 * 7 * 7)));
  plan.push_back(named_block("classifier.3", classifier(4096)));
  plan.push_back(
      named_block("classifier.6", [=](const Scope& s) { return linear(s, 4096, num_classes, kClassifierScheme); }));
  return plan;
}

}  // namespace paretopipe::zoo
