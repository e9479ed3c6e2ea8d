#include <paretopipe/core/error.hpp>
#include <paretopipe/core/file_descriptor.hpp>
#include <paretopipe/render/output.hpp>
#include <paretopipe/render/table.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <fcntl.h>

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
  const auto complaint = [&] {
    const support::FileSizeLimit limit(4096);
    return support::message_of<EnvironmentError>(
        [&] { render::write_file(folder.path() / "x.csv", std::string(100'000, 'x')); });
  }();
  CHECK(complaint != "(nothing was thrown)");
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

TEST_CASE("what a shell has opened is added to, and what it holds stays") {
  const support::TemporaryFolder folder;
  const auto file = folder.path() / "log.txt";
  std::ofstream log(file);
  log << "before\n" << std::flush;
  const FileDescriptor opened(::open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  const auto name = "/proc/self/fd/" + std::to_string(opened.get());
  render::write_file(name, "text\n");
  fs::create_symlink(name, folder.path() / "stdout");
  render::write_file(folder.path() / "stdout", "more\n");
  CHECK(support::read_file(file) == "before\ntext\nmore\n");
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

using namespace paretopipe::render;

TEST_CASE("columns are as wide as their widest cell and aligned as asked") {
  Table table({{"split"}, {"value", Align::right}, {"note"}});
  table.add_row({"1", "12.3 ms", ""});
  table.add_row({"longer one", "5 s", "x"});
  CHECK(table.to_text({.unicode = false}) ==
        "split         value  note\n"
        "-------------------------\n"
        "1           12.3 ms\n"
        "longer one      5 s  x\n");
}

TEST_CASE("characters of several bytes take one column") {
  Table table({{"mark"}, {"next"}});
  table.add_row({"●", "a"});
  table.add_row({"–", "b"});
  CHECK(table.to_text({.unicode = true}) ==
        "mark  next\n"
        "──────────\n"
        "●     a\n"
        "–     b\n");
  CHECK(display_width("●–é") == 3);
}

TEST_CASE("highlighted rows are coloured where there is colour, and only there") {
  Table table({{"a"}});
  table.add_row({"plain"});
  table.add_row({"chosen"}, true);
  CHECK(table.to_text({.colour = true, .unicode = false}) == "a\n------\nplain\n\x1b[1;32mchosen\x1b[0m\n");
  CHECK(table.to_text({.colour = false, .unicode = false}) == "a\n------\nplain\nchosen\n");
}

TEST_CASE("a row or a column with another number of cells is refused") {
  Table table({{"a"}, {"b"}});
  CHECK_THROWS_AS(table.add_row({"1"}), std::logic_error);
  table.add_row({"1", "2"});
  CHECK_THROWS_AS(table.add_column({"c"}, {"3", "4"}), std::logic_error);
}
