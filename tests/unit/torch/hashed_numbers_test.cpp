#include <paretopipe/compute/torch/samples.hpp>

#include <support/catch.hpp>

namespace paretopipe::compute {
namespace {

TEST_CASE("hashed numbers are those of splitmix64") {
  // The first outputs of the generator seeded with 1234567, as published with its reference implementation.
  CHECK(hashed_bits(1234567, 0) == 6457827717110365317U);
  CHECK(hashed_bits(1234567, 1) == 3203168211198807973U);
  CHECK(hashed_bits(1234567, 2) == 9817491932198370423U);
}

TEST_CASE("uniform and normal numbers have the moments of their distributions") {
  constexpr int kCount = 100'000;
  double uniform_sum = 0, uniform_squares = 0, normal_sum = 0, normal_squares = 0;
  int outside = 0;
  for (int i = 0; i < kCount; ++i) {
    const double u = hashed_uniform(1, static_cast<std::uint64_t>(i));
    const double n = hashed_normal(1, static_cast<std::uint64_t>(i));
    outside += u < -1.0 || u >= 1.0 ? 1 : 0;
    uniform_sum += u;
    uniform_squares += u * u;
    normal_sum += n;
    normal_squares += n * n;
  }
  CHECK(outside == 0);
  CHECK(uniform_sum / kCount == Approx(0).margin(0.01));
  CHECK(uniform_squares / kCount == Approx(1.0 / 3).margin(0.01));
  CHECK(normal_sum / kCount == Approx(0).margin(0.015));
  CHECK(normal_squares / kCount == Approx(1).margin(0.02));
}

}  // namespace
}  // namespace paretopipe::compute
