#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/data_files.hpp>
#include <paretopipe/experiment/data_source.hpp>

#include <filesystem>

#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/temporary_folder.hpp>
#include <support/thrown.hpp>

using namespace paretopipe;
using namespace paretopipe::experiment;

using Paths = std::vector<std::filesystem::path>;

TEST_CASE("the files of a data set are found packed or not, with labels where they are wanted", "[data]") {
  const support::TemporaryFolder folder;
  const auto place = folder.path().string();
  const auto images = folder.path() / "t10k-images-idx3-ubyte.gz";
  const auto labels = folder.path() / "t10k-labels-idx1-ubyte";
  support::write_file(images, "x");
  CHECK(files_of_data("fashion-mnist:" + place, "") == Paths{images});
  support::check_throws<EnvironmentError>([&] { files_of_data("fashion-mnist:" + place, "own"); },
                                          {place, "t10k-labels-idx1-ubyte nor", "apt install dataset-fashion-mnist"});
  support::write_file(labels, "x");
  CHECK(files_of_data("fashion-mnist:" + place, "own") == Paths{images, labels});
  support::write_file(folder.path() / "test_batch.bin", "x");
  CHECK(files_of_data("cifar10:" + place, "own") == Paths{folder.path() / "test_batch.bin"});  // it holds both
}

TEST_CASE("every kind of data with labels of its own is a data set whose files are known", "[data]") {
  for (const auto* name : {"fashion-mnist", "fashion-mnist-train", "cifar10"}) {
    REQUIRE(parse_data(name).own_labels());
    support::check_throws<EnvironmentError>([&] { find_in_data_set(name, "/nowhere", DataSetPart::images); },
                                            {name, "/nowhere", ":DIR"});
  }
}

TEST_CASE("a person's own files are the data's files, and what is random has none", "[data]") {
  const support::TemporaryFolder folder;
  for (const auto* name : {"b.png", "a.jpg", "notes.txt"}) support::write_file(folder.path() / name, "x");
  CHECK(files_of_data("images:" + folder.path().string(), "/l.txt") ==
        Paths{folder.path() / "a.jpg", folder.path() / "b.png"});
  CHECK(files_of_data("tensor:/a/x.pt", "/l.txt") == Paths{"/a/x.pt"});
  CHECK(files_of_data("random", "").empty());
}

TEST_CASE("data in another folder keep the names of their files", "[data]") {
  CHECK(data_in_folder("fashion-mnist-train", "/c/f") == "fashion-mnist-train:/c/f");
  CHECK(data_in_folder("cifar10:/data/cifar", "/c/f") == "cifar10:/c/f");
  CHECK(data_in_folder("images:/home/me/photos", "/c/f") == "images:/c/f");
  CHECK(data_in_folder("tokens:/a/x.txt", "/c/f") == "tokens:/c/f/x.txt");
}
