// How fast codecs encode and decode on one thread, beside a plain copy of the same tensor, as a table in
// Markdown.
#include <paretopipe/analysis/stats/quantile.hpp>
#include <paretopipe/codec/codec.hpp>
#include <paretopipe/core/clock.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace {

using namespace paretopipe;

constexpr int kTurns = 7;

/// As after batch norm and a ReLU6: half zeros.
std::vector<float> draw_activation(std::size_t count) {
  std::mt19937_64 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (auto& value : values) value = std::clamp(normal(random), 0.0F, 6.0F);
  return values;
}

template <class Work>
double seconds_of(const Work& work) {
  const auto begin = now_ns();
  work();
  return static_cast<double>(now_ns() - begin) * 1e-9;
}

struct Times {
  std::vector<double> copy, encode, decode;
};

Times time_codec(const codec::Codec& codec, const codec::Layout& layout, const std::vector<float>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  std::vector<std::byte> body(codec::most_bytes(codec, layout)), back(bytes.size()), copied(bytes.size());
  codec::Scratch scratch;
  Times times;
  for (int turn = 0; turn <= kTurns; ++turn) {
    std::size_t size = 0;
    const auto copy = seconds_of([&] { std::memcpy(copied.data(), bytes.data(), bytes.size()); });
    const auto encode = seconds_of([&] { size = codec::encode(codec, layout, bytes, body, scratch); });
    const auto decode = seconds_of([&] { codec::decode(codec, layout, std::span(body).first(size), back, scratch); });
    if (turn == 0) continue;  // page faults
    times.copy.push_back(copy);
    times.encode.push_back(encode);
    times.decode.push_back(decode);
  }
  return times;
}

/// Medians of one codec on one tensor.
struct Medians {
  double copy, encode, decode;
};

Medians medians_of(const char* name, const codec::Layout& layout, const std::vector<float>& values) {
  const auto times = time_codec(codec::parse(name), layout, values);
  return {*stats::median(times.copy), *stats::median(times.encode), *stats::median(times.decode)};
}

constexpr std::array kCodecs{"float16", "bfloat16", "uniform8", "channel8", "channel4", "sort16",
                             "sort12",  "sort8",    "sort4",    "zstd",     "lz4",      "channel8+zstd"};

/// An activation, and how many times as long as uniform8 sort8 may take to encode it.
struct Tensor {
  const char* shape;
  codec::Layout layout;
  double promised;
};
const std::array kTensors{
    Tensor{"[32, 32, 112, 112]", {codec::Element::float32, 32UL * 32 * 112 * 112, 32, 112 * 112}, 6},
    Tensor{"[8, 128, 768]", {codec::Element::float32, 8UL * 128 * 768, 768, 1}, 3}};

std::map<std::string, Medians> measure(const Tensor& tensor) {
  const auto values = draw_activation(tensor.layout.values);
  std::map<std::string, Medians> found;
  for (const char* name : kCodecs) found[name] = medians_of(name, tensor.layout, values);
  return found;
}

std::string rate(const Tensor& tensor, double seconds) {
  return fmt::format("{:.2f}", static_cast<double>(tensor.layout.bytes()) * 1e-9 / seconds);
}

std::string copies(const Tensor& tensor, const std::map<std::string, Medians>& found) {
  std::vector<double> seconds;
  for (const auto& [name, medians] : found) seconds.push_back(medians.copy);
  return rate(tensor, *stats::median(seconds));
}

}  // namespace

int main() {
  std::vector<std::map<std::string, Medians>> found;
  for (const auto& tensor : kTensors) found.push_back(measure(tensor));
  fmt::print("| GB/s | {}: encode | decode | {}: encode | decode |\n| --- | ---: | ---: | ---: | ---: |\n",
             kTensors[0].shape, kTensors[1].shape);
  for (const char* name : kCodecs) {
    fmt::print("| `{}` |", name);
    for (std::size_t i = 0; i < kTensors.size(); ++i) {
      const auto& medians = found[i].at(name);
      fmt::print(" {} | {} |", rate(kTensors[i], medians.encode), rate(kTensors[i], medians.decode));
    }
    fmt::print("\n");
  }
  fmt::print("| copy | {} | | {} | |\n\n", copies(kTensors[0], found[0]), copies(kTensors[1], found[1]));
  for (std::size_t i = 0; i < kTensors.size(); ++i) {
    const auto times = found[i].at("sort8").encode / found[i].at("uniform8").encode;
    fmt::print(
        "Encoding {} with `sort8` takes {:.1f} times as long as with `uniform8`; at most {:.0f} are promised: {}.\n",
        kTensors[i].shape, times, kTensors[i].promised, times <= kTensors[i].promised ? "kept" : "**missed**");
  }
}
