#include <paretopipe/core/error.hpp>
#include <paretopipe/record/record.hpp>
#include <paretopipe/record/store.hpp>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <optional>
#include <system_error>
#include <unordered_map>
#include <unordered_set>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/ranges.h>  // fmt::join, from fmt 11 on

namespace paretopipe::record {

namespace {

using nlohmann::json;

/// "", or " trial \"0123456789abcdef\":" if the line names a trial, whatever else is wrong with it.
std::string name_of(const json& value) {
  if (!value.is_object()) return "";
  const auto id = value.find("id");
  return id == value.end() || !id->is_string() ? "" : fmt::format(" trial {}:", id->dump());
}

/// The JSON library's messages speak of "line 1" and end in a code, which helps nobody.
json parse_json(std::string_view line, const std::string& place) {
  try {
    return json::parse(line);
  } catch (const json::parse_error& error) {
    throw UsageError(fmt::format("{}: this line is not JSON (it goes wrong at character {})", place, error.byte));
  } catch (const json::exception&) {
    throw UsageError(fmt::format("{}: this line is not JSON (one of its numbers has too many digits)", place));
  }
}

TrialRecord parse_line(std::string_view line, const RecordCheck& check, const std::string& place) {
  const auto value = parse_json(line, place);
  try {
    auto record = value.get<TrialRecord>();
    if (check) check(record);
    return record;
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}:{} {}", place, name_of(value), error.what()));
  }
}

/// A kill leaves the beginning of an object; a power failure may leave zeros behind it. Any other text without a line
/// feed is another program's file and must not pass for an empty sweep.
bool is_beginning_of_record(std::string_view line) {
  line = line.substr(0, line.find_last_not_of('\0') + 1);
  if (line.empty()) return true;
  if (line.front() != '{') return false;
  try {
    return json::parse(line).contains("schema");  // complete except for its line feed
  } catch (const json::parse_error& error) {
    return error.byte >= line.size();
  } catch (const json::exception&) {
    return false;
  }
}

std::string judge_unfinished_line(std::string_view line, const std::string& place) {
  if (!is_beginning_of_record(line)) {
    throw UsageError(fmt::format("{}: this is neither a paretopipe record nor the beginning of one", place));
  }
  return fmt::format("{}: the last line is unfinished (the sweep was killed while writing it) and was ignored", place);
}

}  // namespace

std::filesystem::path records_file(const std::filesystem::path& path) {
  std::error_code unknown;  // reading tells more
  return std::filesystem::is_directory(path, unknown) ? path / kRecordsFileName : path;
}

std::string read_text_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  int reason = errno;
  try {
    if (stream) return {std::istreambuf_iterator<char>(stream), {}};
  } catch (const std::ios_base::failure& error) {  // opened, but a folder or a failing disk cannot be read
    reason = error.code().value();
  }
  throw UsageError(
      fmt::format("cannot read records from {}: {}", file.string(), std::generic_category().message(reason)));
}

std::vector<std::string> visit_records(const std::filesystem::path& path, const RecordCheck& check,
                                       const std::function<void(RecordLine&&)>& visit) {
  const auto file = records_file(path);
  std::error_code unknown;
  if (std::filesystem::status(file, unknown).type() == std::filesystem::file_type::not_found) {
    throw UsageError(fmt::format("there are no records at {}; `paretopipe sweep --out {}` makes some", file.string(),
                                 path.string()));
  }
  const auto text = read_text_of(file);
  std::vector<std::string> warnings;
  std::string_view rest = text;
  for (int number = 1; !rest.empty(); ++number) {
    const auto place = fmt::format("{}:{}", file.string(), number);
    const auto end = rest.find('\n');
    if (end == std::string_view::npos) {
      warnings.push_back(judge_unfinished_line(rest, place));
      break;
    }
    const auto line = rest.substr(0, end);
    if (!line.empty()) visit({number, line, parse_line(line, check, place)});
    rest.remove_prefix(end + 1);
  }
  return warnings;
}

namespace {

/// A trial that was measured again (a slow window; a failure, then --resume) counts once, by its last record.
void set_replaced_apart(RecordSet& set) {
  std::unordered_map<std::string, std::size_t> last;
  for (std::size_t i = 0; i < set.records.size(); ++i) last[set.records[i].trial.id()] = i;
  std::vector<TrialRecord> kept;
  for (std::size_t i = 0; i < set.records.size(); ++i) {
    auto& record = set.records[i];
    auto& place = last[record.trial.id()] == i ? kept : set.replaced;
    place.push_back(std::move(record));
  }
  set.records = std::move(kept);
}

/// Cuts an unfinished last line off, unless it is no record's. Returns the number of whole lines.
int cut_to_whole_lines(int descriptor, const std::filesystem::path& file) {
  const auto text = read_text_of(file);
  const auto length = text.find_last_of('\n') + 1;  // 0 if there is none
  const auto count = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  if (length == text.size()) return count;
  judge_unfinished_line(std::string_view(text).substr(length), fmt::format("{}:{}", file.string(), count + 1));
  if (::ftruncate(descriptor, static_cast<off_t>(length)) == 0) return count;
  throw system_error(fmt::format("cut the unfinished last line off {}", file.string()), errno);
}

/// JSON has no NaN and no infinity. They would be written as null, and the file could not be read again.
bool all_finite(const nlohmann::json& value) {
  if (value.is_structured()) return std::all_of(value.begin(), value.end(), all_finite);
  return !value.is_number_float() || std::isfinite(value.get<double>());
}

int flush(int descriptor) {
  while (::fdatasync(descriptor) != 0) {
    if (errno == EINVAL || errno == EROFS) return 0;  // nothing to flush: a pipe, a device
    if (errno != EINTR) return errno;
  }
  return 0;
}

}  // namespace

RecordSet read_records(const std::filesystem::path& path, const RecordCheck& check) {
  RecordSet set;
  set.warnings = visit_records(path, check, [&](RecordLine&& line) { set.records.push_back(std::move(line.record)); });
  set_replaced_apart(set);
  return set;
}

RecordStore::RecordStore(const std::filesystem::path& folder, bool resume) : file_(folder / kRecordsFileName) {
  std::error_code error;
  made_file_ = !std::filesystem::exists(file_, error);
  made_folder_ = std::filesystem::create_directories(folder, error);
  if (error) throw system_error(fmt::format("make the results folder {}", folder.string()), error.value());

  descriptor_ = FileDescriptor(::open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (descriptor_.get() < 0) throw system_error(fmt::format("open {} for writing", file_.string()), errno);
  if (::flock(descriptor_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) throw system_error(fmt::format("lock {}", file_.string()), errno);
    throw EnvironmentError(
        fmt::format("{} is being written by another sweep; wait for it or choose another --out", file_.string()));
  }

  struct stat status {};
  struct stat named {};
  if (::fstat(descriptor_.get(), &status) == 0 &&
      (::stat(file_.c_str(), &named) != 0 || named.st_ino != status.st_ino)) {
    // Another sweep has just ended without a record and removed the file.
    throw EnvironmentError(fmt::format("{} was removed while it was opened; try again", file_.string()));
  }
  if (status.st_size > 0) {
    if (!resume) {
      throw UsageError(
          fmt::format("{} has records already; continue with --resume, or choose another --out", file_.string()));
    }
    measured_ = cut_to_whole_lines(descriptor_.get(), file_);
  }
}

RecordStore::~RecordStore() {
  struct stat status {};
  const bool empty = ::fstat(descriptor_.get(), &status) == 0 && status.st_size == 0;
  if (made_file_ && empty && ::unlink(file_.c_str()) == 0 && made_folder_) ::rmdir(file_.parent_path().c_str());
}

void RecordStore::append(const TrialRecord& record) {
  nlohmann::json json = record;
  json["provenance"]["position"] = measured_ + 1;
  if (!all_finite(json)) throw Error(ExitCode::internal, "a record is not written: one of its numbers is not finite");
  const std::string line = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
  struct stat before {};
  if (::fstat(descriptor_.get(), &before) != 0) throw system_error(fmt::format("examine {}", file_.string()), errno);

  int reason = write_all(descriptor_.get(), line);
  if (reason == 0) reason = flush(descriptor_.get());
  if (reason == 0) {
    ++measured_;
    return;
  }

  // The record that did not fit is lost; the earlier ones must not be.
  const bool restored = ::ftruncate(descriptor_.get(), before.st_size) == 0;
  throw system_error(
      fmt::format("write a record to {} (earlier records are {}; free some space, then continue with --resume)",
                  file_.string(), restored ? "intact" : "intact but followed by an unfinished line"),
      reason);
}

namespace {

/// A record that later ones are compared with.
struct Seen {
  std::size_t path = 0;  ///< index of the file
  std::string place;     ///< "file:line"
  std::vector<std::string> machines;
  Status status = Status::ok;
  std::optional<SideBySide> turn{};
};

/// A pair is measured again as a whole, though only one of the two was disturbed and the other one is ok.
bool in_different_pairs(const Seen& left, const Seen& right) {
  return left.turn && right.turn && left.turn->pair != right.turn->pair;
}

/// Text from a file, in quotes and without control characters for a terminal.
std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string machine_text(const Seen& seen) {
  return quoted(fmt::format("{}", fmt::join(seen.machines, " and ")));
}

/// In an all-local trial the first stage's machine is the only one.
bool same_machines_as_far_as_both_go(const Seen& left, const Seen& right) {
  const auto common = static_cast<std::ptrdiff_t>(std::min(left.machines.size(), right.machines.size()));
  return std::equal(left.machines.begin(), left.machines.begin() + common, right.machines.begin());
}

class Merger {
 public:
  explicit Merger(const RecordCheck& check) : check_(check) {}

  void add(std::size_t index, const std::filesystem::path& path) {
    const auto file = records_file(path).string();
    auto warnings = visit_records(path, check_, [&](RecordLine&& line) {
      const auto& record = line.record;
      const Seen here{index, fmt::format("{}:{}", file, line.number), machines_of(record), record.status,
                      record.provenance.side_by_side};
      refuse_duplicate(record.trial, here);
      if (here.status == Status::ok) {
        refuse_other_machine(record.trial, here);
        warn_of_other_machine(record.trial, here);
      }
      merged_.text.append(line.text).push_back('\n');
    });
    merged_.warnings.insert(merged_.warnings.end(), warnings.begin(), warnings.end());
  }

  Merged take() {
    merged_.trials = trials_.size();
    return std::move(merged_);
  }

 private:
  void refuse_duplicate(const experiment::Trial& trial, const Seen& here) {
    const auto [place, added] = trials_.try_emplace(trial.id(), here);
    auto& earlier = place->second;
    const bool again = earlier.path == here.path && (earlier.status != Status::ok || in_different_pairs(earlier, here));
    if (!added && !again) {
      throw UsageError(
          fmt::format("{} and {} are records of one trial, {} ({}), and only one of them could count; to see what "
                      "changed between two measurements of the same trials, use `paretopipe compare`",
                      earlier.place, here.place, trial.id(), quoted(trial.label())));
    }
    earlier = here;
  }

  void refuse_other_machine(const experiment::Trial& trial, const Seen& here) {
    const auto& earlier = configurations_.try_emplace(trial.configuration_id(), here).first->second;
    if (earlier.machines == here.machines) return;
    throw UsageError(fmt::format(
        "{} was measured on {}, and {}, another repetition of it (trial {}, {}), on {}: a "
        "median over both would be no machine's",
        earlier.place, machine_text(earlier), here.place, trial.id(), quoted(trial.label()), machine_text(here)));
  }

  void warn_of_other_machine(const experiment::Trial& trial, const Seen& here) {
    const auto& earlier = groups_.try_emplace(trial.group_id(), here).first->second;
    if (same_machines_as_far_as_both_go(earlier, here) || !warned_groups_.insert(trial.group_id()).second) return;
    merged_.warnings.push_back(
        fmt::format("{} was measured on {}, and {}, another split under the same settings, on {}: a frontier compares "
                    "them as if the machines were one",
                    earlier.place, machine_text(earlier), here.place, machine_text(here)));
  }

  const RecordCheck& check_;
  Merged merged_;
  std::unordered_map<std::string, Seen> trials_;          ///< the last record of each trial, by id
  std::unordered_map<std::string, Seen> configurations_;  ///< the first ok record of each
  std::unordered_map<std::string, Seen> groups_;          ///< the first ok record of each
  std::unordered_set<std::string> warned_groups_;
};

}  // namespace

Merged merge(const std::vector<std::filesystem::path>& paths, const RecordCheck& check) {
  Merger merger(check);
  for (std::size_t i = 0; i < paths.size(); ++i) merger.add(i, paths[i]);
  return merger.take();
}

}  // namespace paretopipe::record
