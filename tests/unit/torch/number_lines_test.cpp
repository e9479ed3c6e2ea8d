#include <paretopipe/compute/torch/samples.hpp>
#include <paretopipe/core/error.hpp>

#include <fstream>
#include <string>

#include <support/catch.hpp>
#include <support/message_of.hpp>
#include <support/temporary_folder.hpp>

namespace paretopipe::compute {
namespace {

using support::contains;
using Lines = std::vector<std::vector<std::int64_t>>;

class NumberFile {
 public:
  explicit NumberFile(const std::string& text) { std::ofstream(path(), std::ios::binary) << text; }
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
