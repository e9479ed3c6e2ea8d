#include <paretopipe/core/error.hpp>
#include <paretopipe/record/merge.hpp>
#include <paretopipe/record/record.hpp>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include <fmt/ranges.h>  // fmt::join, from fmt 11 on

namespace paretopipe::record {

namespace {

/// A record that later ones are compared with.
struct Seen {
  std::size_t path = 0;  ///< index of the file
  std::string place;     ///< "file:line"
  std::vector<std::string> machines;
  Status status = Status::ok;
};

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
      const Seen here{index, fmt::format("{}:{}", file, line.number), machines_of(record), record.status};
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
    if (!added && (earlier.path != here.path || earlier.status == Status::ok)) {
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
