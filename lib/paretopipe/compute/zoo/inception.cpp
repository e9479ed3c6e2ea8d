#include "layers.hpp"
#include "zoo.hpp"

// Szegedy et al., "Rethinking the Inception architecture for computer vision", arXiv:1512.00567, without the auxiliary
// head, which inference does not use, and without torchvision's transform_input.
namespace paretopipe::zoo {

namespace {

/// torchvision uses a standard deviation of 0.1 for any size: untrained and with batch norm in evaluation mode,
/// activations grow to 1e12. Scaling by fan_in keeps their scale.
Layer basic_conv2d(const Scope& s, const ConvShape& shape) {
  return sequence({conv2d(s / "conv", shape, Scheme::he_fan_in), batch_norm2d(s / "bn", shape.out, 1e-3), relu()});
}

Layer basic_conv1x1(const Scope& s, std::int64_t in, std::int64_t out) {
  return basic_conv2d(s, {.in = in, .out = out});
}

/// "Same" padding: the output is as large as the input.
Layer conv_same(const Scope& s, std::int64_t in, std::int64_t out, Pair kernel) {
  return basic_conv2d(s, {.in = in, .out = out, .kernel = kernel, .padding = {kernel[0] / 2, kernel[1] / 2}});
}

Layer conv3x3_stride2(const Scope& s, std::int64_t in, std::int64_t out) {
  return basic_conv2d(s, {.in = in, .out = out, .kernel = square(3), .stride = square(2)});
}

Layer max_pool() {
  return max_pool2d({.kernel = 3, .stride = 2});
}

Layer branch_pool(const Scope& s, std::int64_t in, std::int64_t out) {
  return sequence({avg_pool2d({.kernel = 3, .stride = 1, .padding = 1}), basic_conv1x1(s / "branch_pool", in, out)});
}

Layer inception_a(const Scope& s, std::int64_t in, std::int64_t pool_features) {
  return concat(
      {basic_conv1x1(s / "branch1x1", in, 64),
       sequence({basic_conv1x1(s / "branch5x5_1", in, 48), conv_same(s / "branch5x5_2", 48, 64, square(5))}),
       sequence({basic_conv1x1(s / "branch3x3dbl_1", in, 64), conv_same(s / "branch3x3dbl_2", 64, 96, square(3)),
                 conv_same(s / "branch3x3dbl_3", 96, 96, square(3))}),
       branch_pool(s, in, pool_features)});
}

Layer inception_b(const Scope& s, std::int64_t in) {
  return concat(
      {conv3x3_stride2(s / "branch3x3", in, 384),
       sequence({basic_conv1x1(s / "branch3x3dbl_1", in, 64), conv_same(s / "branch3x3dbl_2", 64, 96, square(3)),
                 conv3x3_stride2(s / "branch3x3dbl_3", 96, 96)}),
       max_pool()});
}

Layer inception_c(const Scope& s, std::int64_t in, std::int64_t c7) {
  return concat(
      {basic_conv1x1(s / "branch1x1", in, 192),
       sequence({basic_conv1x1(s / "branch7x7_1", in, c7), conv_same(s / "branch7x7_2", c7, c7, {1, 7}),
                 conv_same(s / "branch7x7_3", c7, 192, {7, 1})}),
       sequence({basic_conv1x1(s / "branch7x7dbl_1", in, c7), conv_same(s / "branch7x7dbl_2", c7, c7, {7, 1}),
                 conv_same(s / "branch7x7dbl_3", c7, c7, {1, 7}), conv_same(s / "branch7x7dbl_4", c7, c7, {7, 1}),
                 conv_same(s / "branch7x7dbl_5", c7, 192, {1, 7})}),
       branch_pool(s, in, 192)});
}

Layer inception_d(const Scope& s, std::int64_t in) {
  return concat(
      {sequence({basic_conv1x1(s / "branch3x3_1", in, 192), conv3x3_stride2(s / "branch3x3_2", 192, 320)}),
       sequence({basic_conv1x1(s / "branch7x7x3_1", in, 192), conv_same(s / "branch7x7x3_2", 192, 192, {1, 7}),
                 conv_same(s / "branch7x7x3_3", 192, 192, {7, 1}), conv3x3_stride2(s / "branch7x7x3_4", 192, 192)}),
       max_pool()});
}

Layer inception_e(const Scope& s, std::int64_t in) {
  return concat(
      {basic_conv1x1(s / "branch1x1", in, 320),
       sequence({basic_conv1x1(s / "branch3x3_1", in, 384), concat({conv_same(s / "branch3x3_2a", 384, 384, {1, 3}),
                                                                    conv_same(s / "branch3x3_2b", 384, 384, {3, 1})})}),
       sequence({basic_conv1x1(s / "branch3x3dbl_1", in, 448), conv_same(s / "branch3x3dbl_2", 448, 384, square(3)),
                 concat({conv_same(s / "branch3x3dbl_3a", 384, 384, {1, 3}),
                         conv_same(s / "branch3x3dbl_3b", 384, 384, {3, 1})})}),
       branch_pool(s, in, 192)});
}

}  // namespace

std::vector<BlockPlan> inception_v3(std::int64_t num_classes) {
  using S = const Scope&;
  return {
      named_block("Conv2d_1a_3x3", [](S s) { return conv3x3_stride2(s, 3, 32); }),
      named_block("Conv2d_2a_3x3", [](S s) { return basic_conv2d(s, {.in = 32, .out = 32, .kernel = square(3)}); }),
      named_block("Conv2d_2b_3x3", [](S s) { return conv_same(s, 32, 64, square(3)); }),
      named_block("maxpool1", [](S) { return max_pool(); }),
      named_block("Conv2d_3b_1x1", [](S s) { return basic_conv1x1(s, 64, 80); }),
      named_block("Conv2d_4a_3x3", [](S s) { return basic_conv2d(s, {.in = 80, .out = 192, .kernel = square(3)}); }),
      named_block("maxpool2", [](S) { return max_pool(); }),
      named_block("Mixed_5b", [](S s) { return inception_a(s, 192, 32); }),
      named_block("Mixed_5c", [](S s) { return inception_a(s, 256, 64); }),
      named_block("Mixed_5d", [](S s) { return inception_a(s, 288, 64); }),
      named_block("Mixed_6a", [](S s) { return inception_b(s, 288); }),
      named_block("Mixed_6b", [](S s) { return inception_c(s, 768, 128); }),
      named_block("Mixed_6c", [](S s) { return inception_c(s, 768, 160); }),
      named_block("Mixed_6d", [](S s) { return inception_c(s, 768, 160); }),
      named_block("Mixed_6e", [](S s) { return inception_c(s, 768, 192); }),
      named_block("Mixed_7a", [](S s) { return inception_d(s, 768); }),
      named_block("Mixed_7b", [](S s) { return inception_e(s, 1280); }),
      named_block("Mixed_7c", [](S s) { return inception_e(s, 2048); }),
      {"head",
       [=](const Scope& root) {
         return sequence({adaptive_avg_pool2d(1), flatten(), dropout(root, 0.5),
                          linear(root / "fc", 2048, num_classes, Scheme::pytorch_default)});
       }},
  };
}

}  // namespace paretopipe::zoo
