#include <paretopipe/core/clock.hpp>
#include <paretopipe/host/compute_probe.hpp>

#include <algorithm>
#include <array>

namespace paretopipe::host {
namespace {

constexpr int kPieces = 15;
constexpr int kRounds = 120'000;

/// Runs four independent chains to keep the multiplier busy. A single chain would leave room in which a neighbour on
/// the same core would go unnoticed. The multiplier is that of Knuth's MMIX generator.
std::uint64_t arithmetic(std::uint64_t seed) {
  std::array<std::uint64_t, 4> chains{seed, seed + 1, seed + 2, seed + 3};
  for (int round = 0; round < kRounds; ++round) {
    for (auto& chain : chains) chain = chain * 6364136223846793005U + 1442695040888963407U;
  }
  return chains[0] ^ chains[1] ^ chains[2] ^ chains[3];
}

}  // namespace

std::int64_t compute_probe_ns() {
  std::array<std::int64_t, kPieces> durations{};
  std::uint64_t value = 1;
  for (auto& duration : durations) {
    const auto begin = now_ns();
    value = arithmetic(value);
    // Without a reader, the compiler would remove the arithmetic.
    asm volatile("" : : "r"(value));
    duration = now_ns() - begin;
  }
  std::nth_element(durations.begin(), durations.begin() + kPieces / 2, durations.end());
  return durations[kPieces / 2];
}

}  // namespace paretopipe::host
