#include <paretopipe/compute/torch/samples.hpp>
#include <paretopipe/core/error.hpp>

#include <string>

#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/message_of.hpp>
#include <support/temporary_folder.hpp>

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

using support::contains;
using Lines = std::vector<std::vector<std::int64_t>>;

class NumberFile {
 public:
  explicit NumberFile(const std::string& text) { support::write_file(path(), text); }
  std::filesystem::path path() const { return folder_.path() / "numbers.txt"; }

 private:
  support::TemporaryFolder folder_;
};

Lines read(const std::string& text) {
  return read_number_lines(NumberFile(text).path());
}

std::string line_refusal(const std::string& text) {
  return support::message_of<UsageError>([&] { read(text); });
}

TEST_CASE("numbers are read line by line, whatever blanks and line ends they have") {
  CHECK(read("1 2\n3\n") == Lines{{1, 2}, {3}});
  CHECK(read("1 2\r\n 3\t\t4 ") == Lines{{1, 2}, {3, 4}});
  CHECK(read("007\n9223372036854775807") == Lines{{7}, {9223372036854775807}});
}

TEST_CASE("what is no number is refused with its line and the file's name") {
  CHECK(contains(line_refusal("1\n2 x3\n"), "numbers.txt: line 2 holds \"x3\""));
  CHECK(contains(line_refusal("1\n2 3x\n"), "\"3x\""));
  for (const auto* wrong : {"-1", "+1", "1.5", "1e3", "0x1", "9223372036854775808", "\"1\"", "1,2", "1\v2"}) {
    CAPTURE(wrong);
    CHECK(contains(line_refusal(wrong), "line 1 holds"));
  }
  CHECK(contains(line_refusal(std::string("1\n\0\n", 4)), "line 2 holds"));
  CHECK(contains(line_refusal("1\n\n2\n"), "line 2 holds no number"));
  CHECK(contains(line_refusal("1\n \n"), "line 2 holds no number"));
  CHECK(contains(line_refusal("\n"), "line 1 holds no number"));
  CHECK(contains(line_refusal(""), "numbers.txt: it is empty"));
  CHECK(contains(support::message_of<UsageError>([] { read_number_lines("/nowhere/x"); }), "/nowhere/x"));
}

TEST_CASE("labels are one number a line") {
  CHECK(read_labels(NumberFile("3\n0\r\n12").path()) == std::vector<std::int64_t>{3, 0, 12});
  const auto two = support::message_of<UsageError>([] { read_labels(NumberFile("3\n0 1\n").path()); });
  CHECK(contains(two, "line 2 holds 2 numbers, not the class of one sample"));
}

}  // namespace
}  // namespace paretopipe::compute
