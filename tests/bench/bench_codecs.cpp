// How fast codecs encode and decode on one thread, beside a plain copy of the same tensor, as a table in
// Markdown.
#include <paretopipe/codec/codec.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "report.hpp"

namespace {

using namespace paretopipe;

constexpr int kTurns = 30;

/// As after batch norm, and half zeros where a ReLU6 follows.
std::vector<float> draw_activation(std::size_t count, bool relu6) {
  std::mt19937_64 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (auto& value : values) value = relu6 ? std::clamp(normal(random), 0.0F, 6.0F) : normal(random);
  return values;
}

constexpr std::array kCodecs{"float16", "bfloat16", "uniform8", "channel8", "channel4", "sort16",
                             "sort12",  "sort8",    "sort4",    "zstd",     "lz4",      "channel8+zstd"};

/// The least seconds of all turns: what else runs on a machine only adds to them.
struct Least {
  double copy = std::numeric_limits<double>::max();
  double encode = copy;
  double decode = copy;
};

/// An activation, of a network with ReLUs or, like RoBERTa's, without, and how many times as long as uniform8 sort8 may
/// take to encode it.
struct Tensor {
  const char* shape;
  codec::Layout layout;
  bool relu6;
  double promised;
};
const std::array kTensors{
    Tensor{"[32, 32, 112, 112]", {codec::Element::float32, 32UL * 32 * 112 * 112, 32, 112 * 112}, true, 6},
    Tensor{"[8, 128, 768]", {codec::Element::float32, 8UL * 128 * 768, 768, 1}, false, 3},
    Tensor{"[8, 128, 768] behind a ReLU", {codec::Element::float32, 8UL * 128 * 768, 768, 1}, true, 3}};
constexpr std::size_t kInTable = 2;  ///< for the others only what is promised

/// All codecs in turns, so that nobody else's minute falls on one of them.
std::map<std::string, Least> measure(const Tensor& tensor) {
  const auto values = draw_activation(tensor.layout.values, tensor.relu6);
  const auto bytes = std::as_bytes(std::span(values));
  std::size_t most = 0;
  for (const char* name : kCodecs) most = std::max(most, codec::most_bytes(codec::parse(name), tensor.layout));
  std::vector<std::byte> body(most), back(bytes.size());
  codec::Scratch scratch;
  std::map<std::string, Least> found;
  const auto keep = [](double& least, double seconds) { least = std::min(least, seconds); };
  for (int turn = 0; turn < kTurns; ++turn) {
    for (const char* name : kCodecs) {
      const auto codec = codec::parse(name);
      auto& least = found[name];
      std::size_t size = 0;
      keep(least.copy, bench::seconds_of([&] { std::memcpy(back.data(), bytes.data(), bytes.size()); }));
      keep(least.encode, bench::seconds_of([&] { size = codec::encode(codec, tensor.layout, bytes, body, scratch); }));
      const auto made = std::span(body).first(size);
      keep(least.decode, bench::seconds_of([&] { codec::decode(codec, tensor.layout, made, back, scratch); }));
    }
  }
  return found;
}

std::string rate(const Tensor& tensor, double seconds) {
  return fmt::format("{:.2f}", static_cast<double>(tensor.layout.bytes()) * 1e-9 / seconds);
}

std::string copies(const Tensor& tensor, const std::map<std::string, Least>& found) {
  Least all;
  for (const auto& [name, least] : found) all.copy = std::min(all.copy, least.copy);
  return rate(tensor, all.copy);
}

}  // namespace

int main() {
  std::vector<std::map<std::string, Least>> found;
  for (const auto& tensor : kTensors) found.push_back(measure(tensor));
  fmt::print("| GB/s | {}: encode | decode | {}: encode | decode |\n| --- | ---: | ---: | ---: | ---: |\n",
             kTensors[0].shape, kTensors[1].shape);
  for (const char* name : kCodecs) {
    fmt::print("| `{}` |", name);
    for (std::size_t i = 0; i < kInTable; ++i) {
      const auto& least = found[i].at(name);
      fmt::print(" {} | {} |", rate(kTensors[i], least.encode), rate(kTensors[i], least.decode));
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
