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

/// A folder for records, and the file that they will be in.
struct Results {
  support::TemporaryFolder folder;
  std::filesystem::path file = folder.path() / "records.jsonl";

  const std::filesystem::path& path() const { return folder.path(); }
};

void append_all(const std::filesystem::path& folder, const std::vector<TrialRecord>& records, bool resume = false) {
  RecordStore store(folder, resume);
  for (const auto& record : records) store.append(record);
}

std::string complaint_of_reading(const std::filesystem::path& path) {
  return support::message_of<UsageError>([&] { read_records(path); });
}

}  // namespace

TEST_CASE("records come back in their order, from the folder and from the file") {
  const support::TemporaryFolder folder;
  const auto results = folder.path() / "a" / "new folder";
  append_all(results, {ok_record(0), failed_record(1), ok_record(2)});
  for (const auto& path : {results, results / "records.jsonl"}) {
    const auto set = read_records(path);
    CHECK(set.records == std::vector<TrialRecord>{at(1, ok_record(0)), at(2, failed_record(1)), at(3, ok_record(2))});
    CHECK(set.warnings.empty());
  }
}

TEST_CASE("a record is on the disk as soon as append returns") {
  const support::TemporaryFolder folder;
  RecordStore store(folder.path(), false);
  CHECK(read_records(folder.path()).records.empty());
  store.append(ok_record());
  CHECK(support::read_file(store.file()) == line_of(at(1, ok_record())));
}

TEST_CASE("of several records of one trial the last one counts") {
  const support::TemporaryFolder folder;
  append_all(folder.path(), {failed_record(0), ok_record(1), failed_record(0)});
  append_all(folder.path(), {ok_record(0)}, true);
  const auto set = read_records(folder.path());
  CHECK(set.records == std::vector<TrialRecord>{at(2, ok_record(1)), at(4, ok_record(0))});
  CHECK(set.replaced == std::vector<TrialRecord>{at(1, failed_record(0)), at(3, failed_record(0))});
}

TEST_CASE("records are numbered in the order in which they were measured, and a sweep that is resumed counts on") {
  const Results results;
  append_all(results.path(), {failed_record(0), ok_record(0)});
  append_all(results.path(), {ok_record(1), ok_record(2)}, true);
  const auto set = read_records(results.path());
  std::vector<int> positions;
  for (const auto& record : set.records) positions.push_back(record.provenance.position.value());
  CHECK(positions == std::vector{2, 3, 4});
  CHECK(set.replaced.at(0).provenance.position == 1);
  // What a kill left of a record is cut off, and was no measurement.
  support::write_file(results.file, support::read_file(results.file) + "{\"schema\":");
  append_all(results.path(), {ok_record(3)}, true);
  CHECK(read_records(results.path()).records.back().provenance.position == 5);
  CHECK_FALSE(nlohmann::json(ok_record(0)).at("provenance").contains("position"));
}

TEST_CASE("empty lines, and a file from another system's editor, are no damage") {
  const Results results;
  auto line = line_of(ok_record());
  line.insert(line.size() - 1, "\r");
  support::write_file(results.file, "\n" + line + "\n\n" + line_of(failed_record(1)));
  CHECK(read_records(results.file).records.size() == 2);
}

TEST_CASE("a file that is cut anywhere keeps its whole lines, and a resumed sweep goes on behind them") {
  const auto whole = line_of(ok_record(0)) + line_of(failed_record(1));
  const auto first_line = line_of(ok_record(0)).size();
  for (std::size_t length = 1; length < whole.size(); length += length < first_line - 2 ? 101 : 29) {
    CAPTURE(length);
    const Results results;
    support::write_file(results.file, whole.substr(0, length));
    const auto set = read_records(results.file);
    REQUIRE(set.records.size() == (length < first_line ? 0U : 1U));
    REQUIRE(set.warnings.size() == (length == first_line ? 0U : 1U));

    append_all(results.path(), {failed_record(2)}, true);
    const auto resumed = read_records(results.file);
    REQUIRE(resumed.warnings.empty());
    REQUIRE(resumed.records.size() == set.records.size() + 1);
    REQUIRE(resumed.records.back() == at(static_cast<int>(set.records.size()) + 1, failed_record(2)));
  }
}

TEST_CASE("a damaged line is an error that names file and line") {
  const Results results;
  const auto good = line_of(ok_record());
  auto edited = good;
  edited.replace(edited.find("resnet18"), 8, "resnet50");
  for (const auto& [damage, reason] : std::vector<std::pair<std::string, std::string>>{
           {"not JSON\n", "this line is not JSON"},
           {good.substr(0, good.size() / 2) + "\n", "this line is not JSON"},
           {std::string(100, '\0') + "\n", "this line is not JSON"},
           {"{}\n", "not a paretopipe record"},
           {std::string(1'000'000, '[') + std::string(1'000'000, ']') + "\n", "this is not a paretopipe record"},
           {edited, "edited by hand"}}) {
    support::write_file(results.file, good + "\n" + damage + good);
    CAPTURE(damage.substr(0, 100));
    const auto complaint = complaint_of_reading(results.file);
    CHECK(contains(complaint, results.file.string() + ":3: "));
    CHECK(contains(complaint, reason));
  }
}

TEST_CASE("another program's file is refused, with and without a line feed at its end") {
  const Results results;
  for (const std::string foreign :
       {"split,latency\n1,2", "[1, 2]", "{\"latency\": 5}", "{}", "{\n  \"schema\": 1\n}",
        "\x7f"
        "ELF\x01\x02",
        "7", "\"text\"", "null", "{\"a\": nonsense", "\xff\xfe{\"schema\": 1}", "{\"schema\": 1e999}"}) {
    CAPTURE(foreign);
    for (const auto* end : {"", "\n"}) {
      support::write_file(results.file, foreign + end);
      CHECK(contains(complaint_of_reading(results.file), results.file.string() + ":1: "));
    }
  }
}

TEST_CASE("a resume leaves another program's text as it is, also without a line feed at its end") {
  const Results results;
  for (const std::string foreign : {"[{\"a\":1}]", "split,latency\n1,2"}) {
    support::write_file(results.file, foreign);
    const auto complaint = support::message_of<UsageError>([&] { append_all(results.path(), {ok_record()}, true); });
    CHECK(contains(complaint, "neither a paretopipe record nor the beginning of one"));
    CHECK(support::read_file(results.file) == foreign);
  }
}

TEST_CASE("zeros at the end of a file, as power that fails leaves them, are an unfinished line") {
  const Results results;
  const auto good = line_of(ok_record());
  for (const auto& cut : {std::string(), good.substr(0, 100), good.substr(0, good.size() - 1)}) {
    support::write_file(results.file, good + cut + std::string(1000, '\0'));
    const auto set = read_records(results.file);
    CHECK(set.records.size() == 1);
    REQUIRE(set.warnings.size() == 1);
    CHECK(contains(set.warnings.front(), results.file.string() + ":2: the last line is unfinished"));
  }
}

TEST_CASE("what cannot be read is an error that names it and the reason, and no defect") {
  const support::TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "records.jsonl");
  CHECK(contains(complaint_of_reading(folder.path()), "Is a directory"));
  CHECK(contains(complaint_of_reading(folder.path() / std::string(5000, 'x')), "File name too long"));
  std::filesystem::create_symlink("circle", folder.path() / "circle");
  CHECK(contains(complaint_of_reading(folder.path() / "circle"), "symbolic links"));
}

TEST_CASE("what is wrong with a record, by a reader's own check too, comes with file, line and trial") {
  const Results results;
  append_all(results.path(), {ok_record(0), ok_record(1)});
  const auto check = [](const TrialRecord& record) {
    if (record.trial.repetition == 1) throw UsageError("I do not like it");
  };
  CHECK(support::message_of<UsageError>([&] { read_records(results.file, check); }) ==
        fmt::format("{}:2: trial \"{}\": I do not like it", results.file.string(), ok_record(1).trial.id()));
  nlohmann::json newer = ok_record(1);
  newer["schema"] = record::kSchemaVersion + 1;
  support::write_file(results.file, line_of(ok_record(0)) + newer.dump() + "\n");
  CHECK(complaint_of_reading(results.file) ==
        fmt::format(
            "{}:2: trial \"{}\": the record has schema 2, and this paretopipe reads schema 1; use a newer paretopipe",
            results.file.string(), ok_record(1).trial.id()));
}

TEST_CASE("a line that is finished but damaged is not cut off by a resume") {
  const Results results;
  support::write_file(results.file, "damaged\n");
  append_all(results.path(), {ok_record()}, true);
  CHECK(support::read_file(results.file) == "damaged\n" + line_of(at(2, ok_record())));
}

TEST_CASE("where there are no records a reader says how to make some") {
  const support::TemporaryFolder folder;
  CHECK(contains(complaint_of_reading(folder.path()), "paretopipe sweep --out"));
  CHECK(contains(complaint_of_reading(folder.path() / "missing"), "paretopipe sweep --out"));
}

TEST_CASE("text that is not UTF-8 is written with replacement characters and can be read again") {
  const support::TemporaryFolder folder;
  auto record = failed_record();
  record.failure->reason = "no such file: \xff\xfe";
  record.trial.data = "fashion-mnist:/data/\xff";
  append_all(folder.path(), {record});
  const auto records = read_records(folder.path()).records;
  REQUIRE(records.size() == 1);
  CHECK(records.front().failure->reason == "no such file: \uFFFD\uFFFD");
  CHECK(records.front().trial.id() == record.trial.id());
}

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
  const Results results;
  append_all(results.path(), {ok_record()});
  const auto before = support::read_file(results.file);
  CHECK(contains(complaint_of_opening<UsageError>(results.path(), false), "--resume"));
  CHECK(support::read_file(results.file) == before);
  CHECK_NOTHROW(RecordStore(results.path(), true));  // and the refusal holds no lock
}

TEST_CASE("a store that nothing was appended to leaves nothing that it made, and what was there before") {
  const support::TemporaryFolder folder;
  { const RecordStore store(folder.path() / "new", false); }
  CHECK_FALSE(std::filesystem::exists(folder.path() / "new"));

  std::filesystem::create_directory(folder.path() / "mine");
  { const RecordStore store(folder.path() / "mine", false); }
  CHECK(std::filesystem::exists(folder.path() / "mine"));
  CHECK_FALSE(std::filesystem::exists(folder.path() / "mine" / "records.jsonl"));

  std::ofstream(folder.path() / "mine" / "records.jsonl").flush();
  { const RecordStore store(folder.path() / "mine", true); }
  CHECK(std::filesystem::exists(folder.path() / "mine" / "records.jsonl"));
  CHECK_NOTHROW(RecordStore(folder.path() / "mine", false));  // an empty file is as good as none
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

TEST_CASE("a folder that cannot be made, or a file that cannot be written, is an error that names it and the reason") {
  const support::TemporaryFolder folder;
  support::write_file(folder.path() / "file", "");
  const auto message = complaint_of_opening<EnvironmentError>(folder.path() / "file" / "results", false);
  CHECK(contains(message, "make the results folder"));
  CHECK(contains(message, "Not a directory"));
  CHECK(complaint_of_opening<EnvironmentError>(folder.path() / "file", false) != "(nothing was thrown)");
  std::filesystem::create_directory(folder.path() / "records.jsonl");
  CHECK(contains(complaint_of_opening<EnvironmentError>(folder.path(), false),
                 "records.jsonl for writing: Is a directory"));
}
