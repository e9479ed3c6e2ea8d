#include <paretopipe/core/error.hpp>
#include <paretopipe/record/store.hpp>

#include <limits>
#include <memory>

#include <support/catch.hpp>
#include <support/file_size_limit.hpp>
#include <support/files.hpp>
#include <support/message_of.hpp>
#include <support/temporary_folder.hpp>

#include "records.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using record::read_records;
using record::RecordStore;
using record::TrialRecord;
using support::contains;

namespace {

template <class Exception>
std::string complaint_of_opening(const std::filesystem::path& folder, bool resume) {
  return support::message_of<Exception>([&] { const RecordStore store(folder, resume); });
}

}  // namespace

TEST_CASE("a second writer is refused for as long as the first one lives, with or without resume") {
  const support::TemporaryFolder folder;
  auto first = std::make_unique<RecordStore>(folder.path(), false);
  for (const bool resume : {false, true}) {
    CHECK(contains(complaint_of_opening<EnvironmentError>(folder.path(), resume), "written by another sweep"));
  }
  first->append(ok_record());
  CHECK(contains(complaint_of_opening<EnvironmentError>(folder.path(), true), "written by another sweep"));
  CHECK(read_records(folder.path()).records.size() == 1);  // readers are not kept out
  first.reset();
  CHECK_NOTHROW(RecordStore(folder.path(), true));
}

TEST_CASE("a refused writer leaves an unfinished line of the first one alone") {
  const support::TemporaryFolder folder;
  const RecordStore first(folder.path(), false);
  support::write_file(first.file(), "half a line");
  CHECK_THROWS_AS(RecordStore(folder.path(), true), EnvironmentError);
  CHECK(support::read_file(first.file()) == "half a line");
}

TEST_CASE("existing records are neither overwritten nor continued unless asked for") {
  const support::TemporaryFolder folder;
  { RecordStore(folder.path(), false).append(ok_record()); }
  const auto before = support::read_file(folder.path() / "records.jsonl");
  CHECK(contains(complaint_of_opening<UsageError>(folder.path(), false), "--resume"));
  CHECK(support::read_file(folder.path() / "records.jsonl") == before);
  CHECK_NOTHROW(RecordStore(folder.path(), true));  // and the refusal holds no lock
}

TEST_CASE("a store that nothing was appended to leaves nothing that it made, and what was there before") {
  const support::TemporaryFolder folder;
  { const record::RecordStore store(folder.path() / "new", false); }
  CHECK_FALSE(std::filesystem::exists(folder.path() / "new"));

  std::filesystem::create_directory(folder.path() / "mine");
  { const record::RecordStore store(folder.path() / "mine", false); }
  CHECK(std::filesystem::exists(folder.path() / "mine"));
  CHECK_FALSE(std::filesystem::exists(folder.path() / "mine" / "records.jsonl"));

  std::ofstream(folder.path() / "mine" / "records.jsonl").flush();
  { const record::RecordStore store(folder.path() / "mine", true); }
  CHECK(std::filesystem::exists(folder.path() / "mine" / "records.jsonl"));
}

TEST_CASE("an empty file and a missing one can be continued like new ones") {
  const support::TemporaryFolder folder;
  CHECK_NOTHROW(RecordStore(folder.path(), true));
  CHECK_NOTHROW(RecordStore(folder.path(), false));
}

TEST_CASE("a disk that becomes full anywhere in a record leaves the earlier ones as they were") {
  const support::TemporaryFolder folder;
  RecordStore store(folder.path(), false);
  store.append(ok_record(0));
  const auto before = support::read_file(store.file());
  for (const std::size_t room : {std::size_t{0}, std::size_t{1}, before.size() / 2, before.size() - 1}) {
    CAPTURE(room);
    const auto complaint = [&] {
      const support::FileSizeLimit full(before.size() + room);
      return support::message_of<EnvironmentError>([&] { store.append(ok_record(1)); });
    }();
    CHECK(contains(complaint, store.file().string()));
    CHECK(contains(complaint, "earlier records are intact"));
    CHECK(support::read_file(store.file()) == before);
  }
  store.append(ok_record(2));  // space was made
  CHECK(read_records(folder.path()).records == std::vector<TrialRecord>{at(1, ok_record(0)), at(2, ok_record(2))});
}

TEST_CASE("a number that JSON does not have is never written, wherever in the record it is") {
  const support::TemporaryFolder folder;
  RecordStore store(folder.path(), false);
  store.append(ok_record(0));
  const auto before = support::read_file(store.file());
  for (const double value : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity()}) {
    auto in_summary = ok_record(1);
    in_summary.summary->stages[1].bubble = value;
    auto in_fidelity = ok_record(1);
    in_fidelity.fidelity->max_abs_difference = value;
    auto in_words_of_a_stage = ok_record(1);
    in_words_of_a_stage.stages[0].compute["list"] = {1, {{"deep", value}}};
    for (const auto& record : {in_summary, in_fidelity, in_words_of_a_stage}) {
      CHECK(contains(support::message_of<Error>([&] { store.append(record); }), "not finite"));
    }
  }
  CHECK(support::read_file(store.file()) == before);
}

TEST_CASE("a folder that cannot be made is an error that names it and the reason") {
  const support::TemporaryFolder folder;
  support::write_file(folder.path() / "file", "");
  const auto message = complaint_of_opening<EnvironmentError>(folder.path() / "file" / "results", false);
  CHECK(contains(message, "make the results folder"));
  CHECK(contains(message, "Not a directory"));
  CHECK(complaint_of_opening<EnvironmentError>(folder.path() / "file", false) != "(nothing was thrown)");
}

TEST_CASE("a file that cannot be written is an error that names it and the reason") {
  const support::TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "records.jsonl");
  const auto message = complaint_of_opening<EnvironmentError>(folder.path(), false);
  CHECK(contains(message, "records.jsonl for writing: Is a directory"));
}
