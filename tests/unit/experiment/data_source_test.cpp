#include <paretopipe/core/error.hpp>
#include <paretopipe/core/hash.hpp>
#include <paretopipe/experiment/data_source.hpp>

#include <filesystem>

#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/message_of.hpp>
#include <support/temporary_folder.hpp>

using namespace paretopipe;
using namespace paretopipe::experiment;
using support::contains;
using support::message_of;
using support::write_file;

namespace {

std::vector<std::string> names(const std::vector<std::filesystem::path>& files) {
  std::vector<std::string> names;
  for (const auto& file : files) names.push_back(file.filename().string());
  return names;
}

}  // namespace

TEST_CASE("a person's own data are called by their last name, wherever they lie", "[data]") {
  CHECK(name_of_data("random") == "random");
  CHECK(name_of_data("cifar10:/data/cifar") == "cifar10:/data/cifar");
  CHECK(name_of_data("images:/home/me/photos") == "images:photos");
  CHECK(name_of_data("images:/home/me/photos///") == "images:photos");
  CHECK(name_of_data("images:photos/.") == "images:photos");
  CHECK(name_of_data("tensor:a/b:c.pt") == "tensor:b:c.pt");
}

TEST_CASE("the images of a folder are in the order of their names' bytes, and nothing else counts", "[data]") {
  const support::TemporaryFolder folder;
  for (const auto* name : {"b.png", "B.PNG", "a10.jpg", "a9.JpEg", "notes.txt", "c.webp", "jpg", ".png"}) {
    write_file(folder.path() / name, name);
  }
  std::filesystem::create_directory(folder.path() / "folder.png");
  std::filesystem::create_symlink("nowhere", folder.path() / "z.png");
  std::filesystem::create_symlink("b.png", folder.path() / "y.png");
  CHECK(names(list_images(folder.path())) == std::vector<std::string>{"B.PNG", "a10.jpg", "a9.JpEg", "b.png", "y.png"});
}

TEST_CASE("a folder that is none, or that holds no image, is refused by its name", "[data]") {
  const support::TemporaryFolder folder;
  const auto refusal = [](const std::filesystem::path& path) {
    return message_of<UsageError>([&] { list_images(path); });
  };
  CHECK(contains(refusal(folder.path()), folder.path().string() + ": it holds no file whose name ends in .jpg"));
  CHECK(contains(refusal(folder.path() / "missing"), "missing: No such file"));
  write_file(folder.path() / "file", "x");
  CHECK(contains(refusal(folder.path() / "file"), "file: Not a directory"));
}

TEST_CASE("data are known by their content: the same elsewhere are the same, whatever differs makes others", "[data]") {
  const support::TemporaryFolder folder;
  const auto photos = folder.path() / "photos";
  std::filesystem::create_directory(photos);
  write_file(photos / "a.png", "one");
  write_file(photos / "b.png", "two");
  const auto find = [](const std::filesystem::path& path) { return find_data("images:" + path.string(), ""); };
  const auto first = find(photos);
  CHECK(first.name == "images:photos");
  CHECK(first.request == "images:" + photos.string());
  // cd photos && sha256sum a.png b.png | sha256sum
  CHECK(first.identity.sha256 ==
        sha256_of_text(sha256_of_text("one") + "  a.png\n" + sha256_of_text("two") + "  b.png\n"));
  CHECK(first.identity.labels.empty());

  const auto elsewhere = folder.path() / "elsewhere";
  std::filesystem::rename(photos, elsewhere);
  write_file(elsewhere / "notes.txt", "no image");
  CHECK(find(elsewhere).identity == first.identity);
  write_file(elsewhere / "b.png", "tw0");
  CHECK_FALSE(find(elsewhere).identity == first.identity);
  write_file(elsewhere / "b.png", "two");
  std::filesystem::rename(elsewhere / "a.png", elsewhere / "c.png");
  CHECK_FALSE(find(elsewhere).identity == first.identity);  // another order
}

TEST_CASE("labels are part of what data are", "[data]") {
  const support::TemporaryFolder folder;
  write_file(folder.path() / "classes.txt", "3\n");
  const auto labels = (folder.path() / "classes.txt").string();
  CHECK(find_data("random", "").identity == DataIdentity{});
  CHECK(find_data("cifar10:d", "own").identity == DataIdentity{"", "own"});
  CHECK(find_data("cifar10:d", "own").labels == "own");
  CHECK(find_data("cifar10:d", "own").request == "cifar10:d");
  CHECK(find_data("cifar10", labels).identity == DataIdentity{"", sha256_of_text("3\n")});
  CHECK(find_data("cifar10", labels).labels == labels);
  CHECK(contains(message_of<UsageError>([&] { find_data("cifar10", labels + "x"); }), "classes.txtx: No such file"));
  CHECK(contains(message_of<UsageError>([&] { find_data("tensor:" + folder.path().string(), ""); }), "directory"));
}
