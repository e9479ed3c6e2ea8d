#pragma once
#include <array>

namespace paretopipe::codec {

/// ImageNet's mean and standard deviation of red, green and blue, as shares of the brightest: a model's input is
/// (pixel / 255 - mean) / deviation.
inline constexpr std::array kPixelMean{0.485F, 0.456F, 0.406F};
inline constexpr std::array kPixelDeviation{0.229F, 0.224F, 0.225F};

}  // namespace paretopipe::codec
