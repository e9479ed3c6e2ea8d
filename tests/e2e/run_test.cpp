// One batch through a split model, by `paretopipe run`. What comes out is compared with Python's in
// run_against_python.sh; here it is where the stages ran, and what is refused.
#include <paretopipe/compute/files/weights_file.hpp>
#include <paretopipe/compute/files/write_tensor.hpp>

#include <integration/driver_fixture.hpp>
#include <unit/archive/archives.hpp>

using namespace paretopipe;
using namespace paretopipe::testing;

namespace {

/// With a model and a batch for it.
struct Desk : Shell {
  Desk() : Shell(Stages::real) {
    archive::write_archive(folder(), archive::kClassifier);
    std::vector<float> numbers(2 * 4 * 4 * 4);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 7) - 3;
    const files::DenseTensor batch{files::DType::float32, {2, 4, 4, 4}, std::as_bytes(std::span(numbers))};
    write("x.pt", files::tensor_file_of(batch, "x.pt"));
  }
};

std::vector<std::byte> bytes_in(const std::filesystem::path& file) {
  const files::TensorFile stored(file);
  const auto bytes = stored.tensor().bytes;
  return {bytes.begin(), bytes.end()};
}

}  // namespace

TEST_CASE(
    "a batch through a U-shape comes out as it does through two devices, run says where it was, and on a GPU that the "
    "machine does not have it writes nothing") {
  const Desk desk;
  const Words run = "run --model net.pt --input x.pt";
  const auto line = desk.run(0, run + "--split 2 --compute eager --output line.pt");
  CHECK_FALSE(contains(line.output, "device"));
  const auto shape =
      desk.run(0, run + "--stages 3 --partitions 1,2 --placement 0,1,0 --compute eager --output shape.pt");
  check_contains(shape.output,
                 {"stage 0 on device 0: ", "stage 1 on device 1: ", "stage 2 on device 0: ", "bit for bit the same"});
  CHECK(bytes_in(desk.folder() / "shape.pt") == bytes_in(desk.folder() / "line.pt"));
  check_refused(desk, run,
                {{"--split 2 --device cpu --device cuda:99 --output y.pt", "cannot compute on cuda:99: ", 3}});
}

TEST_CASE("several ways to cut a model are refused by run, which takes one") {
  const Desk desk;
  check_refused(desk, Words("run --model net.pt --input x.pt"),
                {{"--split 1 --output nowhere/y.pt", "there is no folder nowhere"},
                 {"--output y.pt --split 1,2", "run takes one way to cut the model and to run it, and 2 were named"}});
  CHECK_FALSE(std::filesystem::exists(desk.folder() / "y.pt"));
}

TEST_CASE("a batch through two machines comes out as it does through two processes, and run names them") {
  const Desk desk;
  const Words run = "run --model net.pt --input x.pt --split 2 --compute eager";
  desk.run(0, run + "--output here.pt");
  const auto there = desk.run(0, run + "--output there.pt" + on_pi_too(desk));
  check_contains(there.output, {"stage 0 on local: ", "stage 1 on pi: ", "bit for bit the same"});
  CHECK(bytes_in(desk.folder() / "there.pt") == bytes_in(desk.folder() / "here.pt"));
}
