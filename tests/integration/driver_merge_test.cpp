// Records of real sweeps joined by the built driver.
#include <support/file_size_limit.hpp>

#include "driver_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;

namespace {

/// With a sweep of four trials in each of `a` and `again`, and one of others in `b`; once for all tests here.
const Shell& apart() {
  static const Shell shell;
  static const bool swept = [] {
    for (const auto* words : {"a --batch 1", "again --batch 1", "b --batch 2"}) {
      shell.run(0, Words("sweep --model synthetic:0ms/4kB,0ms --split 1 --data random --batches 4 --warmup 1 "
                         "--repeat 4 --repeat-slow 0 --out") +
                       words);
    }
    return true;
  }();
  REQUIRE(swept);
  return shell;
}

std::string records_in(const std::string& folder) {
  return apart().text(folder + "/records.jsonl");
}

/// The records of `a` with one word replaced in the first of them.
std::string with_replaced(const std::string& word, const std::string& by) {
  auto text = records_in("a");
  const auto at = text.find(word);
  REQUIRE(at != std::string::npos);
  return text.replace(at, word.size(), by);
}

}  // namespace

TEST_CASE("sweeps that were measured apart are one after a merge, in a folder or a file") {
  const auto merged = apart().run(0, "merge a b/records.jsonl --out new/both");
  CHECK(contains(merged.output, "8 trials of 2 files in new/both/records.jsonl"));
  CHECK(records_in("new/both") == records_in("a") + records_in("b"));
  apart().run(0, "frontier new/both");
  apart().run(0, "merge a b --out both.jsonl");
  CHECK(apart().text("both.jsonl") == records_in("new/both"));
}

TEST_CASE("what cannot be joined is answered by exit code 2 and its name, and makes nothing") {
  apart().write("newer.jsonl", with_replaced("\"schema\":1", "\"schema\":2"));
  apart().write("edited.jsonl", with_replaced("\"throughput_image_per_s\":", "\"throughput_image_per_s\":9"));
  apart().write("foreign.csv", "split,latency\n1,2\n");
  apart().write("empty.jsonl", "");
  const auto before = records_in("a");
  check_refused(apart(), "merge",
                {{"a again --out joined", "again/records.jsonl:1 are records of one trial"},
                 {"a newer.jsonl --out joined", "newer.jsonl:1: trial "},
                 {"a newer.jsonl --out joined", "use a newer paretopipe"},
                 {"a edited.jsonl --out joined", "edited.jsonl:1: trial "},
                 {"a edited.jsonl --out joined", "throughput_image_per_s"},
                 {"a foreign.csv --out joined", "foreign.csv:1: this line is not JSON"},
                 {"a nowhere --out joined", "there are no records at nowhere"},
                 {"a --out a", "a/records.jsonl exists already"},
                 {"a --out a/records.jsonl", "a/records.jsonl exists already"},
                 {"a", "--out"},
                 {"--out x", "path"},
                 {"empty.jsonl --out x", "empty.jsonl: no trial to merge", 1}});
  CHECK(records_in("a") == before);
}

TEST_CASE("a disk that becomes full in a merge leaves no half of a file") {
  const auto before = apart().files();
  {
    const support::FileSizeLimit full(4096);
    CHECK(contains(apart().run(3, "merge a --out x.jsonl").errors, "x.jsonl"));
  }
  CHECK(apart().files() == before);
  CHECK(contains(apart().run(3, "merge a --out /dev/full").errors, "No space left on device"));
}
