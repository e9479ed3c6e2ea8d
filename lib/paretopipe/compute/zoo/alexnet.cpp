#include "layers.hpp"
#include "zoo.hpp"

// Krizhevsky, "One weird trick for parallelizing convolutional neural networks", arXiv:1404.5997.
namespace paretopipe::zoo {

namespace {

constexpr auto kAlexNetScheme = Scheme::pytorch_default;

/// A convolution and its ReLU are two blocks, as in torchvision's Sequential. Some are followed by a max pooling.
struct Stage {
  ConvShape convolution;
  bool pool;
};

constexpr std::array<Stage, 5> kStages{{
    {{.in = 3, .out = 64, .kernel = square(11), .stride = square(4), .padding = square(2)}, true},
    {{.in = 64, .out = 192, .kernel = square(5), .padding = square(2)}, true},
    {{.in = 192, .out = 384, .kernel = square(3), .padding = square(1)}, false},
    {{.in = 384, .out = 256, .kernel = square(3), .padding = square(1)}, false},
    {{.in = 256, .out = 256, .kernel = square(3), .padding = square(1)}, true},
}};

}  // namespace

std::vector<BlockPlan> alexnet(std::int64_t num_classes) {
  std::vector<BlockPlan> plan;
  for (const auto& stage : kStages) {
    add_feature(plan,
                [shape = stage.convolution](const Scope& s) { return conv2d_with_bias(s, shape, kAlexNetScheme); });
    add_feature(plan, [](const Scope&) { return relu(); });
    if (stage.pool) add_feature(plan, [](const Scope&) { return max_pool2d({.kernel = 3, .stride = 2}); });
  }
  plan.push_back({"avgpool", [](const Scope&) { return sequence({adaptive_avg_pool2d(6), flatten()}); }});
  const auto classifier = [](std::int64_t in) {
    return [in](const Scope& s) { return sequence({dropout(s, 0.5), linear_relu(s, in, 4096, kAlexNetScheme)}); };
  };
  plan.push_back(named_block("classifier.1", classifier(256 * 6 * 6)));
  plan.push_back(named_block("classifier.4", classifier(4096)));
  plan.push_back(
      named_block("classifier.6", [=](const Scope& s) { return linear(s, 4096, num_classes, kAlexNetScheme); }));
  return plan;
}

}  // namespace paretopipe::zoo
