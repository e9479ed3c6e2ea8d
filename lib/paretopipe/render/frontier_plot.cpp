#include <paretopipe/core/error.hpp>
#include <paretopipe/record/labels.hpp>
#include <paretopipe/render/plot.hpp>

#include <algorithm>
#include <set>
#include <string>

#include <fmt/ranges.h>

namespace paretopipe::render {

namespace {

PlotAxis axis_of(const frontier::Objective& objective) {
  return {std::string(objective.metric->name), std::string(objective.metric->unit), objective.direction};
}

PlotSeries series_of(const frontier::FrontierGroup& group) {
  PlotSeries series;
  for (const auto& row : group.rows) {
    if (!row.values[0] || !row.values[1] || !row.is_split()) continue;
    series.points.push_back({*row.values[0], *row.values[1], row.intervals[0], row.intervals[1],
                             record::cut_name(row.configuration.trial), row.on_frontier});
  }
  return series;
}

std::vector<record::Setting> named_settings(const frontier::FrontierGroup& group) {
  auto settings = record::settings_of(group.settings());
  settings.insert(settings.begin(), {"model", group.settings().model});
  return settings;
}

/// The settings in which the groups differ. Leaves out what a network does to each direction (its name is enough), the
/// number of blocks (the model's name is enough), and the micro-batch if no batch is cut.
std::set<std::string> differences(const frontier::FrontierReport& report) {
  std::set<std::string> names;
  const auto first = named_settings(report.groups.front());
  for (const auto& group : report.groups) {
    const auto settings = named_settings(group);
    for (std::size_t i = 0; i < settings.size(); ++i) {
      if (settings[i].value != first.at(i).value) names.insert(settings[i].name);
    }
  }
  if (names.contains("model")) names.erase("block_count");
  const auto cut = [](const frontier::FrontierGroup& group) { return group.settings().micro_batches() > 1; };
  if (std::none_of(report.groups.begin(), report.groups.end(), cut)) names.erase("micro_batch");
  if (names.contains("network_name")) {
    for (const auto* implied : {"network_forward", "network_backward", "shaping"}) names.erase(implied);
  }
  return names;
}

/// A setting as shown in a legend: only the beginning of a SHA-256, enough to tell it from others.
std::string part_of_name(const record::Setting& setting) {
  const auto& [name, value] = setting;
  if (name == "model" || name == "network_name") return value;
  if (name.ends_with("sha256") && !value.empty()) return fmt::format("{} {:.12}", name, value);
  return fmt::format("{} {}", name, value.empty() ? "none" : value);
}

/// A setting that a group lacks (an archive's cuts, say) names it only if nothing else does.
std::string series_name(const frontier::FrontierGroup& group, const std::set<std::string>& names) {
  std::vector<std::string> parts;
  std::vector<std::string> missing;
  for (const auto& setting : named_settings(group)) {
    if (!names.contains(setting.name)) continue;
    (setting.value.empty() ? missing : parts).push_back(part_of_name(setting));
  }
  return fmt::format("{}", fmt::join(parts.empty() ? missing : parts, ", "));
}

std::vector<std::string> names_of(const frontier::FrontierReport& report, const std::set<std::string>& names) {
  std::vector<std::string> all;
  for (const auto& group : report.groups) all.push_back(series_name(group, names));
  return all;
}

/// The names of all groups. If archives have different names, these suffice.
std::vector<std::string> series_names(const frontier::FrontierReport& report) {
  const auto names = differences(report);
  if (names.contains("model")) {
    auto fewer = names;
    for (const auto* detail : {"archive_cuts", "archive_input_shape", "archive_sha256"}) fewer.erase(detail);
    const auto all = names_of(report, fewer);
    if (std::set(all.begin(), all.end()).size() == all.size()) return all;
  }
  return names_of(report, names);
}

}  // namespace

Plot make_plot(const frontier::FrontierReport& report) {
  if (report.objectives.size() < 2) throw UsageError("a plot needs two objectives, one an axis");
  if (report.groups.size() > kMostSeries) {
    throw UsageError(
        fmt::format("{} frontiers cannot be told apart in one plot, {} can; choose some of them with "
                    "--model, --network, --batch, --micro-batch, --depth and --threads-per-stage",
                    report.groups.size(), kMostSeries));
  }
  Plot plot{"", axis_of(report.objectives[0]), axis_of(report.objectives[1]), {}};
  if (report.groups.empty()) return plot;
  const auto names = series_names(report);
  std::vector<std::string> titles;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto& group = report.groups[i];
    plot.series.push_back(series_of(group));
    plot.series.back().name = names[i];
    titles.push_back(record::group_title(group.settings()));
  }
  plot.title = fmt::format("{}", fmt::join(titles, "; "));
  return plot;
}

}  // namespace paretopipe::render
