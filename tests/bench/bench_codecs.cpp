// How fast codecs encode and decode on one thread, beside a plain copy of the same tensor.
#include <paretopipe/analysis/stats/quantile.hpp>
#include <paretopipe/codec/codec.hpp>
#include <paretopipe/core/clock.hpp>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "report.hpp"

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

/// Returns the median time of encoding.
double print(const char* name, const codec::Layout& layout, const std::vector<float>& values) {
  const auto times = time_codec(codec::parse(name), layout, values);
  const auto rate = [&](const std::vector<double>& seconds) {
    return static_cast<double>(layout.bytes()) * 1e-9 / *stats::median(seconds);
  };
  bench::print_row(
      fmt::format("{}, {:.1f} MB: encode, decode, copy", name, static_cast<double>(layout.bytes()) * 1e-6),
      fmt::format("{:.2f}, {:.2f}, {:.1f} GB/s", rate(times.encode), rate(times.decode), rate(times.copy)));
  return *stats::median(times.encode);
}

void bench_all(const codec::Layout& layout, double most_times_uniform) {
  const auto values = draw_activation(layout.values);
  double uniform = 0;
  for (const char* name : {"float16", "bfloat16", "uniform8", "channel8", "channel4", "sort16", "sort12", "sort8",
                           "sort4", "zstd", "lz4", "channel8+zstd"}) {
    const auto seconds = print(name, layout, values);
    if (name == std::string_view("uniform8")) uniform = seconds;
    if (name != std::string_view("sort8")) continue;
    bench::print_row("sort8's time to encode, over uniform8's", fmt::format("{:.2f}", seconds / uniform),
                     fmt::format("at most {:.0f}", most_times_uniform), seconds <= most_times_uniform * uniform);
  }
}

}  // namespace

int main() {
  bench_all({codec::Element::float32, 32UL * 32 * 112 * 112, 32, 112 * 112}, 6);
  bench_all({codec::Element::float32, 8UL * 128 * 768, 768, 1}, 3);
}
