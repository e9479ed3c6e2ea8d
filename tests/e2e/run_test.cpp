// One batch through a split model, by `paretopipe run`. What comes out is compared with Python's in
// run_against_python.sh; here it is where the stages ran.
#include <paretopipe/compute/files/weights_file.hpp>
#include <paretopipe/compute/files/write_tensor.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/message_of.hpp>
#include <support/program.hpp>
#include <support/temporary_folder.hpp>
#include <unit/archive/archives.hpp>

using namespace paretopipe;
using support::contains;

namespace {

/// A folder with a model and a batch for it.
class Desk {
 public:
  Desk() {
    archive::write_archive(folder_.path(), archive::kClassifier);
    std::vector<float> numbers(2 * 4 * 4 * 4);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 7) - 3;
    const files::DenseTensor batch{files::DType::float32, {2, 4, 4, 4}, std::as_bytes(std::span(numbers))};
    support::write_file(file("x.pt"), files::tensor_file_of(batch, "x.pt"));
  }

  std::filesystem::path file(const std::string& name) const { return folder_.path() / name; }

  support::Outcome run(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{PARETOPIPE_BIN_DIR "/paretopipe", "run", "--model", "net.pt", "--input", "x.pt"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return support::Program(arguments, folder_.path()).wait();
  }

 private:
  support::TemporaryFolder folder_;
};

std::vector<std::byte> bytes_in(const std::filesystem::path& file) {
  const files::TensorFile stored(file);
  const auto bytes = stored.tensor().bytes;
  return {bytes.begin(), bytes.end()};
}

}  // namespace

TEST_CASE("a batch through a U-shape comes out as it does through two devices, and run says where it was") {
  const Desk desk;
  const auto line = desk.run({"--split", "2", "--compute", "eager", "--output", "line.pt"});
  INFO(line.output << line.errors);
  REQUIRE(line.exit_code == 0);
  CHECK_FALSE(contains(line.output, "device"));

  const auto shape = desk.run(
      {"--stages", "3", "--partitions", "1,2", "--placement", "0,1,0", "--compute", "eager", "--output", "shape.pt"});
  INFO(shape.output << shape.errors);
  REQUIRE(shape.exit_code == 0);
  CHECK(contains(shape.output, "stage 0 on device 0: "));
  CHECK(contains(shape.output, "stage 1 on device 1: "));
  CHECK(contains(shape.output, "stage 2 on device 0: "));
  CHECK(contains(shape.output, "bit for bit the same"));
  CHECK(bytes_in(desk.file("shape.pt")) == bytes_in(desk.file("line.pt")));
}

TEST_CASE("run on a GPU that the machine does not have writes nothing") {
  const Desk desk;
  const auto answer = desk.run({"--split", "2", "--device", "cpu", "--device", "cuda:99", "--output", "y.pt"});
  INFO(answer.output);
  CHECK(answer.exit_code == 3);
  CHECK(contains(answer.errors, "cannot compute on cuda:99: "));
  CHECK_FALSE(std::filesystem::exists(desk.file("y.pt")));
}
