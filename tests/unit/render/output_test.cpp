#include <paretopipe/core/error.hpp>
#include <paretopipe/render/output.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>

#include <support/catch.hpp>
#include <support/file_size_limit.hpp>
#include <support/files.hpp>
#include <support/message_of.hpp>
#include <support/temporary_folder.hpp>

using namespace paretopipe;
namespace fs = std::filesystem;

namespace {

std::ptrdiff_t files_in(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

}  // namespace

TEST_CASE("a file is written whole, and a second writing replaces it") {
  const support::TemporaryFolder folder;
  render::write_file(folder.path() / "x.csv", "first, and longer");
  render::write_file(folder.path() / "x.csv", "second");
  CHECK(support::read_file(folder.path() / "x.csv") == "second");
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("when the disk is full the earlier file is intact and nothing half-written is left") {
  const support::TemporaryFolder folder;
  render::write_file(folder.path() / "x.csv", "earlier");
  bool refused = false;
  {
    const support::FileSizeLimit limit(4096);
    try {
      render::write_file(folder.path() / "x.csv", std::string(100'000, 'x'));
    } catch (const EnvironmentError&) {
      refused = true;
    }
  }
  CHECK(refused);
  CHECK(support::read_file(folder.path() / "x.csv") == "earlier");
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a missing folder and a missing name are errors that say what to do") {
  const support::TemporaryFolder folder;
  const auto reason =
      support::message_of<UsageError>([&] { render::write_file(folder.path() / "none" / "x.csv", "text"); });
  CHECK(support::contains(reason, "there is no folder"));
  CHECK(support::contains(reason, "none to write x.csv to; make it first"));
  CHECK_THROWS_AS(render::write_file("", "text"), UsageError);
}

TEST_CASE("a device is written to and not replaced") {
  CHECK_THROWS_AS(render::write_file("/dev/full", "text"), EnvironmentError);
  render::write_file("/dev/null", "text");
  CHECK(fs::is_character_file("/dev/full"));
  CHECK(fs::is_character_file("/dev/null"));
}

TEST_CASE("a new file has the permissions of any new file, a replaced one keeps its own") {
  const support::TemporaryFolder folder;
  const auto file = folder.path() / "x.csv";
  const auto ordinary = folder.path() / "ordinary";
  std::ofstream(ordinary) << "text";
  render::write_file(file, "text");
  CHECK(fs::status(file).permissions() == fs::status(ordinary).permissions());
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  render::write_file(file, "new");
  CHECK(fs::status(file).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("a symbolic link stays one, and the file it points to is replaced") {
  const support::TemporaryFolder folder;
  render::write_file(folder.path() / "real", "old");
  fs::create_symlink("real", folder.path() / "link");
  render::write_file(folder.path() / "link", "new");
  CHECK(fs::is_symlink(folder.path() / "link"));
  CHECK(support::read_file(folder.path() / "real") == "new");
}
