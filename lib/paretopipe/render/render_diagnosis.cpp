#include <paretopipe/analysis/diagnosis/diagnosis.hpp>
#include <paretopipe/core/units.hpp>
#include <paretopipe/record/labels.hpp>
#include <paretopipe/render/render_diagnosis.hpp>
#include <paretopipe/render/render_prediction.hpp>
#include <paretopipe/render/table.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cut_data.hpp"
#include "diagnosis_words.hpp"
#include "frontier_words.hpp"

namespace paretopipe::render {

namespace {

constexpr std::size_t kShownRemarks = 5;

/// What a link carried, how fast it was and how fast it could be, or how long a batch's way round is.
std::string detail(const diagnosis::Constraint& constraint, const diagnosis::Demands& demands) {
  if (constraint.kind == diagnosis::Kind::depth) {
    return fmt::format("{} in flight, {} round the ring", demands.in_flight, duration(demands.unqueued_ns()));
  }
  if (constraint.kind != diagnosis::Kind::link && constraint.kind != diagnosis::Kind::way_back) return "";
  const auto& link = demands.links.at(static_cast<std::size_t>(constraint.stage));
  auto text = bytes(static_cast<double>(link.payload_bytes));
  if (constraint.period_ns <= 0) return text;
  const auto carried = static_cast<double>(link.payload_bytes + link.header_bytes);
  text += fmt::format(" at {}bit/s", format_count(carried * 8e9 / constraint.period_ns));
  if (!link.rate_bit_per_s) return text;
  return fmt::format("{} of {}bit/s", text, format_count(static_cast<double>(*link.rate_bit_per_s)));
}

std::string without_article(const std::string& name) {
  return name.starts_with("the ") ? name.substr(4) : name;
}

/// How long a batch takes there, and how well that is known where two clocks were read.
std::string time_taken(const diagnosis::Constraint& constraint, const diagnosis::Demands& demands) {
  auto text = duration(constraint.period_ns);
  if (constraint.kind != diagnosis::Kind::link && constraint.kind != diagnosis::Kind::way_back) return text;
  const auto& error = demands.links.at(static_cast<std::size_t>(constraint.stage)).clock_error_ns;
  return error ? fmt::format("{} ± {} (two clocks)", text, duration(*error)) : text;
}

/// One row per possible bound, slowest first. Only parts that are busy have a share of the time.
Table part_table(const diagnosis::ConfigurationDiagnosis& one) {
  Table table(
      {{"part"}, {"a batch takes", Align::right}, {"share", Align::right}, {"bounds at", Align::right}, {"detail"}});
  for (const auto& constraint : one.bounds) {
    const double ns = constraint.period_ns;
    const bool depth = constraint.kind == diagnosis::Kind::depth;
    table.add_row({without_article(name_of(constraint)), time_taken(constraint, *one.demands),
                   depth ? "" : percent(ns / one.demands->period_ns()),
                   ns > 0 ? rate(diagnosis::throughput_at(*one.demands, ns)) : "", detail(constraint, *one.demands)});
  }
  return table;
}

/// The tables of its parts and of a step, as far as it has them.
std::vector<Table> tables_of(const diagnosis::ConfigurationDiagnosis& one) {
  std::vector<Table> tables;
  if (!one.bounds.empty()) tables.push_back(part_table(one));
  if (one.step) tables.push_back(step_table(one));
  return tables;
}

std::vector<std::string> shown_remarks(const diagnosis::GroupDiagnosis& group,
                                       const diagnosis::ConfigurationDiagnosis& one) {
  auto all = remarks(group, one);
  if (all.size() > kShownRemarks) all.resize(kShownRemarks);
  return all;
}

std::string title(const diagnosis::GroupDiagnosis& group) {
  return record::printable(record::group_title(group.settings()));
}

std::string section(const diagnosis::GroupDiagnosis& group, const diagnosis::ConfigurationDiagnosis& one) {
  auto text = fmt::format("\n{}: {}\n", record::split_label(one.trial()), headline(group, one));
  for (const auto& table : tables_of(one)) text += fmt::format("\n{}\n", table.to_text({.unicode = false}));
  for (const auto& remark : shown_remarks(group, one)) text += fmt::format("  - {}\n", remark);
  return text;
}

std::string markdown_section(const diagnosis::GroupDiagnosis& group, const diagnosis::ConfigurationDiagnosis& one) {
  auto text = fmt::format("**{}**: {}\n\n", markdown_escaped(record::split_label(one.trial())),
                          markdown_escaped(headline(group, one)));
  for (const auto& table : tables_of(one)) text += table.to_markdown() + '\n';
  const auto shown = shown_remarks(group, one);
  return shown.empty() ? text : text + markdown_list(shown) + '\n';
}

}  // namespace

std::string render_text(std::span<const diagnosis::GroupDiagnosis> groups) {
  std::string text;
  for (const auto& group : groups) {
    text += fmt::format("{}{}\n", text.empty() ? "" : "\n", title(group));
    for (const auto& one : group.configurations) {
      if (one.wanted) text += section(group, one);
    }
    if (group.all_wanted()) text += fmt::format("\nConclusion: {}\n", conclusion(group));
  }
  return text;
}

std::string render_markdown(std::span<const diagnosis::GroupDiagnosis> groups) {
  std::string text;
  for (const auto& group : groups) {
    text += fmt::format("### {}\n\n", markdown_escaped(title(group)));
    if (group.all_wanted()) text += fmt::format("{}\n\n", markdown_escaped(conclusion(group)));
    for (const auto& one : group.configurations) {
      if (one.wanted) text += markdown_section(group, one);
    }
  }
  return text;
}

namespace {

using Json = nlohmann::ordered_json;

/// Grows when a field changes its meaning.
constexpr int kSchema = 1;

void append(Json& json, const diagnosis::Busy& busy) {
  json["busy_mean_ns"] = busy.mean_ns;
  json["busy_p90_ns"] = busy.p90_ns;
}

Json place(const diagnosis::Constraint& constraint) {
  Json json{{"kind", diagnosis::to_string(constraint.kind)}};
  if (constraint.kind != diagnosis::Kind::source && constraint.kind != diagnosis::Kind::depth)
    json["stage"] = constraint.stage;
  return json;
}

Json bounds_of(const diagnosis::ConfigurationDiagnosis& one) {
  Json list = Json::array();
  for (const auto& constraint : one.bounds) {
    auto json = place(constraint);
    json["period_ns"] = constraint.period_ns;
    if (constraint.period_ns > 0) {
      json["bound_image_per_s"] = diagnosis::throughput_at(*one.demands, constraint.period_ns);
    }
    list.push_back(std::move(json));
  }
  return list;
}

Json stages(const diagnosis::Demands& demands) {
  Json list = Json::array();
  for (const auto& stage : demands.stages) {
    Json json;
    append(json, stage.busy);
    if (stage.codec.mean_ns > 0) json["codec_mean_ns"] = stage.codec.mean_ns;
    json["utilisation"] = stage.utilisation;
    json["compute_p50_ns"] = stage.compute_p50_ns;
    json["idle_compute_p50_ns"] = stage.idle_compute_ns;
    list.push_back(std::move(json));
  }
  return list;
}

Json links(const diagnosis::Demands& demands) {
  Json list = Json::array();
  for (const auto& link : demands.links) {
    Json json{{"from", link.from},
              {"to", link.to},
              {"payload_bytes", link.payload_bytes},
              {"header_bytes", link.header_bytes}};
    append(json, link.busy);
    if (link.clock_error_ns) json["clock_error_ns"] = *link.clock_error_ns;
    json["delay_ns"] = link.delay_ns;
    if (link.rate_bit_per_s) json["rate_bit_per_s"] = *link.rate_bit_per_s;
    list.push_back(std::move(json));
  }
  return list;
}

void append(Json& json, const diagnosis::ConfigurationDiagnosis& one) {
  const auto& demands = *one.demands;
  json["throughput_image_per_s"] = demands.throughput_image_per_s;
  if (const auto sequential = demands.sequential_image_per_s()) {
    json["sequential_image_per_s"] = *sequential;
    json["speed_up_sequential"] = demands.throughput_image_per_s / *sequential;
  }
  json["period_ns"] = demands.period_ns();
  json["bottleneck"] = place(one.bounds.front());
  json["bottleneck"]["repetitions_agreeing"] = one.agreeing;
  json["reached"] = diagnosis::reached(demands);
  json["in_flight"] = demands.in_flight;
  if (const auto depth = diagnosis::sufficient_depth(demands)) json["sufficient_depth"] = *depth;
  json["unqueued_ns"] = demands.unqueued_ns();
  if (demands.source_ns) json["source_ns"] = *demands.source_ns;
  json["constraints"] = bounds_of(one);
  json["stages"] = stages(demands);
  json["links"] = links(demands);
}

void append(Json& json, const diagnosis::StepDemands& step) {
  json["sample_per_s"] = step.sample_per_s;
  json["bound_sample_per_s"] = step.bound_sample_per_s;
  json["reached"] = step.reached();
  if (step.step_error_ns > 0) json["step_error_ns"] = step.step_error_ns;
  json["bubble"] = step.bubble;
  json["bubble_expected"] = step.expected_bubble;
  json["stages"] = Json::array();
  for (const auto& stage : step.stages) json["stages"].push_back(Json(nlohmann::json(stage)));
}

void append(Json& json, const diagnosis::CodecEffect& effect) {
  if (effect.plain == nullptr) return;
  Json codec{{"saved_bytes", effect.saved_bytes}, {"added_ns", effect.added_ns}};
  if (effect.break_even_bit_per_s) codec["break_even_bit_per_s"] = *effect.break_even_bit_per_s;
  codec["encoder_bounds"] = effect.encoder_bounds;
  json["codec_effect"] = std::move(codec);
}

Json to_json(const diagnosis::GroupDiagnosis& group, const diagnosis::ConfigurationDiagnosis& one) {
  Json json;
  append_cut(json, one.trial().cut());
  json["label"] = record::split_label(one.trial());
  const auto& configuration = one.configuration;
  json["repetitions_ok"] = configuration.ok.size();
  json["repetitions_failed"] = configuration.failed.size();
  json["repetitions_invalid"] = configuration.invalid.size();
  if (one.demands) append(json, one);
  if (one.step) append(json, *one.step);
  if (const auto effect = diagnosis::codec_effect(group, one)) append(json, *effect);
  if (const auto* single = group.all_local(); single != nullptr && one.demands) {
    json["speed_up_single"] = one.demands->throughput_image_per_s / single->demands->throughput_image_per_s;
  }
  if (const auto* baseline = group.data_parallel(); baseline != nullptr && one.demands) {
    json["speed_up_data_parallel"] =
        one.demands->throughput_image_per_s / *baseline->configuration.median(record::find_metric("throughput"));
  }
  if (!one.reasons.empty()) json["reasons"] = one.reasons;
  if (!one.disturbances.empty()) json["disturbances"] = one.disturbances;
  json["sentences"] = Json{headline(group, one)};
  for (auto& sentence : remarks(group, one)) json["sentences"].push_back(std::move(sentence));
  return json;
}

Json to_json(const diagnosis::GroupDiagnosis& group) {
  auto settings = record::flat_settings(group.settings());
  settings["model"] = group.settings().model;
  Json json{{"settings", std::move(settings)}};
  if (group.all_wanted()) json["conclusion"] = conclusion(group);
  json["configurations"] = Json::array();
  for (const auto& one : group.configurations) {
    if (one.wanted) json["configurations"].push_back(to_json(group, one));
  }
  return json;
}

}  // namespace

std::string render_json(std::span<const diagnosis::GroupDiagnosis> groups,
                        std::span<const predict::VerifiedGroup> predictions) {
  Json json{{"schema", kSchema}, {"groups", Json::array()}};
  for (const auto& group : groups) json["groups"].push_back(to_json(group));
  for (const auto& [question, verification] : predictions) {
    Json one{{"made_at", question.profiles.front().made_at}};
    if (question.network) one["network"] = question.network->name;
    one.update(json_of(verification));
    json["predictions"].push_back(std::move(one));
  }
  return json_text(json);
}

}  // namespace paretopipe::render
