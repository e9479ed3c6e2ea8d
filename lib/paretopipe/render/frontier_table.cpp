#include "frontier_table.hpp"

#include <paretopipe/record/labels.hpp>

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "frontier_words.hpp"

namespace paretopipe::render {

namespace {

// What is left out first if space is short. Among the objectives, the later one.
constexpr int kObjective = 1, kInterval = 100, kProbability = 200, kAlike = 201, kRepetitions = 202, kSingle = 203,
              kSequential = 204, kDataParallel = 205, kPayload = 206;

using CellOf = std::function<std::string(const frontier::FrontierRow&)>;

void add_column(FrontierTable& table, const frontier::FrontierGroup& group, FrontierColumn column,
                const CellOf& cell_of) {
  table.columns.push_back(std::move(column));
  table.rows.resize(group.rows.size());
  for (std::size_t i = 0; i < group.rows.size(); ++i) table.rows[i].push_back(cell_of(group.rows[i]));
}

/// Adds the column only if `exists` is true for some row.
void add_optional(FrontierTable& table, const frontier::FrontierGroup& group, FrontierColumn column,
                  const CellOf& cell_of, const std::function<bool(const frontier::FrontierRow&)>& exists) {
  if (std::any_of(group.rows.begin(), group.rows.end(), exists)) add_column(table, group, std::move(column), cell_of);
}

void add_objective(FrontierTable& table, const frontier::FrontierReport& report, const frontier::FrontierGroup& group,
                   std::size_t i, const TableMarks& marks) {
  const auto& metric = *report.objectives[i].metric;
  const int order = static_cast<int>(i);
  add_column(table, group, {std::string(metric.name), true, i == 0 ? 0 : kObjective + order}, [&](const auto& row) {
    return row.values[i] ? record::format_value(*row.values[i], metric.unit) : marks.missing;
  });
  add_optional(
      table, group, {"95 %", true, kInterval + order},
      [&](const auto& row) {
        if (!row.intervals[i]) return marks.missing;
        return format_interval(*row.intervals[i], *row.values[i], metric.unit, marks.to);
      },
      [&](const auto& row) { return row.intervals[i].has_value(); });
}

/// The row that beats it and by how much; a failed row says so in its repetitions.
std::string standing(const frontier::FrontierReport& report, const frontier::FrontierGroup& group,
                     const frontier::FrontierRow& row, const TableMarks& marks) {
  if (row.on_frontier) return marks.unbeaten;
  if (row.dominated_by) {
    return fmt::format("{} {}", record::cut_name(group.rows[*row.dominated_by].configuration.trial),
                       shortfall(report, group, row));
  }
  if (!row.violations.empty()) return "excluded";
  if (!row.is_split() && !row.configuration.ok.empty()) return "baseline";
  return row.configuration.ok.empty() ? "failed" : "not compared";
}

void add_speed_up(FrontierTable& table, const frontier::FrontierGroup& group, FrontierColumn column,
                  std::optional<double> frontier::SpeedUps::*baseline, const TableMarks& marks) {
  add_optional(
      table, group, std::move(column),
      [&](const auto& row) {
        const auto& factor = row.speed_ups.*baseline;
        return factor ? record::format_value(*factor, "") : marks.missing;
      },
      [&](const auto& row) { return (row.speed_ups.*baseline).has_value(); });
}

std::string repetitions(const stats::Configuration& configuration) {
  std::vector<std::string> counts;
  const auto add = [&](const std::vector<std::size_t>& records, const char* what) {
    if (!records.empty()) counts.push_back(fmt::format("{} {}", records.size(), what));
  };
  add(configuration.ok, "ok");
  add(configuration.failed, "failed");
  add(configuration.invalid, "invalid");
  return fmt::format("{}", fmt::join(counts, ", "));
}

}  // namespace

FrontierTable make_table(const frontier::FrontierReport& report, const frontier::FrontierGroup& group,
                         const TableMarks& marks) {
  FrontierTable table;
  add_column(table, group, {"split", false, 0}, short_label);
  for (std::size_t i = 0; i < report.objectives.size(); ++i) add_objective(table, report, group, i, marks);
  if (!report.has_objective("payload")) {
    add_column(table, group, {"payload", true, kPayload}, [&](const auto& row) {
      return row.payload_bytes ? record::format_value(*row.payload_bytes, "B") : marks.missing;
    });
  }
  add_speed_up(table, group, {"x single", true, kSingle}, &frontier::SpeedUps::single, marks);
  add_speed_up(table, group, {"x sequential", true, kSequential}, &frontier::SpeedUps::sequential, marks);
  add_speed_up(table, group, {"x data-parallel", true, kDataParallel}, &frontier::SpeedUps::data_parallel, marks);
  add_column(table, group, {"beaten by", false, 0},
             [&](const auto& row) { return standing(report, group, row, marks); });
  add_optional(
      table, group, {"P", true, kProbability},
      [&](const auto& row) {
        return row.frontier_probability ? probability(*row.frontier_probability) : marks.missing;
      },
      [](const auto& row) { return row.frontier_probability.has_value(); });
  add_optional(
      table, group, {"like", false, kAlike}, [&](const auto& row) { return split_list(group, row.alike); },
      [](const auto& row) { return !row.alike.empty(); });
  add_column(table, group, {"repetitions", false, kRepetitions},
             [](const auto& row) { return repetitions(row.configuration); });
  return table;
}

FrontierTable make_recommendation_table(const frontier::FrontierReport& report, const frontier::FrontierGroup& group) {
  FrontierTable table{{{"recommended for", false, 0}, {"split", false, 0}, {"why", false, 0}}, {}};
  const auto compared = [](const frontier::FrontierRow& row) { return row.compared(); };
  if (std::count_if(group.rows.begin(), group.rows.end(), compared) < 2) return table;
  const auto& recommendation = *group.recommendation;
  std::vector<std::string> likes;
  const auto add = [&](std::string purpose, std::size_t index, std::string reason) {
    const auto& row = group.rows[index];
    table.rows.push_back({std::move(purpose), short_label(row), std::move(reason)});
    likes.push_back(split_list(group, row.alike));
  };
  for (std::size_t i = 0; i < report.objectives.size(); ++i) {
    const auto& row = group.rows[recommendation.best[i]];
    add(superlative(report.objectives[i]), recommendation.best[i],
        record::format_value(*row.values[i], report.objectives[i].metric->unit));
  }
  const auto& [balanced, regret, objective] = recommendation.balanced;
  add("balanced", balanced,
      regret == 0 ? "the best in everything"
                  : fmt::format("at worst {} from the best, in {}", percent(regret),
                                report.objectives[objective].metric->name));
  if (recommendation.knee) add("knee", *recommendation.knee, "the frontier bends most here");
  if (std::all_of(likes.begin(), likes.end(), [](const auto& like) { return like.empty(); })) return table;
  table.columns.push_back({"like", false, kAlike});
  for (std::size_t i = 0; i < likes.size(); ++i) table.rows[i].push_back(likes[i]);
  return table;
}

namespace {

std::string frontier_splits(const frontier::FrontierGroup& group, const std::string& missing_mark) {
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < group.rows.size(); ++i) {
    if (group.rows[i].on_frontier) members.push_back(i);
  }
  return members.empty() ? missing_mark : split_list(group, members);
}

/// "20: 31.2 ms"
std::string best_split(const frontier::FrontierReport& report, const frontier::FrontierGroup& group,
                       std::size_t objective, const std::string& missing_mark) {
  if (!group.recommendation) return missing_mark;
  const auto& best = group.rows[group.recommendation->best[objective]];
  return fmt::format("{}: {}", record::cut_name(best.configuration.trial),
                     record::format_value(*best.values[objective], report.objectives[objective].metric->unit));
}

std::string model_of(const frontier::FrontierReport& report, const frontier::NetworkFamily& family) {
  return report.groups[family.groups.front()].settings().model;
}

}  // namespace

std::string movement_title(const frontier::FrontierReport& report, const frontier::NetworkFamily& family) {
  const auto model = model_of(report, family);
  const auto namesakes = std::count_if(report.families.begin(), report.families.end(),
                                       [&](const auto& other) { return model_of(report, other) == model; });
  if (namesakes == 1) return fmt::format("How the frontier moves with the network: {}", model);
  auto trial = report.groups[family.groups.front()].settings();
  trial.network = {};
  trial.shaping = experiment::Shaping::none;
  return fmt::format("How the frontier moves with the network: {}", record::group_title(trial));
}

FrontierTable make_movement_table(const frontier::FrontierReport& report, const frontier::NetworkFamily& family,
                                  const std::string& missing_mark) {
  FrontierTable table{{{"network", false, 0}, {"conditions", false, 1000}, {"frontier", false, 0}}, {}};
  for (std::size_t i = 0; i < report.objectives.size(); ++i) {
    const auto name = report.objectives[i].metric->name;
    table.columns.push_back({fmt::format("best {}", name), false, static_cast<int>(i)});
  }
  for (const auto index : family.groups) {
    const auto& group = report.groups[index];
    const auto& network = group.settings().network;
    std::vector<std::string> cells{record::printable(network.name), experiment::describe(network),
                                   frontier_splits(group, missing_mark)};
    for (std::size_t i = 0; i < report.objectives.size(); ++i) {
      cells.push_back(best_split(report, group, i, missing_mark));
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace paretopipe::render
