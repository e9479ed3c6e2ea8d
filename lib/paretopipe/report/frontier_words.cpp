#include "frontier_words.hpp"

#include <paretopipe/report/format.hpp>

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::report {
namespace {

/// The text after the number: "ms" of "39.0 ms".
std::string_view unit_of(std::string_view value) {
  const auto blank = value.find(' ');
  return blank == std::string_view::npos ? std::string_view{} : value.substr(blank + 1);
}

std::string_view number_of(std::string_view value) {
  return value.substr(0, value.find(' '));
}

/// Two digits, or whole ones: "1.4", "58", "1430".
std::string short_number(double value) {
  return fmt::format("{:.{}f}", value, value == 0 || std::abs(value) >= 9.95 ? 0 : 1);
}

std::string compare(double value, double better, std::string_view unit) {
  if (value == better) return "=";
  if (better == 0) return fmt::format("{}{}", value > better ? "+" : "", format_value(value, unit));
  const double ratio = (value - better) / std::abs(better) * 100;
  return fmt::format("{}{}%", value > better ? "+" : "-", short_number(std::abs(ratio)));
}

}  // namespace

std::string percent(double share) {
  return fmt::format("{} %", short_number(share * 100));
}

std::string probability(double share) {
  if (share > 0 && share < 0.01) return "<1 %";
  if (share < 1 && share > 0.99) return ">99 %";
  return fmt::format("{:.0f} %", share * 100);
}

std::string format_interval(const stats::Interval& interval, double beside, std::string_view unit,
                            const std::string& to) {
  const auto low = format_value(interval.low, unit), high = format_value(interval.high, unit);
  if (unit_of(low) != unit_of(high)) return low + to + high;
  const auto value = format_value(beside, unit);
  return fmt::format("{}{}{}", number_of(low), to, unit_of(value) == unit_of(high) ? number_of(high) : high);
}

std::string short_label(const FrontierRow& row) {
  const auto& trial = row.configuration.trial;
  return split_number(trial) + (trial.all_remote() ? " remote" : trial.all_local() ? " local" : "");
}

std::string verdict(const plan::Trial& trial) {
  if (trial.all_local()) return "Do not split (all local)";
  if (trial.all_remote()) return "Do not split (all remote)";
  const auto& cuts = trial.split_points;
  return fmt::format("Cut after block{} {}", cuts.size() == 1 ? "" : "s", fmt::join(cuts, " and "));
}

std::string split_list(const FrontierGroup& group, const std::vector<std::size_t>& rows) {
  const auto name = [&](std::size_t row) { return split_number(group.rows[row].configuration.trial); };
  std::vector<std::string> items;
  for (std::size_t i = 0; i < rows.size();) {
    std::size_t last = i;
    while (last + 1 < rows.size() && rows[last + 1] == rows[last] + 1) ++last;
    if (last < i + 2) last = i;
    items.push_back(last == i ? name(rows[i]) : fmt::format("{}-{}", name(rows[i]), name(rows[last])));
    i = last + 1;
  }
  return fmt::format("{}", fmt::join(items, ", "));
}

std::string shortfall(const FrontierReport& report, const FrontierGroup& group, const FrontierRow& row) {
  std::vector<std::string> items;
  const auto& better = group.rows[*row.dominated_by];
  for (std::size_t i = 0; i < row.values.size(); ++i) {
    items.push_back(compare(*row.values[i], *better.values[i], report.objectives[i].metric->unit));
  }
  return fmt::format("{}", fmt::join(items, " "));
}

std::vector<std::string> unmeasured(const FrontierReport& report, const FrontierGroup& group) {
  std::vector<std::string> names;
  for (const auto& objective : report.objectives) {
    if (!objective.metric->measured_by(group.settings().phases)) names.emplace_back(objective.metric->name);
  }
  return names;
}

std::string superlative(const Objective& objective) {
  return fmt::format("{} {}", objective.direction == record::Direction::min ? "lowest" : "highest",
                     objective.metric->name);
}

}  // namespace paretopipe::report
