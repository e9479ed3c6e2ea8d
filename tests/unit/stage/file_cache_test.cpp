#include <paretopipe/core/error.hpp>
#include <paretopipe/core/hash.hpp>
#include <paretopipe/stage/file_cache.hpp>

#include <algorithm>
#include <future>
#include <span>
#include <string>
#include <vector>

#include <support/catch.hpp>
#include <support/file_size_limit.hpp>
#include <support/files.hpp>
#include <support/message_of.hpp>
#include <support/scoped_variable.hpp>
#include <support/temporary_folder.hpp>
#include <support/thrown.hpp>

using namespace paretopipe;
using namespace paretopipe::stage;
namespace fs = std::filesystem;

namespace {

/// Pieces of no round size: 100 of 12345 bytes.
constexpr std::int64_t kPiece = 12345;
std::string some_file(char begin = 'a') {
  std::string text;
  for (std::size_t i = 0; i < 100 * kPiece; ++i) text.push_back(static_cast<char>(begin + i * i % 23));
  return text;
}

fs::path take(FileCache& cache, const TakeChunk& chunk, std::string bytes) {
  bytes.resize(static_cast<std::size_t>(wire::byte_size(tensor_of(chunk))));
  return cache.take(chunk, std::as_bytes(std::span(bytes)));
}

/// Sends the file's first `end` bytes, as a file of `sha256`.
fs::path send(FileCache& cache, const std::string& file, const std::string& sha256, std::int64_t end) {
  fs::path path;
  const auto total = static_cast<std::int64_t>(file.size());
  for (std::int64_t offset = 0; offset < end; offset += kPiece) {
    const auto bytes = std::min(kPiece, end - offset);
    path = take(cache, {sha256, offset, bytes, total},
                file.substr(static_cast<std::size_t>(offset), static_cast<std::size_t>(bytes)));
  }
  return path;
}

fs::path send(FileCache& cache, const std::string& file) {
  return send(cache, file, sha256_of_text(file), static_cast<std::int64_t>(file.size()));
}

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}));
}

}  // namespace

TEST_CASE("a file is found once it is complete, under its SHA-256, and nothing else remains") {
  const support::TemporaryFolder folder;
  FileCache cache(folder.path() / "a" / "b");
  const auto file = some_file();
  const auto sha256 = sha256_of_text(file);
  CHECK(cache.find(sha256).empty());
  send(cache, file, sha256, kPiece);
  CHECK(cache.find(sha256).empty());
  const auto path = send(cache, file);
  CHECK(path == folder.path() / "a" / "b" / sha256);
  CHECK(FileCache(folder.path() / "a" / "b").find(sha256) == path);
  CHECK(support::read_file(path) == file);
  CHECK(entries(path.parent_path()) == 1);
}

TEST_CASE("a file with other contents than its name says is refused, and nothing of it remains") {
  const support::TemporaryFolder folder;
  FileCache cache(folder.path());
  const auto file = some_file();
  const auto other = sha256_of_text("other");
  support::check_throws<EnvironmentError>([&] { send(cache, file, other, static_cast<std::int64_t>(file.size())); },
                                          {folder.path().string(), sha256_of_text(file), other, "damaged"});
  CHECK(entries(folder.path()) == 0);
  CHECK(cache.find(other).empty());
  CHECK_FALSE(send(cache, file).empty());
}

TEST_CASE("a file that never became complete leaves nothing behind, and neither does one that was begun anew") {
  const support::TemporaryFolder folder;
  const auto file = some_file();
  {
    FileCache cache(folder.path());
    for (int again = 0; again < 2; ++again) send(cache, file, sha256_of_text(file), 5 * kPiece);
    CHECK(entries(folder.path()) == 1);
    CHECK(send(cache, "another, short one").filename() == sha256_of_text("another, short one"));
    CHECK(entries(folder.path()) == 1);
    send(cache, file, sha256_of_text(file), 5 * kPiece);
  }
  CHECK(entries(folder.path()) == 1);
}

TEST_CASE("what a killed stage left is removed when the next file begins, and what a living one writes is not") {
  const support::TemporaryFolder folder;
  const auto file = some_file();
  const auto sha256 = sha256_of_text(file);
  FileCache living(folder.path());
  send(living, file, sha256, 5 * kPiece);
  const auto left = folder.path() / (sha256_of_text("left") + ".a1B2c3");
  support::write_file(left, file);
  const std::vector<std::string> others{"notes", sha256_of_text("kept"), sha256_of_text("left") + ".a1B2c",
                                        sha256.substr(1) + "g.a1B2c3"};
  for (const auto& name : others) support::write_file(folder.path() / name, "x");
  fs::create_directory(folder.path() / (sha256 + ".folder"));
  FileCache next(folder.path());
  CHECK(fs::exists(left));
  send(next, "a short one");
  CHECK_FALSE(fs::exists(left));
  for (const auto& name : others) CHECK(fs::exists(folder.path() / name));
  CHECK(fs::is_directory(folder.path() / (sha256 + ".folder")));
  CHECK(entries(folder.path()) == others.size() + 3);  // the folder, the short file, and the one that is being written
  const auto total = static_cast<std::int64_t>(file.size());
  fs::path path;
  for (std::int64_t at = 5 * kPiece; at < total; at += kPiece) {
    path = take(living, {sha256, at, kPiece, total}, file.substr(static_cast<std::size_t>(at), kPiece));
  }
  CHECK(support::read_file(path) == file);
}

TEST_CASE("pieces of a file come in order, of one file and of one size") {
  const support::TemporaryFolder folder;
  FileCache cache(folder.path());
  const auto file = some_file();
  const auto sha256 = sha256_of_text(file);
  const auto total = static_cast<std::int64_t>(file.size());
  const std::string bytes(8, 'x');
  for (const auto& next : std::vector<TakeChunk>{{sha256, kPiece + 8, 8, total},
                                                 {sha256, kPiece - 8, 8, total},
                                                 {sha256, kPiece, 8, total + 1},
                                                 {sha256_of_text(""), kPiece, 8, total}}) {
    CAPTURE(next.sha256, next.offset, next.total);
    send(cache, file, sha256, kPiece);
    CHECK_THROWS_AS(take(cache, next, bytes), wire::ProtocolError);
    CHECK(entries(folder.path()) == 0);
  }
  CHECK_THROWS_AS(take(cache, {sha256, kPiece, 8, total}, bytes), wire::ProtocolError);  // of none
  CHECK_THROWS_AS(cache.take({sha256, 0, 8, total}, {}), wire::ProtocolError);
  CHECK(entries(folder.path()) == 0);
}

TEST_CASE("only the SHA-256 of a file is its name: no other text becomes part of a path") {
  const support::TemporaryFolder folder;
  FileCache cache(folder.path() / "files");
  support::write_file(folder.path() / "secret", "x");
  const auto sha256 = sha256_of_text("x");
  auto upper = sha256;
  upper.front() = 'A';
  for (const auto& name :
       {std::string(), std::string("../secret"), sha256.substr(1), sha256 + "0", upper, "/" + sha256.substr(1),
        "../" + sha256.substr(3), sha256.substr(1) + '\0', (folder.path() / "secret").string()}) {
    CAPTURE(name);
    CHECK_THROWS_AS(cache.find(name), wire::ProtocolError);
    CHECK_THROWS_AS(cache.take({name, 0, 1, 1}, {}), wire::ProtocolError);
  }
  CHECK(entries(folder.path()) == 1);
}

TEST_CASE("stages of one device that are sent the same files at the same time all have them") {
  const support::TemporaryFolder folder;
  const auto files = {some_file('a'), some_file('A')};
  std::vector<std::future<void>> stages;
  for (int stage = 0; stage < 4; ++stage) {
    stages.push_back(std::async(std::launch::async, [&] {
      FileCache cache(folder.path());
      for (int again = 0; again < 5; ++again) {
        for (const auto& file : files) {
          if (support::read_file(send(cache, file)) != file) throw std::runtime_error("another file");
        }
      }
    }));
  }
  for (auto& stage : stages) CHECK_NOTHROW(stage.get());
  CHECK(entries(folder.path()) == 2);
}

TEST_CASE("a folder that cannot be made or written, and a full disk, are sentences that name the folder") {
  const support::TemporaryFolder folder;
  support::write_file(folder.path() / "file", "x");
  const auto file = some_file();
  FileCache nowhere(folder.path() / "file" / "files");
  support::check_throws<EnvironmentError>(
      [&] { send(nowhere, file); },
      {"keep a file in " + (folder.path() / "file" / "files").string(), "Not a directory"});
  FileCache cache(folder.path() / "files");
  {
    const support::FileSizeLimit full(100'000);
    support::check_throws<EnvironmentError>(
        [&] { send(cache, file); },
        {"keep a file in " + (folder.path() / "files").string(), "File too large", "make room there"});
  }
  CHECK(entries(folder.path() / "files") == 0);
  CHECK_FALSE(send(cache, file).empty());
}

TEST_CASE("the folder is in the login's cache folder, wherever that is") {
  const support::ScopedVariable home("HOME", "/home/me");
  {
    const support::ScopedVariable cache("XDG_CACHE_HOME", "/scratch");
    CHECK(users_file_cache() == "/scratch/paretopipe/files");
  }
  const support::ScopedVariable no_cache("XDG_CACHE_HOME", "");
  CHECK(users_file_cache() == "/home/me/.cache/paretopipe/files");
  const support::ScopedVariable no_home("HOME", "");
  CHECK_THROWS_AS(users_file_cache(), EnvironmentError);
}

TEST_CASE("a folder of files that were sent has links to them, and says which are missing") {
  const support::TemporaryFolder folder;
  FileCache cache(folder.path());
  const auto one = sha256_of_text("one"), two = sha256_of_text("two");
  send(cache, "one");
  const FindFolder wanted{{"a", "b", "c"}, {two, one, two}};
  CHECK(cache.find_folder(wanted).path.empty());
  CHECK(cache.find_folder(wanted).missing == std::vector{two});
  send(cache, "two");
  const auto found = cache.find_folder(wanted);
  CHECK(found.missing.empty());
  CHECK(support::read_file(fs::path(found.path) / "a") == "two");
  CHECK(support::read_file(fs::path(found.path) / "b") == "one");
  CHECK(support::read_file(fs::path(found.path) / "c") == "two");
  CHECK(FileCache(folder.path()).find_folder(wanted).path == found.path);
  CHECK(cache.find_folder({{"b", "a", "c"}, {two, one, two}}).path != found.path);
  CHECK(entries(folder.path()) == 4);  // two files and two folders
  fs::remove(folder.path() / one);     // as a person may between two sweeps
  CHECK(cache.find_folder(wanted).missing == std::vector{one});
}

TEST_CASE("a folder has plain names of files, each once, and a SHA-256 for each") {
  const support::TemporaryFolder folder;
  FileCache cache(folder.path() / "files");
  send(cache, "x");
  const auto sha256 = sha256_of_text("x");
  for (const auto& wrong : std::vector<FindFolder>{{{}, {}},
                                                   {{"a"}, {}},
                                                   {{"a", "b"}, {sha256}},
                                                   {{"a", "a"}, {sha256, sha256}},
                                                   {{""}, {sha256}},
                                                   {{".."}, {sha256}},
                                                   {{"../a"}, {sha256}},
                                                   {{"/a"}, {sha256}},
                                                   {{std::string("a\0b", 3)}, {sha256}},
                                                   {{"a"}, {"../x"}}}) {
    CAPTURE(wrong.names, wrong.sha256s);
    CHECK_THROWS_AS(cache.find_folder(wrong), wire::ProtocolError);
  }
  CHECK(entries(folder.path()) == 1);
}

TEST_CASE("stages that ask for the same folder at the same time get the same") {
  const support::TemporaryFolder folder;
  FileCache cache(folder.path());
  send(cache, "x");
  const FindFolder wanted{{"a"}, {sha256_of_text("x")}};
  std::vector<std::future<FolderFound>> asked;
  for (int i = 0; i < 16; ++i) {
    asked.push_back(std::async(std::launch::async, [&] { return FileCache(folder.path()).find_folder(wanted); }));
  }
  const auto path = cache.find_folder(wanted).path;
  for (auto& one : asked) CHECK(one.get().path == path);
  CHECK(entries(folder.path()) == 2);
}
