#include <paretopipe/analysis/frontier/objective.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/core/units.hpp>
#include <paretopipe/experiment/codecs.hpp>
#include <paretopipe/record/labels.hpp>

#include <algorithm>
#include <array>
#include <stdexcept>

#include <fmt/ranges.h>

namespace paretopipe::frontier {

namespace {

constexpr Word<record::Direction> kDirections[]{{record::Direction::min, "min"}, {record::Direction::max, "max"}};

}  // namespace

std::string Objective::label() const {
  return fmt::format("{}:{}", metric->name, word_of(kDirections, direction));
}

Objective parse_objective(std::string_view text) {
  const auto colon = text.find(':');
  const auto& metric = record::find_metric(text.substr(0, colon));
  if (colon == std::string_view::npos) return {&metric, metric.better};
  if (const auto direction = find_word(kDirections, text.substr(colon + 1))) return {&metric, *direction};
  throw UsageError(fmt::format("\"{}\" is not an objective: after the colon comes min or max", text));
}

experiment::Phases measured_phases(std::span<const record::TrialRecord> records) {
  bool single_stream = false, offline = false, training = false;
  for (const auto& record : records) {
    if (record.status != record::Status::ok) continue;
    if (record.trial.phases == experiment::Phases::both) return experiment::Phases::both;
    single_stream |= experiment::has_single_stream(record.trial.phases);
    offline |= experiment::has_offline(record.trial.phases);
    training |= record.trial.phases == experiment::Phases::training;
  }
  return single_stream ? experiment::Phases::single_stream
         : offline     ? experiment::Phases::offline
         : training    ? experiment::Phases::training
                       : experiment::Phases::both;
}

std::vector<Objective> parse_objectives(const std::vector<std::string>& texts, experiment::Phases measured) {
  std::vector<Objective> objectives;
  if (texts.empty()) {
    for (const auto* metric : record::usual_objectives(measured)) objectives.push_back({metric, metric->better});
  }
  for (const auto& text : texts) {
    const auto objective = parse_objective(text);
    if (std::any_of(objectives.begin(), objectives.end(),
                    [&](const auto& o) { return o.metric == objective.metric; })) {
      throw UsageError(fmt::format("the objective {} is given twice", objective.metric->name));
    }
    objectives.push_back(objective);
  }
  return objectives;
}

namespace {

/// Removes `ending` and the blanks before it from `text`. False if `text` has another ending.
bool remove_ending(std::string_view& text, std::string_view ending) {
  if (!text.ends_with(ending)) return false;
  text.remove_suffix(ending.size());
  while (text.ends_with(' ')) text.remove_suffix(1);
  return true;
}

double parse_size(std::string_view text) {
  return static_cast<double>(parse_bytes(text));
}

double parse_byte_rate(std::string_view text) {
  if (text.ends_with("bit/s")) return static_cast<double>(parse_rate(text)) / 8;
  auto bytes = text;
  if (!remove_ending(bytes, "/s")) {
    throw UsageError(fmt::format("\"{}\" is not a rate of data; write it like 5 MiB/s or 40 Mbit/s", text));
  }
  return parse_size(bytes);
}

double parse_image_rate(std::string_view text) {
  auto count = text;
  if (!remove_ending(count, "image/s")) remove_ending(count, "/s");
  try {
    return parse_count(count);
  } catch (const UsageError&) {
    throw UsageError(fmt::format("\"{}\" is not a number of images per second; write it like 100 image/s", text));
  }
}

struct Reader {
  std::string_view unit;  ///< as in record::Metric
  double (*parse)(std::string_view);
};

constexpr std::array kReaders{
    Reader{"ns", [](std::string_view text) { return static_cast<double>(parse_duration(text).count()); }},
    Reader{"B", parse_size},
    Reader{"B/s", parse_byte_rate},
    Reader{"image/s", parse_image_rate},
    Reader{"", [](std::string_view text) { return text.ends_with('%') ? parse_probability(text) : parse_count(text); }},
};

}  // namespace

double parse_value(std::string_view text, std::string_view unit) {
  const auto* reader = std::find_if(kReaders.begin(), kReaders.end(), [&](const auto& r) { return r.unit == unit; });
  if (reader == kReaders.end()) throw std::logic_error(fmt::format("no way to read the unit {}", unit));
  return reader->parse(text);
}

namespace {

struct Sign {
  std::string_view text;
  Comparison comparison;
  bool (*holds)(double, double);  ///< null: metrics have none that is exactly a number
};

/// Longer signs first: "<=" begins with "<".
constexpr std::array kSigns{
    Sign{"<=", Comparison::at_most, [](double value, double bound) { return value <= bound; }},
    Sign{">=", Comparison::at_least, [](double value, double bound) { return value >= bound; }},
    Sign{"<", Comparison::less, [](double value, double bound) { return value < bound; }},
    Sign{">", Comparison::greater, [](double value, double bound) { return value > bound; }},
    Sign{"!=", Comparison::unequal, nullptr},
    Sign{"=", Comparison::equal, nullptr},
};

const Sign& sign_of(Comparison comparison) {
  return *std::find_if(kSigns.begin(), kSigns.end(), [&](const Sign& sign) { return sign.comparison == comparison; });
}

}  // namespace

bool Constraint::holds(double value) const {
  return sign_of(comparison).holds(value, bound);
}

bool Constraint::holds_for_codec(const experiment::Trial& trial) const {
  return trial.all_local() || trial.data_parallel > 0 || (trial.codec == codec) == (comparison == Comparison::equal);
}

std::string Constraint::label() const {
  if (metric == nullptr) return fmt::format("codec {} {}", sign_of(comparison).text, codec);
  return fmt::format("{} {} {}", metric->name, sign_of(comparison).text, record::format_value(bound, metric->unit));
}

namespace {

Constraint make_constraint(std::string_view name, const Sign& sign, std::string_view value) {
  if (sign.holds != nullptr) {
    const auto& metric = record::find_metric(name);
    return {&metric, sign.comparison, parse_value(value, metric.unit)};
  }
  if (name == "codec") return {nullptr, sign.comparison, 0, experiment::canonical_codec(std::string(value))};
  throw UsageError(
      fmt::format("{} is for the codec that crosses, such as codec {} channel8; of {} write <, <=, > or >=", sign.text,
                  sign.text, record::find_metric(name).name));
}

}  // namespace

Constraint parse_constraint(std::string_view text) {
  const auto at = text.find_first_of("<>=!");
  const auto rest = at == text.npos ? "" : text.substr(at);
  const auto* sign =
      std::find_if(kSigns.begin(), kSigns.end(), [&](const Sign& known) { return rest.starts_with(known.text); });
  if (sign == kSigns.end()) {
    throw UsageError(fmt::format(
        "\"{}\" is not a constraint; write it like \"latency_p95 < 80ms\", \"throughput >= 100\" or \"codec = sort8\"",
        text));
  }
  return with_prefix(fmt::format("in the constraint \"{}\": ", text), [&] {
    return make_constraint(trimmed(text.substr(0, at)), *sign, trimmed(rest.substr(sign->text.size())));
  });
}

std::vector<Constraint> parse_constraints(const std::vector<std::string>& texts) {
  std::vector<Constraint> constraints;
  std::transform(texts.begin(), texts.end(), std::back_inserter(constraints), parse_constraint);
  return constraints;
}

namespace {

std::size_t find_objective(std::string_view name, const std::vector<Objective>& objectives, const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < objectives.size(); ++i) {
    if (objectives[i].metric->name == name) return i;
    names.emplace_back(objectives[i].metric->name);
  }
  throw UsageError(fmt::format("the reference \"{}\" names no objective of this frontier{} Its objectives: {}", text,
                               closest_word(name, names) ? did_you_mean(name, names) : ".", fmt::join(names, ", ")));
}

}  // namespace

std::vector<std::optional<double>> parse_reference(const std::vector<std::string>& texts,
                                                   const std::vector<Objective>& objectives) {
  std::vector<std::optional<double>> reference(objectives.size());
  for (const auto& text : texts) {
    const auto equals = text.find('=');
    if (equals == std::string::npos) {
      throw UsageError(fmt::format("\"{}\" is not a reference; write it like latency_p50=500ms", text));
    }
    const auto name = std::string_view(text).substr(0, equals);
    const auto objective = find_objective(name, objectives, text);
    if (reference[objective]) throw UsageError(fmt::format("the reference of {} is given twice", name));
    reference[objective] = with_prefix(fmt::format("in the reference \"{}\": ", text), [&] {
      return parse_value(std::string_view(text).substr(equals + 1), objectives[objective].metric->unit);
    });
  }
  return reference;
}

}  // namespace paretopipe::frontier
