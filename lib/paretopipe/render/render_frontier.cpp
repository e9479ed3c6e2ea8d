#include <paretopipe/record/labels.hpp>
#include <paretopipe/render/plot.hpp>
#include <paretopipe/render/render_frontier.hpp>
#include <paretopipe/render/table.hpp>

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "frontier_words.hpp"

namespace paretopipe::render {

namespace {

// A column with a higher number is left out sooner if space is short. A later objective has a higher one.
constexpr int kObjective = 1, kInterval = 100, kKept = 50, kProbability = 200, kAlike = 201, kRepetitions = 202,
              kSingle = 203, kSequential = 204, kDataParallel = 205, kPayload = 206;

using CellOf = std::function<std::string(const frontier::FrontierRow&)>;

void add_column(Table& table, const frontier::FrontierGroup& group, Table::Column column, const CellOf& cell_of) {
  std::vector<std::string> cells;
  for (const auto& row : group.rows) cells.push_back(cell_of(row));
  table.add_column(std::move(column), std::move(cells));
}

/// Adds the column only if `exists` is true for some row.
void add_optional(Table& table, const frontier::FrontierGroup& group, Table::Column column, const CellOf& cell_of,
                  const std::function<bool(const frontier::FrontierRow&)>& exists) {
  if (std::any_of(group.rows.begin(), group.rows.end(), exists)) add_column(table, group, std::move(column), cell_of);
}

void add_objective(Table& table, const frontier::FrontierReport& report, const frontier::FrontierGroup& group,
                   std::size_t i, const TableMarks& marks) {
  const auto& metric = *report.objectives[i].metric;
  const int order = static_cast<int>(i);
  add_column(table, group, {std::string(metric.name), Align::right, i == 0 ? 0 : kObjective + order},
             [&](const auto& row) {
               return row.values[i] ? record::format_value(*row.values[i], metric.unit) : marks.missing;
             });
  add_optional(
      table, group, {"95 %", Align::right, kInterval + order},
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

void add_speed_up(Table& table, const frontier::FrontierGroup& group, Table::Column column,
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

Table make_table(const frontier::FrontierReport& report, const frontier::FrontierGroup& group,
                 const TableMarks& marks) {
  Table table;
  add_column(table, group, {"split"}, short_label);
  for (std::size_t i = 0; i < report.objectives.size(); ++i) add_objective(table, report, group, i, marks);
  if (!report.has_objective("payload")) {
    add_column(table, group, {"payload", Align::right, kPayload}, [&](const auto& row) {
      return row.payload_bytes ? record::format_value(*row.payload_bytes, "B") : marks.missing;
    });
  }
  add_optional(
      table, group, {"top-1 kept", Align::right, kKept},
      [&](const auto& row) { return row.top1_kept ? percent(*row.top1_kept) : marks.missing; },
      [](const auto& row) { return row.top1_kept.has_value(); });
  add_speed_up(table, group, {"x single", Align::right, kSingle}, &frontier::SpeedUps::single, marks);
  add_speed_up(table, group, {"x sequential", Align::right, kSequential}, &frontier::SpeedUps::sequential, marks);
  add_speed_up(table, group, {"x data-parallel", Align::right, kDataParallel}, &frontier::SpeedUps::data_parallel,
               marks);
  add_column(table, group, {"beaten by"}, [&](const auto& row) { return standing(report, group, row, marks); });
  add_optional(
      table, group, {"P", Align::right, kProbability},
      [&](const auto& row) {
        return row.frontier_probability ? probability(*row.frontier_probability) : marks.missing;
      },
      [](const auto& row) { return row.frontier_probability.has_value(); });
  add_optional(
      table, group, {"like", Align::left, kAlike}, [&](const auto& row) { return split_list(group, row.alike); },
      [](const auto& row) { return !row.alike.empty(); });
  add_column(table, group, {"repetitions", Align::left, kRepetitions},
             [](const auto& row) { return repetitions(row.configuration); });
  for (std::size_t i = 0; i < group.rows.size(); ++i) {
    if (group.rows[i].on_frontier) table.stress(i);
  }
  return table;
}

Table make_recommendation_table(const frontier::FrontierReport& report, const frontier::FrontierGroup& group) {
  Table table({{"recommended for"}, {"split"}, {"why"}});
  if (std::ranges::count_if(group.rows, &frontier::FrontierRow::compared) < 2) return table;
  const auto& recommendation = *group.recommendation;
  std::vector<std::string> likes;
  const auto add = [&](std::string purpose, std::size_t index, std::string reason) {
    const auto& row = group.rows[index];
    table.add_row({std::move(purpose), short_label(row), std::move(reason)});
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
  const bool none = std::all_of(likes.begin(), likes.end(), [](const auto& like) { return like.empty(); });
  if (!none) table.add_column({"like", Align::left, kAlike}, std::move(likes));
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

Table make_movement_table(const frontier::FrontierReport& report, const frontier::NetworkFamily& family,
                          const std::string& missing_mark) {
  std::vector<Table::Column> columns{{"network"}, {"conditions", Align::left, 1000}, {"frontier"}};
  for (std::size_t i = 0; i < report.objectives.size(); ++i) {
    const auto name = report.objectives[i].metric->name;
    columns.push_back({fmt::format("best {}", name), Align::left, static_cast<int>(i)});
  }
  Table table(std::move(columns));
  for (const auto index : family.groups) {
    const auto& group = report.groups[index];
    const auto& network = group.settings().network;
    std::vector<std::string> cells{record::printable(network.name), experiment::describe(network),
                                   frontier_splits(group, missing_mark)};
    for (std::size_t i = 0; i < report.objectives.size(); ++i) {
      cells.push_back(best_split(report, group, i, missing_mark));
    }
    table.add_row(std::move(cells));
  }
  return table;
}

namespace {

TableMarks marks_of(const TextStyle& style) {
  return style.unicode ? TableMarks{"● nothing", "–", "–"} : TableMarks{"* nothing", "-", "-"};
}

std::string render_movement(const frontier::FrontierReport& report, const frontier::NetworkFamily& family,
                            const TextStyle& style) {
  return fmt::format("\n\n{}\n\n{}\n\n{}", record::printable(movement_title(report, family)),
                     robust_headline(report, family),
                     make_movement_table(report, family, marks_of(style).missing).to_fitting_text(style));
}

ScatterAxis axis(const frontier::Objective& objective) {
  const auto* good = objective.direction == record::Direction::min ? "less" : "more";
  return {fmt::format("{} ({} is better)", objective.metric->name, good), std::string(objective.metric->unit)};
}

std::string render_plot(const frontier::FrontierReport& report, const frontier::FrontierGroup& group,
                        const TextStyle& style) {
  if (report.objectives.size() < 2) return "";
  std::vector<ScatterPoint> points;
  for (const auto& row : group.rows) {
    if (!row.complete() || !row.is_split()) continue;
    points.push_back({*row.values[0], *row.values[1], record::cut_name(row.configuration.trial), row.on_frontier});
  }
  if (points.size() < 2) return "";
  return '\n' + render_scatter(points, axis(report.objectives[0]), axis(report.objectives[1]), style);
}

std::string render_group(const frontier::FrontierReport& report, const frontier::FrontierGroup& group,
                         const TextStyle& style) {
  std::string text =
      fmt::format("{}\n\n{}\n\n", record::printable(record::group_title(group.settings())), headline(report, group));
  text += make_table(report, group, marks_of(style)).to_fitting_text(style);
  for (const auto& sentence : legend(report, group)) text += sentence + '\n';
  if (const auto sentence = speed_up_sentence(group); !sentence.empty()) text += sentence + '\n';
  text += render_plot(report, group, style);
  text += fmt::format("\n{}\n", members_sentence(report, group));
  for (const auto& sentence :
       {volume_sentence(report, group), codec_sentence(group), accuracy_sentence(group), incidents_sentence(group)}) {
    if (!sentence.empty()) text += sentence + '\n';
  }
  for (const auto& remark : remarks(report, group)) text += fmt::format("  {}\n", remark);
  const auto recommended = make_recommendation_table(report, group);
  return recommended.empty() ? text : text + '\n' + recommended.to_fitting_text(style);
}

}  // namespace

std::string render_text(const frontier::FrontierReport& report, const TextStyle& style) {
  std::string text;
  for (const auto& group : report.groups) {
    if (!text.empty()) text += "\n\n";
    text += render_group(report, group, style);
  }
  for (const auto& family : report.families) text += render_movement(report, family, style);
  return text;
}

namespace {

const TableMarks kMarkdownMarks{"nothing", "–", "–"};

std::string render_movement(const frontier::FrontierReport& report, const frontier::NetworkFamily& family) {
  return fmt::format("\n### {}\n\n{}\n\n{}", markdown_escaped(movement_title(report, family)),
                     markdown_escaped(robust_headline(report, family)),
                     make_movement_table(report, family, kMarkdownMarks.missing).to_markdown());
}

std::string render_notes(const frontier::FrontierReport& report, const frontier::FrontierGroup& group) {
  auto sentences = legend(report, group);
  sentences.push_back(members_sentence(report, group));
  for (auto& sentence : {speed_up_sentence(group), volume_sentence(report, group), codec_sentence(group),
                         accuracy_sentence(group), incidents_sentence(group)}) {
    if (!sentence.empty()) sentences.push_back(sentence);
  }
  for (auto& remark : remarks(report, group)) sentences.push_back(std::move(remark));
  return markdown_list(sentences);
}

std::string render_group(const frontier::FrontierReport& report, const frontier::FrontierGroup& group) {
  auto text = fmt::format("### {}\n\n{}\n\n{}\n{}", markdown_escaped(record::group_title(group.settings())),
                          markdown_escaped(headline(report, group)),
                          make_table(report, group, kMarkdownMarks).to_markdown(), render_notes(report, group));
  const auto recommended = make_recommendation_table(report, group);
  return recommended.empty() ? text : text + '\n' + recommended.to_markdown();
}

}  // namespace

std::string render_markdown(const frontier::FrontierReport& report) {
  std::string text;
  for (const auto& group : report.groups) {
    if (!text.empty()) text += '\n';
    text += render_group(report, group);
  }
  for (const auto& family : report.families) text += render_movement(report, family);
  return text;
}

}  // namespace paretopipe::render
