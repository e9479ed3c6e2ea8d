// Records of real sweeps joined by the built driver.
#include <support/catch.hpp>
#include <support/file_size_limit.hpp>
#include <support/message_of.hpp>

#include "driver_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using support::contains;
using support::read_file;
using support::write_file;

namespace {

/// A sweep of four trials into the folder `out`.
Shell::Words sweep_into(const std::string& out, const std::string& batch) {
  return {"sweep",     "--model",  "synthetic:0ms/4kB,0ms",
          "--split",   "1",        "--data",
          "random",    "--batch",  batch,
          "--batches", "4",        "--warmup",
          "1",         "--repeat", "4",
          "--out",     out,        "--repeat-slow",
          "0"};
}

std::string records_in(const Shell& shell, const std::string& folder) {
  return read_file(shell.folder() / folder / "records.jsonl");
}

/// The first line of a records file with one word replaced.
std::string with_replaced(std::string text, const std::string& word, const std::string& by) {
  const auto at = text.find(word);
  REQUIRE(at != std::string::npos);
  return text.replace(at, word.size(), by);
}

}  // namespace

TEST_CASE("sweeps that were measured apart are one after a merge, in a folder or a file") {
  const Shell shell;
  REQUIRE(shell.run(sweep_into("a", "1")).exit_code == 0);
  REQUIRE(shell.run(sweep_into("b", "2")).exit_code == 0);
  const auto merged = shell.run({"merge", "a", "b/records.jsonl", "--out", "new/both"});
  INFO(merged.errors);
  REQUIRE(merged.exit_code == 0);
  CHECK(contains(merged.output, "8 trials of 2 files in new/both/records.jsonl"));
  CHECK(records_in(shell, "new/both") == records_in(shell, "a") + records_in(shell, "b"));
  CHECK(shell.run({"frontier", "new/both"}).exit_code == 0);
  REQUIRE(shell.run({"merge", "a", "b", "--out", "both.jsonl"}).exit_code == 0);
  CHECK(read_file(shell.folder() / "both.jsonl") == records_in(shell, "new/both"));
}

TEST_CASE("what cannot be joined is answered by exit code 2 and its name, and makes nothing") {
  const Shell shell;
  REQUIRE(shell.run(sweep_into("a", "1")).exit_code == 0);
  const auto refused = [&](const std::string& other, const std::string& named) {
    const auto answer = shell.run({"merge", "a", other, "--out", "joined"});
    CHECK(answer.exit_code == 2);
    CAPTURE(answer.errors, named);
    CHECK(contains(answer.errors, named));
    CHECK_FALSE(std::filesystem::exists(shell.folder() / "joined"));
  };
  REQUIRE(shell.run(sweep_into("again", "1")).exit_code == 0);
  refused("again", "again/records.jsonl:1 are records of one trial");
  write_file(shell.folder() / "newer.jsonl", with_replaced(records_in(shell, "a"), "\"schema\":1", "\"schema\":2"));
  refused("newer.jsonl", "newer.jsonl:1: trial ");
  refused("newer.jsonl", "use a newer paretopipe");
  auto edited = records_in(shell, "a");
  edited = with_replaced(edited, "\"throughput_image_per_s\":", "\"throughput_image_per_s\":9");
  write_file(shell.folder() / "edited.jsonl", edited);
  refused("edited.jsonl", "edited.jsonl:1: trial ");
  refused("edited.jsonl", "throughput_image_per_s");
  write_file(shell.folder() / "foreign.csv", "split,latency\n1,2\n");
  refused("foreign.csv", "foreign.csv:1: this line is not JSON");
  refused("nowhere", "there are no records at nowhere");
}

TEST_CASE("a merge writes over nothing, its own inputs included") {
  const Shell shell;
  REQUIRE(shell.run(sweep_into("a", "1")).exit_code == 0);
  const auto before = records_in(shell, "a");
  for (const std::string out : {"a", "a/records.jsonl"}) {
    const auto answer = shell.run({"merge", "a", "--out", out});
    CHECK(answer.exit_code == 2);
    CHECK(contains(answer.errors, "a/records.jsonl exists already"));
  }
  CHECK(records_in(shell, "a") == before);
  CHECK(shell.run({"merge", "a"}).exit_code == 2);
  CHECK(shell.run({"merge", "--out", "x"}).exit_code == 2);
}

TEST_CASE("a merge of nothing writes nothing and says so") {
  const Shell shell;
  write_file(shell.folder() / "empty.jsonl", "");
  const auto answer = shell.run({"merge", "empty.jsonl", "--out", "x"});
  CHECK(answer.exit_code == 1);
  CHECK(contains(answer.errors, "empty.jsonl: no trial to merge"));
  CHECK_FALSE(std::filesystem::exists(shell.folder() / "x"));
}

TEST_CASE("a disk that becomes full in a merge leaves no half of a file") {
  const Shell shell;
  REQUIRE(shell.run(sweep_into("a", "1")).exit_code == 0);
  const auto answer = [&] {
    const support::FileSizeLimit full(4096);
    return shell.run({"merge", "a", "--out", "x.jsonl"});
  }();
  CHECK(answer.exit_code == 3);
  CHECK(contains(answer.errors, "x.jsonl"));
  for (const auto& entry : std::filesystem::directory_iterator(shell.folder())) {
    CHECK(entry.path().filename() == "a");
  }
  const auto device = shell.run({"merge", "a", "--out", "/dev/full"});
  CHECK(device.exit_code == 3);
  CHECK(contains(device.errors, "No space left on device"));
}
