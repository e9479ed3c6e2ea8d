#pragma once
#include <paretopipe/core/json.hpp>
#include <paretopipe/core/json_fields.hpp>
#include <paretopipe/experiment/settings.hpp>

#include <algorithm>
#include <limits>

// Internal to the table of settings: makes the values of each type. `access` reaches the value in an experiment, const
// or not: a pointer to a member, or what through() returns.
namespace paretopipe::experiment {

/// The way to a member of a member: through(&Experiment::server, &ServerSettings::queries).
template <class... Members>
constexpr auto through(Members... members) {
  return [=](auto& experiment) -> auto& {
    return (experiment.*....*members);  // folded over the operator .*
  };
}

/// From `min` to `max`. The texts state no upper bound if `max` is the type's own.
struct Range {
  int min = 0;
  int max = std::numeric_limits<int>::max();
};

std::string to_string(const Range& range);

/// Throws UsageError unless `value` is within: "experiment.batches is 1; it must be from 2 to 50000".
void check_range(const std::string& path, int value, const Range& range, const char* verb = "is");

/// A flag's text as a whole number in decimal digits. Throws UsageError.
nlohmann::json parse_whole_number(const std::string& text, const std::string& flag);

/// A flag's text as a number. Throws UsageError.
nlohmann::json parse_amount(const std::string& text, const std::string& flag);

/// "1,2,4" or "2-5" as a list of numbers, one alone as a number. Throws UsageError.
nlohmann::json parse_number_axis(const std::string& text, const std::string& flag);

/// A flag's text as it is.
inline nlohmann::json parse_text(const std::vector<std::string>& texts, const std::string&) {
  return texts.front();
}

/// Reads a value of any type that JSON has.
template <class T>
void read_as(T& value, const nlohmann::json& json, const std::string& path) {
  const auto dot = path.rfind('.');
  const nlohmann::json object{{path.substr(dot + 1), json}};
  ObjectReader(object, path.substr(0, dot)).read(path.substr(dot + 1), value);
}

/// A value that is written in JSON as it is.
template <class Access>
SettingValue plain(Access access, std::string type, std::string allowed) {
  SettingValue value;
  value.type = std::move(type);
  value.allowed = std::move(allowed);
  value.write = [access](const Experiment& experiment) { return nlohmann::json(std::invoke(access, experiment)); };
  value.read = [access](Experiment& experiment, const nlohmann::json& json, const std::string& path) {
    read_as(std::invoke(access, experiment), json, path);
  };
  value.parse = parse_text;
  return value;
}

template <class Access>
SettingValue whole_number(Access access, Range range) {
  auto value = plain(access, "NUMBER", to_string(range));
  value.parse = [](const auto& texts, const auto& flag) { return parse_whole_number(texts.front(), flag); };
  value.check = [=](const Experiment& experiment, const std::string& path) {
    check_range(path, std::invoke(access, experiment), range);
  };
  return value;
}

/// A number that need not be whole, from 0 to `max`.
template <class Access>
SettingValue real_number(Access access, double max) {
  auto value = plain(access, "NUMBER", fmt::format("0 … {:g}", max));
  value.parse = [](const auto& texts, const auto& flag) { return parse_amount(texts.front(), flag); };
  value.check = [=](const Experiment& experiment, const std::string& path) {
    const double number = std::invoke(access, experiment);
    if (number >= 0 && number <= max) return;
    throw UsageError(fmt::format("{} is {}; it must be from 0 to {:g}", path, number, max));
  };
  return value;
}

/// A number, of which one below 1 is a share. Its flag may also say that in percent: "10%" is 0.1.
template <class Access>
SettingValue share_or_number(Access access, double max) {
  auto value = real_number(access, max);
  value.parse = [](const auto& texts, const auto& flag) {
    const std::string& text = texts.front();
    if (!text.ends_with('%')) return parse_amount(text, flag);
    const double percent = parse_amount(text.substr(0, text.size() - 1), flag).template get<double>();
    if (percent < 100) return nlohmann::json(percent / 100);
    throw UsageError(fmt::format("{} is {}; a share must be below 100 %", flag, text));
  };
  return value;
}

/// A number, or a list of numbers that are measured in turn.
template <class Access>
SettingValue number_axis(Access access, int max) {
  SettingValue value{.type = "LIST", .allowed = fmt::format("1 … {}, or a list: `[1, 8]`", max)};
  value.write = [access](const Experiment& experiment) { return nlohmann::json(std::invoke(access, experiment)); };
  value.read = [access](Experiment& experiment, const nlohmann::json& json, const std::string& path) {
    std::vector<int> values;
    for (const auto& item : json.is_array() ? json : nlohmann::json::array({json})) {
      read_as(values.emplace_back(), item, path);
    }
    std::invoke(access, experiment) = values;
  };
  value.parse = [](const auto& texts, const auto& flag) { return parse_number_axis(texts.front(), flag); };
  value.check = [=](const Experiment& experiment, const std::string& path) {
    const Axis& axis = std::invoke(access, experiment);
    if (axis.size() == 0) throw UsageError(fmt::format("{} is empty; name at least one number", path));
    for (auto number = axis.begin(); number != axis.end(); ++number) {
      check_range(path, *number, {1, max}, axis.size() == 1 ? "is" : "holds");
      if (std::find(axis.begin(), number, *number) != number) {
        throw UsageError(fmt::format("{} holds {} twice", path, *number));
      }
    }
  };
  return value;
}

/// One word of a few, which `parse` reads and to_string writes.
template <class Access, class Parse>
SettingValue word(Access access, Parse parse, std::string allowed) {
  SettingValue value{.type = "WORD", .allowed = std::move(allowed)};
  value.write = [access](const Experiment& experiment) {
    return nlohmann::json(to_string(std::invoke(access, experiment)));
  };
  value.read = [=](Experiment& experiment, const nlohmann::json& json, const std::string& path) {
    std::string text;
    read_as(text, json, path);
    // The error begins with the key.
    std::invoke(access, experiment) = with_prefix("experiment.", [&] { return parse(text); });
  };
  value.parse = parse_text;
  return value;
}

template <class Access>
SettingValue text(Access access, std::string allowed) {
  return plain(access, "TEXT", std::move(allowed));
}

/// A list of texts, whose flag is given once for each.
template <class Access>
SettingValue texts(Access access, std::string allowed) {
  auto value = plain(access, "TEXT", std::move(allowed));
  value.kind = FlagKind::repeated;
  value.parse = [](const auto& given, const auto&) { return nlohmann::json(given); };
  return value;
}

/// A switch, which a flag without a value turns on or off.
template <class Access>
SettingValue switched(Access access, FlagKind kind) {
  auto value = plain(access, "", "`true`, `false`");
  value.kind = kind;
  value.parse = [kind](const auto&, const auto&) { return nlohmann::json(kind == FlagKind::on); };
  return value;
}

/// A field of a trial that is always written. An optional field is written if it has a value.
template <class Of, class In>
TrialValue always(Of of, In in, const char* key) {
  return {[=](const Experiment& experiment, Trial& trial) { std::invoke(in, trial) = std::invoke(of, experiment); },
          [=](const Trial& trial, nlohmann::json& json) { write_member(json, key, std::invoke(in, trial)); },
          [=](const nlohmann::json& json, Trial& trial) { read_member(json, key, std::invoke(in, trial)); }};
}

/// A field of a trial that is left out at its default, so that trials keep the identity that they had before the
/// setting existed.
template <class Of, class In>
TrialValue unless_default(Of of, In in, const char* key) {
  auto value = always(of, in, key);
  value.write = [=](const Trial& trial, nlohmann::json& json) {
    if (std::invoke(in, trial) != std::invoke(in, Trial{})) json[key] = std::invoke(in, trial);
  };
  value.read = [=](const nlohmann::json& json, Trial& trial) {
    if (json.contains(key)) json.at(key).get_to(std::invoke(in, trial));
  };
  return value;
}

// The values of single settings, and what their flags mean beyond them.

SettingValue selection_of_splits();
/// Split points and partitions are two ways to say the same, so a flag for one replaces both of a file.
void apply_splits(Experiment& experiment, const std::vector<std::string>& texts);
void apply_partitions(Experiment& experiment, const std::vector<std::string>& texts);
/// One codec, or a list.
SettingValue codecs();
SettingValue input_codecs();
/// The plan chooses one for each cut.
TrialValue codec_of_trial();
/// A share, or null if there is none.
SettingValue max_flips();
/// Divisors of the batch.
SettingValue micro_batches();
SettingValue seed();
/// A number of trials, "auto", or an object: "auto" with bounds of its own, which are the following three.
SettingValue repeats();
SettingValue precision_of_auto();
SettingValue trials_of_auto();
SettingValue budget_of_auto();
SettingValue rates();
void apply_rates(Experiment& experiment, const std::vector<std::string>& texts);
void apply_search(Experiment& experiment, const std::vector<std::string>& texts);
/// Without the scenario server, an experiment file's load is dropped. If only server is named, both other phases run
/// before it.
void apply_scenarios(Experiment& experiment, const std::vector<std::string>& texts);
/// Schedules of training, each of which is measured.
SettingValue schedules();
SettingValue placement();
/// An object in a file, whose keys are settings of their own.
SettingValue object();

/// An axis, of which a trial has one value: the first one until the plan chooses another.
TrialValue one_of(Axis Experiment::*axis, int Trial::*in, const char* key);
/// The number of classes, which a trial of an archive does not have.
TrialValue classes();

}  // namespace paretopipe::experiment
